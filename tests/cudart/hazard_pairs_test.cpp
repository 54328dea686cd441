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

/// A pair of hazard_pairs/later.cu, and the code of its wrong kernel.
struct LaterPair {
  const char *name, *code;
};
constexpr LaterPair kLater[] = {{"block_sum_twice", "H7401"}, {"transpose_in_place", "H7402"}, {"pipeline_no_barrier", "H7005"}, {"cluster_histogram", "H7401"}, {"store_flag", "H7402"}};

/// The line of later.cu that says `here NAME`.
size_t line_of(const std::string& name) {
  std::istringstream lines(read_text_file(source_path("tests/cudart/hazard_pairs/later.cu")));
  size_t number = 1;
  for (std::string line; std::getline(lines, line); ++number)
    if (line.ends_with("here " + name)) return number;
  return 0;
}

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
      if (p.name == "flag_handover") {                                           // by PTX the volatile flag needs a fence of the thread that sets it
        for (const char* said : {"H7406", "H7408", "H7402"}) right.erase(said);  // H7408: of words that keep their value; its text names H7402
      }
      EXPECT_TRUE(right.empty()) << p.name << " " << driver << ": " << (right.empty() ? "" : *right.begin());
    }
  }
}

TEST_F(HazardPairs, LaterOnesAreFoundAtTheirLine) {
  const std::string path = program("later_pairs", {"../hazard_pairs/later"}, {"-gencode=arch=compute_90a,code=compute_90a", "-lineinfo"});
  for (const LaterPair& p : kLater) {
    const Finished f = exec({"--arch=sm_90a", "--check"}, path, {p.name, "wrong"});
    EXPECT_TRUE(codes_in(f.err).contains(p.code)) << p.name;
    EXPECT_NE(f.err.find(fmt::format("later.cu:{} ", line_of(p.name))), std::string::npos) << p.name << "\n"
                                                                                           << f.err;
    for (int seed = -2; seed <= 10; ++seed) {
      const std::string driver = seed == -2 ? "timed" : seed == -1 ? "lazy"
                                                    : seed == 0    ? "eager"
                                                                   : fmt::format("shuffled:{}", seed);
      const std::set<std::string> right = codes(path, {p.name, p.code}, "right", driver);
      EXPECT_TRUE(right.empty()) << p.name << " " << driver << ": " << (right.empty() ? "" : *right.begin());
    }
  }
}

/// A pair of pipelines.cu or tensor.cu: the file says what its wrong kernel has, and at which line.
struct SelfDescribed {
  std::string name, code;  // "none": both kernels are right
  size_t line = 0;         // 0: not said
};

std::vector<SelfDescribed> described_in(const std::string& file) {
  static const std::regex expect("// expect (\\w+) (\\w+)"), here("// here (\\w+)");
  std::istringstream lines(read_text_file(source_path("tests/cudart/hazard_pairs/" + file)));
  std::vector<SelfDescribed> all;
  size_t number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    std::smatch m;
    if (std::regex_search(line, m, expect)) all.push_back({m[1], m[2]});
    if (!std::regex_search(line, m, here)) continue;
    for (SelfDescribed& p : all)
      if (p.name == m[1]) p.line = number;
  }
  return all;
}

class DescribedPairs : public HazardPairs {
 protected:
  void check(const std::string& file, const std::string& arch, size_t count) {
    const std::string target = "compute_" + arch.substr(3), unit = file.substr(0, file.find('.'));
    const std::string path = program("described_" + unit, {"../hazard_pairs/" + unit}, {"-std=c++17", "-gencode=arch=" + target + ",code=" + target, "-lineinfo"});
    const std::vector<SelfDescribed> all = described_in(file);
    EXPECT_EQ(all.size(), count);
    for (const SelfDescribed& p : all) {
      const Finished f = exec({"--arch=" + arch, "--check", "--max-instructions=200000"}, path, {p.name, "wrong"});
      const std::set<std::string> codes = codes_in(f.err);
      EXPECT_TRUE(p.code == "none" ? codes.empty() : codes.contains(p.code)) << p.name << " " << f.err;
      EXPECT_TRUE(p.line == 0 || f.err.find(fmt::format("{}:{}", file, p.line)) != std::string::npos) << p.name << " " << f.err;
      for (const char* driver : {"eager", "lazy", "shuffled:1", "shuffled:2", "timed"}) {
        const Finished right = exec({"--arch=" + arch, "--check", std::string("--driver=") + driver, "--max-instructions=200000"}, path, {p.name, "right"});
        EXPECT_TRUE(codes_in(right.err).empty() && right.exit_code == 0) << p.name << " " << driver << " " << right.err;
      }
    }
  }
};

TEST_F(DescribedPairs, PipelinesClustersFlagsAndLanes) { check("pipelines.cu", "sm_90a", 67); }
TEST_F(DescribedPairs, TensorMemory) { check("tensor.cu", "sm_100a", 12); }
TEST_F(DescribedPairs, LocksQueuesAndRingsByHand) { check("turns.cu", "sm_90a", 16); }
TEST_F(DescribedPairs, RightInPublishedPrograms) { check("published.cu", "sm_90a", 5); }
TEST_F(DescribedPairs, ReportedMistakes) { check("reported.cu", "sm_90a", 32); }
TEST_F(DescribedPairs, ReportedMistakesInTensorMemory) { check("reported_tensor.cu", "sm_100a", 8); }

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
