// Sign, minimum and maximum of every floating-point width (PTX ISA 9.7.3.2, 9.7.3.9-12, 9.7.4.5-8), on the codes themselves:
// codes of one sign are in order, so that no arithmetic is needed.
#include <fmt/format.h>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

struct Type {
  const char* name;
  char letter;
  ieee::Format format;
  unsigned lanes;
  bool ftz, nan;  // modifiers of the type (.NaN, .xorsign.abs)
  constexpr unsigned bits() const { return format.bits(); }
  constexpr uint64_t sign() const { return uint64_t{1} << (bits() - 1); }
  constexpr uint64_t mask() const { return sign() | (sign() - 1); }
  constexpr uint64_t infinity() const { return ((uint64_t{1} << format.exponent) - 1) << format.fraction; }
  constexpr bool is_nan(uint64_t v) const { return (v & ~sign()) > infinity(); }
};
constexpr Type kTypes[] = {{"f32", 'f', ieee::kF32, 1, true, true}, {"f64", 'g', ieee::kF64, 1, false, false}, {"f16", 'e', ieee::kF16, 1, true, true}, {"f16x2", 'E', ieee::kF16, 2, true, true}, {"bf16", 'k', ieee::kBf16, 1, false, true}, {"bf16x2", 'K', ieee::kBf16, 2, false, true}};

uint64_t flushed(const Type& t, uint64_t v) { return (v & ~t.sign()) >> t.format.fraction == 0 ? v & t.sign() : v; }
uint64_t lane_of(const Type& t, uint64_t word, unsigned lane) { return word >> lane * t.bits() & t.mask(); }

/// A function of one lane's codes.
using LaneFn = std::function<uint64_t(const uint64_t* in)>;

void form(std::vector<ProgramSpec>& out, const Type& t, std::string op, size_t inputs, LaneFn f, bool ftz = false, bool nan_open = false, const char* label = "") {
  LaneForm form;
  form.name = op + label;
  form.op = std::move(op);
  form.operands = fmt::format("{}={}", t.letter, std::string(inputs, t.letter));
  if (t.letter == 'g') form.compare = Compare::any_nan;
  form.expect = [t, inputs, f, ftz](const uint64_t* in, uint64_t* o) {
    o[0] = 0;
    for (unsigned lane = 0; lane < t.lanes; ++lane) {
      uint64_t v[3] = {};
      for (size_t i = 0; i < inputs; ++i) v[i] = ftz ? flushed(t, lane_of(t, in[i], lane)) : lane_of(t, in[i], lane);
      o[0] |= f(v) << lane * t.bits();
    }
  };
  // The sign and payload of a resulting NaN are not specified: infinities replace NaN inputs.
  if (nan_open) {
    form.prepare = [t, inputs](uint64_t* in) {
      for (size_t i = 0; i < inputs; ++i) {
        for (unsigned lane = 0; lane < t.lanes; ++lane) {
          const uint64_t v = lane_of(t, in[i], lane);
          if (t.is_nan(v)) in[i] = (in[i] & ~(t.mask() << lane * t.bits())) | ((v & t.sign()) | t.infinity()) << lane * t.bits();
        }
      }
    };
  }
  out.push_back(lane_program("sign", std::move(form)));
}

// -0 < +0; without .NaN the number wins over a NaN.
uint64_t extreme(const Type& t, bool largest, bool nan, uint64_t a, uint64_t b) {
  const uint64_t canonical = ieee::canonical_nan(t.format);
  if (t.is_nan(a) && t.is_nan(b)) return canonical;
  if (t.is_nan(a) || t.is_nan(b)) return nan ? canonical : t.is_nan(a) ? b
                                                                       : a;
  // Key whose unsigned order is the order of the values.
  const auto key = [&t](uint64_t v) { return (v & t.sign()) != 0 ? ~v & t.mask() : v | t.sign(); };
  return (key(a) < key(b)) != largest ? a : b;
}

void extremes(std::vector<ProgramSpec>& out, const Type& t) {
  for (const bool largest : {false, true}) {
    const char* stem = largest ? "max" : "min";
    for (const bool ftz : {false, true}) {
      for (const bool nan : {false, true}) {
        if ((ftz && !t.ftz) || (nan && !t.nan)) continue;
        const std::string modifiers = fmt::format("{}{}", ftz ? ".ftz" : "", nan ? ".NaN" : "");
        const auto two = [t, largest, nan](const uint64_t* v) { return extreme(t, largest, nan, v[0], v[1]); };
        form(out, t, fmt::format("{}{}.{}", stem, modifiers, t.name), 2, two, ftz);
        if (t.nan) {
          form(
              out, t, fmt::format("{}{}.xorsign.abs.{}", stem, modifiers, t.name), 2, [t, largest](const uint64_t* v) {
                return extreme(t, largest, false, v[0] & ~t.sign(), v[1] & ~t.sign()) | ((v[0] ^ v[1]) & t.sign());
              },
              ftz, true);
        }
        if (t.letter == 'f') {
          const LaneFn three = [t, largest, nan](const uint64_t* v) { return extreme(t, largest, nan, extreme(t, largest, nan, v[0], v[1]), v[2]); };
          form(out, t, fmt::format("{}{}.{}", stem, modifiers, t.name), 3, three, ftz, false, "/three");
        }
      }
    }
  }
}

void signs(std::vector<ProgramSpec>& out, const Type& t) {
  const auto negated = [t](const uint64_t* v) { return v[0] ^ t.sign(); };
  const auto absolute = [t](const uint64_t* v) { return v[0] & ~t.sign(); };
  for (const bool ftz : {false, true}) {
    if (ftz && !t.ftz) continue;
    form(out, t, fmt::format("neg{}.{}", ftz ? ".ftz" : "", t.name), 1, negated, ftz, true);
    form(out, t, fmt::format("abs{}.{}", ftz ? ".ftz" : "", t.name), 1, absolute, ftz, true);
  }
  if (t.bits() >= 32) {
    form(
        out, t, fmt::format("copysign.{}", t.name), 2, [t](const uint64_t* v) { return (v[0] & t.sign()) | (v[1] & ~t.sign()); }, false, true);
  }
}

}  // namespace

void add_sign(std::vector<ProgramSpec>& out) {
  for (const Type& t : kTypes) {
    extremes(out, t);
    signs(out, t);
  }
}

}  // namespace drywell::kernels::conformance
