// A user's program through the public headers: a kernel of the builder, and PTX text that copies a tile through a tensor
// map.
#include <cstdio>
#include <vector>

#include "drywell/isa/builder.h"
#include "drywell/isa/print.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/sim/device.h"

using namespace drywell;

namespace {

constexpr const char* kTile = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry tile(.param .align 64 .b8 map[128], .param .u64 out)
{
  .shared .align 128 .b8 box[1024];
  .shared .align 8 .b64 bar;
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .reg .f32 %f;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  mov.u32 %r1, box;
  mov.u32 %r2, bar;
  @%p bra wait;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;
  mov.u64 %rd0, map;
  cvta.param.u64 %rd0, %rd0;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0, {0, 8}], [%r2];
wait:
  bar.sync 0;
again:
  mbarrier.try_wait.parity.shared.b64 %p, [%r2], 0;
  @!%p bra again;
  shl.b32 %r3, %r0, 2;
  add.u32 %r4, %r1, %r3;
  ld.shared.f32 %f, [%r4];
  ld.param.u64 %rd1, [out];
  cvt.u64.u32 %rd2, %r3;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f;
  ret;
}
)";

// Rows 8 to 15 of a 64 x 32 array, by TMA.
bool copies_a_tile() {
  sim::Device device;
  std::vector<float> host(64 * 32), back(8 * 32);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  const GmemAddr x = device.allocate(4 * host.size(), "x"), out = device.allocate(4 * back.size(), "out");
  device.write(x, host.data(), 4 * host.size());
  isa::TensorMapFields f;
  f.type = isa::TensorType::f32;
  f.rank = 2;
  f.address = x.value();
  f.dim = {32, 64};
  f.stride = {4 * 32};
  f.box = {32, 8};
  const sim::LoadedModule m = device.load_ptx(kTile, "tile.ptx");
  const sim::RunResult r = device.launch(m, "tile", {.grid = {1}, .block = {256}}, sim::Args().add(isa::encode(f)).add(out));
  device.read(back.data(), out, 4 * back.size());
  std::printf("ok=%d first=%g last=%g\n", r.ok(), static_cast<double>(back.front()), static_cast<double>(back.back()));
  return r.ok() && back.front() == 256 && back.back() == 511;
}

}  // namespace

int main() {
  isa::KernelBuilder k("fill");
  const isa::Reg p = k.load_param(k.param(isa::Mod::u64, "p"), isa::Mod::u64);
  const isa::Reg tid = k.def("mov.u32", isa::SpecialReg::tid_x);
  k("st.global.u32", isa::mem(k.def("add.s64", p, k.def("mul.wide.u32", tid, 4))), tid);
  sim::Device device;
  const GmemAddr out = device.allocate(4 * 64, "out");
  const sim::LoadedModule module = device.load(k.finish());
  const sim::RunResult r = device.launch(module, "fill", {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0}, sim::Args().add(out));
  uint32_t last = 0;
  device.read(&last, out + 4 * 63, 4);
  std::printf("ok=%d last=%u\n", r.ok(), last);
  return r.ok() && last == 63 && copies_a_tile() ? 0 : 1;
}
