// Translation units joined by PTX's linkage rules.
#include "drywell/isa/link.h"

#include <gtest/gtest.h>

#include <cstring>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/sim/device.h"

namespace drywell::isa {
namespace {

constexpr const char* kHead = ".version 8.7\n.target sm_100a\n.address_size 64\n";

Module unit(const std::string& text, const std::string& name = "unit") { return parse_ptx_or_throw(kHead + text, name); }

/// A kernel that stores the result of `function`.
std::string kernel(const std::string& name, const std::string& function) {
  return ".visible .entry " + name + "(.param .u64 p)\n{\n.reg .b32 %r1;\n.reg .b64 %rd1;\nld.param.u64 %rd1, [p];\n" +
         "{\n.param .b32 out;\ncall (out), " + function + ";\nld.param.b32 %r1, [out];\n}\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
}
std::string returns(const std::string& linkage, const std::string& name, int value) {
  return linkage + " .func (.param .b32 r) " + name + "()\n{\n.reg .b32 %r1;\nmov.u32 %r1, " + std::to_string(value) + ";\nst.param.b32 [r], %r1;\nret;\n}\n";
}

uint32_t run(const sim::LoadedModule& m, sim::Device& d, const char* name) {
  const GmemAddr out = d.allocate(4);
  const sim::RunResult r = d.launch(m, name, {.grid = {1}, .block = {1}}, sim::Args().add(out));
  EXPECT_TRUE(r.ok());
  uint32_t value = 0;
  d.read(&value, out, 4);
  return value;
}

TEST(Link, AnExternalFunctionIsTheOtherUnitsDefinition) {
  sim::Device d;
  std::vector<Module> units;
  units.push_back(unit(".extern .func (.param .b32 r) seven();\n" + kernel("k", "seven")));
  units.push_back(unit(returns(".visible", "seven", 7)));
  EXPECT_EQ(run(d.load(link(std::move(units))), d, "k"), 7u);
}

// Code for an old chip, linked to a new one's, is for the new one; it is for sm_80 here, which its version does not have.
TEST(Link, TargetAndVersionAreTheNewest) {
  const std::string old = ".version 6.5\n.target sm_50\n.address_size 64\n" + returns(".visible", "seven", 7);
  std::vector<Module> units;
  units.push_back(parse_ptx_or_throw(old, "old"));
  units.push_back(unit(".extern .func (.param .b32 r) seven();\n" + kernel("k", "seven")));
  const Module both = link(units);
  EXPECT_EQ(both.target, Target::sm_100a);
  EXPECT_EQ(both.version, (PtxVersion{8, 7}));
  units.pop_back();
  parse_ptx_or_throw(print_module(link(units)), "old code, printed");
}

TEST(Link, WhatIsInternalStaysApart) {
  sim::Device d;
  std::vector<Module> units;
  for (int i = 0; i < 3; ++i) units.push_back(unit(returns("", "value", 10 + i) + kernel("k" + std::to_string(i), "value")));
  const auto m = d.load(link(std::move(units)));
  EXPECT_EQ(run(m, d, "k0"), 10u);
  EXPECT_EQ(run(m, d, "k1"), 11u);
  EXPECT_EQ(run(m, d, "k2"), 12u);
}

TEST(Link, LinesKeepTheCallsTheyWereInlinedFor) {
  std::vector<Module> units;
  for (const std::string name : {"a", "b"}) {
    units.push_back(unit(".visible .entry k" + name + "() {\n.loc 1 5 1\n.loc 2 7 1, function_name $L, inlined_at 1 5 1\nret;\n}\n.file 1 \"" + name +
                         ".cu\"\n.file 2 \"shared.h\"\n"));
  }
  const Module m = link(std::move(units));
  for (const char* name : {"ka", "kb"}) {
    const Function& f = *m.find_function(name);
    const std::vector<SourcePos> lines = InstructionRef{m, f, f.body.at(0)}.author_lines();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0], (SourcePos{"shared.h", 7, 1}));
    EXPECT_EQ(lines[1], (SourcePos{std::string(1, name[1]) + ".cu", 5, 1}));
  }
}

// A template's function is .weak in every unit that uses it; a .visible one is stronger, in any unit.
TEST(Link, OneOfTheWeakOnesIsKeptAndAVisibleOneBeatsThem) {
  sim::Device d;
  std::vector<Module> units;
  units.push_back(unit(returns(".weak", "value", 1) + kernel("k0", "value")));
  units.push_back(unit(returns(".weak", "value", 2) + kernel("k1", "value")));
  const auto weak = d.load(link(units));
  EXPECT_EQ(run(weak, d, "k0"), 1u);
  EXPECT_EQ(run(weak, d, "k1"), 1u);
  units.push_back(unit(returns(".visible", "value", 3)));
  const auto strong = d.load(link(units));
  EXPECT_EQ(run(strong, d, "k0"), 3u);
  EXPECT_EQ(run(strong, d, "k1"), 3u);
}

TEST(Link, VariablesAndTheAddressesInThem) {
  sim::Device d;
  std::vector<Module> units;
  units.push_back(unit(".extern .global .align 4 .u32 there;\n.visible .global .align 8 .u64 pointer = there;\n"));
  units.push_back(unit(".visible .global .align 4 .u32 there = 5;\n.global .align 4 .u32 pointer2 = 6;\n"));
  const auto m = d.load(link(std::move(units)));
  uint64_t address = 0;
  d.read(&address, *m.symbol("pointer"), 8);
  uint32_t value = 0;
  d.read(&value, GmemAddr(address), 4);
  EXPECT_EQ(value, 5u);
}

TEST(Link, TwoDefinitionsAreOneTooMany) {
  std::vector<Module> units;
  units.push_back(unit(returns(".visible", "value", 1)));
  units.push_back(unit(returns(".visible", "value", 2)));
  try {
    link(std::move(units));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4604);
    EXPECT_NE(std::string(e.what()).find("'value'"), std::string::npos) << e.what();
  }
}

TEST(Link, SourceFilesAreThoseOfTheirUnit) {
  std::vector<Module> units;
  for (const char* file : {"a.cu", "b.cu"}) {
    units.push_back(unit(".visible .entry k_" + std::string(file, 1) + "()\n{\n.loc 1 3 1\nret;\n}\n.file 1 \"" + file + "\"\n"));
  }
  const Module m = link(std::move(units));
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_EQ(m.files[m.functions[0].body[0].source.file], "a.cu");
  EXPECT_EQ(m.files[m.functions[1].body[0].source.file], "b.cu");
}

}  // namespace
}  // namespace drywell::isa
