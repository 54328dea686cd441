// Tensor maps byte for byte as an H200's driver makes them (tests/data/tensor_map/h200.txt), both ways.
#include <gtest/gtest.h>

#include "support/h200_tensor_maps.h"

namespace drywell::isa {
namespace {

TEST(TensorMapOfTheDriver, HasTheSameBytes) {
  size_t compared = 0;
  for (const test::DriverTensorMap& m : test::h200_tensor_maps()) {
    SCOPED_TRACE(m.line);
    EXPECT_EQ(encode(m.fields, 90).bytes, m.bytes.bytes);
    EXPECT_TRUE(is_by_driver(m.bytes));
    Diagnostics problems;
    EXPECT_EQ(decode(m.bytes, problems), m.fields);
    EXPECT_TRUE(problems.empty()) << problems.to_string();
    ++compared;
  }
  EXPECT_GE(compared, 90u);
}

}  // namespace
}  // namespace drywell::isa
