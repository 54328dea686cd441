// table/bits.inc against bit-by-bit definitions of the PTX ISA, written as loops over single bits.
#include <cmath>

#include "exec/check_lanes.h"

namespace drywell::test {
namespace {

constexpr size_t kCount = 600;
Column words(uint64_t seed) { return integer_values(32, kCount, seed); }
Column longs(uint64_t seed) { return integer_values(64, kCount, seed); }
Column small(uint64_t seed, uint64_t limit) {  // positions and lengths, some past the width
  Column c(kCount);
  Words w(seed);
  for (uint64_t& v : c) v = w.next() % 8 == 0 ? w.next() & 0xFFFFFFFF : w.next() % limit;
  return c;
}
int64_t sext(uint64_t v, unsigned bits) { return static_cast<int64_t>(v << (64 - bits)) >> (64 - bits); }
bool bit(uint64_t v, uint64_t i) { return (v >> i & 1) != 0; }

TEST(Bits, Counts) {
  for (const unsigned width : {32u, 64u}) {
    const std::string r = width == 32 ? "w1" : "d1", suffix = width == 32 ? ".b32 " : ".b64 ";
    const Column in = width == 32 ? words(1) : longs(1);
    check_lanes<1>("popc" + suffix + "w0, " + r + ";", "w0", {r}, {in}, [&](auto v) {
      uint32_t n = 0;
      for (unsigned i = 0; i < width; ++i) n += bit(v[0], i);
      return n;
    });
    check_lanes<1>("clz" + suffix + "w0, " + r + ";", "w0", {r}, {in}, [&](auto v) {
      uint32_t n = 0;
      while (n < width && !bit(v[0], width - 1 - n)) ++n;
      return n;
    });
    const std::string d = width == 32 ? "w0" : "d0";
    check_lanes<1>("brev" + suffix + d + ", " + r + ";", d, {r}, {in}, [&](auto v) {
      uint64_t n = 0;
      for (unsigned i = 0; i < width; ++i) n |= uint64_t{bit(v[0], i)} << (width - 1 - i);
      return n;
    });
  }
}

TEST(Bits, FindsTheHighestBitThatIsNotTheSign) {
  for (const bool is_signed : {false, true}) {
    for (const unsigned width : {32u, 64u}) {
      const std::string r = width == 32 ? "w1" : "d1",
                        type = std::string(is_signed ? ".s" : ".u") + std::to_string(width) + " ";
      const Column in = width == 32 ? words(2) : longs(2);
      const auto position = [&](uint64_t v) -> uint32_t {
        const bool sign = is_signed && bit(v, width - 1);
        for (unsigned i = width; i-- > 0;) {
          if (bit(v, i) != sign) return i;
        }
        return ~0u;
      };
      check_lanes<1>("bfind" + type + "w0, " + r + ";", "w0", {r}, {in},
                     [&](auto v) { return position(v[0]); });
      check_lanes<1>("bfind.shiftamt" + type + "w0, " + r + ";", "w0", {r}, {in}, [&](auto v) {
        const uint32_t p = position(v[0]);
        return p == ~0u ? p : width - 1 - p;
      });
    }
  }
}

// PTX ISA 9.7.1.19 and 9.7.1.20 give these loops.
TEST(Bits, Fields) {
  for (const unsigned width : {32u, 64u}) {
    const std::string r = width == 32 ? "w" : "d";
    const Column a = width == 32 ? words(3) : longs(3), b = width == 32 ? words(4) : longs(4),
                 pos = small(5, width + 3), len = small(6, width + 3);
    for (const bool is_signed : {false, true}) {
      check_lanes<3>("bfe." + std::string(is_signed ? "s" : "u") + std::to_string(width) + " " + r + "0, " +
                         r + "1, w2, w3;",
                     r + "0", {r + "1", "w2", "w3"}, {a, pos, len}, [&](auto v) {
                       const uint64_t p = v[1] & 0xFF, n = v[2] & 0xFF, msb = width - 1;
                       const bool sign = is_signed && n != 0 && bit(v[0], std::min(p + n - 1, msb));
                       uint64_t d = 0;
                       for (uint64_t i = 0; i <= msb; ++i)
                         d |= uint64_t{i < n && p + i <= msb ? bit(v[0], p + i) : sign} << i;
                       return d;
                     });
    }
    check_lanes<4>("bfi.b" + std::to_string(width) + " " + r + "0, " + r + "1, " + r + "2, w3, w4;", r + "0",
                   {r + "1", r + "2", "w3", "w4"}, {a, b, pos, len}, [&](auto v) {
                     const uint64_t p = v[2] & 0xFF, n = v[3] & 0xFF;
                     uint64_t f = v[1];
                     for (uint64_t i = 0; i < n && p + i < width; ++i)
                       f = (f & ~(uint64_t{1} << (p + i))) | uint64_t{bit(v[0], i)} << (p + i);
                     return f;
                   });
  }
}

TEST(Bits, MasksAndExtensions) {
  const Column a = words(7), pos = small(8, 40), len = small(9, 40);
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? ".clamp" : ".wrap";
    const auto limit = [clamp](uint64_t v) { return clamp ? std::min<uint64_t>(v, 32) : v & 31; };
    check_lanes<2>("bmsk" + mode + ".b32 w0, w1, w2;", "w0", {"w1", "w2"}, {pos, len}, [&](auto v) {
      uint32_t m = 0;
      for (uint64_t i = limit(v[0]); i < limit(v[0]) + limit(v[1]) && i < 32; ++i) m |= 1u << i;
      return m;
    });
    for (const bool is_signed : {false, true}) {
      check_lanes<2>("szext" + mode + (is_signed ? ".s32" : ".u32") + " w0, w1, w2;", "w0", {"w1", "w2"},
                     {a, len}, [&](auto v) -> uint64_t {
                       const uint64_t n = limit(v[1]);
                       if (n >= 32) return v[0];
                       if (n == 0) return 0;
                       return is_signed ? static_cast<uint64_t>(sext(v[0], static_cast<unsigned>(n)))
                                        : v[0] & ((uint64_t{1} << n) - 1);
                     });
    }
  }
}

TEST(Bits, FindNthSet) {
  Column base(kCount), offset(kCount);
  Words w(11);
  for (uint64_t& v : base) v = w.next() % 32;
  for (uint64_t& v : offset) v = static_cast<uint32_t>(static_cast<int32_t>(w.next() % 23) - 11);
  check_lanes<3>("fns.b32 w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"}, {words(10), base, offset},
                 [](auto v) -> uint32_t {
                   const auto n = static_cast<int32_t>(v[2]);
                   if (n == 0) return bit(v[0], v[1]) ? static_cast<uint32_t>(v[1]) : ~0u;
                   int count = std::abs(n) - 1;
                   for (auto i = static_cast<int>(v[1]); i >= 0 && i<32; i += n> 0 ? 1 : -1) {
                     if (bit(v[0], static_cast<uint64_t>(i)) && count-- == 0) return static_cast<uint32_t>(i);
                   }
                   return ~0u;
                 });
}

TEST(Bits, DotProducts) {
  const Column a = words(12), b = words(13), c = words(14);
  for (const bool sa : {false, true}) {
    for (const bool sb : {false, true}) {
      const std::string types =
          std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32") + " w0, w1, w2, w3;";
      const auto part = [](uint64_t v, unsigned k, unsigned width, bool is_signed) {
        const uint64_t e = v >> (k * width) & ((1u << width) - 1);
        return is_signed ? sext(e, width) : static_cast<int64_t>(e);
      };
      check_lanes<3>("dp4a" + types, "w0", {"w1", "w2", "w3"}, {a, b, c}, [&](auto v) {
        auto s = static_cast<int64_t>(v[2]);
        for (unsigned k = 0; k < 4; ++k) s += part(v[0], k, 8, sa) * part(v[1], k, 8, sb);
        return s;
      });
      for (const unsigned half : {0u, 1u}) {
        check_lanes<3>(std::string("dp2a") + (half != 0 ? ".hi" : ".lo") + types, "w0", {"w1", "w2", "w3"},
                       {a, b, c}, [&](auto v) {
                         auto s = static_cast<int64_t>(v[2]);
                         for (unsigned k = 0; k < 2; ++k)
                           s += part(v[0], k, 16, sa) * part(v[1], 2 * half + k, 8, sb);
                         return s;
                       });
      }
      check_lanes<3>(std::string("vabsdiff4.u32") + (sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32") +
                         ".add w0, w1, w2, w3;",
                     "w0", {"w1", "w2", "w3"}, {a, b, c}, [&](auto v) {
                       auto s = static_cast<int64_t>(v[2]);
                       for (unsigned k = 0; k < 4; ++k)
                         s += std::abs(part(v[0], k, 8, sa) - part(v[1], k, 8, sb));
                       return s;
                     });
    }
  }
  // Signed bytes of a against unsigned bytes of b, results clamped to signed bytes; halves of averages round away from zero.
  const auto clamped = [&](const std::string& name, auto of) {
    check_lanes<2>(name + ".s32.s32.u32.sat w0, w1, w2, w2;", "w0", {"w1", "w2"}, {a, b}, [&](auto v) {
      uint64_t r = 0;
      for (unsigned k = 0; k < 4; ++k) {
        const auto value = of(static_cast<int>(static_cast<int8_t>(v[0] >> 8 * k)), static_cast<int>(v[1] >> 8 * k & 0xFF));
        r |= static_cast<uint64_t>(std::clamp<int>(value, -128, 127) & 0xFF) << 8 * k;
      }
      return r;
    });
  };
  clamped("vadd4", [](int x, int y) { return x + y; });
  clamped("vsub4", [](int x, int y) { return x - y; });
  clamped("vavrg4", [](int x, int y) { return static_cast<int>(std::round((x + y) / 2.0)); });
  clamped("vmin4", [](int x, int y) { return std::min(x, y); });
  clamped("vmax4", [](int x, int y) { return std::max(x, y); });
  check_lanes<2>("vabsdiff4.u32.u32.u32 w0, w1, w2, w2;", "w0", {"w1", "w2"}, {a, b}, [](auto v) {
    uint64_t r = 0;
    for (unsigned k = 0; k < 32; k += 8)
      r |= static_cast<uint64_t>(
               std::abs(static_cast<int>(v[0] >> k & 0xFF) - static_cast<int>(v[1] >> k & 0xFF)))
           << k;
    return r;
  });
}

TEST(Bits, AnyFunctionOfThree) {
  const Column a = words(15), b = words(16), c = words(17);
  for (const unsigned table : {0u, 0xE8u, 0x96u, 0x1Bu, 0xFFu, 0x80u}) {
    const auto want = [table](auto v) {
      uint32_t r = 0;
      for (unsigned i = 0; i < 32; ++i)
        r |= (table >> (bit(v[0], i) * 4 + bit(v[1], i) * 2 + bit(v[2], i)) & 1) << i;
      return r;
    };
    check_lanes<3>("lop3.b32 w0, w1, w2, w3, " + std::to_string(table) + ";", "w0", {"w1", "w2", "w3"},
                   {a, b, c}, want);
    for (const bool both : {false, true}) {
      check_lanes<4>(std::string("lop3") + (both ? ".and" : ".or") + ".b32 _|p0, w1, w2, w3, " +
                         std::to_string(table) + ", !p1;",
                     "p0", {"w1", "w2", "w3", "p1"}, {a, b, c, small(18, 2)}, [&](auto v) {
                       const bool q = v[3] == 0, p = want(v) != 0;
                       return both ? p && q : p || q;
                     });
    }
  }
}

TEST(Bits, FunnelShifts) {
  const Column a = words(19), b = words(20), n = small(21, 40);
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? ".clamp" : ".wrap";
    const auto amount = [clamp](uint64_t v) { return clamp ? std::min<uint64_t>(v, 32) : v & 31; };
    check_lanes<3>("shf.l" + mode + ".b32 w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"}, {a, b, n}, [&](auto v) {
      const uint64_t s = amount(v[2]);
      return s == 0 ? v[1] : v[1] << s | v[0] >> (32 - s);
    });
    check_lanes<3>("shf.r" + mode + ".b32 w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"}, {a, b, n}, [&](auto v) {
      const uint64_t s = amount(v[2]);
      return s == 0 ? v[0] : v[0] >> s | v[1] << (32 - s);
    });
  }
}

TEST(Bits, Permute) {
  const Column a = words(22), b = words(23), c = words(24);
  const auto byte = [](auto v, unsigned k) {
    return (k < 4 ? v[0] >> (8 * k) : v[1] >> (8 * (k - 4))) & 0xFF;
  };
  check_lanes<3>("prmt.b32 w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"}, {a, b, c}, [&](auto v) {
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const uint64_t s = v[2] >> (4 * k) & 15, source = byte(v, s & 7);
      r |= ((s & 8) != 0 ? (source >= 128 ? 255 : 0) : source) << (8 * k);
    }
    return r;
  });
  const auto mode = [&](const std::string& name, auto source) {  // source(c, k): index of the byte that becomes byte k
    check_lanes<3>("prmt.b32." + name + " w0, w1, w2, w3;", "w0", {"w1", "w2", "w3"}, {a, b, c}, [&](auto v) {
      uint64_t r = 0;
      for (unsigned k = 0; k < 4; ++k) r |= byte(v, source(static_cast<unsigned>(v[2] & 3), k)) << (8 * k);
      return r;
    });
  };
  mode("f4e", [](unsigned s, unsigned k) { return s + k; });
  mode("b4e", [](unsigned s, unsigned k) { return (s - k) & 7; });
  mode("rc8", [](unsigned s, unsigned) { return s; });
  mode("ecl", [](unsigned s, unsigned k) { return std::max(s, k); });
  mode("ecr", [](unsigned s, unsigned k) { return std::min(s, k); });
  mode("rc16", [](unsigned s, unsigned k) { return (s & 1) * 2 + (k & 1); });
}

}  // namespace
}  // namespace drywell::test
