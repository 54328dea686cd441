// The GEMM kernels: bit for bit against the reference in every format, tile and layout, the same memory under every driver,
// and PTX that ptxas takes.
#include <gtest/gtest.h>

#include <sstream>

#include "drywell/isa/print.h"
#include "kernels/registry.h"
#include "support/ptxas.h"

namespace drywell::kernels {
namespace {

/// "gemm-bf16 --m=128 --n=64" as a kernel and its parameters.
struct Words {
  explicit Words(const std::string& text) {
    std::istringstream in(text);
    std::string word;
    in >> word;
    kernel = &find_kernel(word);
    std::vector<std::pair<std::string, std::string>> given;
    while (in >> word) {
      const size_t equals = word.find('=');
      given.emplace_back(word.substr(2, equals - 2), equals == std::string::npos ? "" : word.substr(equals + 1));
    }
    params = Params(kernel->name, kernel->parameters, given);
  }
  const Kernel* kernel = nullptr;
  Params params;
};

KernelReport run_gemm(const std::string& text, sim::DriverKind driver, uint64_t seed = 0) {
  const Words w(text);
  RunContext c;
  c.params = w.params;
  c.options.driver = driver;
  c.options.seed = seed;
  c.verify = driver == sim::DriverKind::eager;
  c.keep_outputs = true;
  return w.kernel->run(c);
}

class Gemm : public testing::TestWithParam<const char*> {};

TEST_P(Gemm, EqualsTheReferenceAndDoesNotDependOnTheDriver) {
  const KernelReport eager = run_gemm(GetParam(), sim::DriverKind::eager);
  ASSERT_TRUE(eager.run.ok()) << eager.run.fault->to_string();
  EXPECT_TRUE(eager.verify.passed()) << eager.verify.mismatches << " mismatches, " << eager.verify.first_mismatch;
  const auto& want = eager.outputs.at(0).second.data;
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::shuffled, 2}}) {
    const KernelReport other = run_gemm(GetParam(), driver, static_cast<uint64_t>(seed));
    ASSERT_TRUE(other.run.ok()) << other.run.fault->to_string();
    EXPECT_TRUE(other.outputs.at(0).second.data == want) << driver_name(driver) << " " << seed;
  }
}

TEST_P(Gemm, Assembles) {
  const Words w(GetParam());
  const auto verdict = test::run_ptxas(isa::print_module(w.kernel->build(w.params, sim::load_arch("sm_100a"))), "sm_100a");
  if (!verdict) GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  EXPECT_TRUE(verdict->accepted) << verdict->output;
}

INSTANTIATE_TEST_SUITE_P(Bf16, Gemm, testing::Values(
    "gemm-bf16 --m=128 --n=128 --k=64 --d-type=f32",
    "gemm-bf16 --m=300 --n=200 --k=200 --distribution=codes --d-type=f32",
    "gemm-bf16 --m=100 --n=72 --k=328 --bn=64 --alpha=-0.5 --beta=2",
    "gemm-bf16 --m=256 --n=448 --k=136 --bn=192 --d-type=f16 --type=f16",
    "gemm-bf16 --m=129 --n=264 --k=512 --bn=256 --stages=2 --beta=0.75 --d-type=f32 --distribution=heavy-tailed",
    "gemm-bf16 --m=304 --n=200 --k=71 --a-major=mn --b-major=mn --d-type=f16 --beta=-1",
    "gemm-bf16 --m=136 --n=136 --k=72 --a-major=mn --bn=64 --type=f16 --distribution=codes",
    "gemm-bf16 --m=128 --n=400 --k=72 --b-major=mn --bn=192"));

TEST(GemmTimed, GivesTheSameMemory) {
  for (const char* text : {"gemm-bf16 --m=256 --n=200 --k=256 --beta=1"}) {
    const KernelReport eager = run_gemm(text, sim::DriverKind::eager), timed = run_gemm(text, sim::DriverKind::timed);
    ASSERT_TRUE(timed.run.ok()) << timed.run.fault->to_string();
    EXPECT_TRUE(eager.verify.passed()) << text;
    EXPECT_TRUE(timed.outputs.at(0).second.data == eager.outputs.at(0).second.data) << text;
    EXPECT_GT(timed.run.cycles, 0u);
  }
}

TEST(GemmErrors, SayWhatDoesNotFit) {
  const auto code_of = [](const char* text) -> std::string {
    try {
      run_gemm(text, sim::DriverKind::eager);
    } catch (const InputError& e) {
      return std::string(e.code());
    }
    return "";
  };
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=8 --k=12"), "E2302");
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=9 --k=16"), "E2302");
  EXPECT_EQ(code_of("gemm-bf16 --m=9 --n=8 --k=16 --a-major=mn"), "E2302");
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=8 --k=16 --stages=16"), "E2301");
  EXPECT_EQ(code_of("gemm-bf16 --m=8 --n=8 --k=16 --a=/nowhere.npy"), "E4001");
}

}  // namespace
}  // namespace drywell::kernels
