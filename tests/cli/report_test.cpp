// The HTML report of a timed run: one file that needs no network, with everything a reader looks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(HtmlReport, SaysInWordsWhatBinds) {
  const Json& r = rht().data["report"];
  const std::string first = r["advice"][0];
  const double fraction = r["limits"][0]["fraction"];
  EXPECT_THAT(first, testing::HasSubstr(r["limits"][0]["name"].get<std::string>()));
  EXPECT_EQ(first.starts_with("No unit binds"), fraction < 0.6) << first;
  const std::string all = r["advice"].dump();
  for (const Json& role : r["roles"]) EXPECT_THAT(all, testing::HasSubstr("The warps of '" + role["name"].get<std::string>() + "'"));
  EXPECT_THAT(all, testing::HasSubstr("The most expensive line is " + r["lines"][0]["where"].get<std::string>()));
  EXPECT_THAT(all, testing::HasSubstr(" of 148 SMs have a CTA"));
}

// Every lane of this kernel stores into a sector of its own: the load/store unit binds, and the line's text is in the report.
TEST(HtmlReport, HasTheSourceBesideTheCost) {
  const test::TemporaryDirectory d;
  write_file_atomically(d.file("scatter.ptx"), std::string_view(R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry scatter(.param .u64 p) .reqntid 256
{
  .reg .b64 %a<3>;
  .reg .b32 %t;
  .reg .b32 %i;
  .reg .pred %q;
  ld.param.u64 %a0, [p];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %a1, %t, 512;
  add.s64 %a2, %a0, %a1;
  mov.u32 %i, 0;
again:
  st.global.u32 [%a2], %i;
  st.global.u32 [%a2+32], %i;
  st.global.u32 [%a2+64], %i;
  st.global.u32 [%a2+96], %i;
  add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, 64;
  @%q bra again;
  ret;
}
)"));
  const Json r = report({d.file("scatter.ptx"), "--buffer=x=u32[65536]:zeros", "--arg=@x"}).data["report"];
  const bool has_store = std::any_of(r["lines"].begin(), r["lines"].end(), [](const Json& l) { return l["text"].get<std::string>().starts_with("st.global.u32 [%a2"); });
  EXPECT_TRUE(has_store) << r["lines"].dump();
  EXPECT_THAT(r["advice"][0].get<std::string>(), testing::HasSubstr(r["limits"][0]["name"].get<std::string>() + " binds")) << r["limits"].dump();
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
