// Mistakes with the DSL: each is one error with its code and the author's line, and none is a signal or
// silence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "drywell/isa/builder.h"
#include "drywell/isa/print.h"

namespace drywell::isa {
namespace {

using testing::HasSubstr;

struct DslMistake {
  const char* name;
  std::function<void(KernelBuilder&, KernelBuilder& other)> body;
  Code code;
  const char* message;
};

void PrintTo(const DslMistake& m, std::ostream* out) { *out << m.name; }

class DslMistakes : public testing::TestWithParam<DslMistake> {};

TEST_P(DslMistakes, AreOneErrorWithTheAuthorsLine) {
  KernelBuilder k("mine"), other("other");
  try {
    GetParam().body(k, other);
    FAIL() << "no error";
  } catch (const InputError& e) {
    ASSERT_EQ(e.diagnostics().list().size(), 1u) << e.what();
    EXPECT_EQ(e.diagnostics().list()[0].code, GetParam().code) << e.what();
    EXPECT_THAT(e.what(), HasSubstr("builder_mistakes_test.cpp:"));
    EXPECT_THAT(e.what(), HasSubstr(GetParam().message));
  }
}

Reg word(KernelBuilder& k) { return k.reg(Mod::b32); }

INSTANTIATE_TEST_SUITE_P(
    Each, DslMistakes,
    testing::Values(
        DslMistake{"DefaultRegister", [](auto& k, auto&) { k("add.u32", word(k), Reg{}, 3); }, Code::E1102,
                   "a default Reg{} names no register"},
        DslMistake{"DefaultRegisterInAnAddress", [](auto& k, auto&) { k("st.global.u32", mem(Reg{}), 3); },
                   Code::E1102, "a default Reg{}"},
        DslMistake{"DefaultRegisterInAVector",
                   [](auto& k, auto&) { k("st.global.v2.u32", mem(k.reg(Mod::b64)), vec(word(k), Reg{})); },
                   Code::E1102, "a default Reg{}"},
        DslMistake{"DefaultGuard", [](auto& k, auto&) { k.when(Reg{})("mov.u32", word(k), 1); }, Code::E1102,
                   "a default Reg{}"},
        DslMistake{"DefaultCondition", [](auto& k, auto&) { k.if_(Reg{}, [] {}); }, Code::E1102,
                   "a default Reg{}"},
        DslMistake{"RegisterOfAnother", [](auto& k, auto& o) { k("add.u32", word(k), word(o), 3); },
                   Code::E1102, "the register is of another builder"},
        DslMistake{"GuardOfAnother",
                   [](auto& k, auto& o) { k.unless(o.reg(Mod::pred))("mov.u32", word(k), 1); }, Code::E1102,
                   "the register is of another builder"},
        DslMistake{"SymbolOfAnother", [](auto& k, auto& o) { k("mov.u32", word(k), o.shared("x", 8, 8)); },
                   Code::E1102, "the symbol is of another builder"},
        DslMistake{"LabelOfAnother", [](auto& k, auto& o) { k("bra", o.label()); }, Code::E1102,
                   "the label is of another builder"},
        DslMistake{"BindingALabelOfAnother", [](auto& k, auto& o) { k.bind(o.label()); }, Code::E1102,
                   "the label is of another builder"},
        DslMistake{"LabelBoundTwice",
                   [](auto& k, auto&) {
                     const LabelRef l = k.label("top");
                     k.bind(l);
                     k("mov.u32", word(k), 1);
                     k.bind(l);
                   },
                   Code::E1221, "is bound already"},
        DslMistake{"InstructionAfterFinish",
                   [](auto& k, auto&) {
                     const Reg r = word(k);
                     k.finish();
                     k("mov.u32", r, 1);
                   },
                   Code::E1100, "used after finish()"},
        DslMistake{"RegisterAfterFinish",
                   [](auto& k, auto&) {
                     k.finish();
                     k.reg(Mod::b32);
                   },
                   Code::E1100, "used after finish()"},
        DslMistake{"BlockAfterFinish",
                   [](auto& k, auto&) {
                     const Reg p = k.reg(Mod::pred);
                     k.finish();
                     k.if_(p, [] {});
                   },
                   Code::E1100, "used after finish()"},
        DslMistake{"FinishTwice",
                   [](auto& k, auto&) {
                     k.finish();
                     k.finish();
                   },
                   Code::E1100, "used after finish()"},
        DslMistake{"ForgottenMem", [](auto& k, auto&) { k("ld.global.u32", word(k), k.reg(Mod::b64)); },
                   Code::E1102, "operand 2 is an address: write mem(address)"},
        DslMistake{"ForgottenMemOfASymbol",
                   [](auto& k, auto&) { k("st.shared.u32", k.shared("x", 4, 4), 1); }, Code::E1102,
                   "operand 1 is an address: write mem(address)"},
        DslMistake{"NoResult", [](auto& k, auto&) { k.def(OpText("st.global.u32"), mem(k.reg(Mod::b64)), 1); },
                   Code::E1102, "'st' has no result in a register"},
        DslMistake{"NameWithASpace", [](auto& k, auto&) { k.reg(Mod::b32, "tile m"); }, Code::E1107,
                   "'tile m' is no name of PTX"}),
    [](const auto& i) { return std::string(i.param.name); });

/// A stale register of the kernel that was built before at the same address has a number that the new kernel
/// lacks.
TEST(DslMistakes, RegistersOfABuilderThatIsGoneAreRefused) {
  Reg stale;
  {
    KernelBuilder first("first");
    for (int i = 0; i < 4; ++i) stale = word(first);
  }
  KernelBuilder second("second");
  EXPECT_THROW(second("mov.u32", word(second), stale), InputError);
}

TEST(DslMistakes, ABoolIsNoImmediate) {
  EXPECT_FALSE((std::is_constructible_v<Arg, bool>));
  EXPECT_TRUE((std::is_constructible_v<Arg, int>));
}

TEST(DslNames, RegistersKeepTheAuthorsNames) {
  KernelBuilder k("t");
  const Reg out = k.named("out", k.load_param(k.param(Mod::u64, "p"), Mod::u64));
  const Reg tile = k.named("tile_m", k.def("mov.u32", SpecialReg::ctaid_x));
  k("st.global.u32", mem(out), tile);
  k("st.global.u32", mem(out, 4), k.named("tile_m", k.def("add.u32", tile, 1)));
  const std::string text = print_module(k.finish());
  EXPECT_THAT(text, HasSubstr("mov.u32 %tile_m, %ctaid.x"));
  EXPECT_THAT(text, HasSubstr("st.global.u32 [%out], %tile_m;"));
  EXPECT_THAT(text, HasSubstr("add.u32 %tile_m_2_, %tile_m, 1"));  // a repeated name gets a number
}

}  // namespace
}  // namespace drywell::isa
