// Bit fields, masks and sub-word dot products (PTX ISA 9.7.1.6, 9.7.1.17-24, 9.7.8.6), after the manual's pseudo-code.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, RowFn expect, std::function<void(uint64_t*)> prepare = {}) {
  out.push_back(lane_program("bits", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect), .prepare = std::move(prepare)}));
}

// 9.7.1.17, "fns". The offset whose magnitude does not fit 32 bits gives 0 (H200: 315 masks with each of 32 bases).
uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset) {
  const auto set = [mask](int64_t i) { return (mask >> i & 1) != 0; };
  if (offset == INT32_MIN) return 0;
  if (offset == 0) return set(base) ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  int64_t left = (offset > 0 ? int64_t{offset} : -int64_t{offset}) - 1;
  for (int64_t i = base; i >= 0 && i < 32; i += step) {
    if (set(i) && left-- == 0) return static_cast<uint32_t>(i);
  }
  return ~0u;
}

uint32_t limited(bool clamp, uint32_t v) { return clamp ? std::min(v, 32u) : v & 31; }

template <bool Clamp>
void masks(std::vector<ProgramSpec>& out) {
  const char* mode = Clamp ? "clamp" : "wrap";
  add(out, fmt::format("bmsk.{}.b32", mode), "w=ss", row([](uint32_t a, uint32_t b) -> uint32_t {
        return static_cast<uint32_t>(((uint64_t{1} << limited(Clamp, b)) - 1) << limited(Clamp, a));
      }));
  add(out, fmt::format("szext.{}.u32", mode), "w=ws", row([](uint32_t a, uint32_t b) -> uint32_t {
        return static_cast<uint32_t>(a & ((uint64_t{1} << limited(Clamp, b)) - 1));
      }));
  add(out, fmt::format("szext.{}.s32", mode), "w=ws", row([](uint32_t a, uint32_t b) -> uint32_t {
        const uint32_t n = limited(Clamp, b);
        if (n == 0) return 0;
        return static_cast<uint32_t>(static_cast<int32_t>(a << (32 - n)) >> (32 - n));
      }));
}

// 9.7.1.16: the highest bit that differs from the sign; bits of the source above `width` are zero.
void highest_bits(std::vector<ProgramSpec>& out) {
  for (const unsigned width : {32u, 64u}) {
    for (const bool is_signed : {false, true}) {
      for (const bool shift : {false, true}) {
        add(out, fmt::format("bfind{}.{}{}", shift ? ".shiftamt" : "", is_signed ? 's' : 'u', width), width == 32 ? "w=w" : "w=d", [=](const uint64_t* in, uint64_t* o) {
          const bool sign = is_signed && (in[0] >> (width - 1) & 1) != 0;
          uint32_t at = ~0u;
          for (unsigned i = 0; i < width; ++i) {
            if (((in[0] >> i & 1) != 0) != sign) at = i;
          }
          o[0] = shift && at != ~0u ? width - 1 - at : at;
        });
      }
    }
  }
}

// 9.7.9.7, the table of modes: which byte of {b, a} becomes byte k of the result.
void permutation_modes(std::vector<ProgramSpec>& out) {
  using Source = unsigned (*)(unsigned selector, unsigned k);
  const auto form = [&](const char* mode, Source source) {
    add(out, fmt::format("prmt.b32.{}", mode), "w=www", [=](const uint64_t* in, uint64_t* o) {
      const uint64_t both = in[1] << 32 | (in[0] & 0xFFFFFFFF);
      o[0] = 0;
      for (unsigned k = 0; k < 4; ++k) o[0] |= (both >> 8 * source(static_cast<unsigned>(in[2] & 3), k) & 0xFF) << 8 * k;
    });
  };
  form("f4e", [](unsigned s, unsigned k) { return s + k; });
  form("b4e", [](unsigned s, unsigned k) { return (s - k) & 7; });
  form("rc8", [](unsigned s, unsigned) { return s; });
  form("ecl", [](unsigned s, unsigned k) { return std::max(s, k); });
  form("ecr", [](unsigned s, unsigned k) { return std::min(s, k); });
  form("rc16", [](unsigned s, unsigned k) { return (s & 1) * 2 + (k & 1); });
}

int32_t byte_of(uint32_t v, unsigned i, bool is_signed) {
  return is_signed ? static_cast<int8_t>(v >> 8 * i) : static_cast<int32_t>(v >> 8 * i & 0xFF);
}
int32_t half_of(uint32_t v, unsigned i, bool is_signed) {
  return is_signed ? static_cast<int16_t>(v >> 16 * i) : static_cast<int32_t>(v >> 16 * i & 0xFFFF);
}

// Two 16-bit values in a register (9.7.1.1, 9.7.1.12, 9.7.1.13).
void pairs_of_halves(std::vector<ProgramSpec>& out) {
  using Half = int32_t (*)(int32_t, int32_t);
  const auto form = [&](const std::string& name, bool is_signed, Half f) {
    add(out, name, "w=ww", [=](const uint64_t* in, uint64_t* o) {
      const auto one = [&](unsigned i) {
        return static_cast<uint32_t>(f(half_of(static_cast<uint32_t>(in[0]), i, is_signed), half_of(static_cast<uint32_t>(in[1]), i, is_signed))) & 0xFFFF;
      };
      o[0] = one(0) | one(1) << 16;
    });
  };
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? ".s16x2" : ".u16x2";
    form("add" + type, is_signed, [](int32_t a, int32_t b) { return a + b; });
    form("min" + type, is_signed, [](int32_t a, int32_t b) { return std::min(a, b); });
    form("max" + type, is_signed, [](int32_t a, int32_t b) { return std::max(a, b); });
  }
  form("min.relu.s16x2", true, [](int32_t a, int32_t b) { return std::max(0, std::min(a, b)); });
  form("max.relu.s16x2", true, [](int32_t a, int32_t b) { return std::max(0, std::max(a, b)); });
}

const char* type32(bool is_signed) { return is_signed ? "s32" : "u32"; }

void dot_products(std::vector<ProgramSpec>& out) {
  for (const unsigned first : {0u, 2u}) {
    for (const bool sa : {false, true}) {
      for (const bool sb : {false, true}) {
        add(out, fmt::format("dp2a.{}.{}.{}", first == 0 ? "lo" : "hi", type32(sa), type32(sb)), "w=www", [=](const uint64_t* in, uint64_t* o) {
          int64_t sum = 0;
          for (unsigned i = 0; i < 2; ++i) {
            sum += int64_t{half_of(static_cast<uint32_t>(in[0]), i, sa)} * byte_of(static_cast<uint32_t>(in[1]), first + i, sb);
          }
          o[0] = static_cast<uint32_t>(static_cast<uint64_t>(sum) + in[2]);
        });
      }
    }
  }
}

uint32_t any_function(const uint64_t* in, uint32_t table) {
  uint32_t r = 0;
  for (unsigned i = 0; i < 32; ++i) r |= (table >> ((in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1)) & 1) << i;
  return r;
}

void lookup(std::vector<ProgramSpec>& out) {
  for (const uint32_t table : {0x00u, 0xE8u, 0x1Bu, 0xFFu, 0x80u}) {
    out.push_back(lane_program("bits", {.op = "lop3.b32",
                                        .operands = fmt::format("w=www#{:#x}", table),
                                        .expect = [=](const uint64_t* in, uint64_t* o) { o[0] = any_function(in, table); },
                                        .name = fmt::format("lop3.b32/table{:#x}", table)}));
  }
  for (const bool is_or : {true, false}) {
    for (const uint32_t table : {0x96u, 0xE8u, 0x01u}) {
      LaneForm f;
      f.op = fmt::format("lop3.{}.b32", is_or ? "or" : "and");
      f.operands = fmt::format("w|p=www#{:#x}p", table);
      f.name = fmt::format("{}/table{:#x}", f.op, table);
      f.expect = [=](const uint64_t* in, uint64_t* o) {
        const uint32_t r = any_function(in, table);
        o[0] = r;
        const bool any = r != 0, q = (in[3] & 1) != 0;
        o[1] = (is_or ? any || q : any && q) ? 1 : 0;
      };
      out.push_back(lane_program("bits", f));
      f.operands = fmt::format("_|p=www#{:#x}!p", table);
      f.name += ".not";
      f.expect = [all = f.expect](const uint64_t* in, uint64_t* o) {
        const uint64_t negated[] = {in[0], in[1], in[2], ~in[3]};
        uint64_t both[2];
        all(negated, both);
        o[0] = both[1];
      };
      out.push_back(lane_program("bits", std::move(f)));
    }
  }
}

// 24-bit operands (9.7.1.6): the low or the high 32 bits of the 48-bit product, plus c.
void multiply_24(std::vector<ProgramSpec>& out) {
  for (const bool is_signed : {false, true}) {
    for (const bool high : {false, true}) {
      for (const bool sat : {false, true}) {
        if (sat && !(is_signed && high)) continue;
        add(out, fmt::format("mad24.{}{}.{}", high ? "hi" : "lo", sat ? ".sat" : "", type32(is_signed)), "w=www", [=](const uint64_t* in, uint64_t* o) {
          const auto operand = [is_signed](uint64_t v) {
            return is_signed ? int64_t{static_cast<int32_t>(static_cast<uint32_t>(v) << 8) >> 8} : static_cast<int64_t>(v & 0xFFFFFF);
          };
          const int64_t product = operand(in[0]) * operand(in[1]), half = high ? product >> 16 : product;
          if (sat) {
            o[0] = static_cast<uint32_t>(std::clamp<int64_t>(int64_t{static_cast<int32_t>(half)} + static_cast<int32_t>(in[2]), INT32_MIN, INT32_MAX));
          } else {
            o[0] = static_cast<uint32_t>(static_cast<uint64_t>(half) + in[2]);
          }
        });
      }
    }
  }
}

}  // namespace

void add_bits(std::vector<ProgramSpec>& out) {
  add(out, "fns.b32", "w=wsw", row([](uint32_t mask, uint32_t base, int32_t offset) -> uint32_t { return find_nth(mask, base, offset); }),
      [](uint64_t* in) { in[1] &= 31; });
  highest_bits(out);
  permutation_modes(out);
  pairs_of_halves(out);
  masks<true>(out);
  masks<false>(out);
  dot_products(out);
  lookup(out);
  multiply_24(out);
}

}  // namespace drywell::kernels::conformance
