// PTX text becomes the expected IR. Small texts, one subject each.
#include <gtest/gtest.h>

#include <string>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "support/ir_equal.h"

namespace drywell::isa {
namespace {

constexpr const char* kHeader = ".version 9.0\n.target sm_100a\n.address_size 64\n";

Module parse(const std::string& text) {
  ParseResult r = parse_ptx(kHeader + text, "test.ptx");
  EXPECT_TRUE(r.diagnostics.empty()) << r.diagnostics.to_string();
  const std::string printed = print_module(r.module);
  const ParseResult again = parse_ptx(printed, "printed.ptx");
  EXPECT_TRUE(again.diagnostics.empty()) << again.diagnostics.to_string() << printed;
  EXPECT_EQ(test::first_difference(r.module, again.module), "") << printed;
  return std::move(r.module);
}

/// A kernel with `body`, registers of every kind declared.
Function kernel(const std::string& body) {
  Module m = parse(
      ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n.reg .pred %p<4>;\n.reg "
      ".b32 %f<10>;\n" +
      body + "\nret;\n}\n");
  return m.functions.empty() ? Function{} : std::move(m.functions[0]);
}

std::string line(const Function& f, size_t i) {
  return i < f.body.size() ? print_instruction(f, f.body[i]) : "<no instruction>";
}

// LLVM counts the lines of an inline assembly text onto the author's line.
TEST(PtxParser, TheLineInFrontOfInlineAssemblyHolds) {
  const Module m = parse_ptx_or_throw(std::string(kHeader) + R"(.entry k()
{
.reg .b32 %r<2>;
.loc 1 20 3
mov.b32 %r0, 1;
// begin inline asm
{
.reg .pred done;
.loc 1 22 3
waitLoop:
.loc 1 23 3
setp.eq.u32 done, %r0, 1;
@!done bra waitLoop;
.loc 1 25 3
}
// end inline asm
mov.b32 %r1, 1;
.loc 1 21 3
mov.b32 %r1, 2;  // begin inline assembly is only a remark here
.loc 1 22 3
ret;
}
.file 1 "kernel.py"
)",
                                      "lines.ptx");
  std::vector<uint32_t> lines;
  for (const Instruction& i : m.functions[0].body) lines.push_back(i.source.line);
  EXPECT_EQ(lines, (std::vector<uint32_t>{20, 20, 20, 20, 21, 22}));
}

// nvcc names the call for which a line was inlined; the line of that call has its own earlier .loc with the next outer call.
TEST(Parser, KeepsTheCallsALineWasInlinedFor) {
  const Module m = parse_ptx_or_throw(R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k() {
.reg .b32 %r<4>;
.loc 1 20 3
.loc 2 34 11, function_name $L__info_string4, inlined_at 1 20 3
mov.u32 %r1, 1;
.loc 3 7 1, function_name $L__info_string5, inlined_at 2 34 11
mov.u32 %r2, 2;
.loc 1 21 3
mov.u32 %r3, 3;
.loc 2 34 11, function_name $L__info_string4, inlined_at 1 21 3
ret;
}
.file 1 "kernel.cu"
.file 2 "ptx.cuh"
.file 3 "deep.h"
)",
                                      "k.ptx");
  const Function& f = m.functions.at(0);
  const auto lines = [&](size_t i) {
    std::string all;
    for (const SourcePos& at : InstructionRef{m, f, f.body.at(i)}.author_lines()) all += at.file + ":" + std::to_string(at.line) + " ";
    return all;
  };
  EXPECT_EQ(lines(0), "ptx.cuh:34 kernel.cu:20 ");
  EXPECT_EQ(lines(1), "deep.h:7 ptx.cuh:34 kernel.cu:20 ");
  EXPECT_EQ(lines(2), "kernel.cu:21 ");
  EXPECT_EQ(lines(3), "ptx.cuh:34 kernel.cu:21 ");
}

// PTX for old chips runs on every later one (PTX ISA 11.1.2): libraries keep it for chips to come.
TEST(PtxParser, TakesTargetsBeforeSm80) {
  for (const char* target : {"sm_50", "sm_70", "sm_75"}) {
    EXPECT_EQ(parse_ptx_or_throw(std::string(".version 6.4 .target ") + target + " .address_size 64", "x").target, Target::sm_80) << target;
  }
  EXPECT_TRUE(parse_ptx(".version 6.4 .target sm_76 .address_size 64", "x").diagnostics.has_errors());
}

TEST(PtxParser, ReadsHeader) {
  const Module m = parse_ptx_or_throw(".version 8.7 .target sm_90a, debug .address_size 64", "x");
  EXPECT_EQ(m.version, (PtxVersion{8, 7}));
  EXPECT_EQ(m.target, Target::sm_90a);
  EXPECT_TRUE(m.debug);
}

TEST(PtxParser, SkipsCommentsAndSections) {
  const Module m = parse(
      "// line\n/* block\n ; { */ .section .debug_str { $L__info: .b8 101,0 }\n.section .debug_info\n{\n.b32 "
      ".debug_abbrev\n.b64 $L0-$L1\n}\n"
      ".entry a() /* here too */ { // and here\n ret /* ; */ ; }");
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_EQ(m.functions[0].body.size(), 1u);
}

TEST(PtxParser, ReadsOperandsOfEveryShape) {
  const Function f = kernel(
      "mov.b32 %r1, -5;\nmov.b32 %r1, 0x1FU;\nmov.f32 %f1, 0f3F800000;\nmov.b32 %r1, WARP_SZ;\nmov.u32 %r1, "
      "%tid.x;\n"
      "mov.b64 %rd1, {%r1, %r2};\nmov.b64 {%r1, _}, %rd1;\nld.global.u32 %r1, [%rd1+-8];\nld.param.u64 %rd1, "
      "[p];\n"
      "ld.param.u32 %r1, [p+4];\nelect.sync _|%p1, 0xFFFFFFFF;\nselp.b32 %r1, 1, 0, !%p1;\n"
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {0}], "
      "[%r2+8];\n"
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1+64, "
      "{%r1, 2, %r3}], [%r2], {%r4};\n"
      "mov.b32 %r1, (1 << 4) + 3 * 2;\nld.shared.u32 %r1, [64];");
  EXPECT_EQ(line(f, 0), "mov.b32 %r1, -5;");
  EXPECT_EQ(line(f, 1), "mov.b32 %r1, 0x1F;");
  EXPECT_EQ(line(f, 2), "mov.f32 %f1, 0f3F800000;");
  EXPECT_EQ(line(f, 3), "mov.b32 %r1, WARP_SZ;");
  EXPECT_EQ(line(f, 4), "mov.u32 %r1, %tid.x;");
  EXPECT_EQ(line(f, 5), "mov.b64 %rd1, {%r1, %r2};");
  EXPECT_EQ(line(f, 6), "mov.b64 {%r1, _}, %rd1;");
  EXPECT_EQ(line(f, 7), "ld.global.u32 %r1, [%rd1+-8];");
  EXPECT_EQ(line(f, 8), "ld.param.u64 %rd1, [p];");
  EXPECT_EQ(line(f, 9), "ld.param.u32 %r1, [p+4];");
  EXPECT_EQ(line(f, 10), "elect.sync _|%p1, 0xFFFFFFFF;");
  EXPECT_EQ(line(f, 11), "selp.b32 %r1, 1, 0, !%p1;");
  EXPECT_NE(line(f, 12).find("[%r1], [%rd1, {0}], [%r2+8]"), std::string::npos);
  EXPECT_NE(line(f, 13).find("[%rd1+64, {%r1, 2, %r3}], [%r2], {%r4}"), std::string::npos);
  EXPECT_EQ(line(f, 14), "mov.b32 %r1, 22;");
  EXPECT_EQ(line(f, 15), "ld.shared.u32 %r1, [64];");
}

struct LiteralCase {
  const char* text;
  const char* printed;
};
class PtxLiteral : public testing::TestWithParam<LiteralCase> {};
TEST_P(PtxLiteral, HasTheValuePtxGivesIt) {
  const Function f = kernel(std::string(GetParam().text) + ";");
  EXPECT_EQ(line(f, 0), std::string(GetParam().printed) + ";");
}
INSTANTIATE_TEST_SUITE_P(
    All, PtxLiteral,
    testing::Values(LiteralCase{"mov.b64 %rd1, 18446744073709551615", "mov.b64 %rd1, -1"},
                    LiteralCase{"mov.b64 %rd1, -9223372036854775808", "mov.b64 %rd1, -9223372036854775808"},
                    LiteralCase{"mov.b64 %rd1, 0xffffffffffffffff", "mov.b64 %rd1, 0xFFFFFFFFFFFFFFFF"},
                    LiteralCase{"mov.b32 %r1, 017", "mov.b32 %r1, 15"},
                    LiteralCase{"mov.b32 %r1, 0b101", "mov.b32 %r1, 5"},
                    LiteralCase{"mov.b32 %r1, 7U", "mov.b32 %r1, 7"},
                    LiteralCase{"mov.f32 %f1, 0F3f800000", "mov.f32 %f1, 0f3F800000"},
                    LiteralCase{"mov.f32 %f1, 1.5", "mov.f32 %f1, 0f3FC00000"},
                    LiteralCase{"mov.f32 %f1, -2.5e-1", "mov.f32 %f1, 0fBE800000"},
                    LiteralCase{"mov.f64 %rd1, 0d3FF8000000000000", "mov.f64 %rd1, 0d3FF8000000000000"},
                    LiteralCase{"mov.b32 %r1, ~0", "mov.b32 %r1, -1"},
                    LiteralCase{"mov.b32 %r1, 7 / 2 % 2", "mov.b32 %r1, 1"},
                    LiteralCase{"mov.b32 %r1, (.u64) 5 > 3", "mov.b32 %r1, 1"}),
    [](const auto& tested) { return "Case" + std::to_string(tested.index); });

TEST(PtxParser, ReadsRegistersInAllSpellings) {
  const Function f = kernel(
      "{\n.reg.b16 h;.reg .b32 x,y , z;\n.reg .v2 .f32 v;\n.reg.b128 q<2>;mov.b32 x, v.y;mov.b64 "
      "%rd1,{v.x,v.y};mov.b64 %rd1, v;}");
  ASSERT_EQ(f.regs.size(), 34u + 4 + 2 + 2);
  EXPECT_EQ(f.regs[0].name, "%r0");
  EXPECT_EQ(f.regs[9].name, "%r9");
  EXPECT_EQ(f.regs[34], (RegDecl{"h", Mod::b16}));
  EXPECT_EQ(f.regs[37], (RegDecl{"z", Mod::b32}));
  EXPECT_EQ(f.regs[38], (RegDecl{"v_x", Mod::f32}));
  EXPECT_EQ(f.regs[41], (RegDecl{"q1", Mod::b128}));
  EXPECT_EQ(line(f, 0), "mov.b32 x, v_y;");
  EXPECT_EQ(line(f, 1), "mov.b64 %rd1, {v_x, v_y};");
  EXPECT_EQ(line(f, 2), "mov.b64 %rd1, {v_x, v_y};");
}

TEST(PtxParser, InnermostDeclarationHidesOuterOnes) {
  const Function f = kernel(
      "{ .reg .b64 %r1; mov.b64 %r1, 1; { .reg .pred %r1; mov.pred %r1, 1; } mov.b64 %r1, 2; }\n"
      "mov.b32 %r1, 3;\n{ .reg .b64 %r<3>; mov.b64 %r2, 4; mov.b32 %r7, 5; }\nmov.b32 %r2, 6;");
  EXPECT_EQ(line(f, 0), "mov.b64 %r1_1, 1;");
  EXPECT_EQ(line(f, 1), "mov.pred %r1_2, 1;");
  EXPECT_EQ(line(f, 2), "mov.b64 %r1_1, 2;");
  EXPECT_EQ(line(f, 3), "mov.b32 %r1, 3;");
  EXPECT_EQ(line(f, 4), "mov.b64 %r_1_2, 4;");
  EXPECT_EQ(line(f, 5), "mov.b32 %r7, 5;");
  EXPECT_EQ(line(f, 6), "mov.b32 %r2, 6;");
}

TEST(PtxParser, LabelsBelongToTheirBlock) {
  const Function f = kernel(
      "{\nWAIT: bra DONE;\nbra WAIT;\nDONE:\n}\n{\nWAIT:\nbra DONE;\nbra WAIT;\nDONE: }\nbra OUT; { bra OUT; "
      "{ OUT: bra OUT; } }\nOUT:");
  ASSERT_EQ(f.labels.size(), 6u);
  EXPECT_EQ(line(f, 0), "bra DONE;");
  EXPECT_EQ(line(f, 1), "bra WAIT;");
  EXPECT_EQ(line(f, 2), "bra DONE_1;");
  EXPECT_EQ(line(f, 3), "bra WAIT_1;");
  EXPECT_EQ(line(f, 4), "bra OUT_1;");
  EXPECT_EQ(line(f, 5), "bra OUT_1;");
  EXPECT_EQ(line(f, 6), "bra OUT;");
  EXPECT_EQ(f.labels[0].position, 0u);
  EXPECT_EQ(f.labels[1].position, 2u);
  EXPECT_EQ(f.labels[5].position, f.body.size() - 1);
}

TEST(PtxParser, LocalNamesNeverHideModuleNamesThatAreUsed) {
  const Module m =
      parse(".global .u32 x;\n.entry k() { .reg .b64 a; { .reg .b64 x; mov.b64 x, 1; } mov.u64 a, x; ret; }");
  const Function& f = m.functions[0];
  EXPECT_EQ(line(f, 0), "mov.b64 x_1, 1;");
  EXPECT_EQ(line(f, 1), "mov.u64 a, x;");
  EXPECT_EQ(f.symbols.at(0).kind, SymbolRef::Kind::variable);
}

TEST(PtxParser, ReadsOpcodesWithOrWithoutBlanks) {
  const Function f =
      kernel("mov.b64{%r1,%r2},%rd1;\nst.global .u32 [%rd1],%r1;@!%p1 bra L;@ %p2 bra.uni L;L:{}");
  EXPECT_EQ(line(f, 0), "mov.b64 {%r1, %r2}, %rd1;");
  EXPECT_EQ(line(f, 1), "st.global.u32 [%rd1], %r1;");
  EXPECT_EQ(line(f, 2), "@!%p1 bra L;");
  EXPECT_EQ(line(f, 3), "@%p2 bra.uni L;");
}

TEST(PtxParser, ReadsCalls) {
  const Module m = parse(
      ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 s[16]);\n.extern .func "
      "trapped\n()\n.noreturn ;\n.weak .func plain;\n"
      ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 s[16]) { .reg .b32 %r<3>; ld.param.b32 "
      "%r1, [a]; st.param.b32 [r], %r1; ret; }\n"
      ".entry k() {\n.reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
      "{ .param .b32 p0; .param .align 8 .b8 p1[16]; st.param.b32 [p0], %r1; .param .b32 retval0;\ncall.uni "
      "(retval0),\nf,\n(\np0,\np1\n)\n;\n"
      "ld.param.b32 %r2, [retval0]; }\n"
      "{ .param .b32 p0; .param .b32 retval0; mov.u64 %rd1, f;\nproto : .callprototype (.param .b32 _) _ "
      "(.param .b32 _, .param .align 8 .b8 _[16]);\n"
      "call (retval0), %rd1, (p0), proto; }\ncall plain;\ncall trapped, ( );\nret; }");
  ASSERT_EQ(m.functions.size(), 5u);
  EXPECT_TRUE(m.functions[0].is_prototype);
  EXPECT_TRUE(m.functions[1].directives.noreturn);
  EXPECT_EQ(m.functions[1].linkage, Linkage::external);
  EXPECT_EQ(m.functions[3].params[1].elements, 16u);
  const Function& k = m.functions[4];
  EXPECT_EQ(line(k, 1), "call.uni (retval0), f, (p0, p1);");
  EXPECT_EQ(line(k, 4), "call (retval0_1), %rd1, (p0_1), proto;");
  EXPECT_EQ(line(k, 5), "call plain;");
  EXPECT_EQ(line(k, 6), "call trapped, ();");
  EXPECT_EQ(k.prototypes.at(0).params.at(1).elements, 16u);
  EXPECT_EQ(k.variables.size(), 5u);
  // The symbol leads to the definition, not to the declaration in front of it.
  for (const SymbolRef& s : k.symbols) {
    if (s.name == "f") {
      EXPECT_EQ(s.index, 3u);
    }
  }
}

TEST(PtxParser, ReadsBranchTables) {
  const Function f = kernel("$tab: .branchtargets A, B, A;\nbrx.idx %r1, $tab;\nA: ret;\nB: ret;");
  ASSERT_EQ(f.branch_targets.size(), 1u);
  EXPECT_EQ(f.branch_targets[0], (std::vector<uint32_t>{0, 1, 0}));
  EXPECT_EQ(line(f, 0), "brx.idx %r1, $tab;");
}

TEST(PtxParser, ReadsVariablesAndInitialisers) {
  const Module m = parse(
      ".func f ;\n.global .align 1 .b8 empty[1];\n.global .align 1 .b8 $str$1[6] = {72, 105, 0x21};\n.const "
      ".align 8 .f64 c[2] = {0d3FF0000000000000, 1.5};\n"
      ".global .u64 t[3] = {f, generic(empty), generic($str$1)+2};\n.global .f32 x = 0f40000000;\n.extern "
      ".shared .align 1024 .b8 smem[];\n"
      ".shared .align 16 .b32 tile[4][8];\n.visible .global .s32 grid[][2] = {{-1, 0}, {2}, {3, 4}};\n"
      ".global .align 1 .u8 packed[9] = {7, 0xFF(generic(empty)), 0xFF00(generic(empty)), "
      "0xFF0000(generic(empty)), 0xFF000000(generic(empty)), "
      "0xFF00000000(generic(empty)), 0xFF0000000000(generic(empty)), 0xFF000000000000(generic(empty)), "
      "0xFF00000000000000(generic(empty))};\n"
      ".weak .const .v2 .u16 pair = {1, 2};");
  ASSERT_EQ(m.variables.size(), 10u);
  EXPECT_EQ(m.variables[0].position, 1u);
  EXPECT_TRUE(m.variables[0].init.empty());
  EXPECT_EQ(m.variables[1].init, (std::vector<uint8_t>{72, 105, 33}));
  EXPECT_EQ(m.variables[2].init[14], 0xF8);
  EXPECT_EQ(m.variables[2].init[15], 0x3F);
  ASSERT_EQ(m.variables[3].relocations.size(), 3u);
  EXPECT_EQ(m.variables[3].relocations[0], (Variable::Reloc{0, "f", 0, false}));
  EXPECT_EQ(m.variables[3].relocations[2], (Variable::Reloc{16, "$str$1", 2, true}));
  EXPECT_EQ(m.variables[4].init, (std::vector<uint8_t>{0, 0, 0, 0x40}));
  EXPECT_EQ(m.variables[5].elements, 0u);
  EXPECT_EQ(m.variables[5].align, 1024u);
  EXPECT_EQ(m.variables[6].bytes(), 128u);
  EXPECT_EQ(m.variables[7].elements, 6u);
  EXPECT_EQ(m.variables[7].init[12], 0);
  EXPECT_EQ(m.variables[7].init[16], 3);
  ASSERT_EQ(m.variables[8].relocations.size(), 1u);
  EXPECT_EQ(m.variables[8].relocations[0], (Variable::Reloc{1, "empty", 0, true}));
  EXPECT_EQ(m.variables[9].init, (std::vector<uint8_t>{1, 0, 2, 0}));
}

TEST(PtxParser, ReadsParametersAndDirectives) {
  const Module m = parse(
      ".weak .entry k(.param .u64 .ptr .align 1 a, .param .u8 b, .param .align 128 .b8 c[3712], .param .u64 "
      ".ptr .global .align 16 d)\n"
      ".maxntid 128, 2\n.minnctapersm 1 .explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 2 "
      ".maxnreg 255 .pragma \"nounroll\";\n{ ret; }\n"
      ".entry e() .reqntid 384 { ret; }");
  const Function& k = m.functions[0];
  EXPECT_EQ(k.linkage, Linkage::weak);
  EXPECT_TRUE(k.params[0].is_pointer);
  EXPECT_EQ(k.params[1].bytes(), 1u);
  EXPECT_EQ(k.params[2].align, 128u);
  EXPECT_EQ(k.params[2].bytes(), 3712u);
  EXPECT_EQ(k.params[3].pointee, Mod::global);
  EXPECT_EQ(*k.directives.maxntid, (std::array<uint32_t, 3>{128, 2, 1}));
  EXPECT_EQ(*k.directives.reqnctapercluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_TRUE(k.directives.explicitcluster);
  EXPECT_EQ(*m.functions[1].directives.reqntid, (std::array<uint32_t, 3>{384, 1, 1}));
  EXPECT_TRUE(m.functions[1].params.empty());
}

TEST(PtxParser, KeepsSourceLines) {
  const Module m = parse(
      ".entry k() {\n\t.loc\t2 20 5\n ret;\n\t.loc 1 7 3, function_name $L__info_string0, inlined_at 2 30 "
      "3\n ret;\n}\n"
      ".file 1 \"a.h\"\n.file 2 \"dir/k.cu\", 1700000000, 1234\n.section .debug_str { $L__info_string0: .b8 "
      "95, 0 }");
  ASSERT_EQ(m.files.size(), 3u);
  EXPECT_EQ(m.files[2], "dir/k.cu");
  EXPECT_EQ(m.functions[0].body[0].source, (SourceRef{2, 20, 5}));
  EXPECT_EQ(m.functions[0].body[1].source, (SourceRef{1, 7, 3}));
  EXPECT_EQ(m.functions[0].body[1].ptx_line, 8u);
}

TEST(PtxParser, KeepsPragmasInPlace) {
  const Function f = kernel("ret;\n.pragma \"used_bytes_mask 15\";\nret;");
  ASSERT_EQ(f.pragmas.size(), 1u);
  EXPECT_EQ(f.pragmas[0], (Annotation{1, "used_bytes_mask 15"}));
}

TEST(PtxParser, ReadsAliases) {
  const Module m = parse(".func f { ret; }\n.visible .func g;\n.alias g, f;\n.entry k() { call g; ret; }");
  ASSERT_EQ(m.aliases.size(), 1u);
  EXPECT_EQ(m.functions[2].symbols.at(0).index, 0u);
}

TEST(PtxParser, ReportsMissingFormsOncePerOpcodeText) {
  const ParseResult r = parse_ptx(
      std::string(kHeader) + ".entry k() { nosuch.b32 {a, b}, [c];\nnosuch.b32 x;\nnosuch.b64 x; ret; }",
      "t.ptx");
  ASSERT_EQ(r.diagnostics.error_count(), 2u);
  EXPECT_EQ(r.diagnostics.list()[0].message, "unknown instruction 'nosuch' — in 'nosuch.b32' (2 times)");
  EXPECT_EQ(r.diagnostics.list()[1].where.line, 6u);
  EXPECT_EQ(r.module.functions.at(0).body.size(), 1u);
}

TEST(PtxParser, StopsAfterAHundredErrors) {
  std::string text = kHeader;
  text += ".entry k() {\n";
  for (int i = 0; i < 1000; ++i) text += "mov.b32 a, b;\n";
  const ParseResult r = parse_ptx(text + "}", "t.ptx");
  EXPECT_EQ(r.diagnostics.error_count(), 101u);
  EXPECT_EQ(r.diagnostics.list()[100].code, Code::E1110);
}

}  // namespace
}  // namespace drywell::isa
