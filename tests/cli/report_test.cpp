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

Page report(std::vector<std::string> words, int exit_code = 0) {
  const test::TemporaryDirectory directory;
  const std::string file = directory.file("report.html");
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--driver=timed", "--report=" + file});
  const test::Finished f = test::run_process(test::binary_path(), words);
  EXPECT_EQ(f.exit_code, exit_code) << f.err;
  Page p;
  p.text = read_text_file(file);
  constexpr std::string_view kStart = "const D = ";
  const size_t from = p.text.find(kStart) + kStart.size();
  std::string json = p.text.substr(from, p.text.find('\n', from) - from);
  while (!json.empty() && json.back() != '}') json.pop_back();
  p.data = Json::parse(json);
  return p;
}

/// The report and the timelines of the first launch.
const Json& first_report(const Page& p) { return p.data["launches"][0]["report"]; }
const Json& first_timeline(const Page& p) { return p.data["launches"][0]["timelines"][0]; }

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
  for (const char* part : {"What binds", "Where the warps' cycles went", "Units", "Roofline", "Occupancy", "Hazards", "Cost of the kernel author's lines", "SMEM", "TMEM columns"})
    EXPECT_NE(rht().text.find(part), std::string::npos) << part;
}

TEST(HtmlReport, NamesTheBindingLimitAndEveryCycle) {
  const Json& r = first_report(rht());
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

// The report's own listeners ask for events that the checker of the level `basic` does not follow.
TEST(HtmlReport, AddsNoFindings) { EXPECT_TRUE(rht().data["hazards"].empty()) << rht().data["hazards"].dump(); }

TEST(HtmlReport, SaysInWordsWhatBinds) {
  const Json& r = first_report(rht());
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
  const Json r = report({d.file("scatter.ptx"), "--buffer=x=u32[65536]:zeros", "--arg=@x"}).data["launches"][0]["report"];
  const bool has_store = std::any_of(r["lines"].begin(), r["lines"].end(), [](const Json& l) { return l["text"].get<std::string>().starts_with("st.global.u32 [%a2"); });
  EXPECT_TRUE(has_store) << r["lines"].dump();
  EXPECT_THAT(r["advice"][0].get<std::string>(), testing::HasSubstr(r["limits"][0]["name"].get<std::string>() + " bind")) << r["limits"].dump();
  // 32 lanes in 32 sectors; their 128 bytes fill four.
  EXPECT_THAT(r["advice"].dump(), testing::HasSubstr("scatter.ptx:16: 4-byte stores 512 bytes apart touch 32 sectors an instruction; lanes with neighbouring bytes need 4."));
  // Eight warps, 64 rounds.
  size_t stores = 0;
  for (const Json& line : r["lines"]) {
    uint64_t executed = 0;
    double share = 0;
    for (const Json& c : line["code"]) {
      executed += c["executed"].get<uint64_t>();
      share += c["share"].get<double>();
      if (c["access"].is_null()) continue;
      ++stores;
      EXPECT_EQ(c["executed"], 512);
      EXPECT_EQ(c["access"]["units"], 32);
      EXPECT_EQ(c["access"]["excess"], 8);
    }
    EXPECT_EQ(executed, line["instructions"].get<uint64_t>()) << line.dump();
    EXPECT_NEAR(share, line["share"].get<double>(), 0.01) << line.dump();
    EXPECT_EQ(line["around"][line["where"].get<std::string>() == "scatter.ptx:1" ? 0 : 4].get<std::string>().find(line["text"].get<std::string>()) != std::string::npos, true) << line.dump();
  }
  EXPECT_EQ(stores, 4u);
}

// 2 x 128 x 128 x 256 operations, a CTA on an SM.
TEST(HtmlReport, CountsTheOperationsOfTheRoofline) {
  const Page page = report({"gemm-bf16", "--m=128", "--n=128", "--k=256"});
  const Json& r = first_report(page);
  const Json& roofline = r["roofline"];
  ASSERT_FALSE(roofline["kinds"].empty());
  EXPECT_EQ(roofline["kinds"][0]["name"], "tensor cores");
  EXPECT_EQ(roofline["kinds"][0]["operations"], 2.0 * 128 * 128 * 256);
  const double peak = roofline["kinds"][0]["peak"], reached = roofline["kinds"][0]["operations"].get<double>() / roofline["seconds"].get<double>();
  EXPECT_GT(peak, reached);
  EXPECT_NEAR(peak, 2.25e15, 0.3e15) << "a B200's dense bf16 peak";
  EXPECT_EQ(roofline["bytes"], r["hbm_read"].get<uint64_t>() + r["hbm_written"].get<uint64_t>());
}

TEST(HtmlReport, SaysWhatLimitsTheCtasOfAnSm) {
  const Json& r = first_report(rht());
  uint64_t least = ~uint64_t{0};
  std::string what;
  for (const Json& l : r["residency"]) {
    if (l["ctas"].get<uint64_t>() < least) what = l["what"];
    least = std::min(least, l["ctas"].get<uint64_t>());
    EXPECT_EQ(l["ctas"].get<uint64_t>(), l["of_sm"].get<uint64_t>() / l["of_cta"].get<uint64_t>()) << l.dump();
  }
  EXPECT_EQ(least, r["ctas_per_sm"].get<uint64_t>());
  EXPECT_EQ(what, r["residency_limit"]);
}

// Warp 1 reads what warp 0 stores, without a barrier; two launches, two CTAs.
constexpr const char* kRace = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry race(.param .u64 p) .reqntid 64
{
  .shared .align 4 .b32 s[32];
  .reg .b32 %t;
  .reg .b32 %a<2>;
  .reg .b32 %v;
  .reg .b64 %g<2>;
  .reg .pred %first;
  ld.param.u64 %g0, [p];
  mov.u32 %t, %tid.x;
  and.b32 %a0, %t, 31;
  mov.u32 %a1, s;
  mad.lo.u32 %a1, %a0, 4, %a1;
  setp.lt.u32 %first, %t, 32;
  @%first st.shared.b32 [%a1], %t;
  @!%first ld.shared.b32 %v, [%a1];
  @!%first st.global.b32 [%g0], %v;
  ret;
}
)";

TEST(HtmlReport, HasHazardsInPlaceAndEveryLaunch) {
  const test::TemporaryDirectory d;
  write_file_atomically(d.file("race.ptx"), std::string_view(kRace));
  write_file_atomically(d.file("race.toml"), std::string_view("module = \"race.ptx\"\n[buffers]\nx = \"u32[64]:zeros\"\n[[launch]]\ngrid = [2, 1]\nargs = [\"@x\"]\n[[launch]]\ngrid = [1, 1]\nargs = [\"@x\"]\n"));
  const Page page = report({d.file("race.toml"), "--check", "--report-cta=0,0,0", "--report-cta=1,0,0"}, 1);
  ASSERT_EQ(page.data["launches"].size(), 2u);
  EXPECT_TRUE(page.data["launches"][0]["timelines"][1]["seen"]);
  EXPECT_FALSE(page.data["launches"][1]["timelines"][1]["seen"]) << "the second launch has one CTA";
  ASSERT_FALSE(page.data["hazards"].empty());
  const Json& h = page.data["hazards"][0];
  EXPECT_EQ(h["level"], "error");
  std::set<std::string> lines;
  for (const Json& l : first_report(page)["lines"]) lines.insert(l["where"]);
  EXPECT_TRUE(lines.contains(h["here"]["place"].get<std::string>())) << h.dump();
  EXPECT_TRUE(lines.contains(h["other"]["place"].get<std::string>())) << h.dump();
}

// Tracks of the CTA's warps and units, arrows to the waiters, shared and tensor memory over time.
TEST(HtmlReport, ShowsOneCtaOverTime) {
  const Json& t = first_timeline(rht());
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

TEST(HtmlReport, HasEveryLaunchOfAHostCode) {
  const Page p = report({"linear-nvfp4", "--tokens=128", "--in=128", "--out=128", "--parallel=column", "--ranks=2"});
  std::vector<std::string> names;
  uint64_t first = 0;
  for (const Json& l : p.data["launches"]) {
    names.push_back(l["name"]);
    if (names.back().starts_with("rank 0: ")) first += l["report"]["cycles"].get<uint64_t>();
    EXPECT_FALSE(l["report"]["lines"].empty()) << names.back();
    EXPECT_FALSE(l["timelines"].empty()) << names.back();
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"rank 0: gemm-blockscaled FProp", "rank 1: gemm-blockscaled WGrad"}));
  EXPECT_GT(first, 10000u);
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
