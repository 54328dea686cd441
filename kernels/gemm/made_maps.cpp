// A grouped launch has its problems as shapes and pointers only. A warp that uses a tensor map makes it at the first tile of another
// problem: tensormap.replace in shared memory, then a copy to global memory with the fence of the tensor map proxy. CUTLASS's
// grouped kernels do the same with one place per CTA; here each problem has its own place, so that no copy in flight can read a map
// that has changed.
#include "kernels/gemm/made_maps.h"

#include <cstddef>

namespace drywell::kernels::gemm {

using namespace isa;

GemmDevice::MadeMaps GemmDevice::copy_patterns(Reg staging, uint32_t first, size_t pattern, uint32_t count) {
  MadeMaps maps;
  maps.staging = staging;
  maps.first = first;
  maps.current = k_.def("mov.b64", 0);
  const Reg lane_bytes = k_.def("shl.b32", lane_, 2), to = k_.def("add.u32", staging, lane_bytes);
  const Reg wide_lane_bytes = k_.def("cvt.u64.u32", lane_bytes), patterns = k_.def("cvta.param.u64", maps_);
  const Reg from = k_.def("add.s64", patterns, wide_lane_bytes);
  for (uint32_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i * kTensorMapBytes);
    k_("st.shared.b32", mem(to, at), k_.def("ld.b32", mem(from, static_cast<int64_t>(pattern) + at)));
  }
  k_("bar.warp.sync", -1);
  return maps;
}

void GemmDevice::make_maps(MadeMaps& maps, const Tile& t, const std::vector<MapTensor>& tensors) {
  const Reg fresh = k_.reg(Mod::pred);
  k_("setp.ne.u64", fresh, t.slot, maps.current);
  k_.if_(fresh, [&] {
    k_("mov.b64", maps.current, t.slot);
    k_.elect_one([&] {
      for (size_t i = 0; i < tensors.size(); ++i) replace_tensor(k_.def("add.u32", maps.staging, i * kTensorMapBytes), t, tensors[i]);
    });
    k_("bar.warp.sync", -1);
    for (size_t i = 0; i < tensors.size(); ++i) {
      Reg to = k_.def("add.s64", t.slot, (maps.first + i) * kTensorMapBytes);
      if (maps.own.valid()) to = k_.def("add.s64", to, maps.own);
      k_("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned", mem(to),
         mem(k_.def("add.u32", maps.staging, i * kTensorMapBytes)), static_cast<int64_t>(kTensorMapBytes));
      k_("fence.proxy.tensormap::generic.acquire.gpu", mem(to), static_cast<int64_t>(kTensorMapBytes));
    }
  });
}

void GemmDevice::replace_tensor(Reg map, const Tile& t, const MapTensor& x) {
  const auto replace = [&](const char* field, const char* type, std::initializer_list<Arg> values) {
    std::vector<Arg> args = {mem(map)};
    args.insert(args.end(), values);
    k_.emit(OpText(std::string("tensormap.replace.tile.") + field + ".shared::cta.b1024." + type), args);
  };
  const auto problem = [&](size_t field, const char* load) { return k_.def(OpText(load), mem(t.problem, static_cast<int64_t>(field))); };
  const Reg fast = problem(x.fast, "ld.u32");
  replace("global_address", "b64", {problem(x.pointer, "ld.u64")});
  replace("global_dim", "b32", {0, fast});
  replace("global_dim", "b32", {1, problem(x.slow, "ld.u32")});
  replace("global_stride", "b64", {0, k_.def("mul.wide.u32", fast, x.element_bytes)});
}

void GemmDevice::make_operand_maps(MadeMaps& maps, const Tile& t) {
  const auto operand = [](size_t pointer, size_t rows, Major major) {
    return major == Major::k ? MapTensor{pointer, offsetof(DeviceProblem, k), rows} : MapTensor{pointer, rows, offsetof(DeviceProblem, k)};
  };
  make_maps(maps, t,
            {operand(offsetof(DeviceProblem, a), offsetof(DeviceProblem, m), c_.a.major), operand(offsetof(DeviceProblem, b), offsetof(DeviceProblem, n), c_.b.major)});
}

void GemmDevice::make_output_maps(MadeMaps& maps, const Tile& t) {
  const auto output = [&](size_t pointer) {
    const size_t m = offsetof(DeviceProblem, m), n = offsetof(DeviceProblem, n);
    return p_.column_major_d() ? MapTensor{pointer, m, n, p_.output_bytes()} : MapTensor{pointer, n, m, p_.output_bytes()};
  };
  std::vector<MapTensor> tensors = {output(offsetof(DeviceProblem, d))};
  if (c_.reads_c) tensors.push_back(output(offsetof(DeviceProblem, c)));
  make_maps(maps, t, tensors);
}

}  // namespace drywell::kernels::gemm
