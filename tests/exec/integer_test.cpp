// table/alu.inc beyond plain sums, against 64-bit arithmetic of the host.
#include <algorithm>

#include "exec/check_lanes.h"

namespace drywell::test {
namespace {

constexpr size_t kCount = 500;
int64_t sext(uint64_t v, unsigned bits) { return static_cast<int64_t>(v << (64 - bits)) >> (64 - bits); }
Column words(uint64_t seed) { return integer_values(32, kCount, seed); }

TEST(Integer, SumOfAbsoluteDifferences) {
  for (const unsigned bits : {16u, 32u, 64u}) {
    const std::string r = bits == 16 ? "h" : bits == 32 ? "w" : "d";
    for (const bool is_signed : {false, true}) {
      check_lanes<3>(
          "sad." + std::string(is_signed ? "s" : "u") + std::to_string(bits) + " " + r + "0, " + r + "1, " +
              r + "2, " + r + "3;",
          r + "0", {r + "1", r + "2", r + "3"},
          {integer_values(bits, kCount, 1), integer_values(bits, kCount, 2), integer_values(bits, kCount, 3)},
          [&](auto v) {
            const bool less = is_signed ? sext(v[0], bits) < sext(v[1], bits) : v[0] < v[1];
            return v[2] + (less ? v[1] - v[0] : v[0] - v[1]);
          });
    }
  }
}

TEST(Integer, Products24) {
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? ".s32 " : ".u32 ";
    const auto product = [is_signed](uint64_t a, uint64_t b) {
      return is_signed ? sext(a, 24) * sext(b, 24) : static_cast<int64_t>((a & 0xFFFFFF) * (b & 0xFFFFFF));
    };
    check_lanes<2>("mul24.lo" + type + "w0, w1, w2;", "w0", {"w1", "w2"}, {words(1), words(2)},
                   [&](auto v) { return product(v[0], v[1]); });
    check_lanes<2>("mul24.hi" + type + "w0, w1, w2;", "w0", {"w1", "w2"}, {words(1), words(2)},
                   [&](auto v) { return product(v[0], v[1]) >> 16; });
    check_lanes<3>("mad24.lo" + type + "w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"},
                   {words(1), words(2), words(3)},
                   [&](auto v) { return product(v[0], v[1]) + sext(v[2], 32); });
    check_lanes<3>("mad24.hi" + type + "w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"},
                   {words(1), words(2), words(3)},
                   [&](auto v) { return (product(v[0], v[1]) >> 16) + sext(v[2], 32); });
  }
  check_lanes<3>("mad24.hi.sat.s32 w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"}, {words(1), words(2), words(3)},
                 [](auto v) {
                   return std::clamp<int64_t>(((sext(v[0], 24) * sext(v[1], 24)) >> 16) + sext(v[2], 32),
                                              INT32_MIN, INT32_MAX);
                 });
}

TEST(Integer, PackedPairs) {
  const auto both = [](auto f) {
    return [f](auto v) {
      const auto one = [&](unsigned s) {
        return static_cast<uint64_t>(f(v[0] >> s & 0xFFFF, v[1] >> s & 0xFFFF)) & 0xFFFF;
      };
      return one(16) << 16 | one(0);
    };
  };
  const auto run = [&](const std::string& op, auto f) {
    check_lanes<2>(op + " w0, w1, w2;", "w0", {"w1", "w2"}, {words(4), words(5)}, both(f));
  };
  run("add.u16x2", [](uint64_t a, uint64_t b) { return a + b; });
  run("add.s16x2", [](uint64_t a, uint64_t b) { return a + b; });
  run("min.u16x2", [](uint64_t a, uint64_t b) { return std::min(a, b); });
  run("max.u16x2", [](uint64_t a, uint64_t b) { return std::max(a, b); });
  run("min.s16x2", [](uint64_t a, uint64_t b) { return std::min(sext(a, 16), sext(b, 16)); });
  run("max.s16x2", [](uint64_t a, uint64_t b) { return std::max(sext(a, 16), sext(b, 16)); });
  run("min.relu.s16x2",
      [](uint64_t a, uint64_t b) { return std::max<int64_t>(0, std::min(sext(a, 16), sext(b, 16))); });
  run("max.relu.s16x2",
      [](uint64_t a, uint64_t b) { return std::max<int64_t>(0, std::max(sext(a, 16), sext(b, 16))); });
}

TEST(Integer, QuotientsOfEveryWidth) {
  for (const unsigned bits : {16u, 32u, 64u}) {
    const std::string r = bits == 16 ? "h" : bits == 32 ? "w" : "d";
    Column b = integer_values(bits, kCount, 7);
    std::replace(b.begin(), b.end(), uint64_t{0}, uint64_t{3});
    for (const bool is_signed : {false, true}) {
      const std::string tail = std::string(is_signed ? ".s" : ".u") + std::to_string(bits) + " " + r + "0, " +
                               r + "1, " + r + "2;";
      const auto minus_one = [&](uint64_t v) { return is_signed && sext(v, bits) == -1; };
      check_lanes<2>("div" + tail, r + "0", {r + "1", r + "2"}, {integer_values(bits, kCount, 6), b},
                     [&](auto v) -> uint64_t {
                       if (minus_one(v[1])) return 0 - v[0];
                       return is_signed ? static_cast<uint64_t>(sext(v[0], bits) / sext(v[1], bits))
                                        : v[0] / v[1];
                     });
      check_lanes<2>("rem" + tail, r + "0", {r + "1", r + "2"}, {integer_values(bits, kCount, 6), b},
                     [&](auto v) -> uint64_t {
                       if (minus_one(v[1])) return 0;
                       return is_signed ? static_cast<uint64_t>(sext(v[0], bits) % sext(v[1], bits))
                                        : v[0] % v[1];
                     });
    }
  }
}

}  // namespace
}  // namespace drywell::test
