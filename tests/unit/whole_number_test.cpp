// Numbers of outside data: all of the text, within the type, or none.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "drywell/core/whole_number.h"

namespace drywell {
namespace {

TEST(WholeNumber, IsAllOfTheText) {
  EXPECT_EQ(whole_number<uint32_t>("4294967295"), 4294967295u);
  EXPECT_EQ(whole_number<int64_t>("-7"), -7);
  EXPECT_EQ(whole_number<uint8_t>("ff", 16), 255);
  EXPECT_EQ(whole_number<double>("1.5e3"), 1500.0);
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "1x", "0x1", "4294967296", "1.0"}) EXPECT_FALSE(whole_number<uint32_t>(text).has_value()) << text;
  for (const char* text : {"", " 1", "1,5", "1.5x", "1e999", "0x10"}) EXPECT_FALSE(whole_number<double>(text).has_value()) << text;
  EXPECT_FALSE(whole_number<double>(std::string(400, '9')).has_value());
}

TEST(WholeNumber, MayBeHexadecimal) {
  EXPECT_EQ(whole_number_or_hex<uint64_t>("0xffffffffffffffff"), ~uint64_t{0});
  EXPECT_EQ(whole_number_or_hex<uint64_t>("12"), 12u);
  for (const char* text : {"0x", "0x-1", "0xg", "x1", "0x10000000000000000"}) EXPECT_FALSE(whole_number_or_hex<int64_t>(text).has_value()) << text;
}

TEST(WholeNumber, LeadsAText) {
  std::string_view text = "128x64";
  EXPECT_EQ(leading_number<uint64_t>(text), 128u);
  EXPECT_EQ(text, "x64");
  EXPECT_FALSE(leading_number<uint64_t>(text).has_value());
  EXPECT_EQ(text, "x64");
}

}  // namespace
}  // namespace drywell
