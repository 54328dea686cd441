// The HTML report of a timed run: one file that needs no network, with everything a reader looks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using Json = nlohmann::json;

struct Page {
  std::string text;
  Json data;  // data for the page's script
};

Page report(std::vector<std::string> words) {
  const test::TemporaryDirectory directory;
  const std::string file = directory.file("report.html");
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--driver=timed", "--report=" + file});
  const test::Finished f = test::run_process(test::binary_path(), words);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  Page p;
  p.text = read_text_file(file);
  constexpr std::string_view kStart = "const D = ";
  const size_t from = p.text.find(kStart) + kStart.size();
  std::string json = p.text.substr(from, p.text.find('\n', from) - from);
  while (!json.empty() && json.back() != '}') json.pop_back();
  p.data = Json::parse(json);
  return p;
}

const Page& rht() {
  static const Page page = report({"fused-rht", "--m=256", "--n=256"});
  return page;
}

TEST(HtmlReport, NeedsNothingButItself) {
  for (const char* outside : {"http:", "https:", "//cdn", "src=", "@import", "<link", "url(", "fetch(", "XMLHttpRequest", "import("})
    EXPECT_EQ(rht().text.find(outside), std::string::npos) << outside;
  EXPECT_TRUE(rht().text.starts_with("<!doctype html>"));
}

TEST(HtmlReport, HasItsParts) {
  for (const char* part : {"What binds", "Where the warps' cycles went", "Units", "Cost of the kernel author's lines", "SMEM", "TMEM columns"})
    EXPECT_NE(rht().text.find(part), std::string::npos) << part;
}

TEST(HtmlReport, NamesTheBindingLimitAndEveryCycle) {
  const Json& r = rht().data["report"];
  ASSERT_FALSE(r["limits"].empty());
  EXPECT_GT(r["limits"][0]["fraction"].get<double>(), 0);
  EXPECT_LE(r["limits"][0]["fraction"].get<double>(), 1.001);
  for (size_t i = 1; i < r["limits"].size(); ++i) EXPECT_LE(r["limits"][i]["cycles"].get<double>(), r["limits"][i - 1]["cycles"].get<double>());
  EXPECT_GE(r["units"].size(), 10u);
  std::vector<std::string> roles;
  for (const Json& role : r["roles"]) {
    roles.push_back(role["name"]);
    EXPECT_EQ(role["cycles"].size(), rht().data["stalls"].size());
  }
  EXPECT_THAT(roles, testing::IsSupersetOf({"dma", "mma", "epilogue"}));
  EXPECT_FALSE(r["lines"].empty());
}

// Tracks of the CTA's warps and units, arrows to the waiters, shared and tensor memory over time.
TEST(HtmlReport, ShowsOneCtaOverTime) {
  const Json& t = rht().data["timeline"];
  EXPECT_EQ(t["warps"].size(), 8u);
  for (const Json& w : t["warps"]) {
    ASSERT_EQ(w["spans"].size() % 4, 0u);
    EXPECT_FALSE(w["spans"].empty());
  }
  std::set<std::string> units;
  size_t waited = 0;
  for (const Json& o : t["operations"]) {
    units.insert(t["units"][o[0].get<size_t>()].get<std::string>());
    EXPECT_LE(o[4].get<uint64_t>(), o[5].get<uint64_t>()) << "issued before it started";
    EXPECT_LE(o[5].get<uint64_t>(), o[6].get<uint64_t>()) << "started before it was done";
    waited += o[7].get<int>() >= 0;
  }
  EXPECT_THAT(units, testing::IsSupersetOf({"TMA", "tensor core", "TMEM port"}));
  EXPECT_GT(waited, 0u);
  uint64_t smem = 0, tmem = 0, arriving = 0;
  for (const Json& l : t["levels"]) {
    smem = std::max(smem, l[1].get<uint64_t>());
    arriving = std::max(arriving, l[2].get<uint64_t>());
    tmem = std::max(tmem, l[3].get<uint64_t>());
  }
  EXPECT_GT(smem, 100000u);
  EXPECT_LE(smem, t["smem_capacity"].get<uint64_t>());
  EXPECT_GT(arriving, 0u);
  EXPECT_GT(tmem, 0u);
  EXPECT_LE(tmem, 512u);
}

// Several launches together have cycles, and no report of their own.
TEST(RunSummary, LaunchesTogetherHaveATime) {
  const std::vector<std::string> run = {"run", "linear-nvfp4", "--tokens=128", "--in=128", "--out=128", "--driver=timed"};
  const test::Finished f = test::run_process(test::binary_path(), run);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_NE(f.out.find(" us at 1.85 GHz"), std::string::npos) << f.out;
  std::vector<std::string> json = run;
  json.push_back("--json=-");
  const Json j = Json::parse(test::run_process(test::binary_path(), json).out);
  EXPECT_NEAR(j["seconds"].get<double>(), j["cycles"].get<double>() / 1.85e9, 1e-9);
}

}  // namespace
}  // namespace drywell
