#include "kernels/blockwise/scales.h"

#include "drywell/core/bits.h"

namespace drywell::kernels::blockwise {

using namespace isa;

layout::BlockwiseScale ScaleConfig::layout() const {
  const auto major = [](isa::Major which) { return which == isa::Major::k ? layout::Major::k : layout::Major::mn; };
  return {m, n, k, major(a_major), major(b_major)};
}

ScaleShape scale_shape(uint64_t mn, uint64_t k, uint32_t granularity_mn, uint32_t granularity_k, isa::Major major) {
  ScaleShape s{.rows = ceil_div(mn, granularity_mn), .factors = ceil_div(k, granularity_k)};
  s.row_stride = major == isa::Major::mn ? 1 : s.factors;
  s.k_stride = major == isa::Major::mn ? s.rows : 1;
  return s;
}

std::vector<float> scale_image(const std::vector<float>& logical, const ScaleShape& s) {
  std::vector<float> out(s.count());
  for (uint64_t r = 0; r < s.rows; ++r) {
    for (uint64_t f = 0; f < s.factors; ++f) out[r * s.row_stride + f * s.k_stride] = logical[r * s.factors + f];
  }
  return out;
}

ScaleView load_view(KernelBuilder& k, Reg from, int64_t offset) {
  const Reg at = k.def("ld.u64", mem(from, offset));
  const auto number = [&](int64_t field) { return k.def("ld.u32", mem(from, offset + field)); };
  return {at, number(8), number(12), number(16), number(20)};
}

void copy_stage(KernelBuilder& k, const StageScales& s, const ScaleView& view, Reg first_row, Reg first_k, Reg to, Reg lane) {
  const uint32_t fast = s.major == isa::Major::mn ? s.rows : s.factors;
  for (uint32_t done = 0; done < s.count(); done += 32) {
    const Reg at = k.def("add.u32", lane, done), inside = k.reg(Mod::pred);
    k("setp.lt.u32", inside, at, s.count());
    k.if_(inside, [&] {
      const Reg quick = k.def("rem.u32", at, fast), slow = k.def("div.u32", at, fast);
      const Reg row = k.def("add.u32", first_row, s.major == isa::Major::mn ? quick : slow);
      const Reg factor = k.def("add.u32", first_k, s.major == isa::Major::mn ? slow : quick);
      const Reg row_exists = k.reg(Mod::pred), exists = k.reg(Mod::pred);
      k("setp.lt.u32", row_exists, row, view.rows);
      k("setp.lt.and.u32", exists, factor, view.factors, row_exists);
      const Reg index = k.def("mad.lo.u32", row, view.row_stride, k.def("mul.lo.u32", factor, view.k_stride));
      const Reg safe = k.def("selp.b32", index, 0, exists), bytes = k.def("selp.b32", 4, 0, exists);
      k("cp.async.ca.shared.global", mem(k.def("mad.lo.u32", at, 4, to)), mem(k.def("mad.wide.u32", safe, 4, view.at)), 4, bytes);
    });
  }
}

}  // namespace drywell::kernels::blockwise
