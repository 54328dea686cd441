// Rules of the tree that no compiler checks: who may include whom, and that every diagnostic code is documented and tested.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/paths.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> sources(const std::vector<std::string>& folders) {
  std::vector<fs::path> found;
  for (const std::string& folder : folders) {
    for (const auto& e : fs::recursive_directory_iterator(source_path(folder))) {
      const std::string ending = e.path().extension().string();
      if (e.is_regular_file() && (ending == ".cpp" || ending == ".h" || ending == ".inc")) found.push_back(e.path());
    }
  }
  return found;
}

/// Layers from the bottom; a file may include its own layer and those below (docs/reading-guide.md). Headers of
/// include/drywell count as their folder, what a user of the simulator includes as sim/schedule.
const std::vector<std::string> kLayers = {"core", "isa", "sim/numeric", "sim/arch", "sim/state", "sim/exec", "sim/events", "sim/engine", "sim/schedule", "sim/check", "sim/inspect", "sim/debug", "kernels", "cudart", "tools"};

/// Rank of a path relative to the tree ("sim/exec/alu.cpp", "drywell/isa/spec.h"), or -1.
int rank_of(std::string path) {
  for (const char* prefix : {"include/", "drywell/"}) {
    if (path.starts_with(prefix)) path.erase(0, std::string(prefix).size());
  }
  if (path.starts_with("sim/timing") || (path.starts_with("sim/") && path.find('/', 4) == std::string::npos)) path = "sim/schedule/";
  for (size_t i = 0; i < kLayers.size(); ++i) {
    if (path.starts_with(kLayers[i] + "/")) return static_cast<int>(i);
  }
  return -1;
}

TEST(Repository, EveryLayerIncludesOnlyThoseBelow) {
  const std::regex include("#include \"([^\"]+)\"");
  size_t checked = 0;
  for (const fs::path& p : sources({"core", "isa", "sim", "kernels", "cudart", "tools", "include"})) {
    const std::string relative = fs::relative(p, source_path("")).generic_string(), text = text_of(p);
    const int own = rank_of(relative);
    ASSERT_GE(own, 0) << relative << " is in no layer";
    for (std::sregex_iterator i(text.begin(), text.end(), include), end; i != end; ++i) {
      const int other = rank_of((*i)[1]);
      ++checked;
      // All of the simulator sees its public headers, which say what a run takes and gives, and the hub it reports events to.
      const bool in_sim = relative.find("sim/") != std::string::npos;
      const bool for_all = in_sim && ((*i)[1].str().starts_with("drywell/sim/") || (*i)[1] == "sim/events/hub.h");
      EXPECT_TRUE(other <= own || for_all) << relative << " includes " << (*i)[1];
    }
  }
  EXPECT_GT(checked, 800u);
}

TEST(Repository, ReferencesShareNothingWithTheSimulator) {
  const std::regex include("#include \"((sim|drywell/sim|isa|drywell/isa)/[^\"]+)\"");
  for (const fs::path& p : sources({"kernels/reference"})) {
    const std::string text = text_of(p);
    std::smatch m;
    EXPECT_FALSE(std::regex_search(text, m, include)) << p << " includes " << m[1];
  }
}

TEST(Repository, EveryDiagnosticCodeIsDocumented) {
  const std::regex code("\"([EFUW][0-9]{4})\"");
  const std::string page = text_of(source_path("docs/errors.md"));
  std::set<std::string> missing;
  size_t codes = 0;
  for (const fs::path& p : sources({"core", "isa", "sim", "kernels", "cudart", "tools", "include"})) {
    const std::string text = text_of(p);
    for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) {
      ++codes;
      if (page.find((*i)[1].str()) == std::string::npos) missing.insert((*i)[1].str() + " in " + p.filename().string());
    }
  }
  EXPECT_GT(codes, 200u);
  for (const std::string& m : missing) ADD_FAILURE() << m << " is not in docs/errors.md";
}

TEST(Repository, EveryDiagnosticCodeHasOneMeaning) {
  const std::regex row("\n\\| ([EFUW][0-9]{4})(?= \\|)");
  const std::string page = text_of(source_path("docs/errors.md"));
  std::set<std::string> seen;
  for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i)
    EXPECT_TRUE(seen.insert((*i)[1]).second) << (*i)[1] << " stands twice in docs/errors.md";
  EXPECT_GT(seen.size(), 200u);
}

// Every rule a program can break (E1…) and every fault (F3…) has its twin in a test, which names the code.
TEST(Repository, EveryRuleHasATest) {
  const std::regex row("\n\\| ([EF][13][0-9]{3}) \\|");
  const std::set<std::string> not_rules = {"E1000", "E1420",  // no error of their own
                                           "E1432"};          // reaches users as F3212
  std::string tests;
  for (const fs::path& p : sources({"tests", "conformance/programs"})) tests += text_of(p);
  for (const auto& e : fs::directory_iterator(source_path("tests/corpus/error"))) tests += text_of(e.path());
  const std::string page = text_of(source_path("docs/errors.md"));
  size_t rules = 0;
  for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i, ++rules) {
    const std::string code = (*i)[1];
    EXPECT_TRUE(not_rules.contains(code) || tests.find(code) != std::string::npos) << "no test names " << code;
  }
  EXPECT_GT(rules, 150u);
}

}  // namespace
}  // namespace drywell::test
