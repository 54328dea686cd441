// Warp instructions per second of the functional executor. Compare the counters, not host time.
#include <benchmark/benchmark.h>

#include "drywell/isa/builder.h"
#include "drywell/sim/device.h"
#include "kernels/nvfp4/arithmetic.h"

namespace {

using namespace drywell;
using namespace drywell::isa;

/// A loop of integer, logic, float, conversion and select instructions: the mix of an epilogue without its
/// memory.
Module alu_mix(int rounds) {
  KernelBuilder k("alu_mix");
  const Symbol out = k.param(Mod::u64, "out");
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), a = k.def("add.u32", tid, 1),
            b = k.def("xor.b32", tid, 0x5A5A);
  const Reg x = k.reg(Mod::f32), y = k.reg(Mod::f32), p = k.reg(Mod::pred);
  k("mov.f32", x, 1.0f);
  k("mov.f32", y, 2.0f);
  k.for_range(0, rounds, 1, [&](Reg i) {
    k("mad.lo.u32", a, a, b, i);
    k("shr.u32", b, a, 3);
    k("xor.b32", b, b, i);
    k("or.b32", a, a, 1);
    k("fma.rn.f32", x, x, y, 1.0f);
    k("mul.rn.f32", y, y, 0.5f);
    k("max.f32", x, x, y);
    k("setp.lt.u32", p, a, b);
    k("selp.b32", a, a, b, p);
    k("mov.b32", y, k.def("and.b32", a, 0x3FFFFFFF));
  });
  const Reg at = k.def("add.s64", k.load_param(out, Mod::u64), k.def("mul.wide.u32", tid, 4));
  k("st.global.f32", mem(at), x);
  return k.finish();
}

/// The epilogue of fused-rht as the kernel has it, again and again: 64 accumulators of a thread to bf16 and back, maxima,
/// block scales, codes. Only the loads from tensor memory and the stores are left out.
Module epilogue_mix(int rounds) {
  KernelBuilder k("epilogue_mix");
  const Symbol out = k.param(Mod::u64, "out");
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), sum = k.def("mov.b32", 0), unused = k.def("mov.b32", 0);
  const RegArray acc = k.regs(Mod::f32, 64);
  for (size_t i = 0; i < acc.size(); ++i)
    k("mov.b32", acc[i], k.def("mad.lo.u32", tid, 7919 * static_cast<int>(i + 1), 0x3F000000 + (static_cast<int>(i) << 20)));
  const kernels::nvfp4::Arithmetic arithmetic = {.bf16_round_trip = true, .propagates_nan = true};
  const kernels::nvfp4::GlobalScales scales = {k.def("mov.f32", 0.5f), k.def("mov.f32", 2.0f)};
  k.for_range(0, rounds, 1, [&](Reg) {
    const auto tile = quantize_tile(k, arithmetic, acc, scales, {unused, unused, unused, unused}, unused);
    for (const Reg word : tile.codes) k("xor.b32", sum, sum, word);
    k("xor.b32", sum, sum, tile.scales);
  });
  const Reg at = k.def("add.s64", k.load_param(out, Mod::u64), k.def("mul.wide.u32", tid, 4));
  k("st.global.b32", mem(at), sum);
  return k.finish();
}

void run(benchmark::State& state, const Module& module, const char* name, sim::DriverKind driver, unsigned threads) {
  sim::Device device;
  const GmemAddr out = device.allocate(4 * 128, "out");
  const sim::LoadedModule m = device.load(module);
  sim::RunOptions options;
  options.threads = threads;
  options.driver = driver;
  uint64_t instructions = 0;
  for (auto _ : state) {
    const sim::RunResult r = device.launch(m, name, {.grid = {8}, .block = {128}}, sim::Args().add(out), options);
    if (!r.ok()) state.SkipWithError(r.fault->to_string().c_str());
    instructions += r.warp_instructions;
  }
  state.counters["warp_instr"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void BM_AluMix(benchmark::State& state) {
  run(state, alu_mix(1000), "alu_mix", sim::DriverKind::eager, static_cast<unsigned>(state.range(0)));
}
BENCHMARK(BM_AluMix)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_EpilogueMix(benchmark::State& state) {
  run(state, epilogue_mix(50), "epilogue_mix", static_cast<sim::DriverKind>(state.range(0)), 1);
}
BENCHMARK(BM_EpilogueMix)
    ->ArgName("driver")
    ->Arg(static_cast<int>(sim::DriverKind::eager))
    ->Arg(static_cast<int>(sim::DriverKind::timed))
    ->Unit(benchmark::kMillisecond);

}  // namespace
