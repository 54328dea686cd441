// Conversions between formats of 16 bits and less, to integral values, tf32 and packed integers (PTX ISA 9.7.9.21-22,
// docs/facts/numerics.md §2.1).
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

using ieee::Number;
using ieee::Round;

void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, RowFn expect, std::function<void(uint64_t*)> prepare = {}) {
  const Compare compare = operands[0] == 'g' ? Compare::any_nan : Compare::bits;
  out.push_back(lane_program("cvt", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect), .prepare = std::move(prepare), .compare = compare}));
}

struct Rounding {
  const char* name;
  Round round;
};
constexpr Rounding kRoundings[] = {{"rn", Round::rn}, {"rz", Round::rz}, {"rm", Round::rm}, {"rp", Round::rp}};

struct Float {
  const char* name;
  char letter;
  ieee::Format format;
};
constexpr Float kF16{"f16", 'e', ieee::kF16}, kBf16{"bf16", 'k', ieee::kBf16}, kF32{"f32", 'f', ieee::kF32}, kF64{"f64", 'g', ieee::kF64};
/// Letter of the operands of a rounding conversion: ties are among them.
char source(const Float& t) { return t.letter == 'f' ? 'n' : t.letter == 'g' ? 'm'
                                                                             : t.letter; }

void to_half(std::vector<ProgramSpec>& out, const Float& d, const Float& s, bool sat = false) {
  for (const Rounding& r : kRoundings) {
    add(
        out, fmt::format("cvt.{}{}.{}.{}", r.name, sat ? ".sat" : "", d.name, s.name), fmt::format("{}={}", d.letter, source(s)), [d, s, r, sat](const uint64_t* in, uint64_t* o) { o[0] = ieee::encode(d.format, ieee::decode(s.format, in[0]), {.round = r.round, .saturate = sat, .nan = ieee::canonical_nan(d.format)}); }, [s](uint64_t* in) {  // PTX does not specify the NaN of a float64 source
          if (s.letter == 'g' && ieee::decode(s.format, in[0]).kind == Number::Kind::nan) in[0] = 0x3FF0000000000000;
        });
  }
}

// Returns a value without its fraction; the sign stays, also of zero.
Number integral(Number n, Round r) {
  if (n.kind != Number::Kind::finite || n.exponent >= 0) return n;
  const ieee::Int whole = n.magnitude >> -n.exponent, rest = n.magnitude - (whole << -n.exponent), half = ieee::Int(1) << (-n.exponent - 1);
  const bool up = r == Round::rn   ? rest > half || (rest == half && (whole & 1) != 0)
                  : r == Round::rm ? n.negative && rest != 0
                  : r == Round::rp ? !n.negative && rest != 0
                                   : false;
  n.magnitude = up ? ieee::Int(whole + 1) : whole;
  n.exponent = 0;
  return n;
}

// The NaN of a conversion between a type and itself is not specified.
void no_nan(const Float& t, uint64_t* in) {
  if (ieee::decode(t.format, in[0]).kind == Number::Kind::nan) in[0] = uint64_t(t.format.bias()) << t.format.fraction;
}

void to_integral(std::vector<ProgramSpec>& out, const Float& t, bool sat) {
  for (const Rounding& r : kRoundings) {
    add(
        out, fmt::format("cvt.{}i{}.{}.{}", r.name, sat ? ".sat" : "", t.name, t.name), fmt::format("{}={}", t.letter, source(t)),
        [t, r, sat](const uint64_t* in, uint64_t* o) { o[0] = ieee::encode(t.format, integral(ieee::decode(t.format, in[0]), r.round), {.saturate = sat}); },
        [t](uint64_t* in) { no_nan(t, in); });
  }
}

void flush_only(std::vector<ProgramSpec>& out) {
  add(
      out, "cvt.ftz.f32.f32", "f=f", [](const uint64_t* in, uint64_t* o) { o[0] = ieee::encode(ieee::kF32, ieee::flush(ieee::kF32, ieee::decode(ieee::kF32, in[0])), {}); },
      [](uint64_t* in) { no_nan(kF32, in); });
}

// The low 13 bits are zero. .rna keeps the upper bits of a NaN (H200), the others return 7FFFE000.
void to_tf32(std::vector<ProgramSpec>& out) {
  for (const Rounding& r : {Rounding{"rn", Round::rn}, Rounding{"rz", Round::rz}, Rounding{"rna", Round::rna}}) {
    for (const bool relu : {false, true}) {
      if (relu && r.round == Round::rna) continue;
      add(out, fmt::format("cvt.{}{}.tf32.f32", r.name, relu ? ".relu" : ""), "w=n", [r, relu](const uint64_t* in, uint64_t* o) {
        const Number n = ieee::decode(ieee::kF32, in[0]);
        o[0] = ieee::encode(ieee::kTf32, n, {.round = r.round, .relu = relu, .nan = ieee::canonical_nan(ieee::kTf32)}) << 13;
        if (r.round == Round::rna && n.kind == Number::Kind::nan) o[0] = in[0] & 0xFFFFE000;
      });
    }
  }
}

// From bf16 to a wider format every rounding has the same result; .ftz makes a NaN canonical, too (H200).
void from_bf16(std::vector<ProgramSpec>& out) {
  for (const Rounding& r : kRoundings) {
    for (const bool ftz : {false, true}) {
      add(out, fmt::format("cvt.{}{}.f32.bf16", r.name, ftz ? ".ftz" : ""), "f=k", [ftz](const uint64_t* in, uint64_t* o) {
        const Number n = ieee::decode(ieee::kBf16, in[0]);
        o[0] = in[0] << 16;
        if (ftz && n.kind == Number::Kind::nan) o[0] = 0x7FFFFFFF;
        if (ftz && (in[0] & 0x7F80) == 0) o[0] = (in[0] & 0x8000) << 16;
      });
    }
    add(out, fmt::format("cvt.{}.f64.bf16", r.name), "g=k", [](const uint64_t* in, uint64_t* o) {
      o[0] = ieee::encode(ieee::kF64, ieee::decode(ieee::kBf16, in[0]), {.nan = 0x7FF8000000000000});
    });
  }
}

// Without a rounding the conversion between the halves rounds to nearest (H200).
void between_halves(std::vector<ProgramSpec>& out, const Float& d, const Float& s) {
  add(out, fmt::format("cvt.{}.{}", d.name, s.name), fmt::format("{}={}", d.letter, s.letter), [d, s](const uint64_t* in, uint64_t* o) {
    o[0] = ieee::encode(d.format, ieee::decode(s.format, in[0]), {.round = Round::rn, .nan = ieee::canonical_nan(d.format)});
  });
}

struct PackType {
  const char* name;
  unsigned bits;
  bool is_signed;
  uint32_t field(uint64_t v) const {
    const int32_t most = (1 << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(v), least, most)) & ((1u << bits) - 1);
  }
};

void pack_integers(std::vector<ProgramSpec>& out) {
  for (const PackType t : {PackType{"u16", 16, false}, {"s16", 16, true}, {"u8", 8, false}, {"s8", 8, true}, {"u4", 4, false}, {"s4", 4, true}, {"u2", 2, false}, {"s2", 2, true}}) {
    const bool merges = t.bits < 16;
    add(out, fmt::format("cvt.pack.sat.{}.s32{}", t.name, merges ? ".b32" : ""), merges ? "w=www" : "w=ww", [t, merges](const uint64_t* in, uint64_t* o) {
      o[0] = t.field(in[0]) << t.bits | t.field(in[1]);
      if (merges) o[0] |= in[2] << 2 * t.bits & 0xFFFFFFFF;
    });
  }
}

// ptxas takes constants for both values.
void pack_constants(std::vector<ProgramSpec>& out) {
  const auto form = [&](std::string op, std::string operands, RowFn expect) {
    out.push_back(lane_program("cvt", {.op = op, .operands = std::move(operands), .expect = std::move(expect), .name = op + ".constant"}));
  };
  const PackType s16{"s16", 16, true}, u8{"u8", 8, false};
  form("cvt.pack.sat.s16.s32", "w=#40000w", [s16](const uint64_t* in, uint64_t* o) { o[0] = 0x7FFF0000 | s16.field(in[0]); });
  form("cvt.pack.sat.u8.s32.b32", "w=w#24w", [u8](const uint64_t* in, uint64_t* o) {
    o[0] = (u8.field(in[0]) << 8 | 24 | in[1] << 16) & 0xFFFFFFFF;
  });
}

struct Narrow {
  const char* name;
  char letter;
  ieee::Format format;
  unsigned slot;
  uint64_t nan;
};
constexpr Narrow kNarrow[] = {{"e4m3x2", 'h', ieee::kE4m3, 8, 0x7F}, {"e5m2x2", 'h', ieee::kE5m2, 8, 0x7F}, {"e2m3x2", 'h', ieee::kE2m3, 8, 0x1F}, {"e3m2x2", 'h', ieee::kE3m2, 8, 0x1F}, {"e2m1x2", 'b', ieee::kE2m1, 4, 0x7}};

void narrow_from_pair(std::vector<ProgramSpec>& out, const char* source, char letter, const ieee::Format& from) {
  for (const Narrow& d : kNarrow) {
    for (const bool relu : {false, true}) {
      add(out, fmt::format("cvt.rn.satfinite{}.{}.{}", relu ? ".relu" : "", d.name, source), fmt::format("{}={}", d.letter, letter), [=](const uint64_t* in, uint64_t* o) {
        const auto code = [&](uint64_t v) { return ieee::encode(d.format, ieee::decode(from, v), {.satfinite = true, .relu = relu, .nan = d.nan}); };
        o[0] = code(in[0] >> 16) << d.slot | code(in[0] & 0xFFFF);
      });
    }
  }
}

// A value times its scale, 2^(code - 127), rounded once; scale code 255 is NaN.
uint64_t scaled_bf16(const Narrow& s, uint64_t code, uint64_t scale, ieee::Encode how) {
  Number n = ieee::decode(s.format, code & ((uint64_t{1} << s.format.bits()) - 1));
  n.exponent += static_cast<int>(scale) - 127;
  if (scale == 255) n.kind = Number::Kind::nan;
  return ieee::encode(ieee::kBf16, n, how);
}

void bf16_from_narrow(std::vector<ProgramSpec>& out) {
  for (const Narrow& s : kNarrow) {
    for (const unsigned which : {0u, 1u, 2u, 3u}) {
      const bool relu = (which & 1) != 0, satfinite = (which & 2) != 0;
      const ieee::Encode how{.satfinite = satfinite, .relu = relu, .nan = 0x7FFF};
      const std::string stem = fmt::format("cvt.rn{}{}", satfinite ? ".satfinite" : "", relu ? ".relu" : "");
      const auto pair = [s, how](uint64_t v, uint64_t scales) {
        return scaled_bf16(s, v >> s.slot, scales >> 8 & 0xFF, how) << 16 | scaled_bf16(s, v, scales & 0xFF, how);
      };
      add(out, fmt::format("{}.bf16x2.{}", stem, s.name), fmt::format("K={}", s.slot == 4 ? 'b' : 'c'), [pair](const uint64_t* in, uint64_t* o) { o[0] = pair(in[0], 0x7F7F); });
      add(out, fmt::format("{}.scaled::n2::ue8m0.bf16x2.{}", stem, s.name), fmt::format("K={}h", s.letter), [pair](const uint64_t* in, uint64_t* o) { o[0] = pair(in[0], in[1]); });
    }
  }
}

// Code of the power of two at or above (.rp), at or below (.rz) a magnitude with an 8-bit exponent. Code c means 2^(c - 127);
// the exponent field of an infinity or NaN is 255.
uint64_t scale_code(const ieee::Format& f, uint64_t bits, bool up, bool satfinite) {
  const uint64_t magnitude = bits & ((uint64_t{1} << (f.bits() - 1)) - 1), fraction = magnitude & ((uint64_t{1} << f.fraction) - 1);
  const uint64_t field = magnitude >> f.fraction;
  if (field == 255) return fraction != 0 || !satfinite ? 255 : 254;
  const bool above_least = field != 0 || fraction > uint64_t{1} << (f.fraction - 1);  // 2^-127 itself is code 0
  const uint64_t code = field + (up && fraction != 0 && above_least ? 1 : 0);
  return code == 255 && satfinite ? 254 : code;
}

void scales(std::vector<ProgramSpec>& out) {
  for (const bool up : {false, true}) {
    for (const bool satfinite : {false, true}) {
      const std::string stem = fmt::format("cvt.{}{}.ue8m0x2", up ? "rp" : "rz", satfinite ? ".satfinite" : "");
      add(out, stem + ".f32", "h=ff", [=](const uint64_t* in, uint64_t* o) {
        o[0] = scale_code(ieee::kF32, in[0], up, satfinite) << 8 | scale_code(ieee::kF32, in[1], up, satfinite);
      });
      add(out, stem + ".bf16x2", "h=K", [=](const uint64_t* in, uint64_t* o) {
        o[0] = scale_code(ieee::kBf16, in[0] >> 16, up, satfinite) << 8 | scale_code(ieee::kBf16, in[0] & 0xFFFF, up, satfinite);
      });
    }
  }
  add(out, "cvt.rn.bf16x2.ue8m0x2", "K=c", [](const uint64_t* in, uint64_t* o) {
    const auto half = [](uint64_t code) { return code == 0 ? 0x0040 : code == 255 ? 0x7FFF
                                                                                  : code << 7; };
    o[0] = half(in[0] >> 8) << 16 | half(in[0] & 0xFF);
  });
}

}  // namespace

void add_cvt_pairs(std::vector<ProgramSpec>& out) {
  for (const Float& d : {kF16, kBf16}) to_half(out, d, kF64);
  to_half(out, kF16, kBf16);
  to_half(out, kBf16, kF16);
  to_half(out, kF16, kF64, true);
  for (const Float& t : {kF16, kBf16, kF32, kF64}) to_integral(out, t, false);
  for (const Float& t : {kF16, kF32, kF64}) to_integral(out, t, true);
  flush_only(out);
  to_tf32(out);
  from_bf16(out);
  between_halves(out, kF16, kBf16);
  between_halves(out, kBf16, kF16);
  pack_integers(out);
  pack_constants(out);
  narrow_from_pair(out, "f16x2", 'N', ieee::kF16);
  narrow_from_pair(out, "bf16x2", 'K', ieee::kBf16);
  bf16_from_narrow(out);
  scales(out);
}

}  // namespace drywell::kernels::conformance
