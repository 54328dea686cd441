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

void to_half(std::vector<ProgramSpec>& out, const Float& d, const Float& s) {
  for (const Rounding& r : kRoundings) {
    add(out, fmt::format("cvt.{}.{}.{}", r.name, d.name, s.name), fmt::format("{}={}", d.letter, s.letter), [d, s, r](const uint64_t* in, uint64_t* o) {
      o[0] = ieee::encode(d.format, ieee::decode(s.format, in[0]), {.round = r.round, .nan = ieee::canonical_nan(d.format)});
    }, [s](uint64_t* in) {  // PTX does not specify the NaN of a float64 source
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

void to_integral(std::vector<ProgramSpec>& out, const Float& t) {
  for (const Rounding& r : kRoundings) {
    add(out, fmt::format("cvt.{}i.{}.{}", r.name, t.name, t.name), fmt::format("{0}={0}", t.letter),
        [t, r](const uint64_t* in, uint64_t* o) { o[0] = ieee::encode(t.format, integral(ieee::decode(t.format, in[0]), r.round), {}); },
        [t](uint64_t* in) {  // the resulting NaN is not specified
          if (ieee::decode(t.format, in[0]).kind == Number::Kind::nan) in[0] = uint64_t(t.format.bias()) << t.format.fraction;
        });
  }
}

// The low 13 bits are zero. .rna keeps the upper bits of a NaN (H200), the others return 7FFFE000.
void to_tf32(std::vector<ProgramSpec>& out) {
  for (const Rounding& r : {Rounding{"rn", Round::rn}, Rounding{"rz", Round::rz}, Rounding{"rna", Round::rna}}) {
    for (const bool relu : {false, true}) {
      if (relu && r.round == Round::rna) continue;
      add(out, fmt::format("cvt.{}{}.tf32.f32", r.name, relu ? ".relu" : ""), "w=f", [r, relu](const uint64_t* in, uint64_t* o) {
        const Number n = ieee::decode(ieee::kF32, in[0]);
        o[0] = ieee::encode(ieee::kTf32, n, {.round = r.round, .relu = relu, .nan = ieee::canonical_nan(ieee::kTf32)}) << 13;
        if (r.round == Round::rna && n.kind == Number::Kind::nan) o[0] = in[0] & 0xFFFFE000;
      });
    }
  }
}

void pack_integers(std::vector<ProgramSpec>& out) {
  struct Type {
    const char* name;
    unsigned bits;
    bool is_signed;
  };
  for (const Type t : {Type{"u16", 16, false}, Type{"s16", 16, true}, Type{"u8", 8, false}, Type{"s8", 8, true}, Type{"u4", 4, false}, Type{"s4", 4, true}}) {
    const bool merges = t.bits < 16;
    add(out, fmt::format("cvt.pack.sat.{}.s32{}", t.name, merges ? ".b32" : ""), merges ? "w=www" : "w=ww", [t, merges](const uint64_t* in, uint64_t* o) {
      const int32_t most = (1 << (t.is_signed ? t.bits - 1 : t.bits)) - 1, least = t.is_signed ? -most - 1 : 0;
      const auto field = [&](uint64_t v) { return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(v), least, most)) & ((1u << t.bits) - 1); };
      o[0] = field(in[0]) << t.bits | field(in[1]);
      if (merges) o[0] |= in[2] << 2 * t.bits & 0xFFFFFFFF;
    });
  }
}

void narrow_from_f16x2(std::vector<ProgramSpec>& out) {
  struct Narrow {
    const char* name;
    char letter;
    ieee::Format format;
    unsigned slot;
    uint64_t nan;
  };
  for (const Narrow& d : {Narrow{"e4m3x2", 'h', ieee::kE4m3, 8, 0x7F}, Narrow{"e5m2x2", 'h', ieee::kE5m2, 8, 0x7F}, Narrow{"e2m1x2", 'b', ieee::kE2m1, 4, 0x7}}) {
    for (const bool relu : {false, true}) {
      add(out, fmt::format("cvt.rn.satfinite{}.{}.f16x2", relu ? ".relu" : "", d.name), fmt::format("{}=E", d.letter), [d, relu](const uint64_t* in, uint64_t* o) {
        const auto code = [&](uint64_t v) { return ieee::encode(d.format, ieee::decode(ieee::kF16, v), {.satfinite = true, .relu = relu, .nan = d.nan}); };
        o[0] = code(in[0] >> 16) << d.slot | code(in[0] & 0xFFFF);
      });
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
  add(out, "cvt.rn.bf16x2.ue8m0x2", "K=h", [](const uint64_t* in, uint64_t* o) {
    const auto half = [](uint64_t code) { return code == 0 ? 0x0040 : code == 255 ? 0x7FFF : code << 7; };
    o[0] = half(in[0] >> 8) << 16 | half(in[0] & 0xFF);
  });
}

}  // namespace

void add_cvt_pairs(std::vector<ProgramSpec>& out) {
  for (const Float& d : {kF16, kBf16}) to_half(out, d, kF64);
  to_half(out, kF16, kBf16);
  to_half(out, kBf16, kF16);
  for (const Float& t : {kF16, kBf16, kF32, kF64}) to_integral(out, t);
  to_tf32(out);
  pack_integers(out);
  narrow_from_f16x2(out);
  scales(out);
}

}  // namespace drywell::kernels::conformance
