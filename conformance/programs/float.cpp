// Floating-point arithmetic of every width (PTX ISA 9.7.3, 9.7.4), against exact arithmetic rounded once.
#include <fmt/format.h>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

using ieee::Encode;
using ieee::Number;
using ieee::Round;

/// Storage of one PTX type's values.
struct Type {
  const char* name;
  char letter;
  ieee::Format format;
  unsigned lanes;  // values per register
  bool ftz, sat;   // modifiers of the type
};
constexpr Type kF32{"f32", 'f', ieee::kF32, 1, true, true}, kF64{"f64", 'g', ieee::kF64, 1, false, false};
constexpr Type kF16{"f16", 'e', ieee::kF16, 1, true, true}, kF16x2{"f16x2", 'E', ieee::kF16, 2, true, true};
constexpr Type kBf16{"bf16", 'k', ieee::kBf16, 1, false, false}, kBf16x2{"bf16x2", 'K', ieee::kBf16, 2, false, false};
constexpr Type kF32x2{"f32x2", 'F', ieee::kF32, 2, true, false};

struct Modes {
  Round round = Round::rn;
  bool ftz = false, sat = false, relu = false;
};

const char* text(Round r) {
  switch (r) {
    case Round::rz: return "rz";
    case Round::rm: return "rm";
    case Round::rp: return "rp";
    default: return "rn";
  }
}

using Operation = Number (*)(const Number* in, Round r);
Number sum(const Number* in, Round r) { return ieee::add(in[0], in[1], r); }
Number difference(const Number* in, Round r) { return ieee::add(in[0], ieee::negate(in[1]), r); }
Number product(const Number* in, Round) { return ieee::mul(in[0], in[1]); }
Number fused(const Number* in, Round r) { return ieee::add(ieee::mul(in[0], in[1]), in[2], r); }
Number quotient(const Number* in, Round) { return ieee::div(in[0], in[1]); }
Number reciprocal(const Number* in, Round) { return ieee::div({Number::Kind::finite, false, 1, 0}, in[0]); }
Number root(const Number* in, Round) { return ieee::sqrt(in[0]); }

// fma of half precision saturates before relu; .relu maps NaN to the canonical NaN (9.7.4.4).
uint64_t apply(const Type& t, Operation op, size_t inputs, const Modes& m, const uint64_t* in) {
  const unsigned width = t.format.bits();
  uint64_t result = 0;
  for (unsigned lane = 0; lane < t.lanes; ++lane) {
    Number operand[3];
    for (size_t i = 0; i < inputs; ++i) {
      const uint64_t code = in[i] >> lane * width & (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1);
      operand[i] = ieee::decode(t.format, code);
      if (m.ftz) operand[i] = ieee::flush(t.format, operand[i]);
    }
    Encode how;
    how.round = m.round;
    how.ftz = m.ftz;
    how.saturate = m.sat;
    how.relu = m.relu;
    how.nan = ieee::canonical_nan(t.format);
    result |= ieee::encode(t.format, op(operand, m.round), how) << lane * width;
  }
  return result;
}

void form(std::vector<ProgramSpec>& out, const char* stem, const Type& t, Operation op, size_t inputs, const Modes& m, bool rounding = true) {
  LaneForm f;
  f.op = fmt::format("{}{}{}{}{}{}.{}", stem, rounding ? "." : "", rounding ? text(m.round) : "", m.ftz ? ".ftz" : "", m.sat ? ".sat" : "", m.relu ? ".relu" : "", t.name);
  f.operands = fmt::format("{}={}", t.letter, std::string(inputs, t.letter));
  if (t.letter == 'g') f.compare = Compare::any_nan;
  f.expect = [t, op, inputs, m](const uint64_t* in, uint64_t* result) { result[0] = apply(t, op, inputs, m, in); };
  out.push_back(lane_program("float", std::move(f)));
}

// add, sub, mul and fma with all roundings and modifiers of the type.
void arithmetic(std::vector<ProgramSpec>& out, const Type& t, std::initializer_list<Round> rounds, bool has_sub = true) {
  struct Stem {
    const char* name;
    Operation op;
    size_t inputs;
  };
  for (const Stem s : {Stem{"add", sum, 2}, Stem{"sub", difference, 2}, Stem{"mul", product, 2}, Stem{"fma", fused, 3}}) {
    if (!has_sub && s.op == difference) continue;
    for (const Round r : rounds) {
      form(out, s.name, t, s.op, s.inputs, {r});
      if (t.ftz) form(out, s.name, t, s.op, s.inputs, {r, true});
      if (t.sat) form(out, s.name, t, s.op, s.inputs, {r, false, true});
      if (t.ftz && t.sat) form(out, s.name, t, s.op, s.inputs, {r, true, true});
    }
  }
}

// Products and quotients near 2^-126, where the flushed result is that of an unbounded exponent (H200).
void least_normal(std::vector<ProgramSpec>& out, const char* stem, Operation op, Round r, uint64_t second) {
  const Modes m{r, true};
  LaneForm f;
  f.op = fmt::format("{}.{}.ftz.f32", stem, text(r));
  f.name = f.op + ".least";
  f.operands = "f=ff";
  f.prepare = [second](uint64_t* in) {
    in[0] = (in[0] & 0x80000000) | (0x3F800000 - in[0] % 5);
    in[1] = (in[1] & 0x80000000) | (second + in[1] % 5);
  };
  f.expect = [op, m](const uint64_t* in, uint64_t* result) { result[0] = apply(kF32, op, 2, m, in); };
  out.push_back(lane_program("float", std::move(f)));
}

// fma.rn.oob returns +0 if a or b is TMA's fill code, of either sign; c has no effect (H200).
void out_of_bounds(std::vector<ProgramSpec>& out, const Type& t) {
  constexpr uint64_t kFill = 0x7FF7;
  for (const bool relu : {false, true}) {
    const Modes m{Round::rn, false, false, relu};
    LaneForm f;
    f.op = fmt::format("fma.rn.oob{}.{}", relu ? ".relu" : "", t.name);
    f.operands = fmt::format("{0}={0}{0}{0}", t.letter);
    f.prepare = [t](uint64_t* in) {  // one in eight operands is the fill
      for (unsigned i = 0; i < 3; ++i) {
        for (unsigned lane = 0; lane < t.lanes; ++lane) {
          const uint64_t half = in[i] >> 16 * lane & 0xFFFF;
          if ((half ^ half >> 7 ^ half >> 11) % 8 == i) in[i] = (in[i] & ~(uint64_t{0x7FFF} << 16 * lane)) | kFill << 16 * lane;
        }
      }
    };
    f.expect = [t, m](const uint64_t* in, uint64_t* result) {
      result[0] = apply(t, fused, 3, m, in);
      for (unsigned lane = 0; lane < t.lanes; ++lane) {
        const bool fill = (in[0] >> 16 * lane & 0x7FFF) == kFill || (in[1] >> 16 * lane & 0x7FFF) == kFill;
        if (fill) result[0] &= ~(uint64_t{0xFFFF} << 16 * lane);
      }
    };
    out.push_back(lane_program("float", std::move(f)));
  }
}

}  // namespace

void add_float(std::vector<ProgramSpec>& out) {
  const auto all = {Round::rn, Round::rz, Round::rm, Round::rp};
  arithmetic(out, kF32, all);
  arithmetic(out, kF64, all);
  arithmetic(out, kF32x2, all);
  for (const Type& t : {kF16, kF16x2, kBf16, kBf16x2}) {
    arithmetic(out, t, {Round::rn});
    form(out, "fma", t, fused, 3, {Round::rn, false, false, true});
    out_of_bounds(out, t);
  }
  for (const Round r : all) {
    for (const Type& t : {kF32, kF64}) {
      form(out, "div", t, quotient, 2, {r});
      form(out, "rcp", t, reciprocal, 1, {r});
      form(out, "sqrt", t, root, 1, {r});
    }
    form(out, "div", kF32, quotient, 2, {r, true});
    form(out, "rcp", kF32, reciprocal, 1, {r, true});
    form(out, "sqrt", kF32, root, 1, {r, true});
    least_normal(out, "mul", product, r, 0x00800000);
    least_normal(out, "div", quotient, r, 0x7E800000);
  }
}

}  // namespace drywell::kernels::conformance
