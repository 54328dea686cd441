// Versions of PTX, and the targets that they have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "drywell/isa/parse.h"
#include "drywell/isa/target.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

std::string module_of(unsigned major, unsigned minor, std::string_view target) {
  return fmt::format(".version {}.{}\n.target {}\n.address_size 64\n.entry k()\n{{\nret;\n}}\n", major, minor, target);
}

/// The only finding of a module, or "".
std::string finding(unsigned major, unsigned minor, std::string_view target) {
  const ParseResult r = parse_ptx(module_of(major, minor, target), "test.ptx");
  return r.diagnostics.empty() ? "" : r.diagnostics.to_string();
}

constexpr std::string_view kTargets[] = {"sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a", "sm_103f",
                                         "sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f"};

// PTX ISA 12, release notes.
TEST(PtxVersions, ATargetNeedsTheVersionThatBroughtIt) {
  EXPECT_EQ(finding(8, 0, "sm_90a"), "");
  EXPECT_NE(finding(7, 8, "sm_90a").find("E1211"), std::string::npos);
  EXPECT_NE(finding(7, 8, "sm_90a").find("sm_90a needs PTX 8.0, the module says 7.8"), std::string::npos);
  EXPECT_EQ(finding(8, 6, "sm_100a"), "");
  EXPECT_NE(finding(8, 5, "sm_100a").find("E1211"), std::string::npos);
  EXPECT_EQ(finding(8, 8, "sm_103a"), "");
  EXPECT_NE(finding(8, 7, "sm_103a").find("E1211"), std::string::npos);
  EXPECT_EQ(finding(6, 4, "sm_75"), "");
}

TEST(PtxVersions, NumbersThatPtxNeverHad) {
  for (const auto& [major, minor] : {std::pair{0u, 5u}, {4u, 4u}, {6u, 6u}, {7u, 9u}, {8u, 9u}})
    EXPECT_NE(finding(major, minor, "sm_50").find("E1109"), std::string::npos) << major << "." << minor;
}

TEST(PtxVersions, NewerOnesAreAWarning) {
  for (const auto& [major, minor] : {std::pair{9u, 5u}, {10u, 0u}, {99u, 0u}}) {
    const ParseResult r = parse_ptx(module_of(major, minor, "sm_100a"), "test.ptx");
    EXPECT_FALSE(r.diagnostics.has_errors());
    EXPECT_NE(r.diagnostics.to_string().find("newer than 9.4"), std::string::npos) << r.diagnostics.to_string();
  }
  EXPECT_EQ(finding(9, 4, "sm_100a"), "");
}

TEST(PtxVersions, EveryTargetAsPtxasSays) {
  if (test::find_ptxas().empty()) GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  for (const std::string_view target : kTargets) {
    for (const auto& [major, minor] : {std::pair{6u, 5u}, {7u, 0u}, {7u, 1u}, {7u, 4u}, {7u, 5u}, {7u, 8u}, {8u, 0u}, {8u, 5u}, {8u, 6u}, {8u, 7u}, {8u, 8u}, {8u, 9u}, {9u, 0u}}) {
      const std::string text = module_of(major, minor, target);
      EXPECT_EQ(finding(major, minor, target).empty(), test::run_ptxas(text, std::string(target))->accepted) << target << " " << major << "." << minor;
    }
  }
}

}  // namespace
}  // namespace drywell::isa
