// Constant expressions (PTX ISA 4.5). The words are those that ptxas 13.0 puts into the initialised variable: in cases that the
// PTX ISA leaves open, or where ptxas differs from it, the device receives ptxas's words.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

struct Initialiser {
  const char* type;
  const char* text;
  uint64_t word;  // of the variable
};

std::string module_with(const std::string& type, const std::string& text) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.global ." + type + " a = " + text + ";\n.entry k() { ret; }\n";
}

const Initialiser kInitialisers[] = {
    // Literals
    {"f64", ".5", 0x3FE0000000000000},
    {"f64", ".5e1", 0x4014000000000000},
    {"f64", "5.", 0x4014000000000000},
    {"f64", "1.e5", 0x40F86A0000000000},
    {"f64", "01.5", 0x3FF8000000000000},
    {"f32", "-.5e-3", 0xBA03126F},
    {"f32", "16777217.0", 0x4B800000},
    {"f32", "1e39", 0x7F800000},
    {"f32", "1e-46", 0},
    {"b32", ".5", 0x3F000000},
    {"f64", "0F3F800000", 0x3F800000},  // keeps its 32 bits (4.5.2)
    {"f32", "0D3FF0000000000000", 0x3F800000},
    {"s64", "077U", 63},
    {"s64", "0b11U", 3},
    {"s64", "0X1f", 31},
    {"s64", "18446744073709551615", ~uint64_t{0}},
    // Floats: all in double precision
    {"f64", "1.5 + 1.5", 0x4008000000000000},
    {"f64", "1.5 - .25", 0x3FF4000000000000},
    {"f32", "1.0 / 3.0", 0x3EAAAAAB},
    {"f64", "1.0 / 3.0", 0x3FD5555555555555},
    {"f64", "-(1.5 + 2.0)", 0xC00C000000000000},
    {"f64", "1e308 * 10.0", 0x7FF0000000000000},
    {"f64", "0d3FF0000000000000 + 0d3FF0000000000000", 0x4000000000000000},
    {"f32", "-0d3FF0000000000000", 0xBF800000},
    {"f64", "- - .5", 0x3FE0000000000000},
    {"s64", "(1.5 < 2.0) + 4", 5},
    {"s64", "!(1.5 < 2.0)", 0},
    {"s64", "0d7FF8000000000000 != 0d7FF8000000000000", 1},
    {"s64", "0d7FF8000000000000 < 1.0", 0},
    // Integers: signs
    {"s64", "-1 < 1U", 0},
    {"s64", "(.s64)-1 < 1", 1},
    {"s64", "(.u64)-1 >> 1", 0x7FFFFFFFFFFFFFFF},
    {"s64", "-1U / 2", 0x7FFFFFFFFFFFFFFF},
    {"s64", "-7 / 2", static_cast<uint64_t>(-3)},
    {"s64", "-7 % 3", 0},
    {"s64", "7 % -3", 7},
    {"s64", "(5 % 3 - 8) >> 60", 15},
    {"s64", "~0 >> 60", 15},
    {"s64", "(-1 & -1) >> 60", ~uint64_t{0}},
    {"s64", "(!0U - 2) >> 63", ~uint64_t{0}},
    {"s64", "((1U && 1U) - 2) >> 63", ~uint64_t{0}},
    {"s64", "((1U == 1U) - 2) >> 63", ~uint64_t{0}},
    {"s64", "(1 ? -1 : 1U) >> 63", ~uint64_t{0}},
    // Integers: shifts take their count modulo 64
    {"s64", "1 << 64", 1},
    {"s64", "1 << -1", 0x8000000000000000},
    {"s64", "~0U >> 64", ~uint64_t{0}},
    {"s64", "-1 >> 1", ~uint64_t{0}},
    // Precedence
    {"s64", "1 | 2 ^ 3 & 4", 3},
    {"s64", "1 + 2 << 3", 24},
    {"s64", "5 - 3 - 1", 1},
    {"s64", "5 ? 0 ? 1 : 2 : 3", 2},
    {"s64", "0 ? 1 : 0 ? 2 : 3", 3},
    {"s64", "-WARP_SZ * 2", static_cast<uint64_t>(-64)},
};

TEST(PtxConstant, HasTheValuePtxasGivesIt) {
  for (const Initialiser& c : kInitialisers) {
    SCOPED_TRACE(std::string(c.type) + " " + c.text);
    const ParseResult r = parse_ptx(module_with(c.type, c.text), "t.ptx");
    ASSERT_FALSE(r.diagnostics.has_errors()) << r.diagnostics.to_string();
    const std::vector<uint8_t>& bytes = r.module.variables.at(0).init;
    uint64_t word = 0;
    ASSERT_LE(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), bytes.size());
    EXPECT_EQ(word, c.word);
  }
}

const Initialiser kRefused[] = {
    {"f64", "1.5 + 1", 0},
    {"f64", "1 ? 1.5 : 2.5", 0},
    {"f64", "!1.5", 0},
    {"s64", "(.s64)1.5", 0},
    {"s64", "1.5 << 1", 0},
    {"s64", "1.5 && 1.5", 0},
    {"f64", "7.0 / 0.0", 0},
    {"s64", "7 / 0", 0},
    {"f64", "0f3F800000 + 1.0", 0},
    {"f64", "1.5f", 0},
    {"s64", "1u", 0},
    {"f64", ".", 0},
    {"f64", ".e5", 0},
    {"f64", "1e", 0},
    {"f64", "1e400", 0},
    {"s64", "08", 0},
    {"s64", "0b2", 0},
    {"f64", "1.5.5", 0},
    {"f64", "3 / 2", 0},
    {"f32", "1.5 < 2.0", 0},
};

TEST(PtxConstant, RefusesWhatPtxasRefuses) {
  for (const Initialiser& c : kRefused) {
    SCOPED_TRACE(std::string(c.type) + " " + c.text);
    EXPECT_TRUE(parse_ptx(module_with(c.type, c.text), "t.ptx").diagnostics.has_errors());
    const auto verdict = test::run_ptxas(module_with(c.type, c.text), "sm_100a");
    if (verdict) {
      EXPECT_FALSE(verdict->accepted);
    }
  }
}

struct Literal {
  const char* instruction;
  bool legal;
};
const Literal kLiterals[] = {
    {"add.f32 %f1, %f2, .5", true},
    {"fma.rn.f32 %f1, %f2, 1.5*2.0, -.5", true},
    {"mov.f64 %fd1, 0f3F800000", true},
    {"mov.b32 %r1, 0f3F800000", true},
    {"mov.b64 %rd1, 1.0", true},
    {"mov.u32 %r1, 1.0 < 2.0", true},
    {"st.global.v2.f32 [%rd1], {.5, 1.5}", true},
    {"add.f32 %f1, %f2, 1", false},
    {"mov.f64 %fd1, 1", false},
    {"add.s32 %r1, %r2, 1.5", false},
    {"add.s32 %r1, %r2, 0f3F800000", false},
    {"mov.b32 %r1, 1.0", false},
    {"mov.b64 %rd1, 0f3F800000", false},
    {"st.global.b32 [%rd1], .5", false},
    {"mov.pred %p1, 1.0", false},
    {"ld.global.b32 %r1, [%rd1+.5]", false},
    {"ld.global.b32 %r1, [%rd1-4]", false},
};

TEST(PtxConstant, StandsWhereItsKindFits) {
  for (const Literal& c : kLiterals) {
    SCOPED_TRACE(c.instruction);
    const std::string text = std::string(".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\n") +
                             ".reg .f32 %f<4>; .reg .f64 %fd<4>; .reg .pred %p<4>;\n" + c.instruction + ";\nret; }\n";
    const ParseResult r = parse_ptx(text, "t.ptx");
    EXPECT_EQ(!r.diagnostics.has_errors() && validate(r.module).empty(), c.legal) << r.diagnostics.to_string();
    const auto verdict = test::run_ptxas(text, "sm_100a");
    if (verdict) {
      EXPECT_EQ(verdict->accepted, c.legal) << verdict->output;
    }
  }
}

}  // namespace
}  // namespace drywell::isa
