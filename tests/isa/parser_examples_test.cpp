// Row-driven: the example of every row of the instruction table is PTX that parses, is legal, prints as
// written and assembles with ptxas.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "drywell/isa/opcode.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/spec.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

/// The target an example is shown on.
Target target_of(const InstrSpec& row) {
  for (const Target t : {Target::sm_100a, Target::sm_90a, Target::sm_103a, Target::sm_120a}) {
    if (has_feature(t, row.needs)) return t;
  }
  return Target::sm_100a;
}

constexpr PtxVersion kToolkit{9, 0};  // of CUDA 13.0, the oldest toolkit that assembles the table

std::string header(Target t, PtxVersion version = kToolkit) {
  return ".version " + std::to_string(version.major) + "." + std::to_string(version.minor) + "\n.target " + std::string(target_name(t)) +
         "\n.address_size 64\n.func (.param .b32 r) callee (.param .b32 a)\n{\nret;\n}\n" +
         ".global .align 16 .b8 variable[256];\n.extern .shared .align 128 .b8 smem[];\n";
}

/// The module's version that an example needs.
PtxVersion version_of(const InstrSpec& row) { return std::max(kToolkit, row.since); }

/// A kernel around an example. Registers are named by type: %r b32, %rd b64, %rs b16, %f f32, %fd f64, %p
/// pred, %b b8, %rq b128; $done is a label, $targets a branch table, callee a function with (retval) and
/// (arg).
std::string wrap(Opcode op) {
  return ".entry row_" + std::string(opcode_name(op)) +
         "(.param .u64 p)\n.maxntid 128\n{\n.reg .b32 %r<300>;\n.reg .b64 %rd<140>;\n.reg .b16 "
         "%rs<40>;\n.reg .f32 %f<300>;\n"
         ".reg .f64 %fd<40>;\n.reg .pred %p<20>;\n.reg .b8 %b<20>;\n.reg .b128 %rq<10>;\n.param .b32 "
         "retval;\n.param .b32 arg;\n"
         "$targets: .branchtargets $done, $done;\n" +
         std::string(spec(op).example) + ";\n$done:\nret;\n}\n";
}

class RowExample : public testing::TestWithParam<size_t> {};

TEST_P(RowExample, ParsesIsLegalAndPrintsAsWritten) {
  const auto op = static_cast<Opcode>(GetParam());
  const ParseResult r = parse_ptx(header(target_of(spec(op)), version_of(spec(op))) + wrap(op), "example.ptx");
  ASSERT_TRUE(r.diagnostics.empty()) << r.diagnostics.to_string();
  const Function& f = r.module.functions.at(1);
  ASSERT_EQ(f.body.size(), 2u);
  EXPECT_EQ(f.body[0].op, op) << "resolved to " << opcode_name(f.body[0].op);
  EXPECT_EQ(print_instruction(f, f.body[0]), std::string(spec(op).example) + ";");
  const Diagnostics illegal = validate(r.module);
  EXPECT_TRUE(illegal.empty()) << illegal.to_string();
}

std::vector<size_t> all_rows() {
  std::vector<size_t> rows(kOpcodeCount);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Table, RowExample, testing::ValuesIn(all_rows()), [](const auto& tested) {
  return std::string(opcode_name(static_cast<Opcode>(tested.param)));
});

using Group = std::pair<Target, PtxVersion>;

// One module contains every example of a target and version; only if ptxas rejects it, the examples are assembled one by one.
void assemble(const Group& group, const std::vector<Opcode>& rows) {
  const auto printed = [&](const std::string& body, PtxVersion version) {
    return print_module(parse_ptx_or_throw(header(group.first, version) + body, "examples.ptx"));
  };
  const std::string target(target_name(group.first));
  std::string all;
  for (const Opcode op : rows) all += wrap(op);
  if (test::run_ptxas(printed(all, group.second), target)->accepted) return;
  for (const Opcode op : rows) {
    const auto verdict = test::run_ptxas(printed(wrap(op), group.second), target);
    // ptxas 13.0 took e2m1x2.f16x2 with .version 8.8, newer ones from 9.1 on.
    if (!verdict->accepted && test::run_ptxas(printed(wrap(op), {9, 1}), target)->accepted) continue;
    EXPECT_TRUE(verdict->accepted) << opcode_name(op) << ": " << spec(op).example << "\n"
                                   << verdict->output;
  }
}

std::map<Group, std::vector<Opcode>> groups() {
  std::map<Group, std::vector<Opcode>> out;
  for (size_t i = 0; i < kOpcodeCount; ++i) {
    const auto op = static_cast<Opcode>(i);
    out[{target_of(spec(op)), version_of(spec(op))}].push_back(op);
  }
  return out;
}

bool knows(const Group& group) {
  return test::run_ptxas(header(group.first, group.second), std::string(target_name(group.first)))->accepted;
}

TEST(RowExamples, AssembleWithPtxas) {
  if (test::find_ptxas().empty()) {
    GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  }
  for (const auto& [group, rows] : groups()) {
    if (group.second == kToolkit) assemble(group, rows);
  }
}

TEST(RowExamples, NewerRowsAssembleWithPtxas) {
  if (test::find_ptxas().empty()) GTEST_SKIP() << "no ptxas on this machine";
  std::string newer;
  for (const auto& [group, rows] : groups()) {
    if (group.second == kToolkit) continue;
    if (knows(group)) {
      assemble(group, rows);
    } else {
      for (const Opcode op : rows) newer += std::string(opcode_name(op)) + " ";
    }
  }
  if (!newer.empty()) GTEST_SKIP() << "this ptxas is older than these rows (CUDA_HOME may name another): " << newer;
}

/// The newest version of PTX that this ptxas reads.
PtxVersion newest_of_ptxas() {
  for (uint8_t minor = 9; minor > 0; --minor) {
    if (knows({Target::sm_100a, {9, minor}})) return {9, minor};
  }
  return kToolkit;
}

/// Rows that ptxas refuses, from its messages: the examples are in one module.
std::set<Opcode> refused_by_ptxas(Target target, PtxVersion version, const std::vector<Opcode>& rows) {
  std::string text = header(target, version);
  std::map<long, Opcode> row_of_line;
  for (const Opcode op : rows) {
    const std::string kernel = wrap(op);
    const std::string before = text + kernel.substr(0, kernel.find(spec(op).example));
    row_of_line[std::count(before.begin(), before.end(), '\n') + 1] = op;
    text += kernel;
  }
  std::set<Opcode> out;
  const std::string messages = test::run_ptxas(text, std::string(target_name(target)))->output;
  const std::regex pattern("line ([0-9]+); error");
  for (std::sregex_iterator i(messages.begin(), messages.end(), pattern), end; i != end; ++i) {
    const auto row = row_of_line.find(std::stol((*i)[1]));
    EXPECT_NE(row, row_of_line.end()) << i->str() << " is no example's line: " << messages.substr(0, 400);
    if (row != row_of_line.end()) out.insert(row->second);
  }
  return out;
}

bool is_legal(Target target, PtxVersion version, Opcode op) {
  const ParseResult r = parse_ptx(header(target, version) + wrap(op), "example.ptx");
  return !r.diagnostics.has_errors() && !validate(r.module).has_errors();
}

class TargetExamples : public testing::TestWithParam<Target> {};

// docs/facts/targets.md §2: the validator and ptxas agree for each row on each target.
TEST_P(TargetExamples, AreLegalWherePtxasTakesThem) {
  if (test::find_ptxas().empty()) GTEST_SKIP() << "no ptxas on this machine";
  const PtxVersion version = newest_of_ptxas();
  if (!knows({GetParam(), version})) GTEST_SKIP() << "this ptxas does not know " << target_name(GetParam());
  std::vector<Opcode> rows;
  for (const size_t i : all_rows()) {
    if (spec(static_cast<Opcode>(i)).since <= version) rows.push_back(static_cast<Opcode>(i));
  }
  const std::set<Opcode> refused = refused_by_ptxas(GetParam(), version, rows);
  for (const Opcode op : rows) {
    EXPECT_EQ(is_legal(GetParam(), version, op), !refused.contains(op)) << opcode_name(op) << " on " << target_name(GetParam()) << ": " << spec(op).example;
  }
}
INSTANTIATE_TEST_SUITE_P(, TargetExamples,
                         testing::Values(Target::sm_90, Target::sm_90a, Target::sm_100, Target::sm_100a, Target::sm_100f, Target::sm_103a, Target::sm_103f, Target::sm_110a,
                                         Target::sm_110f, Target::sm_120, Target::sm_120a, Target::sm_120f, Target::sm_121a),
                         [](const auto& tested) { return std::string(target_name(tested.param)); });

// PTX ISA 11.1.2, as ptxas translates: every target on every chip.
TEST(Loading, FollowsPtxas) {
  if (test::find_ptxas().empty()) GTEST_SKIP() << "no ptxas on this machine";
  for (const Target machine : {Target::sm_90a, Target::sm_100a, Target::sm_103a, Target::sm_110a, Target::sm_120a, Target::sm_121a}) {
    for (int i = 0; i <= static_cast<int>(Target::sm_121f); ++i) {
      const auto target = static_cast<Target>(i);
      const std::string module = header(target) + ".entry k() { ret; }\n";
      if (!test::run_ptxas(module, std::string(target_name(target)))->accepted) continue;  // an older ptxas does not know the target
      EXPECT_EQ(loads_on(target, machine), test::run_ptxas(module, std::string(target_name(machine)))->accepted)
          << target_name(target) << " on " << target_name(machine);
    }
  }
}

}  // namespace
}  // namespace drywell::isa
