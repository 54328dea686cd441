// docs/hazards.md, hazards-faults.md and hazards-more.md are the test: every section's wrong kernel is reported with its code at the marked
// line, under every driver; its fixed twin has no report.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "drywell/sim/check.h"
#include "sim/check/rules.h"
#include "support/async_run.h"
#include "support/paths.h"

namespace drywell::test {
namespace {

/// A kernel of the page, as it is wrong and as it is right.
struct Section {
  std::string code;
  uint32_t threads = 32, ctas = 1, clusters = 1, launches = 1;  // ctas: of a cluster
  uint32_t pool = 0;                                            // bytes of buf0 that an allocator has handed out; 0: there is none
  bool swizzled = true;                                         // map0
  std::string target = "sm_100a";
  std::string wrong, right, here;  // here: opcode of the instruction reported
  bool refused() const { return code[0] == 'F'; }
};

std::string page(const char* name) {
  std::ifstream in(source_path(name));
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// Each test is a process that reads the pages: expressions are compiled once in it, not once a section (70 ms).
std::string opcode_of(std::string line) {
  static const std::regex before(R"(^\s*(\w+:)?\s*(@!?%?\w+)?\s*)");
  line = std::regex_replace(line, before, "");
  return line.substr(0, line.find_first_of(" ;"));
}

void take_body(Section& s, const std::string& body) {
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    const size_t comment = line.find("//");
    const std::string mark = comment == std::string::npos ? "" : line.substr(comment);
    const bool fix = mark.find("fix") != std::string::npos, wrong = mark.find("wrong") != std::string::npos;
    if (!fix) s.wrong += line + "\n";
    if (!wrong) s.right += line + "\n";
    if (mark.find("here") != std::string::npos) s.here = opcode_of(line);
  }
}

// The value of `name=value` in the words behind ```ptx; empty without one.
std::string value_of(const std::string& words, const std::string& name) {
  const size_t at = (" " + words).find(" " + name + "=");
  if (at == std::string::npos) return "";
  const size_t from = at + name.size() + 1;
  return words.substr(from, words.find(' ', from) - from);
}

std::vector<Section> sections() {
  const std::string text = page("docs/hazards.md") + page("docs/hazards-faults.md") + page("docs/hazards-more.md");
  std::map<std::string, std::string> setups = {{"none", ""}};
  std::vector<Section> all;
  std::string code;
  const std::regex item("(?:^|\n)(?:## ([HF][0-9]{4}):|```ptx ([^\n]*)\n([^`]*)```)");
  for (std::sregex_iterator i(text.begin(), text.end(), item), end; i != end; ++i) {
    const std::smatch& m = *i;
    const std::string info = m[2];
    if (m[1].matched) {
      code = m[1];
    } else if (info.starts_with("setup ")) {
      setups[info.substr(6)] = m[3];
    } else {
      Section s;
      s.code = code;
      const auto number = [&](const char* name, uint32_t& into) {
        if (const std::string value = value_of(info, name); !value.empty()) into = static_cast<uint32_t>(std::stoul(value));
      };
      number("threads", s.threads);
      number("ctas", s.ctas);
      number("clusters", s.clusters);
      number("launches", s.launches);
      number("pool", s.pool);
      s.swizzled = info.find("map=none") == std::string::npos;
      if (const std::string value = value_of(info, "target"); !value.empty()) s.target = value;
      if (const std::string value = value_of(info, "setup"); !value.empty()) s.wrong = s.right = setups.at(value);
      take_body(s, m[3]);
      all.push_back(std::move(s));
    }
  }
  return all;
}

constexpr size_t kMapAt = 24576;  // in buf0

std::shared_ptr<const sim::MemoryPools> pools_of(const Section& s, uint64_t buf0) {
  if (s.pool == 0) return nullptr;
  return std::make_shared<const sim::MemoryPools>(sim::MemoryPools{{{buf0, buf0 + 32768}}, {{buf0, buf0 + s.pool}}});
}

struct Checked {
  std::vector<sim::Finding> findings;
  sim::RunResult result;
};
// Each run has buffers of its own; the device is the test's, because its architecture takes as long to read as a kernel to run.
Checked check(sim::Device& device, const Section& s, const std::string& body, sim::DriverKind driver, uint64_t seed) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::bf16;
  f.rank = 2;
  f.dim = {64, 128};
  f.stride = {128};
  f.box = {64, 128};
  f.swizzle = s.swizzled ? isa::Swizzle::b128 : isa::Swizzle::none;
  AsyncCase c;
  c.buffers = {Bytes(32768), Bytes(64)};
  c.maps = {{f, 0}};
  c.body = body;
  c.target = s.target;
  const GmemAddr buf0 = device.allocate(c.buffers[0].size()), buf1 = device.allocate(c.buffers[1].size());
  f.address = buf0.value();
  const isa::TensorMap map = isa::encode(f);
  std::memcpy(c.buffers[0].data() + kMapAt, map.bytes.data(), map.bytes.size());
  device.write(buf0, c.buffers[0].data(), c.buffers[0].size());
  const sim::LoadedModule module = device.load_ptx(c.text(), "test.ptx");
  sim::HazardChecker checker({.pools = pools_of(s, buf0.value())});
  const sim::RunOptions options{.driver = driver, .seed = seed, .max_instructions = 1'000'000, .listeners = {checker.listener()}};
  Checked r;
  for (uint32_t i = 0; i < s.launches && (i == 0 || r.result.ok()); ++i) {
    r.result = device.launch(module, "test", {.grid = {s.ctas * s.clusters, 1, 1}, .block = {s.threads, 1, 1}, .cluster = {s.ctas, 1, 1}, .dynamic_smem = c.dynamic_smem},
                             sim::Args().add(buf0).add(buf1).add(map), options);
  }
  r.findings = checker.findings();
  return r;
}

void expect_silence(sim::Device& device, const Section& s, sim::DriverKind driver, uint64_t seed) {
  const Checked right = check(device, s, s.right, driver, seed);
  const std::string where = fmt::format("the right kernel under {}:{}: ", sim::driver_name(driver), seed);
  if (!right.result.ok()) ADD_FAILURE() << where << right.result.fault->to_string();
  for (const sim::Finding& f : right.findings) ADD_FAILURE() << where << f.to_string();
}

constexpr uint64_t kSeeds = 30;

void expect_silence(sim::Device& device, const Section& s) {
  for (const auto driver : {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::timed}) expect_silence(device, s, driver, 0);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) expect_silence(device, s, sim::DriverKind::shuffled, seed);
}

void PrintTo(const Section& s, std::ostream* out) { *out << s.code; }

class HazardPage : public testing::TestWithParam<Section> {};

TEST_P(HazardPage, WrongKernelIsReportedAndItsTwinIsSilent) {
  const Section& s = GetParam();
  sim::Device device({.arch = s.target});
  expect_silence(device, s);
  bool named = false;
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 3}}) {
    const Checked wrong = check(device, s, s.wrong, driver, static_cast<uint64_t>(seed));
    EXPECT_TRUE(!wrong.findings.empty() || !wrong.result.ok()) << s.code << " under " << sim::driver_name(driver);
    if (s.refused()) {
      named = true;
      if (wrong.result.ok()) continue;
      EXPECT_EQ(code_name(wrong.result.fault->code), s.code) << wrong.result.fault->to_string();
      EXPECT_NE(wrong.result.fault->to_string().find(s.here), std::string::npos) << wrong.result.fault->to_string();
      continue;
    }
    // Two accesses without any order: the schedule decides which one is second, and so the rule.
    const auto found = std::find_if(wrong.findings.begin(), wrong.findings.end(), [&](const sim::Finding& f) { return f.code == s.code; });
    if (found == wrong.findings.end()) continue;
    named = true;
    EXPECT_TRUE(found->here.where.ptx.find(s.here) != std::string::npos || found->other.where.ptx.find(s.here) != std::string::npos) << found->to_string();
    EXPECT_NE(found->here.where.source.line, 0u);
  }
  EXPECT_TRUE(named) << s.code << " under no driver";
}
INSTANTIATE_TEST_SUITE_P(All, HazardPage, testing::ValuesIn(sections()), [](const auto& i) { return fmt::format("{}_{}", i.param.code, i.index); });

TEST(HazardPage, EveryRuleHasItsSection) {
  const std::string text = page("docs/hazards.md");
  for (size_t r = 1; r < static_cast<size_t>(sim::check::Rule::count_); ++r) {
    const sim::check::RuleText& t = sim::check::text_of(static_cast<sim::check::Rule>(r));
    EXPECT_NE(text.find(fmt::format("## {}: {}", t.code, t.title)), std::string::npos) << t.code;
  }
}

// The table of public code has a row for each rule that such code trips, with the rule's level; the sentence behind it names the others.
TEST(HazardPage, EveryRuleSaysWhichPublicCodeTripsIt) {
  const std::string text = page("docs/hazards.md");
  const size_t begin = text.find("| rule | level | public code | why |"), end = text.find("Findings in other projects:");
  ASSERT_TRUE(begin < end && end != std::string::npos);
  const std::string part = text.substr(begin, end - begin);
  const std::string others_begin = "No public code that was run here trips ";
  const size_t others = part.find(others_begin);
  ASSERT_NE(others, std::string::npos);
  const std::string rows = part.substr(0, others), rest = part.substr(others);
  std::map<std::string, std::string> levels;
  for (size_t r = 1; r < static_cast<size_t>(sim::check::Rule::count_); ++r) {
    const sim::check::RuleText& t = sim::check::text_of(static_cast<sim::check::Rule>(r));
    levels[std::string(t.code)] = sim::hazard_level_name(t.level);
  }
  std::set<std::string> tripped, silent;
  const std::regex row("\\n\\| (H[0-9H, ]+) \\| (\\w+) \\|"), code("H[0-9]{4}");
  for (std::sregex_iterator i(rows.begin(), rows.end(), row), none; i != none; ++i) {
    const std::string codes = (*i)[1];
    for (std::sregex_iterator c(codes.begin(), codes.end(), code); c != none; ++c) {
      tripped.insert(c->str());
      ASSERT_TRUE(levels.contains(c->str())) << c->str();
      EXPECT_EQ(levels.at(c->str()), (*i)[2]) << c->str();
    }
  }
  const std::string sentence = rest.substr(0, rest.find(". "));
  for (std::sregex_iterator c(sentence.begin(), sentence.end(), code), none; c != none; ++c) silent.insert(c->str());
  for (const auto& [name, level] : levels) EXPECT_EQ(tripped.count(name) + silent.count(name), 1u) << name;
}

}  // namespace
}  // namespace drywell::test
