// mad and float32 arithmetic on halves (PTX ISA 9.7.3.7, 9.7.5), exact and rounded once.
#include <fmt/format.h>

#include "conformance/programs/families.h"
#include "conformance/programs/ieee.h"

namespace drywell::kernels::conformance {
namespace {

using ieee::Encode;
using ieee::Number;
using ieee::Round;

struct Rounding {
  const char* name;
  Round round;
};
constexpr Rounding kRoundings[] = {{"rn", Round::rn}, {"rz", Round::rz}, {"rm", Round::rm}, {"rp", Round::rp}};

Number fused(const Number& a, const Number& b, const Number& c, Round r) { return ieee::add(ieee::mul(a, b), c, r); }

void add(std::vector<ProgramSpec>& out, std::string op, std::string operands, RowFn expect, std::function<void(uint64_t*)> prepare = {}) {
  const Compare compare = operands[0] == 'g' ? Compare::any_nan : Compare::bits;
  out.push_back(lane_program("mixed", {.op = std::move(op), .operands = std::move(operands), .expect = std::move(expect), .prepare = std::move(prepare), .compare = compare}));
}

void mad(std::vector<ProgramSpec>& out, const Rounding& r, const char* type, char letter, const ieee::Format& f, bool ftz, bool sat) {
  add(out, fmt::format("mad.{}{}{}.{}", r.name, ftz ? ".ftz" : "", sat ? ".sat" : "", type), fmt::format("{0}={0}{0}{0}", letter),
      [=, round = r.round](const uint64_t* in, uint64_t* o) {
        const auto operand = [&](size_t i) { return ftz ? ieee::flush(f, ieee::decode(f, in[i])) : ieee::decode(f, in[i]); };
        o[0] = ieee::encode(f, fused(operand(0), operand(1), operand(2), round), {.round = round, .ftz = ftz, .saturate = sat, .nan = ieee::canonical_nan(f)});
      });
}

struct Half {
  const char* name;
  char letter;
  ieee::Format format;
};
constexpr Half kHalves[] = {{"f16", 'e', ieee::kF16}, {"bf16", 'k', ieee::kBf16}};

void widened(std::vector<ProgramSpec>& out, const Half& t, const Rounding& r, bool sat) {
  const Encode how{.round = r.round, .saturate = sat, .nan = ieee::canonical_nan(ieee::kF32)};
  const std::string suffix = fmt::format("{}{}.f32.{}", r.name, sat ? ".sat" : "", t.name);
  for (const bool subtract : {false, true}) {
    add(out, fmt::format("{}.{}", subtract ? "sub" : "add", suffix), fmt::format("f={}f", t.letter), [=](const uint64_t* in, uint64_t* o) {
      const Number a = ieee::decode(t.format, in[0]), c = ieee::decode(ieee::kF32, in[1]);
      o[0] = ieee::encode(ieee::kF32, ieee::add(a, subtract ? ieee::negate(c) : c, how.round), how);
    });
  }
  add(out, "fma." + suffix, fmt::format("f={0}{0}f", t.letter), [=](const uint64_t* in, uint64_t* o) {
    o[0] = ieee::encode(ieee::kF32, fused(ieee::decode(t.format, in[0]), ieee::decode(t.format, in[1]), ieee::decode(ieee::kF32, in[2]), how.round), how);
  });
}

}  // namespace

void add_mixed(std::vector<ProgramSpec>& out) {
  for (const Rounding& r : kRoundings) {
    mad(out, r, "f32", 'f', ieee::kF32, false, false);
    mad(out, r, "f64", 'g', ieee::kF64, false, false);
    for (const Half& t : kHalves) {
      for (const bool sat : {false, true}) widened(out, t, r, sat);
    }
  }
  mad(out, kRoundings[0], "f32", 'f', ieee::kF32, true, false);
  mad(out, kRoundings[0], "f32", 'f', ieee::kF32, false, true);
}

}  // namespace drywell::kernels::conformance
