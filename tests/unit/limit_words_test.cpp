#include "drywell/sim/limit_words.h"

#include <gtest/gtest.h>

#include "drywell/core/error.h"

namespace drywell::sim {
namespace {

TEST(LimitWords, Seconds) {
  EXPECT_EQ(parse_seconds("90"), 90);
  EXPECT_EQ(parse_seconds("0.5"), 0.5);
  EXPECT_EQ(parse_seconds("2s"), 2);
  EXPECT_EQ(parse_seconds("5m"), 300);
  EXPECT_EQ(parse_seconds("1h"), 3600);
  for (const char* wrong : {"", "-1", "nan", "inf", "1d", "5 m", "m", "1e", "0x10", "1,5"})
    EXPECT_THROW(parse_seconds(wrong), InputError) << wrong;
}

TEST(LimitWords, Bytes) {
  EXPECT_EQ(parse_bytes("1234"), 1234u);
  EXPECT_EQ(parse_bytes("512M"), uint64_t{512} << 20);
  EXPECT_EQ(parse_bytes("8GiB"), uint64_t{8} << 30);
  EXPECT_EQ(parse_bytes("3KB"), 3072u);
  EXPECT_EQ(parse_bytes("16777215T"), uint64_t{16777215} << 40);
  for (const char* wrong : {"", "-1", "M", "1.5G", "8X", "8Gib", "16777216T", "18446744073709551616", "5 M"})
    EXPECT_THROW(parse_bytes(wrong), InputError) << wrong;
}

TEST(LimitWords, AreTheBoundsOfARun) {
  RunOptions o;
  set_limits({}, o);
  EXPECT_FALSE(o.deadline.has_value());
  const auto now = std::chrono::steady_clock::now();
  set_limits({.instructions = 5, .cycles = 6, .timeout = "100", .memory = "7K"}, o);
  EXPECT_EQ(o.max_instructions, 5u);
  EXPECT_EQ(o.max_cycles, 6u);
  EXPECT_EQ(o.max_memory, 7168u);
  ASSERT_TRUE(o.deadline.has_value());
  EXPECT_GE(*o.deadline, now + std::chrono::seconds(100));
  EXPECT_THROW(set_limits_of_driver({.cycles = 6}, o), InputError) << "the driver has no clock";
  RunProgress progress;
  o.progress = &progress;
  RunOptions other;
  copy_limits(o, other);
  EXPECT_EQ(other.progress, &progress);
  EXPECT_EQ(other.deadline, o.deadline);
  EXPECT_EQ(other.max_cycles, 6u);
}

TEST(LimitWords, ABoundThatEndedARunIsAnError) {
  RunResult r;
  EXPECT_NO_THROW(expect_within_limits(r));
  r.fault = Fault{Code::F3001, "an access", {}};
  EXPECT_NO_THROW(expect_within_limits(r)) << "a fault of the kernel's own is a result";
  r.fault->code = Code::F3605;
  EXPECT_THROW(expect_within_limits(r), InputError);
}

}  // namespace
}  // namespace drywell::sim
