// Every form of the tensor family of the conformance suite, with a comparison of the whole tensor memory: no other
// cell may change. The suite's own test runs them under the other drivers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "support/tensor_run.h"

namespace drywell::test {
namespace {

using kernels::conformance::TensorCheck;
using kernels::conformance::TensorSpec;

class Tcgen05Forms : public testing::TestWithParam<TensorSpec> {};

TEST_P(Tcgen05Forms, LeaveTheExpectedTensorMemory) {
  TensorCheck check = GetParam().make();
  check.program.target = GetParam().target;
  constexpr sim::DriverKind kDrivers[] = {sim::DriverKind::shuffled, sim::DriverKind::timed};
  expect_tensor(check.program, check.images, check.expected, kDrivers);
}

INSTANTIATE_TEST_SUITE_P(, Tcgen05Forms, testing::ValuesIn(kernels::conformance::tensor_specs()),
                         [](const auto& p) {
                           std::string name = p.param.name;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char ch) { return std::isalnum(ch) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace drywell::test
