// Surveys: the file, the simulator held against what an H200 answered, and the list of what a B200 would decide.
#include "conformance/survey/survey.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/sim/arch_config.h"
#include "support/paths.h"
#include "support/ptxas.h"

namespace drywell::kernels::survey {
namespace {

const std::string& h200() {
  static const std::string text = read_text_file(test::source_path("traces/hw/h200-2026-11-23.survey"));
  return text;
}

Subject simulated(const std::string& arch) {
  return Subject([arch] { return std::make_unique<SimulatedDevice>(sim::DeviceOptions{.arch = arch}); });
}

TEST(Survey, ReadsAndPrintsTheFileOfAnH200) {
  const Survey s = parse_survey(h200(), "h200");
  EXPECT_EQ(s.probes.lines.size(), 486u);
  EXPECT_EQ(s.programs.size(), 3264u);
  EXPECT_EQ(s.special.size(), 19u * 256 + 4);
  EXPECT_EQ(s.loads.size(), 4u);
  EXPECT_EQ(s.bench.values.size(), 281u);
  EXPECT_EQ(std::count_if(s.programs.begin(), s.programs.end(), [](const Verdict& v) { return v.verdict == "failed"; }), 0);
  EXPECT_EQ(print_survey(s), h200());
}

TEST(Survey, GivesReadersOfOnePartThatPart) {
  EXPECT_TRUE(part_of(h200(), "microbench").starts_with("# drywell microbenchmark record, format 1\n"));
  EXPECT_TRUE(part_of(h200(), "probes").starts_with("# drywell silicon record, format 1\n"));
  EXPECT_EQ(part_of("# drywell silicon record, format 1\n", "probes"), "# drywell silicon record, format 1\n");
}

TEST(Survey, DamagedFilesAreRefused) {
  for (const char* text : {"", "# drywell survey, format 2\n", "# drywell survey, format 1\n== special\nex2.approx.f32 zz 00\n", "# drywell survey, format 1\n== special\nex2.approx.f32 00\n",
                           "# drywell survey, format 1\n== power\nfma 1 W 2 MHz x s 3 free\n", "# drywell survey, format 1\n== programs\nadd.u32\n",
                           "# drywell survey, format 1\n== microbench\nnonsense\n"}) {
    try {
      parse_survey(text, "damaged");
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E4506) << text;
    }
  }
}

// All arguments of the 16-bit forms, and 2^24 of one 32-bit and one 64-bit form each.
TEST(Survey, SpecialFunctionsHaveTheBitsOfAnH200) {
  Subject subject = simulated("sm_90a");
  size_t compared = 0;
  for (const SpecialRange& r : parse_survey(h200(), "h200").special) {
    const bool half = r.form.ends_with("f16");
    if (!half && !(r.first == 0x3F000000 && (r.form == "ex2.approx.ftz.f32" || r.form == "rcp.approx.ftz.f64"))) continue;
    EXPECT_EQ(SpecialForm(subject.device(), r.form).digest(r.first), r.digest) << r.form;
    ++compared;
  }
  EXPECT_EQ(compared, 6u);
}

TEST(Survey, ProbesRunOnLaterMachines) {
  for (const char* arch : {"sm_90a", "sm_100a"}) {
    Subject subject = simulated(arch);
    silicon::Record r;
    survey_probes(
        subject, [](const std::string& name) { return name.ends_with(".3"); }, r);
    EXPECT_GE(r.lines.size(), 5u) << arch;
    const std::map<std::string, silicon::RecordLine> device = [] {
      const Survey s = parse_survey(h200(), "h200");
      return std::map<std::string, silicon::RecordLine>(s.probes.lines.begin(), s.probes.lines.end());
    }();
    for (const auto& [name, line] : r.lines) {
      const auto it = device.find(name);
      if (it == device.end()) continue;
      EXPECT_EQ(silicon::difference(it->second, line), "") << name << " on " << arch;
    }
  }
}

TEST(Survey, TensorMemorysBenchmarksRun) {
  Subject subject = simulated("sm_100a");
  microbench::Record r;
  std::string problems;
  survey_microbench(
      subject, [](const std::string& name) { return name.starts_with("tcgen05.") && !name.ends_with("batch-4"); }, 1, r, [&](const std::string& text) { problems += text; });
  EXPECT_EQ(problems, "");
  EXPECT_GE(r.values.size(), 25u);
  for (const auto& [name, value] : r.values) EXPECT_GT(value, 0) << name;
}

TEST(Survey, EachMachineHasLoads) {
  const auto names = [](isa::Target target) {
    std::vector<std::string> out;
    for (const auto& [name, text] : load_texts(target)) out.push_back(name);
    return out;
  };
  EXPECT_EQ(names(isa::Target::sm_90a), (std::vector<std::string>{"fma", "copy", "mma.bf16", "wgmma.bf16"}));
  EXPECT_EQ(names(isa::Target::sm_100a), (std::vector<std::string>{"fma", "copy", "mma.bf16", "tcgen05.bf16"}));
}

TEST(Survey, LoadsAndTensorMemorysBenchmarksAssemble) {
  if (test::find_ptxas().empty()) GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  auto texts = load_texts(isa::Target::sm_100a);
  for (const microbench::Microbench& b : microbench::suite())
    if (b.family == "tcgen05" && !b.name.ends_with("batch-4")) texts.emplace_back(b.name, microbench::text_for(b, isa::Target::sm_100a));
  EXPECT_GE(texts.size(), 30u);
  for (const auto& [name, text] : texts) {
    const auto result = test::run_ptxas(text, "sm_100a");
    EXPECT_TRUE(result->accepted) << name << ": " << result->output;
  }
}

// ---- docs/lab/survey.md: figure | microbenchmark

std::vector<std::string> quoted(const std::string& cell) {
  static const std::regex kName("`([^`]+)`");
  std::vector<std::string> out;
  for (std::sregex_iterator i(cell.begin(), cell.end(), kName), end; i != end; ++i) out.push_back((*i)[1]);
  return out;
}

struct Page {
  std::vector<std::string> figures, benchmarks;
  Page() {
    std::string text = read_text_file(test::source_path("docs/lab/survey.md"));
    text = text.substr(text.find("| figure | microbenchmark |"));
    static const std::regex kRow("\\n\\| (`[^|]*) \\| ([^|]*) \\|");
    for (std::sregex_iterator i(text.begin(), text.end(), kRow), end; i != end; ++i) {
      for (const std::string& f : quoted((*i)[1])) figures.push_back(f);
      for (const std::string& b : quoted((*i)[2])) benchmarks.push_back(b);
    }
  }
  bool has(const std::string& key) const {
    return std::any_of(figures.begin(), figures.end(), [&](const std::string& f) { return f.ends_with('*') ? key.starts_with(f.substr(0, f.size() - 1)) : key == f; });
  }
};

TEST(Survey, PageNamesEveryFigureThatNobodyMeasured) {
  const Page page;
  size_t open = 0;
  for (const sim::ArchEntry& f : sim::load_arch("sm_100a").entries) {
    if (f.provenance != sim::Provenance::assumed && f.provenance != sim::Provenance::derived) continue;
    ++open;
    EXPECT_TRUE(page.has(f.key)) << f.key;
  }
  EXPECT_GE(open, 150u);
}

TEST(Survey, PagesBenchmarksExistForIt) {
  std::set<std::string> made;
  for (const microbench::Microbench& b : microbench::suite())
    if (microbench::made_for(b, isa::Target::sm_100a)) made.insert(b.name);
  for (const std::string& b : Page().benchmarks)
    if (b != "power") {
      EXPECT_TRUE(made.contains(b)) << b;
    }
}

}  // namespace
}  // namespace drywell::kernels::survey
