// Pipes: dependent-issue latency and throughput per class, against the published figures (docs/facts/timing.md
// §3.1 and §3.2; numbers below are typed from there, not from the architecture file).
#include <gtest/gtest.h>

#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

struct PipeCase {
  const char* name;
  const char* op;  // d, a, b, … all of one type
  const char* mnemonic;
  Mod type;
  int sources;
  double latency;  // cycles from an instruction to one that needs its result
  double lanes;    // results per clock and SM
};
void PrintTo(const PipeCase& c, std::ostream* os) { *os << c.op; }

const PipeCase kCases[] = {
    {"Ffma", "fma.rn.f32", "fma", Mod::f32, 3, 4, 128},
    {"Fadd", "add.rn.f32", "add", Mod::f32, 2, 4, 128},
    {"Fmul", "mul.rn.f32", "mul", Mod::f32, 2, 4, 128},
    {"Lop", "xor.b32", "xor", Mod::b32, 2, 4, 64},
    {"Shift", "shl.b32", "shl", Mod::b32, 2, 4, 64},
    {"Imad", "mad.lo.u32", "mad", Mod::u32, 3, 4, 64},
    {"Mufu", "rcp.approx.ftz.f32", "rcp", Mod::f32, 1, 18, 16},
    {"MinMax", "max.f32", "max", Mod::f32, 2, 4, 64},
};

class Pipe : public testing::TestWithParam<PipeCase> {};

void emit(KernelBuilder& k, const PipeCase& c, Reg d, Reg a, Reg other) {
  std::vector<Arg> args{d, a};
  for (int i = 1; i < c.sources; ++i) args.emplace_back(other);
  k.emit(OpText(c.op), args);
}

TEST_P(Pipe, DependentInstructionsFollowAtTheLatency) {
  const PipeCase& c = GetParam();
  const auto r = run_timed_kernel({}, [&](KernelBuilder& k, Symbol, const auto&) {
    const Reg a = k.reg(c.type), b = k.reg(c.type);
    for (int i = 0; i < 40; ++i) emit(k, c, a, a, b);
  });
  EXPECT_NEAR(spacing(r.log.of(c.mnemonic)), c.latency, 0.05 * c.latency);
}

TEST_P(Pipe, IndependentInstructionsFollowAtTheRate) {
  const PipeCase& c = GetParam();
  // One warp per sub-partition: 128 lanes issue together.
  const double interval = 128 / c.lanes;
  const auto r =
      run_timed_kernel({.launch = {.grid = {1}, .block = {128}}}, [&](KernelBuilder& k, Symbol, const auto&) {
        std::vector<Reg> d, a;
        for (int i = 0; i < 16; ++i) {
          d.push_back(k.reg(c.type));
          a.push_back(k.reg(c.type));
        }
        for (int i = 0; i < 320; ++i) emit(k, c, d[i % 16], a[i % 16], a[(i + 1) % 16]);
      });
  for (uint32_t w = 0; w < 4; ++w) {
    auto cycles = r.log.of(c.mnemonic, w);
    // Removes the first instructions, which the queue of the pipe admits ahead.
    cycles.erase(cycles.begin(), cycles.begin() + 64);
    EXPECT_NEAR(spacing(cycles), interval, 0.05 * interval);
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, Pipe, testing::ValuesIn(kCases),
                         [](const auto& p) { return std::string(p.param.name); });

// Two warps of a sub-partition share its issue slot and its pipe: the one that issues goes on as long as it can (fma_mufu of
// traces/hw/h200-2026-11-27-arithmetic.csv).
TEST(Issue, AWarpOfSumsGoesOnBesideAnother) {
  const auto r =
      run_timed_kernel({.launch = {.grid = {1}, .block = {256}}}, [&](KernelBuilder& k, Symbol, const auto&) {
        const Reg a = k.reg(Mod::f32), b = k.reg(Mod::f32), c = k.reg(Mod::f32), d = k.reg(Mod::f32),
                  e = k.reg(Mod::f32);
        for (int i = 0; i < 64; ++i)
          k("fma.rn.f32", i % 4 == 0 ? a : i % 4 == 1 ? b
                                       : i % 4 == 2   ? c
                                                      : d,
            e, e, e);
      });
  const auto first = r.log.of("fma", 0), other = r.log.of("fma", 4);
  EXPECT_EQ(first.back() - first.front(), 63u);
  EXPECT_GT(other.front(), first.back());
  EXPECT_EQ(other.back() - other.front(), 63u);
}

// docs/facts/timing.md §3.2: a compare to the instruction it guards takes at least 13 cycles to a branch.
TEST(Issue, GuardsWaitForTheirPredicate) {
  const auto r = run_timed_kernel({}, [&](KernelBuilder& k, Symbol, const auto&) {
    const Reg p = k.reg(Mod::pred), a = k.reg(Mod::u32), b = k.reg(Mod::u32);
    k("setp.ne.u32", p, a, b);
    k.unless(p)("xor.b32", a, a, 1);
    k("setp.eq.u32", p, a, b);
    k.when(p)("and.b32", a, a, 1);
  });
  EXPECT_EQ(r.log.of("xor").front() - r.log.of("setp").front(), 13u);
}

// Copies, packing and the constant part of addresses cost nothing (docs/function-vs-time.md, idioms).
TEST(Idioms, FoldedInstructionsTakeNoCycle) {
  const auto body = [](bool moves) {
    return [moves](KernelBuilder& k, Symbol pointer, const auto&) {
      const Reg base = k.load_param(pointer, Mod::u64);
      Reg v = k.def("ld.global.u32", mem(base));
      for (int i = 0; i < 32; ++i) {
        v = k.def("shl.b32", v, 1);
        if (moves) v = k.def("mov.b32", v);
      }
      const Reg at = moves ? k.def("add.s64", base, 64) : base;
      k("st.global.u32", moves ? mem(at) : mem(at, 64), v);
    };
  };
  const auto with = run_timed_kernel({}, body(true)), without = run_timed_kernel({}, body(false));
  EXPECT_EQ(with.result.cycles, without.result.cycles);
  EXPECT_EQ(with.memory, without.memory);
  EXPECT_EQ(with.result.warp_instructions, without.result.warp_instructions + 33);
}

}  // namespace
}  // namespace drywell::sim
