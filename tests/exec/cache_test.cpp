// Cache control changes no values, except that discarded memory has none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/async_run.h"

namespace drywell::test {
namespace {

TEST(CacheControl, HintsChangeNothing) {
  AsyncCase c;
  c.buffers = {Bytes(256, 7), Bytes(8)};
  c.body = R"(
  prefetch.global.L1 [buf0];
  prefetch.L2 [buf0];
  prefetch.global.L2::evict_last [buf0];
  prefetchu.L1 [buf0];
  applypriority.global.L2::evict_normal [buf0+128], 128;
  createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd1, 0.5;
  createpolicy.range.L2::evict_last.b64 %rd2, [buf0], 128, 256;
  createpolicy.cvt.L2.b64 %rd3, 65536;
  ld.global.L2::cache_hint.b32 %r1, [buf0], %rd1;
  @first st.global.L2::cache_hint.b32 [buf1], %r1, %rd2;
  @first st.global.L2::cache_hint.b32 [buf1+4], %r1, %rd3;
)";
  const auto memory = run_everywhere(c);
  EXPECT_EQ(memory[0], c.buffers[0]);
  EXPECT_EQ(memory[1], Bytes(8, 7));
}

// Words an H200 made (driver 580.159, CUDA 13.0).
TEST(CacheControl, PoliciesHaveTheMeasuredBits) {
  const std::vector<std::pair<std::string, uint64_t>> rows = {
      {"L2::evict_last.b64 %rd1", 0x14F0000000000000},
      {"L2::evict_last.b64 %rd1, 0.5", 0x1470000000000000},
      {"L2::evict_last.L2::evict_first.b64 %rd1, 0.25", 0x1530000000000000},
      {"L2::evict_normal.b64 %rd1, 1.0", 0x16F0000000000000},
      {"L2::evict_normal.L2::evict_unchanged.b64 %rd1, 0.0625", 0x1600000000000000},
      {"L2::evict_first.b64 %rd1", 0x12F0000000000000},
      {"L2::evict_first.L2::evict_first.b64 %rd1, 0.5", 0x1370000000000000},
      {"L2::evict_unchanged.L2::evict_first.b64 %rd1", 0x11F0000000000000}};
  AsyncCase c;
  c.buffers = {Bytes(8 * rows.size() + 8)};
  std::vector<uint64_t> want;
  for (const auto& [form, word] : rows) {
    c.body += fmt::format(R"(
  createpolicy.fractional.{};
  @first st.global.b64 [buf0+{}], %rd1;
)",
                          form, 8 * want.size());
    want.push_back(word);
  }
  c.body += fmt::format(R"(
  createpolicy.cvt.L2.b64 %rd1, 65536;
  @first st.global.b64 [buf0+{}], %rd1;
)",
                        8 * want.size());
  want.push_back(65536);
  EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(c).at(0)), want);
}

TEST(CacheControl, DiscardedMemoryIsPoisoned) {
  AsyncCase c;
  c.buffers = {Bytes(384, 7)};
  c.body = "  discard.global.L2 [buf0+128], 128;\n";
  Bytes want(384, 7);
  std::fill_n(want.begin() + 128, 128, uint8_t{0xFF});
  EXPECT_EQ(run_everywhere(c).at(0), want);
  c.body = "  discard.global.L2 [buf0+64], 128;\n";
  expect_fault(c, Code::F3002);
}

TEST(CacheControl, LegalityAgreesWithPtxas) {
  expect_illegal("discard.global.L2 [%rd1], 64", Code::E1394);
  expect_illegal("applypriority.global.L2::evict_normal [%rd1], 64", Code::E1394);
  expect_illegal("prefetch.local.L2::evict_last [%rd1]", Code::E1393);
  expect_illegal("prefetchu.L2 [%rd1]", Code::E1101);
}

}  // namespace
}  // namespace drywell::test
