// Conversions (PTX ISA 9.7.9.21): integers, floats of every width, packed narrow formats, stochastic rounding
// (docs/facts/numerics.md §2).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

using ieee::Encode;
using ieee::Number;
using ieee::Round;

void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, RowFn expect) {
  // PTX does not specify the code of a float64 NaN.
  const Compare compare = operands[0] == 'g' ? Compare::any_nan : Compare::bits;
  out.push_back(lane_program("cvt", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect), .compare = compare}));
}

// ---- integers

struct IntType {
  const char* name;
  char letter;  // letter of its register: 8-bit values are in 16-bit registers
  unsigned bits;
  bool is_signed;
};
constexpr IntType kIntTypes[] = {{"u8", 'h', 8, false}, {"s8", 'h', 8, true}, {"u16", 'h', 16, false}, {"s16", 'h', 16, true}, {"u32", 'w', 32, false}, {"s32", 'w', 32, true}, {"u64", 'd', 64, false}, {"s64", 'd', 64, true}};

__extension__ typedef __int128 Wide;

Wide value(const IntType& t, uint64_t bits) {
  const unsigned unused = 64 - t.bits;
  return t.is_signed ? Wide{static_cast<int64_t>(bits << unused) >> unused} : Wide{bits << unused >> unused};
}
Wide least(const IntType& t) { return t.is_signed ? -(Wide{1} << (t.bits - 1)) : 0; }
Wide most(const IntType& t) { return (Wide{1} << (t.is_signed ? t.bits - 1 : t.bits)) - 1; }
unsigned register_bits(const IntType& t) { return t.letter == 'h' ? 16 : t.bits; }
// A result narrower than its register is extended by its type.
uint64_t in_register(const IntType& t, Wide v) {
  const uint64_t extended = static_cast<uint64_t>(value(t, static_cast<uint64_t>(v)));
  return register_bits(t) == 64 ? extended : extended & ((uint64_t{1} << register_bits(t)) - 1);
}

void integers(std::vector<ProgramSpec>& out) {
  for (const IntType& d : kIntTypes) {
    for (const IntType& s : kIntTypes) {
      const std::string operands = fmt::format("{}={}", d.letter, s.letter);
      add(out, fmt::format("cvt.{}.{}", d.name, s.name), operands, [d, s](const uint64_t* in, uint64_t* r) { r[0] = in_register(d, value(s, in[0])); });
      if (least(s) >= least(d) && most(s) <= most(d)) continue;  // .sat has no effect
      add(out, fmt::format("cvt.sat.{}.{}", d.name, s.name), operands,
          [d, s](const uint64_t* in, uint64_t* r) { r[0] = in_register(d, std::clamp(value(s, in[0]), least(d), most(d))); });
    }
  }
}

// A source may be in a wider register, of which the low bits count, and so may a result, which is extended (9.7.9.21).
void wider_registers(std::vector<ProgramSpec>& out) {
  const auto form = [&](std::string op, std::string operands, RowFn expect) {
    out.push_back(lane_program("cvt", {.op = op, .operands = std::move(operands), .expect = std::move(expect), .name = op + ".wide"}));
  };
  form("cvt.s32.s8", "w=d", row([](uint64_t a) -> int32_t { return static_cast<int8_t>(a); }));
  form("cvt.u64.u16", "d=d", row([](uint64_t a) -> uint64_t { return a & 0xFFFF; }));
  form("cvt.s8.s32", "d=w", row([](uint32_t a) -> int64_t { return static_cast<int8_t>(a); }));
  form("cvt.sat.s8.s32", "d=w", row([](int32_t a) -> int64_t { return std::clamp(a, -128, 127); }));
  form("cvt.sat.s16.s32", "w=w", row([](int32_t a) -> int32_t { return std::clamp(a, -32768, 32767); }));
  form("cvt.rn.f32.u8", "f=d", row([](uint64_t a) -> float { return static_cast<float>(a & 0xFF); }));
  form("cvt.rzi.s16.f32", "d=f", row([](float a) -> int64_t { return std::isnan(a) ? 0 : static_cast<int64_t>(std::clamp(a, -32768.0f, 32767.0f)); }));
}

// ---- floats

struct FloatType {
  const char* name;
  char letter;
  ieee::Format format;
};
constexpr FloatType kF16{"f16", 'e', ieee::kF16}, kBf16{"bf16", 'k', ieee::kBf16}, kF32{"f32", 'f', ieee::kF32}, kF64{"f64", 'g', ieee::kF64};
constexpr Round kRounds[] = {Round::rn, Round::rz, Round::rm, Round::rp};
/// Has conversions with .sat, and from and to 8-bit integers.
bool complete(const FloatType& t) { return t.letter != kBf16.letter; }
/// Letter of the operands of a rounding conversion: ties are among them.
char source(const FloatType& t) { return t.letter == 'f' ? 'n' : t.letter == 'g' ? 'm'
                                                                                 : t.letter; }

const char* text(Round r) {
  switch (r) {
    case Round::rz: return "rz";
    case Round::rm: return "rm";
    case Round::rp: return "rp";
    case Round::rna: return "rna";
    default: return "rn";
  }
}

Number number(const IntType& t, uint64_t bits) {
  Wide v = value(t, bits);
  Number n;
  n.negative = v < 0;
  if (v < 0) v = -v;
  n.magnitude = static_cast<uint64_t>(v);
  return n;
}

void int_to_float(std::vector<ProgramSpec>& out) {
  for (const FloatType& d : {kF16, kBf16, kF32, kF64}) {
    for (const IntType& s : kIntTypes) {
      if (s.bits == 8 && !complete(d)) continue;
      for (const Round r : kRounds) {
        for (const bool sat : {false, true}) {
          if (sat && !complete(d)) continue;
          add(out, fmt::format("cvt.{}{}.{}.{}", text(r), sat ? ".sat" : "", d.name, s.name), fmt::format("{}={}", d.letter, s.letter),
              [d, s, r, sat](const uint64_t* in, uint64_t* o) { o[0] = ieee::encode(d.format, number(s, in[0]), {.round = r, .saturate = sat}); });
        }
      }
    }
  }
}

// Rounds to an integer in a direction, then clamps to the type. NaN: 0, or only the top bit set where a 64-bit type is
// involved (9.7.9.21, "float-to-integer conversions").
uint64_t to_integer(const IntType& d, const ieee::Format& f, const Number& n, Round r) {
  if (n.kind == Number::Kind::nan) return f.bits() == 64 || d.bits == 64 ? in_register(d, Wide{1} << (d.bits - 1)) : 0;
  if (n.kind == Number::Kind::infinite) return in_register(d, n.negative ? least(d) : most(d));
  ieee::Int whole = n.exponent >= 0 ? ieee::Int(n.magnitude << n.exponent) : ieee::Int(n.magnitude >> -n.exponent);
  if (n.exponent < 0) {
    const ieee::Int rest = n.magnitude - (whole << -n.exponent), half = ieee::Int(1) << (-n.exponent - 1);
    const bool up = r == Round::rn   ? rest > half || (rest == half && (whole & 1) != 0)
                    : r == Round::rm ? n.negative && rest != 0
                    : r == Round::rp ? !n.negative && rest != 0
                                     : false;
    if (up) whole += 1;
  }
  const Wide magnitude = whole < ieee::Int(1) << 64 ? Wide{static_cast<uint64_t>(whole)} : Wide{1} << 64;
  return in_register(d, std::clamp<Wide>(n.negative ? -magnitude : magnitude, least(d), most(d)));
}

void float_to_int(std::vector<ProgramSpec>& out) {
  struct Direction {
    const char* name;
    Round round;
  };
  const auto form = [&](const IntType& d, const FloatType& s, const Direction& r, bool ftz) {
    add(out, fmt::format("cvt.{}{}.{}.{}", r.name, ftz ? ".ftz" : "", d.name, s.name), fmt::format("{}={}", d.letter, source(s)), [=](const uint64_t* in, uint64_t* o) {
      const Number n = ieee::decode(s.format, in[0]);
      o[0] = to_integer(d, s.format, ftz ? ieee::flush(s.format, n) : n, r.round);
    });
  };
  for (const Direction r : {Direction{"rni", Round::rn}, Direction{"rzi", Round::rz}, Direction{"rmi", Round::rm}, Direction{"rpi", Round::rp}}) {
    for (const FloatType& s : {kF16, kBf16, kF32, kF64}) {
      for (const IntType& d : kIntTypes) {
        if (d.bits == 8 && !complete(s)) continue;
        form(d, s, r, false);
        if (s.letter == 'f') form(d, s, r, true);
      }
    }
  }
}

void float_to_float(std::vector<ProgramSpec>& out) {
  const auto form = [&](std::string op, const FloatType& d, const FloatType& s, Encode how) {
    how.nan = ieee::canonical_nan(d.format);
    // Between f32 and f64 a NaN keeps its sign and payload and becomes quiet (measured on an H200).
    const bool payload_passes = s.format.bits() != d.format.bits() && s.format.bits() >= 32 && d.format.bits() >= 32;
    add(out, std::move(op), fmt::format("{}={}", d.letter, source(s)), [=](const uint64_t* in, uint64_t* o) {
      Number n = ieee::decode(s.format, in[0]);
      if (payload_passes && !how.saturate && n.kind == Number::Kind::nan) {
        const bool widens = d.format.bits() == 64;
        const uint64_t sign = in[0] >> (s.format.bits() - 1) & 1, payload = in[0] & (widens ? 0x7FFFFF : 0xFFFFFFFFFFFFF);
        o[0] = widens ? sign << 63 | 0x7FF8000000000000 | payload << 29 : sign << 31 | 0x7FC00000 | payload >> 29;
        return;
      }
      if (how.ftz && s.letter == 'f') n = ieee::flush(s.format, n);
      o[0] = ieee::encode(d.format, n, how);
    });
  };
  form("cvt.f32.f16", kF32, kF16, {});
  form("cvt.f64.f32", kF64, kF32, {});
  form("cvt.f64.f16", kF64, kF16, {});
  form("cvt.sat.f32.f16", kF32, kF16, {.saturate = true});
  form("cvt.sat.f64.f16", kF64, kF16, {.saturate = true});
  form("cvt.sat.f64.f32", kF64, kF32, {.saturate = true});
  for (const Round r : {Round::rn, Round::rz}) {
    for (const FloatType& d : {kF16, kBf16}) {
      form(fmt::format("cvt.{}.relu.{}.f32", text(r), d.name), d, kF32, {.round = r, .relu = true});
      form(fmt::format("cvt.{}.satfinite.{}.f32", text(r), d.name), d, kF32, {.round = r, .satfinite = true});
      form(fmt::format("cvt.{}.relu.satfinite.{}.f32", text(r), d.name), d, kF32, {.round = r, .satfinite = true, .relu = true});
    }
  }
  for (const Round r : kRounds) {
    form(fmt::format("cvt.{}.f16.f32", text(r)), kF16, kF32, {.round = r});
    form(fmt::format("cvt.{}.sat.f16.f32", text(r)), kF16, kF32, {.round = r, .saturate = true});
    form(fmt::format("cvt.{}.bf16.f32", text(r)), kBf16, kF32, {.round = r});
    form(fmt::format("cvt.{}.f32.f64", text(r)), kF32, kF64, {.round = r});
    form(fmt::format("cvt.{}.sat.f32.f64", text(r)), kF32, kF64, {.round = r, .saturate = true});
  }
  form("cvt.sat.f32.f32", kF32, kF32, {.saturate = true});
}

// ---- packed forms

struct Narrow {
  const char* name;
  ieee::Format format;
  unsigned slot;  // bits per element in the packed word
  uint64_t nan;
  char letter;  // of the packed register
};
constexpr Narrow kNarrow[] = {{"e4m3x2", ieee::kE4m3, 8, 0x7F, 'h'},
                              {"e5m2x2", ieee::kE5m2, 8, 0x7F, 'h'},
                              {"e2m3x2", ieee::kE2m3, 8, 0x1F, 'h'},
                              {"e3m2x2", ieee::kE3m2, 8, 0x1F, 'h'},
                              {"e2m1x2", ieee::kE2m1, 4, 0x7, 'b'}};
constexpr Narrow kHalf2[] = {{"f16x2", ieee::kF16, 16, 0x7FFF, 'E'}, {"bf16x2", ieee::kBf16, 16, 0x7FFF, 'K'}};

void pack_two(std::vector<ProgramSpec>& out) {
  const auto form = [&](std::string op, const Narrow& d, Encode how) {
    how.nan = d.nan;
    add(out, std::move(op), fmt::format("{}=nn", d.letter), [d, how](const uint64_t* in, uint64_t* o) {
      const auto code = [&](uint64_t v) { return ieee::encode(d.format, ieee::decode(ieee::kF32, v), how); };
      o[0] = code(in[0]) << d.slot | code(in[1]);
    });
  };
  for (const Narrow& d : kNarrow) {
    form(fmt::format("cvt.rn.satfinite.{}.f32", d.name), d, {.satfinite = true});
    form(fmt::format("cvt.rn.satfinite.relu.{}.f32", d.name), d, {.satfinite = true, .relu = true});
  }
  for (const Narrow& d : kHalf2) {
    for (const Round r : {Round::rn, Round::rz}) {
      form(fmt::format("cvt.{}.{}.f32", text(r), d.name), d, {.round = r});
      form(fmt::format("cvt.{}.relu.{}.f32", text(r), d.name), d, {.round = r, .relu = true});
      form(fmt::format("cvt.{}.satfinite.{}.f32", text(r), d.name), d, {.round = r, .satfinite = true});
      form(fmt::format("cvt.{}.relu.satfinite.{}.f32", text(r), d.name), d, {.round = r, .satfinite = true, .relu = true});
    }
  }
}

// Converts two narrow values to two halves, exactly.
void unpack_two(std::vector<ProgramSpec>& out) {
  for (const Narrow& s : kNarrow) {
    for (const bool relu : {false, true}) {
      add(out, fmt::format("cvt.rn{}.f16x2.{}", relu ? ".relu" : "", s.name), fmt::format("E={}", s.slot == 4 ? 'b' : 'c'), [s, relu](const uint64_t* in, uint64_t* o) {
        o[0] = 0;
        for (unsigned i = 0; i < 2; ++i) {
          const uint64_t code = in[0] >> i * s.slot & ((uint64_t{1} << s.format.bits()) - 1);
          o[0] |= ieee::encode(ieee::kF16, ieee::decode(s.format, code), {.relu = relu, .nan = 0x7FFF}) << 16 * i;
        }
      });
    }
  }
}

// ---- stochastic rounding

uint64_t reversed(uint64_t v, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits; ++i) r |= (v >> i & 1) << (bits - 1 - i);
  return r;
}

// Returns the random integers of a, b, e and f (docs/facts/numerics.md §2.2).
std::array<uint64_t, 4> random_of(bool four_bit, uint64_t w) {
  const uint64_t hi = w >> 16 & 0xFFFF, lo = w & 0xFFFF;
  if (!four_bit) return {reversed(hi, 16), hi, reversed(lo, 16), lo};
  const uint64_t b3 = w >> 24 & 0xFF, b2 = w >> 16 & 0xFF, b1 = w >> 8 & 0xFF, b0 = w & 0xFF;
  return {reversed(b1, 8) << 8 | reversed(b3, 8), b3 << 8 | b1, reversed(b0, 8) << 8 | reversed(b2, 8), b2 << 8 | b0};
}

// Rounds |x| down to the grid, and up if the first 16 cut bits plus the random integer carry.
uint64_t stochastic(const Narrow& d, uint64_t bits, uint64_t random) {
  Number n = ieee::decode(ieee::kF32, bits);
  const uint64_t sign = uint64_t{n.negative} << (d.format.bits() - 1), largest = (uint64_t{1} << (d.format.bits() - 1)) - 1 - d.format.top_codes_lost;
  if (n.kind == Number::Kind::nan) return d.nan;
  if (n.kind == Number::Kind::infinite) return sign | (d.format.infinity ? (((uint64_t{1} << d.format.exponent) - 1) << d.format.fraction) - 1 : largest);
  n.negative = false;
  const Encode down{.round = Round::rz, .satfinite = true};
  const uint64_t low = ieee::encode(d.format, n, down);
  const Number below = ieee::decode(d.format, low), above = ieee::decode(d.format, low + 1);
  if (above.kind != Number::Kind::finite || low >= largest) return sign | low;
  // frac = (x - below) / (above - below); the steps are powers of two, so the quotient's first 16 bits are exact.
  const Number part = ieee::add(n, ieee::negate(below), Round::rn), step = ieee::add(above, ieee::negate(below), Round::rn);
  const Number q = ieee::div(part, step);
  const int shift = q.exponent + 16;
  const ieee::Int t = shift >= 0 ? ieee::Int(q.magnitude << shift) : ieee::Int(q.magnitude >> -shift);
  return sign | (t + random >= 0x10000 ? low + 1 : low);
}

void stochastic_four(std::vector<ProgramSpec>& out) {
  constexpr const char* kNames[] = {"e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"};
  for (size_t k = 0; k < std::size(kNarrow); ++k) {
    const Narrow d = kNarrow[k];
    LaneForm f;
    f.op = fmt::format("cvt.rs.satfinite.{}.f32", kNames[k]);
    f.operands = fmt::format("{}={{nnnn}}w", d.slot == 4 ? 'h' : 'w');
    f.expect = [d](const uint64_t* in, uint64_t* o) {
      const auto random = random_of(d.slot == 4, in[4]);
      o[0] = 0;
      for (unsigned i = 0; i < 4; ++i) o[0] = o[0] << d.slot | stochastic(d, in[i], random[i]);
    };
    // The sign of a NaN in the 8-bit x4 forms is unknown: inputs avoid NaN.
    f.prepare = [](uint64_t* in) {
      for (unsigned i = 0; i < 4; ++i) {
        if ((in[i] & 0x7FFFFFFF) > 0x7F800000) in[i] = 0x40490FDB;
      }
    };
    out.push_back(lane_program("cvt", std::move(f)));
  }
}

// Two halves (§2.2): the random field is as wide as the cut bits, 13 or 16 bits, the first operand's in the upper half word.
// Subnormal results and NaN are not specified: inputs have magnitudes with normal results.
void stochastic_two(std::vector<ProgramSpec>& out) {
  for (const auto& [type, exponent, fraction] : {std::tuple{"f16x2", 5u, 10u}, std::tuple{"bf16x2", 8u, 7u}}) {
    const unsigned cut = 23 - fraction;
    const uint64_t bias = 127 - ((uint64_t{1} << (exponent - 1)) - 1);  // between the exponents of f32 and of the half
    for (const bool relu : {false, true}) {
      LaneForm f;
      f.op = fmt::format("cvt.rs{}.{}.f32", relu ? ".relu" : "", type);
      f.operands = fmt::format("{}=ffw", type[0] == 'f' ? 'E' : 'K');
      f.prepare = [bias](uint64_t* in) {
        for (unsigned i = 0; i < 2; ++i) {
          if ((in[i] & 0x7FFFFFFF) == 0) continue;
          const uint64_t field = in[i] >> 23 & 0xFF, least = bias + 1, most = 253 - bias;  // one binade short of overflow
          in[i] = (in[i] & 0x807FFFFF) | (least + field % (most - least + 1)) << 23;
        }
      };
      f.expect = [=, fraction = fraction](const uint64_t* in, uint64_t* o) {
        o[0] = 0;
        for (unsigned i = 0; i < 2; ++i) {
          const uint64_t random = in[2] >> (i == 0 ? 16 : 0) & ((uint64_t{1} << cut) - 1), magnitude = in[i] & 0x7FFFFFFF;
          uint64_t half = magnitude == 0 ? 0 : ((magnitude + random) >> cut) - (bias << fraction);
          half |= in[i] >> 16 & 0x8000;
          if (relu && (half & 0x8000) != 0) half = 0;
          o[0] |= half << (i == 0 ? 16 : 0);
        }
      };
      out.push_back(lane_program("cvt", std::move(f)));
    }
  }
}

}  // namespace

void add_cvt(std::vector<ProgramSpec>& out) {
  integers(out);
  wider_registers(out);
  int_to_float(out);
  float_to_int(out);
  float_to_float(out);
  pack_two(out);
  unpack_two(out);
  stochastic_four(out);
  stochastic_two(out);
}

}  // namespace drywell::kernels::conformance
