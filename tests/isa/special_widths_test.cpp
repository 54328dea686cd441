// The types as which mov reads each special register: a table of ptxas 13.0's answers, asked again where there is a ptxas.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

const std::vector<std::string> k16 = {"b16", "u16", "s16"}, k32 = {"b32", "u32", "s32"}, k64 = {"b64", "u64", "s64"};
const std::vector<std::string> kNever = {"f32", "f64"};

struct Group {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> types;
};

std::vector<Group> groups() {
  return {{{"tid.x", "tid.w", "ntid.y", "ctaid.z", "nctaid.x", "nctaid.w"}, {k16, k32}},
          {{"gridid"}, {k16, k32, k64}},
          {{"laneid", "warpid", "nwarpid", "smid", "nsmid", "clock", "clock_hi", "lanemask_eq", "lanemask_lt", "lanemask_gt", "globaltimer_lo", "globaltimer_hi", "pm0", "pm7",
            "envreg0", "envreg31", "dynamic_smem_size", "total_smem_size", "aggr_smem_size", "clusterid.x", "nclusterid.y", "cluster_ctaid.z", "cluster_nctaid.x",
            "cluster_ctarank", "cluster_nctarank", "reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap", "reserved_smem_offset_0"},
           {k32}},
          {{"clock64", "globaltimer", "pm0_64", "pm7_64", "current_graph_exec"}, {k64}},
          {{"is_explicit_cluster"}, {{"pred"}}}};
}

std::vector<std::string> all_types() {
  std::vector<std::string> all = {"pred"};
  for (const auto* some : {&k16, &k32, &k64, &kNever}) all.insert(all.end(), some->begin(), some->end());
  return all;
}

/// A kernel with a mov a line, and the lines that must be refused.
struct Program {
  std::string text =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .pred %pred; .reg .b16 %b16, %u16, %s16; .reg .b32 %b32, %u32, %s32; .reg .f32 "
      "%f32; .reg .b64 %b64, %u64, %s64; .reg .f64 %f64;\n";
  std::set<int> refused;
};

Program program() {
  Program p;
  int line = 6;
  for (const Group& g : groups()) {
    std::set<std::string> taken;
    for (const auto& some : g.types) taken.insert(some.begin(), some.end());
    for (const std::string& name : g.names) {
      for (const std::string& type : all_types()) {
        p.text += fmt::format("mov.{0} %{0}, %{1};\n", type, name);
        if (!taken.contains(type)) p.refused.insert(line);
        ++line;
      }
    }
  }
  p.text += "ret;\n}\n";
  return p;
}

std::set<int> lines_in(const std::string& messages, const std::regex& position) {
  std::set<int> lines;
  for (std::sregex_iterator i(messages.begin(), messages.end(), position), end; i != end; ++i) lines.insert(std::stoi((*i)[1]));
  return lines;
}

TEST(SpecialWidths, AreThoseOfPtxas) {
  const Program p = program();
  ASSERT_GT(p.refused.size(), 300u);
  const ParseResult r = parse_ptx(p.text, "special.ptx");
  const std::string said = r.diagnostics.to_string() + (r.diagnostics.has_errors() ? "" : validate(r.module).to_string());
  EXPECT_EQ(lines_in(said, std::regex("special\\.ptx:(\\d+)")), p.refused) << said;
  if (const auto asked = test::run_ptxas(p.text, "sm_100a")) {
    EXPECT_EQ(lines_in(asked->output, std::regex("line (\\d+); error")), p.refused) << asked->output;
  }
}

}  // namespace
}  // namespace drywell::isa
