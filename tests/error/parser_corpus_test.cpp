// One mistake per file: the first line of tests/corpus/error/NAME.ptx has the expected diagnostic, its place
// and a part of its text: "// E1104 9:14 '%q1' is not declared". No other diagnostic may be reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "drywell/isa/parse.h"
#include "support/paths.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("tests/corpus/error"))) {
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class PtxMistake : public testing::TestWithParam<std::string> {};

TEST_P(PtxMistake, IsReportedWhereItIs) {
  const std::string path = test::source_path("tests/corpus/error/") + GetParam() + ".ptx";
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::istringstream first_line(text.substr(0, text.find('\n')));
  std::string slashes, code, says;
  uint32_t line = 0, column = 0;
  char colon = 0;
  first_line >> slashes >> code >> line >> colon >> column >> std::ws;
  std::getline(first_line, says);

  const ParseResult r = parse_ptx(text, "mistake.ptx");
  ASSERT_EQ(r.diagnostics.list().size(), 1u) << r.diagnostics.to_string();
  const Diagnostic& d = r.diagnostics.list()[0];
  EXPECT_EQ(code_name(d.code), code) << d.to_string();
  EXPECT_EQ(d.where.line, line) << d.to_string();
  EXPECT_EQ(d.where.column, column) << d.to_string();
  EXPECT_NE(d.message.find(says), std::string::npos) << d.to_string();
}

// The reader is not stricter than ptxas, except for unsupported forms (U5001), its own limits (E1110), and forms that no
// compiler emits: integers of more than 64 bits, ranges of vector registers, components that a vector lacks (ptxas 13.0
// takes v.z of a .v2 at -O0 and crashes at -O3).
TEST_P(PtxMistake, IsOneForPtxasToo) {
  const std::string path = test::source_path("tests/corpus/error/") + GetParam() + ".ptx";
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::optional<Code> code = find_code(text.substr(3, 5));
  const std::set<std::string> accepted = {"number_too_large", "range_of_vectors", "unknown_component"};
  if (code == Code::U5001 || code == Code::E1110 || accepted.contains(GetParam())) return;
  const auto verdict = test::run_ptxas(text, "sm_100a");
  if (!verdict) GTEST_SKIP() << "no ptxas on this machine";
  EXPECT_FALSE(verdict->accepted);
}

INSTANTIATE_TEST_SUITE_P(Corpus, PtxMistake, testing::ValuesIn(corpus()), [](const auto& tested) {
  std::string name;  // file names are words_with_underscores, test names have none
  bool upper = true;
  for (const char c : tested.param) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return name;
});

}  // namespace
}  // namespace drywell::isa
