// Comparison, selection and classification (PTX ISA 9.7.6, 9.7.7, 9.7.3.1), by the comparisons of C++ on doubles, which
// represent every value of the narrower formats.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

struct Float {
  const char* name;
  char letter;
  ieee::Format format;
  bool ftz;      // has the modifier
  uint64_t one;  // the code of 1.0
  unsigned lanes = 1;
};
constexpr Float kF32{"f32", 'f', ieee::kF32, true, 0x3F800000}, kF64{"f64", 'g', ieee::kF64, false, 0};
constexpr Float kF16{"f16", 'e', ieee::kF16, true, 0x3C00}, kBf16{"bf16", 'k', ieee::kBf16, false, 0x3F80};
constexpr Float kF16x2{"f16x2", 'E', ieee::kF16, true, 0x3C00, 2}, kBf16x2{"bf16x2", 'K', ieee::kBf16, false, 0x3F80, 2};

double value(const Float& t, uint64_t code, bool ftz = false) {
  ieee::Number n = ieee::decode(t.format, code);
  if (ftz) n = ieee::flush(t.format, n);
  const double sign = n.negative ? -1 : 1;
  if (n.kind == ieee::Number::Kind::nan) return std::numeric_limits<double>::quiet_NaN();
  if (n.kind == ieee::Number::Kind::infinite) return sign * std::numeric_limits<double>::infinity();
  return sign * std::ldexp(n.magnitude.convert_to<double>(), n.exponent);
}
double lane_value(const Float& t, uint64_t word, unsigned lane, bool ftz) {
  if (t.lanes == 1) return value(t, word, ftz);
  return value(t, word >> 16 * lane & 0xFFFF, ftz);
}

// 9.7.6, tables 24-26: for NaN the plain comparisons are false (also ne), the u comparisons true.
template <class T>
bool holds(const std::string& relation, T a, T b, bool unordered) {
  if (relation == "num") return !unordered;
  if (relation == "nan") return unordered;
  if (unordered) return relation.size() == 3;
  const std::string r = relation.substr(0, 2);
  if (r == "eq") return a == b;
  if (r == "ne") return a != b;
  if (r == "lt" || r == "lo") return a < b;
  if (r == "le" || r == "ls") return a <= b;
  return r == "gt" || r == "hi" ? a > b : a >= b;
}
bool combined(const std::string& how, bool t, bool c) {
  if (how.empty()) return t;
  return how == ".and" ? t && c : how == ".or" ? t || c
                                               : t != c;
}

constexpr const char* kRelations[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

using Test = std::function<bool(const uint64_t* in, unsigned lane)>;
Test float_test(const Float& t, std::string relation, std::string how, bool ftz) {
  return [=](const uint64_t* in, unsigned lane) {
    const double a = lane_value(t, in[0], lane, ftz), b = lane_value(t, in[1], lane, ftz);
    return combined(how, holds(relation, a, b, std::isnan(a) || std::isnan(b)), (in[2] & 1) != 0);
  };
}

/// Adds a program for one comparison: opcode, operands and expectation.
void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, RowFn expect) {
  if (operands.back() != 'p') {
    expect = [expect](const uint64_t* in, uint64_t* o) {
      const uint64_t no_predicate[] = {in[0], in[1], 0};
      expect(no_predicate, o);
    };
  }
  out.push_back(lane_program("compare", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect)}));
}

void setp_float(std::vector<ProgramSpec>& out, const Float& t, const std::string& relation, const std::string& how, bool ftz) {
  const Test test = float_test(t, relation, how, ftz);
  const std::string op = fmt::format("setp.{}{}{}.{}", relation, how, ftz ? ".ftz" : "", t.name);
  const std::string operands = fmt::format("{}={}{}{}", t.lanes == 2 ? "p|p" : "p", t.letter, t.letter, how.empty() ? "" : "p");
  add(out, op, operands, [test, lanes = t.lanes](const uint64_t* in, uint64_t* o) {
    for (unsigned i = 0; i < lanes; ++i) o[i] = test(in, i) ? 1 : 0;
  });
}

/// A destination type of set: its register and its value for true.
struct Result {
  const char* name;
  char letter;
  uint64_t yes;
};

/// Expectation of a form whose predicate operand is negated.
RowFn of_negated(RowFn expect) {
  return [expect = std::move(expect)](const uint64_t* in, uint64_t* o) {
    const uint64_t other[] = {in[0], in[1], ~in[2]};
    expect(other, o);
  };
}

void set_float(std::vector<ProgramSpec>& out, const Result& d, const Float& t, const std::string& relation, const std::string& how, bool ftz) {
  const Test test = float_test(t, relation, how, ftz);
  const std::string op = fmt::format("set.{}{}{}.{}.{}", relation, how, ftz ? ".ftz" : "", d.name, t.name);
  const std::string operands = fmt::format("{}={}{}", d.letter, t.letter, t.letter);
  const RowFn expect = [test, d, lanes = t.lanes](const uint64_t* in, uint64_t* o) {
    o[0] = 0;
    for (unsigned i = 0; i < lanes; ++i) o[0] |= (test(in, i) ? d.yes : 0) << 16 * i;
  };
  add(out, op, operands + (how.empty() ? "" : "p"), expect);
  if (how.empty()) return;
  out.push_back(lane_program("compare", {.op = op, .operands = operands + "!p", .expect = of_negated(expect), .name = op + ".not"}));
}

void floats(std::vector<ProgramSpec>& out) {
  for (const Float& t : {kF32, kF64, kF16, kBf16, kF16x2, kBf16x2}) {
    std::vector<Result> results = {{"u32", 'w', 0xFFFFFFFF}, {"f32", 'f', 0x3F800000}, {"s32", 'w', 0xFFFFFFFF}};
    if (t.format.bits() == 16) results = {t.lanes == 2 ? Result{"u32", 'w', 0xFFFF} : Result{"u16", 'h', 0xFFFF}, {t.name, t.letter, t.one}};
    for (const char* relation : kRelations) {
      setp_float(out, t, relation, "", false);
      for (const Result& d : results) set_float(out, d, t, relation, "", false);
    }
    for (const char* how : {".and", ".or", ".xor"}) {
      setp_float(out, t, "ltu", how, false);
      set_float(out, results[0], t, "ge", how, false);
    }
    if (!t.ftz) continue;
    set_float(out, results[0], t, "ltu", ".or", true);
    setp_float(out, t, "eq", "", true);
    setp_float(out, t, "gt", ".and", true);
    set_float(out, results[1], t, "ltu", "", true);
  }
}

// ---- integers

template <class T>
RowFn integer_test(const Result& d, const std::string& relation, const std::string& how) {
  return [relation, how, d](const uint64_t* in, uint64_t* o) {
    const bool t = holds(relation, detail::from_bits<T>(in[0]), detail::from_bits<T>(in[1]), false);
    o[0] = combined(how, t, (in[2] & 1) != 0) ? d.yes : 0;
  };
}

constexpr Result kResults[] = {{"u32", 'w', 0xFFFFFFFF}, {"s32", 'w', 0xFFFFFFFF}, {"f32", 'f', 0x3F800000}, {"f16", 'e', 0x3C00}, {"bf16", 'k', 0x3F80}};

template <class T>
void set_integer(std::vector<ProgramSpec>& out, const char* type, char letter, std::initializer_list<const char*> relations) {
  for (const Result& d : kResults) {
    for (const std::string relation : relations) {
      const std::string stem = "set." + relation, types = fmt::format(".{}.{}", d.name, type), operands = fmt::format("{}={}{}", d.letter, letter, letter);
      add(out, stem + types, operands, integer_test<T>(d, relation, ""));
      if (relation != *relations.begin()) continue;
      for (const std::string how : {".and", ".or", ".xor"}) {
        const RowFn expect = integer_test<T>(d, relation, how);
        add(out, stem + how + types, operands + "p", expect);
        out.push_back(lane_program("compare", {.op = stem + how + types, .operands = operands + "!p", .expect = of_negated(expect), .name = stem + how + types + ".not"}));
      }
    }
  }
}

// ---- selection by sign (9.7.6.4) and classes (9.7.3.1)

void select_by_sign(std::vector<ProgramSpec>& out) {
  struct Type {
    const char* name;
    char letter;
  };
  const auto form = [&](std::string op, char letter, char selector, std::function<bool(uint64_t)> first) {
    out.push_back(lane_program("compare", {.op = std::move(op), .operands = fmt::format("{0}={0}{0}{1}", letter, selector), .expect = [first](const uint64_t* in, uint64_t* o) { o[0] = first(in[2]) ? in[0] : in[1]; }}));
  };
  for (const Type t : {Type{"b16", 'h'}, Type{"b32", 'w'}, Type{"b64", 'd'}, Type{"u16", 'h'}, Type{"s32", 'w'}, Type{"u64", 'd'}, Type{"f32", 'f'}, Type{"f64", 'g'}}) {
    form(fmt::format("slct.{}.s32", t.name), t.letter, 'w', [](uint64_t c) { return static_cast<int32_t>(c) >= 0; });
    form(fmt::format("slct.{}.f32", t.name), t.letter, 'f', [](uint64_t c) { return value(kF32, c) >= 0; });
    form(fmt::format("slct.ftz.{}.f32", t.name), t.letter, 'f', [](uint64_t c) { return value(kF32, c, true) >= 0; });
  }
}

void classes(std::vector<ProgramSpec>& out) {
  struct Class {
    const char* name;
    bool (*holds)(int category);
  };
  // "testp.normal: positive and negative zero are considered normal numbers" (9.7.3.1).
  for (const Class c : {Class{"finite", [](int k) { return k != FP_INFINITE && k != FP_NAN; }}, Class{"infinite", [](int k) { return k == FP_INFINITE; }},
                        Class{"number", [](int k) { return k != FP_NAN; }}, Class{"notanumber", [](int k) { return k == FP_NAN; }},
                        Class{"normal", [](int k) { return k == FP_NORMAL || k == FP_ZERO; }}, Class{"subnormal", [](int k) { return k == FP_SUBNORMAL; }}}) {
    out.push_back(lane_program("compare", {.op = fmt::format("testp.{}.f32", c.name), .operands = "p=f", .expect = [c](const uint64_t* in, uint64_t* o) {
                                             o[0] = c.holds(std::fpclassify(detail::from_bits<float>(in[0]))) ? 1 : 0;
                                           }}));
    out.push_back(lane_program("compare", {.op = fmt::format("testp.{}.f64", c.name), .operands = "p=g", .expect = [c](const uint64_t* in, uint64_t* o) {
                                             o[0] = c.holds(std::fpclassify(detail::from_bits<double>(in[0]))) ? 1 : 0;
                                           }}));
  }
}

}  // namespace

void add_comparison(std::vector<ProgramSpec>& out) {
  floats(out);
  const auto by_bits = {"eq", "ne"}, by_sign = {"le", "eq", "ne", "lt", "gt", "ge"}, by_size = {"le", "eq", "ne", "lt", "gt", "ge", "lo", "ls", "hi", "hs"};
  set_integer<uint16_t>(out, "b16", 'h', by_bits);
  set_integer<uint32_t>(out, "b32", 'w', by_bits);
  set_integer<uint64_t>(out, "b64", 'd', by_bits);
  set_integer<uint16_t>(out, "u16", 'h', by_size);
  set_integer<int16_t>(out, "s16", 'h', by_sign);
  set_integer<uint32_t>(out, "u32", 'w', by_size);
  set_integer<int32_t>(out, "s32", 'w', by_sign);
  set_integer<uint64_t>(out, "u64", 'd', by_size);
  set_integer<int64_t>(out, "s64", 'd', by_sign);
  select_by_sign(out);
  classes(out);
}

}  // namespace drywell::kernels::conformance
