// A user's program: one kernel through the public headers.
#include <cstdio>

#include "drywell/isa/builder.h"
#include "drywell/isa/print.h"
#include "drywell/sim/device.h"

int main() {
  using namespace drywell;
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
  return r.ok() && last == 63 ? 0 : 1;
}
