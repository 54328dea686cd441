// Tests every row of the instruction table with the row's example.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "drywell/isa/builder.h"
#include "drywell/isa/opcode.h"
#include "drywell/isa/print.h"
#include "drywell/isa/resolve.h"
#include "drywell/isa/spec.h"

namespace drywell::isa {
namespace {

TEST(InstructionTable, NoRowHasASlotTwiceAndNoModTextIsShared) {
  std::set<std::string_view> texts;
  for (size_t m = 1; m < static_cast<size_t>(Mod::count_); ++m) {
    EXPECT_TRUE(texts.insert(mod_text(static_cast<Mod>(m))).second) << mod_text(static_cast<Mod>(m));
  }
  for (const InstrSpec& row : all_specs()) {
    std::set<Slot> slots;
    for (size_t s = 0; s < row.slot_count(); ++s) EXPECT_TRUE(slots.insert(row.slots[s].slot).second) << row.mnemonic;
  }
}

TEST(InstructionTable, LongestMnemonicWins) {
  EXPECT_EQ(mnemonic_of("mbarrier.arrive.expect_tx.shared::cta.b64"), "mbarrier.arrive.expect_tx");
  EXPECT_EQ(mnemonic_of("mbarrier.arrive.shared::cta.b64"), "mbarrier.arrive");
  EXPECT_EQ(mnemonic_of("nosuch.b64"), "");
}

TEST(InstructionTable, AMisfitSaysWhichModifiersTheRowTakes) {
  const auto hint_of = [](std::string_view text) {
    std::string why, hint;
    EXPECT_TRUE(resolve_opcode(text, &why, &hint).empty()) << text;
    return hint;
  };
  EXPECT_EQ(hint_of("cvt.pack.sat.u32.s32"), "it takes .u16, .s16, .u8, .s8, .u4, .s4, .u2, .s2");
  EXPECT_EQ(hint_of("vote.sync.some.pred"), "it takes .all, .any, .uni");
  EXPECT_EQ(hint_of("cvt.rz.satfinite.e4m3x2.f32"), "it takes .rn, .relu");  // the row of that type, not the first of the mnemonic
}

TEST(InstructionTable, HintNamesTheNearestMnemonic) {
  std::string why, hint;
  EXPECT_TRUE(resolve_opcode("ad.s32", &why, &hint).empty());
  EXPECT_EQ(why, "unknown instruction 'ad'");
  EXPECT_NE(hint.find("did you mean"), std::string::npos);
}

// By meaning: of a family that exists, the member with the most words in common, not the shortest edit.
TEST(InstructionTable, HintStaysInTheFamily) {
  std::string why, hint;
  EXPECT_TRUE(resolve_opcode("mbarrier.try_wait_parity.shared.b64", &why, &hint).empty());
  EXPECT_EQ(why, "unknown instruction 'mbarrier.try_wait_parity'");
  EXPECT_EQ(hint, "did you mean 'mbarrier.try_wait'?");
  hint.clear();
  EXPECT_TRUE(resolve_opcode("tcgen05.mna.cta_group::1.kind::f16", &why, &hint).empty());
  EXPECT_EQ(why, "unknown instruction 'tcgen05.mna'");
  EXPECT_EQ(hint, "did you mean 'tcgen05.mma'?");
}

TEST(InstructionTable, HintIsByMeaning) {
  const auto hint_of = [](const char* opcode) {
    std::string why, hint;
    EXPECT_TRUE(resolve_opcode(opcode, &why, &hint).empty()) << opcode;
    return hint;
  };
  EXPECT_EQ(hint_of("mbar.init.b64"), "did you mean 'mbarrier.init'?");
  EXPECT_EQ(hint_of("tcgen05.matmul.cta_group::1"), "did you mean 'tcgen05.mma'?");
  EXPECT_EQ(hint_of("shuffle.b32"), "did you mean 'shfl'?");
  EXPECT_EQ(hint_of("popcount.b32"), "did you mean 'popc'?");
  EXPECT_TRUE(hint_of("tma.load").starts_with("about 'tma': ")) << hint_of("tma.load") << ": not fma";
  EXPECT_TRUE(hint_of("atom.global.fadd.f32").starts_with("did you mean 'add'? it takes ")) << hint_of("atom.global.fadd.f32");
  EXPECT_EQ(hint_of("frobnicate"), "");
}

// Opcode part of each example resolves to its own row and prints back in canonical order.
TEST(InstructionTable, ExampleOpcodeResolvesToItsRow) {
  for (size_t i = 0; i < kOpcodeCount; ++i) {
    const auto op = static_cast<Opcode>(i);
    std::istringstream in{std::string(spec(op).example)};
    std::string text;
    in >> text;
    std::string why;
    const auto forms = resolve_opcode(text, &why, nullptr);
    bool found = false;
    for (const OpcodeForm& f : forms) {
      if (f.op != op) continue;
      found = true;
      Instruction ins;
      ins.op = f.op;
      ins.mods = f.mods;
      EXPECT_EQ(print_opcode(ins), text);
    }
    EXPECT_TRUE(found) << opcode_name(op) << ": " << text << ": " << why;
  }
}

TEST(KernelBuilder, EmitsPtxAsWritten) {
  KernelBuilder k("axpy");
  const Symbol x = k.param(Mod::u64, "x");
  const Reg base = k.load_param(x, Mod::u64);
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x);
  const Reg offset = k.def("mul.wide.u32", tid, 4);
  const Reg address = k.def("add.s64", base, offset);
  const Reg v = k.def("ld.global.f32", mem(address));
  const Reg w = k.def("fma.rn.f32", v, 2.0f, 1.0f);
  k("st.global.f32", mem(address, 16), w);
  const Module m = k.finish();
  const std::string text = print_module(m, {.source_lines = false});
  EXPECT_NE(text.find(".visible .entry axpy(\n\t.param .u64 axpy_param_0_x\n)"), std::string::npos) << text;
  EXPECT_NE(text.find("fma.rn.f32 %f1, %f0, 0f40000000, 0f3F800000;"), std::string::npos) << text;
  EXPECT_NE(text.find("st.global.f32 [%rd2+16], %f1;\n\tret;"), std::string::npos) << text;
}

TEST(KernelBuilder, NamesTheAuthorsLineOfAMistake) {
  KernelBuilder k("bad");
  const Reg r = k.reg(Mod::b32), d = k.reg(Mod::b64);
  const int line = __LINE__ + 2;
  try {
    k("add.s32", r, d, 1);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E1201);
    EXPECT_EQ(e.diagnostics().list()[0].where.line, static_cast<uint32_t>(line));
  }
}

}  // namespace
}  // namespace drywell::isa
