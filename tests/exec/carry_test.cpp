// Carry chains that no conformance program has (conformance/programs/carry.cpp), against 128-bit arithmetic of the host.
#include "exec/check_lanes.h"

namespace drywell::test {
namespace {

__extension__ using U128 = unsigned __int128;
__extension__ using I128 = __int128;
constexpr size_t kCount = 500;

U128 join(uint64_t low, uint64_t high) { return static_cast<U128>(high) << 64 | low; }
Column longs(uint64_t seed) { return integer_values(64, kCount, seed); }

void check_wide(const std::string& body, auto expected) {
  const std::vector<Column> in = {longs(1), longs(2), longs(3), longs(4)};
  const auto out = run_lanes(body, {"d0", "d1"}, {"d2", "d3", "d4", "d5"}, in);
  for (size_t i = 0; i < kCount; ++i) {
    const U128 want = expected(join(in[0][i], in[1][i]), join(in[2][i], in[3][i]));
    ASSERT_EQ(out[0][i], static_cast<uint64_t>(want)) << body << i;
    ASSERT_EQ(out[1][i], static_cast<uint64_t>(want >> 64)) << body << i;
  }
}

// After a subtraction CC.CF is the carry out of the addition of the complement: set if there was no borrow. nvcc's 128-bit
// division tests a borrow with addc.
TEST(Carry, SumsReadTheBorrowOfDifferences) {
  check_lanes<2>("sub.cc.u64 d0, d1, d2; addc.u64 d0, 0, 0;", "d0", {"d1", "d2"}, {longs(7), longs(8)},
                 [](auto v) { return v[0] >= v[1]; });
  check_lanes<2>("add.cc.u64 d0, d1, d2; subc.u64 d0, 0, 0;", "d0", {"d1", "d2"}, {longs(7), longs(8)},
                 [](auto v) { return v[0] + v[1] < v[0] ? 0 : ~uint64_t{0}; });
}

TEST(Carry, LongProducts) {
  check_wide(
      "mul.lo.u64 d0, d2, d4; mul.hi.u64 d1, d2, d4; mad.lo.cc.u64 d0, d2, d5, d0; madc.hi.u64 d1, d2, d5, "
      "d1;",
      [](U128 a, U128 b) {
        const uint64_t a0 = static_cast<uint64_t>(a), b0 = static_cast<uint64_t>(b),
                       b1 = static_cast<uint64_t>(b >> 64);
        const U128 p = static_cast<U128>(a0) * b0, q = static_cast<U128>(a0) * b1;
        const uint64_t low = static_cast<uint64_t>(p) + static_cast<uint64_t>(q);
        return join(low, static_cast<uint64_t>(p >> 64) + static_cast<uint64_t>(q >> 64) +
                             (low < static_cast<uint64_t>(p)));
      });
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? ".s64" : ".u64";
    check_wide("mad.hi.cc" + type + " d0, d2, d3, d4; madc.lo" + type + " d1, d2, d3, d5;",
               [is_signed](U128 a, U128 b) {
                 const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(a >> 64),
                            c = static_cast<uint64_t>(b), e = static_cast<uint64_t>(b >> 64);
                 const U128 p = is_signed ? static_cast<U128>(static_cast<I128>(static_cast<int64_t>(x)) *
                                                              static_cast<int64_t>(y))
                                          : static_cast<U128>(x) * y;
                 const uint64_t high = static_cast<uint64_t>(p >> 64), low = high + c;
                 return join(low, x * y + e + (low < high));
               });
  }
}

}  // namespace
}  // namespace drywell::test
