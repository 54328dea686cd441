// Packing and unpacking of every shape ptxas takes.
#include "exec/check_lanes.h"

namespace drywell::test {
namespace {

constexpr size_t kCount = 100;
Column words(unsigned bits, uint64_t seed) { return integer_values(bits, kCount, seed); }

TEST(Move, Packs) {
  check_lanes<2>("mov.b32 w0, {h1, h2};", "w0", {"h1", "h2"}, {words(16, 1), words(16, 2)},
                 [](auto v) { return v[0] | v[1] << 16; });
  check_lanes<4>("mov.b32 w0, {b1, b2, b3, b4};", "w0", {"b1", "b2", "b3", "b4"},
                 {words(8, 1), words(8, 2), words(8, 3), words(8, 4)},
                 [](auto v) { return v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24; });
  check_lanes<2>("mov.b16 h0, {b1, b2};", "h0", {"b1", "b2"}, {words(8, 1), words(8, 2)},
                 [](auto v) { return v[0] | v[1] << 8; });
  check_lanes<2>("mov.b64 d0, {w1, w2};", "d0", {"w1", "w2"}, {words(32, 1), words(32, 2)},
                 [](auto v) { return v[0] | v[1] << 32; });
  check_lanes<1>("mov.b64 d0, {w1, 5};", "d0", {"w1"}, {words(32, 1)},
                 [](auto v) { return v[0] | uint64_t{5} << 32; });
  check_lanes<4>("mov.b64 d0, {h1, h2, h3, h4};", "d0", {"h1", "h2", "h3", "h4"},
                 {words(16, 1), words(16, 2), words(16, 3), words(16, 4)},
                 [](auto v) { return v[0] | v[1] << 16 | v[2] << 32 | v[3] << 48; });
}

TEST(Move, Unpacks) {
  check_lanes<1>("mov.b32 {_, h0}, w1;", "h0", {"w1"}, {words(32, 3)}, [](auto v) { return v[0] >> 16; });
  check_lanes<1>("mov.b32 {b1, b2, b0, b3}, w1;", "b0", {"w1"}, {words(32, 3)},
                 [](auto v) { return v[0] >> 16; }, {"b1", "b2", "b3"});
  check_lanes<1>("mov.b16 {b1, b0}, h1;", "b0", {"h1"}, {words(16, 3)}, [](auto v) { return v[0] >> 8; },
                 {"b1"});
  check_lanes<1>("mov.b64 {w0, w2}, d1;", "w2", {"d1"}, {words(64, 3)}, [](auto v) { return v[0] >> 32; },
                 {"w0"});
  check_lanes<1>("mov.b64 {h1, h2, h0, h3}, d1;", "h0", {"d1"}, {words(64, 3)},
                 [](auto v) { return v[0] >> 32; }, {"h1", "h2", "h3"});
}

// Through a 128-bit register and back, with the other element width.
TEST(Move, WholeQuads) {
  const std::array<Column, 2> in = {words(64, 4), words(64, 5)};
  const std::string quad = "{ .reg .b128 q; ";
  check_lanes<2>(quad + "mov.b128 q, {d1, d2}; mov.b128 {w0, w1, w2, w3}, q; mov.b64 d0, {w1, w2}; }", "d0",
                 {"d1", "d2"}, in, [](auto v) { return v[0] >> 32 | v[1] << 32; }, {"w0", "w1", "w2", "w3"});
  check_lanes<2>(
      quad +
          "mov.b64 {w0, w1}, d1; mov.b64 {w2, w3}, d2; mov.b128 q, {w3, w0, w1, w2}; mov.b128 {d3, d0}, q; }",
      "d0", {"d1", "d2"}, in, [](auto v) { return v[0] >> 32 | v[1] << 32; }, {"w0", "w1", "w2", "w3", "d3"});
}

}  // namespace
}  // namespace drywell::test
