// Every kernel this project ships prints as PTX that reads back as the same text, and that ptxas accepts.
#include <gtest/gtest.h>

#include <string>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"
#include "kernels/registry.h"
#include "support/ptxas.h"

namespace drywell::kernels {
namespace {

class KernelPtx : public testing::TestWithParam<size_t> {
 protected:
  const Kernel& kernel() const { return all_kernels()[GetParam()]; }
  isa::Module build() const {
    return kernel().build(Params(kernel().name, kernel().parameters, {}), sim::load_arch("sm_100a"));
  }
};

TEST_P(KernelPtx, ReadsBackAsItIsPrinted) {
  const std::string printed = isa::print_module(build());
  const isa::ParseResult read = isa::parse_ptx(printed, "kernel.ptx");
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.to_string();
  EXPECT_TRUE(isa::validate(read.module).empty());
  EXPECT_EQ(isa::print_module(read.module), printed);
}

TEST_P(KernelPtx, Assembles) {
  const isa::Module module = build();
  const auto verdict = test::run_ptxas(isa::print_module(module), std::string(isa::target_name(module.target)));
  if (!verdict)
    GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  EXPECT_TRUE(verdict->accepted) << verdict->output;
}

INSTANTIATE_TEST_SUITE_P(All, KernelPtx, testing::Range<size_t>(0, all_kernels().size()),
                         [](const auto& tested) {
                           std::string name;
                           for (const char c : all_kernels()[tested.param].name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace drywell::kernels
