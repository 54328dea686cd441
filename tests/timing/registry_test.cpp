// Every kernel of the table under the timed driver: the same cycles for any number of host threads, and without the tensor core's values.
#include <gtest/gtest.h>

#include "support/kernel_run.h"
#include "support/ptx_run.h"
#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

struct Words {
  const char* text;
  const char* arch = "sm_100a";
};

const Words kSmall[] = {
    {"amax --rows=128 --columns=512"},
    {"fused-rht --m=256 --n=512"},
    {"gemm-bf16 --m=256 --n=256 --k=128 --bn=64"},
    {"gemm-blockscaled --m=256 --n=256 --k=512 --bn=64"},
    {"gemm-blockwise --m=256 --n=256 --k=256"},
    {"gemm-fp8 --m=256 --n=256 --k=256 --bn=64"},
    {"gemm-sm120-blockscaled --m=256 --n=256 --k=512", "sm_120a"},
    {"gemm-sm90-blockwise --m=256 --n=256 --k=256", "sm_90a"},
    {"interleave-shards --shards=4 --rows=64"},
    {"linear-nvfp4 --tokens=128 --in=128 --out=128"},
    {"quantize-fp8 --rows=256 --columns=512"},
    {"quantize-nvfp4 --rows=128 --columns=256"},
    {"quantize-nvfp4-2d --rows=128 --columns=256"},
    {"rht-amax --rows=128 --columns=256"},
    {"swizzle-sf --rows=256 --columns=16"},
    {"tma-copy --rows=300 --columns=200"},
};

kernels::KernelReport run(const Words& w, unsigned threads, bool values = true) {
  const test::KernelWords words(w.text);
  kernels::RunContext context;
  context.params = words.params;
  context.arch = w.arch;
  context.options.driver = DriverKind::timed;
  context.options.threads = threads;
  context.options.values = values;
  return words.kernel->run(context);
}

void expect_equal_times(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.warp_instructions, b.warp_instructions);
  ASSERT_EQ(a.timing != nullptr, b.timing != nullptr);
  if (a.timing != nullptr) {
    EXPECT_EQ(to_text(*a.timing), to_text(*b.timing));
  }
}

class EveryKernel : public testing::TestWithParam<Words> {};

TEST_P(EveryKernel, TakesTheSameCyclesForAnyNumberOfThreadsAndWithoutValues) {
  const auto one = run(GetParam(), 1);
  ASSERT_TRUE(one.run.ok()) << one.run.fault->to_string();
  EXPECT_GT(one.run.cycles, 0u);
  expect_equal_times(run(GetParam(), 5).run, one.run);
  expect_equal_times(run(GetParam(), 2, false).run, one.run);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryKernel, testing::ValuesIn(kSmall), [](const auto& p) { return test::words_name(p.param.text); });

TEST(EveryKernelOfTheTable, IsHere) {
  ASSERT_EQ(std::size(kSmall), kernels::all_kernels().size());
  for (size_t i = 0; i < std::size(kSmall); ++i) EXPECT_EQ(test::KernelWords(kSmall[i].text).kernel, &kernels::all_kernels()[i]) << kSmall[i].text;
}

// ptxas turns a jump over at most ten instructions into predicates (sim/timing/predication.h), which need no values.
constexpr int kLongerThanPredicated = 21;

// A jump that depends on a product cannot be timed without the product.
TEST(WithoutValues, RefusesControlFlowThatNeedsThem) {
  const auto body = [](bool branches) {
    return [branches](isa::KernelBuilder& k, isa::Symbol pointer, const auto&) {
      const isa::Symbol slot = k.shared("slot", 4, 4);
      k("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", isa::mem(slot), 32);
      const isa::Reg tmem = k.def("ld.shared.b32", isa::mem(slot)), stop = k.reg(isa::Mod::pred);
      const isa::RegArray v = k.regs(isa::Mod::b32, 1);
      k("tcgen05.ld.sync.aligned.32x32b.x1.b32", v, isa::mem(tmem));
      k("tcgen05.wait::ld.sync.aligned");
      const isa::Reg doubled = k.def("shl.b32", v[0], 1), to = k.load_param(pointer, isa::Mod::u64);
      k("setp.eq.u32", stop, doubled, 4);
      if (branches) {
        k.if_(stop, [&] {
          for (int i = 0; i < kLongerThanPredicated; ++i) k("st.global.u32", isa::mem(to, 4 * i), doubled);
        });
      } else {
        k.when(stop)("st.global.u32", isa::mem(to), doubled);
      }
      k("tcgen05.dealloc.cta_group::1.sync.aligned.b32", tmem, 32);
    };
  };
  try {
    run_timed_kernel({.values = false}, body(true));
    FAIL() << "it ran";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("E4522"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(run_timed_kernel({.values = true}, body(true)));
  EXPECT_NO_THROW(run_timed_kernel({.values = false}, body(false)));
}

}  // namespace
}  // namespace drywell::sim
