// Calls against prototypes: each row is refused or accepted as ptxas 13.0 does, and where there is a ptxas it
// is asked again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

struct Call {
  const char* name;
  const char* functions;
  const char* variables;
  const char* call;
  bool legal;
};

std::string module_of(const Call& c) {
  return fmt::format(R"(.version 8.8
.target sm_100a
.address_size 64
{}
.visible .entry k(.param .u64 p)
{{
 .reg .b16 %h; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f; .reg .pred %q;
 {}
 mov.u32 %r0, 0; mov.u64 %rd0, 0; mov.f32 %f, 0f00000000; mov.u16 %h, 0;
 {}
 ret;
}}
)",
                     c.functions, c.variables, c.call);
}

bool accepts(const std::string& text) {
  const ParseResult r = parse_ptx(text, "call.ptx");
  return !r.diagnostics.has_errors() && !validate(r.module).has_errors();
}

constexpr const char* kWord = ".func f(.param .b32 x) { ret; }";
constexpr const char* kUnsigned = ".func f(.param .u32 x) { ret; }";
constexpr const char* kFloat = ".func f(.param .f32 x) { ret; }";
constexpr const char* kLong = ".func f(.param .b64 x) { ret; }";
constexpr const char* kBytes = ".func f(.param .b8 x[16]) { ret; }";
constexpr const char* kReturns = ".func (.param .b32 r) f() { ret; }";

std::vector<Code> codes_of(const Call& c) {
  const ParseResult r = parse_ptx(module_of(c), "call.ptx");
  Diagnostics all = validate(r.module);
  std::vector<Code> codes;
  for (const Diagnostic& d : all.list()) codes.push_back(d.code);
  return codes;
}

TEST(CallCodes, AreTheirOwn) {
  EXPECT_EQ(codes_of({"TooMany", kWord, ".param .b32 a, b;", "call f,(a,b);", false}), std::vector{Code::E1230});
  EXPECT_EQ(codes_of({"TooWide", kWord, ".param .b64 a;", "call f,(a);", false}), std::vector{Code::E1230});
  EXPECT_EQ(codes_of({"NoPrototype", kWord, ".param .b32 a;", "mov.u64 %rd1, f; call %rd1,(a);", false}), std::vector{Code::E1230});
  EXPECT_EQ(codes_of({"Kernel", ".visible .entry e() { ret; }", "", "call e;", false}), std::vector{Code::E1231});
}

class CallCheck : public testing::TestWithParam<Call> {};

TEST_P(CallCheck, AsPtxas) {
  const std::string text = module_of(GetParam());
  EXPECT_EQ(accepts(text), GetParam().legal) << text;
  const auto ptxas = test::run_ptxas(text, "sm_100a");
  if (!ptxas.has_value()) GTEST_SKIP() << "no ptxas to compare with";
  EXPECT_EQ(ptxas->accepted, GetParam().legal) << ptxas->output;
}

INSTANTIATE_TEST_SUITE_P(
    Each, CallCheck,
    testing::Values(
        Call{"Same", kWord, ".param .b32 a;", "call f,(a);", true},
        Call{"UntypedTakesFloat", kWord, ".param .f32 a;", "call f,(a);", true},
        Call{"UnsignedTakesSigned", kUnsigned, ".param .s32 a;", "call f,(a);", true},
        Call{"UnsignedTakesNoFloat", kUnsigned, ".param .f32 a;", "call f,(a);", false},
        Call{"TooWide", kWord, ".param .b64 a;", "call f,(a);", false},
        Call{"ArrayForScalar", kWord, ".param .b8 a[4];", "call f,(a);", false},
        Call{"ArrayOfOneForScalar", kWord, ".param .b32 a[1];", "call f,(a);", false},
        Call{"ScalarForArray", ".func f(.param .b8 x[4]) { ret; }", ".param .b32 a;", "call f,(a);", false},
        Call{"SameBytes", kBytes, ".param .b8 a[16];", "call f,(a);", true},
        Call{"MoreBytes", kBytes, ".param .b8 a[32];", "call f,(a);", false},
        Call{"FewerBytes", kBytes, ".param .b8 a[8];", "call f,(a);", false},
        Call{"MoreAligned", kBytes, ".param .align 8 .b8 a[16];", "call f,(a);", false},
        Call{"LessAligned", ".func f(.param .align 8 .b8 x[16]) { ret; }", ".param .align 4 .b8 a[16];",
             "call f,(a);", false},
        Call{"WordsForBytes", ".func f(.param .align 4 .b8 x[16]) { ret; }", ".param .align 4 .b32 a[4];",
             "call f,(a);", true},
        Call{"Local", kWord, ".local .b32 a;", "call f,(a);", false},
        Call{"Shared", kWord, ".shared .b32 a;", "call f,(a);", false},
        Call{"SharedForAPointer", kLong, ".shared .b32 a;", "call f,(a);", false},
        Call{"Global", ".global .b32 a; .func f(.param .b32 x) { ret; }", "", "call f,(a);", false},
        Call{"Function", ".func g() { ret; } .func f(.param .b64 x) { ret; }", "", "call f,(g);", false},
        Call{"KernelParameter", kLong, "", "call f,(p);", false},
        Call{"Register", kWord, "", "call f,(%r0);", true},
        Call{"RegisterForFloat", kFloat, "", "call f,(%r0);", true},
        Call{"FloatRegister", kUnsigned, "", "call f,(%f);", false},
        Call{"WideRegister", kWord, "", "call f,(%rd0);", false},
        Call{"NarrowRegister", kLong, "", "call f,(%r0);", false},
        Call{"RegisterForArray", ".func f(.param .align 4 .b8 x[4]) { ret; }", "", "call f,(%r0);", false},
        Call{"Predicate", kWord, "", "call f,(%q);", false}, Call{"Number", kWord, "", "call f,(7);", true},
        Call{"NumberForFloat", kFloat, "", "call f,(7);", false},
        Call{"FloatNumber", kFloat, "", "call f,(0f3F800000);", true},
        Call{"TooFew", ".func f(.param .b32 x, .param .b32 y) { ret; }", ".param .b32 a;", "call f,(a);",
             false},
        Call{"TooMany", kWord, ".param .b32 a, b;", "call f,(a,b);", false},
        Call{"None", kWord, "", "call f;", false}, Call{"ResultLeftOut", kReturns, "", "call f;", false},
        Call{"ResultToASink", kReturns, "", "call (_), f;", true},
        Call{"SinkAsArgument", kWord, "", "call f,(_);", false},
        Call{"ResultToShared", kReturns, ".shared .b32 a;", "call (a), f;", false},
        Call{"ResultTooWide", kReturns, ".param .b64 a;", "call (a), f;", false},
        Call{"ResultTooNarrow", kReturns, ".param .b8 a;", "call (a), f;", false},
        Call{"ResultInRegister", kReturns, "", "call (%r1), f;", true},
        Call{"ResultInWideRegister", kReturns, "", "call (%rd1), f;", false},
        Call{"ResultInNumber", kReturns, "", "call (7), f;", false},
        Call{"ResultOfNone", ".func f() { ret; }", ".param .b32 a;", "call (a), f;", false},
        Call{"Kernel", ".visible .entry e() { ret; }", "", "call e;", false},
        Call{"ByAddress", kWord, ".param .b32 a; P: .callprototype _ (.param .b32 _);",
             "mov.u64 %rd1,f; call %rd1,(a),P;", true},
        Call{"ByAddressTooFew", kWord, ".param .b32 a; P: .callprototype _ (.param .b32 _, .param .b32 _);",
             "mov.u64 %rd1,f; call %rd1,(a),P;", false},
        Call{"ByAddressOfAnotherType", kWord, ".param .b64 a; P: .callprototype _ (.param .b32 _);",
             "mov.u64 %rd1,f; call %rd1,(a),P;", false},
        Call{"ByAddressAlone", kWord, ".param .b32 a;", "mov.u64 %rd1,f; call %rd1,(a);", false},
        Call{"ByAddressAloneOfNone", ".func g() { ret; }", "", "mov.u64 %rd1,g; call %rd1;", false},
        Call{"ByAddressShared", kWord, ".shared .b32 a; P: .callprototype _ (.param .b32 _);",
             "mov.u64 %rd1,f; call %rd1,(a),P;", false},
        Call{"VariableNumber", ".func f(.param .b32 x, .param .align 8 .b8 v[]) { ret; }",
             ".param .b32 a; .param .align 8 .b8 w[12];", "call f,(a,w);", true},
        Call{"StoreToAKernelParameter", "", "", "st.param.u64 [p], 1;", false},
        Call{"StoreBehindItsStart", "", "", "st.param.u64 [p+4], 1;", false},
        Call{"StoreToAParameter", ".func f(.param .b32 x) { st.param.b32 [x], 1; ret; }", ".param .b32 a;",
             "call f,(a);", false},
        Call{"LoadOfAReturn", ".func (.param .b32 r) f() { .reg .b32 %x; ld.param.b32 %x, [r]; ret; }",
             ".param .b32 a;", "call (a), f;", false},
        Call{"GlobalAsShared", ".global .b32 g;", "", "ld.shared.u32 %r1, [g];", false},
        Call{"SharedAsGlobal", "", ".shared .b32 s;", "st.global.u32 [s], %r0;", false},
        Call{"ConstantAsGeneric", ".const .b32 c;", "", "ld.u32 %r1, [c];", false},
        Call{"SharedAsGeneric", "", ".shared .b32 s;", "ld.u32 %r1, [s];", true},
        Call{"ParameterAsGeneric", "", "", "st.u64 [p], 1;", false}),
    [](const testing::TestParamInfo<Call>& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace drywell::isa
