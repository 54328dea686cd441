// Findings as text: causes first, one entry for one cause, at most a screen; and what the order between two accesses lacks.
#include <gtest/gtest.h>

#include <algorithm>

#include "drywell/sim/check.h"
#include "support/async_run.h"

namespace drywell::test {
namespace {

sim::FindingParty at(const char* role, const char* file, uint32_t line) {
  sim::FindingParty p;
  p.role = role;
  p.where.kernel = "k";
  p.where.ptx = "ld.shared.b32 %r1, [%r2];";
  p.where.source = {file, line, 0};
  return p;
}

sim::Finding finding(const char* code, sim::HazardLevel level, sim::FindingParty here, sim::FindingParty other = {}) {
  sim::Finding f;
  f.code = code;
  f.level = level;
  f.rule = "a rule";
  f.here = std::move(here);
  f.other = std::move(other);
  f.fix = "a fix";
  return f;
}

constexpr auto kError = sim::HazardLevel::error;
constexpr auto kWarning = sim::HazardLevel::warning;

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++n;
  return n;
}

TEST(DescribeFindings, CausesComeBeforeTheirConsequences) {
  const std::string text = sim::describe_findings({finding("H7501", kWarning, at("reads", "x.cu", 1)), finding("H7001", kError, at("reads", "x.cu", 2)),
                                                   finding("H7801", kError, at("reads", "x.cu", 3)), finding("H7302", kError, at("reads", "x.cu", 4))});
  const auto place = [&](const char* code) { return text.find(code); };
  EXPECT_LT(place("H7302"), place("H7801"));
  EXPECT_LT(place("H7801"), place("H7001"));
  EXPECT_LT(place("H7001"), place("H7501"));
}

TEST(DescribeFindings, OneCauseHasOneEntry) {
  const sim::FindingParty copy = at("written, asynchronously, by", "x.cu", 5);
  std::vector<sim::Finding> all{finding("H7001", kError, at("reads", "x.cu", 10), copy), finding("H7001", kError, at("reads", "dir/x.cu", 11), copy),
                                finding("H7001", kError, at("reads", "x.cu", 12), copy), finding("H7001", kError, at("reads", "y.cu", 30), at("written by", "y.cu", 20))};
  all[2].count = 7;
  const std::string text = sim::describe_findings(all);
  EXPECT_EQ(count(text, "error H7001"), 2u) << text;
  EXPECT_NE(text.find("the same at x.cu:11, x.cu:12 (9 times in all)"), std::string::npos) << text;
}

// A use of a value that was never written says little: where the value comes from is named in the line, too.
TEST(DescribeFindings, AWarningNamesTheOtherParties) {
  const sim::FindingParty from = at("the value comes from", "x.cu", 3);
  const std::string text = sim::describe_findings({finding("H7501", kWarning, at("uses", "x.cu", 8), from), finding("H7501", kWarning, at("uses", "x.cu", 9), from), finding("H7501", kWarning, at("uses", "y.cu", 1))});
  EXPECT_EQ(text, "\nwarning H7501: a rule (3 times at x.cu:8, x.cu:9, y.cu:1; the value comes from x.cu:3)\n    fix: a fix\n");
}

// A helper's line says little: the caller's is named, too, and two callers are two places.
TEST(DescribeFindings, AWarningInAHelperHasTheCallersLine) {
  std::vector<sim::Finding> all{finding("H7503", kWarning, at("reads", "helpers.cuh", 5)), finding("H7503", kWarning, at("reads", "helpers.cuh", 5))};
  all[0].here.where.called_from = {{"wrappers.cuh", 7, 0}, {"dir/kernel.cu", 40, 0}};
  all[1].here.where.called_from = {{"dir/kernel.cu", 50, 0}};
  const std::string text = sim::describe_findings(all);
  EXPECT_NE(text.find("2 times at helpers.cuh:5 (from kernel.cu:40), helpers.cuh:5 (from kernel.cu:50)"), std::string::npos) << text;
}

TEST(DescribeFindings, ACopyThatNobodyWaitsForIsOneCause) {
  const sim::FindingParty copy = at("written, asynchronously, by", "x.cu", 5);
  std::vector<sim::Finding> all{finding("H7001", kError, at("reads", "x.cu", 10), copy), finding("H7004", kError, at("writes", "x.cu", 11), copy),
                                finding("H7004", kError, at("writes", "x.cu", 12), copy)};
  for (sim::Finding& f : all) f.order = "the first ends with phase 0 of the mbarrier at 0x400; warp 1 has waited for none";
  all[2].order = "the first ends with phase 1 of the mbarrier at 0x400; warp 1 has waited for none";
  const std::string text = sim::describe_findings({all[0], all[1]});
  EXPECT_EQ(count(text, "error H"), 1u) << text;
  EXPECT_NE(text.find("the same at x.cu:11 (H7004)"), std::string::npos) << text;
  EXPECT_EQ(count(sim::describe_findings({all[0], all[2]}), "error H"), 2u);
}

TEST(DescribeFindings, AWarningsRuleIsOneLine) {
  std::vector<sim::Finding> all;
  for (uint32_t line = 1; line <= 9; ++line) all.push_back(finding("H7202", kWarning, at("reads", "x.cu", line), at("written by", "x.cu", 100 + line)));
  EXPECT_EQ(sim::describe_findings(all), "\nwarning H7202: a rule (9 times at x.cu:1, x.cu:2, x.cu:3, x.cu:4, x.cu:5, x.cu:6 and 3 more; written by x.cu:101, written by x.cu:102, written by x.cu:103 and 6 more)\n    fix: a fix\n");
}

TEST(DescribeFindings, AWarningAloneNamesBothPlaces) {
  const std::string text = sim::describe_findings({finding("H7403", kWarning, at("reads", "x.cu", 7), at("written by", "x.cu", 3))});
  EXPECT_EQ(text, "\nwarning H7403: a rule (1 time at x.cu:7; written by x.cu:3)\n    fix: a fix\n");
}

// A barrier is missing: the store may be before or behind the copy that reads it.
TEST(DescribeFindings, TwoPlacesInEitherOrderAreOneCause) {
  const sim::FindingParty store = at("written by", "x.cu", 5), copy = at("read, asynchronously, by", "x.cu", 9);
  const std::string text = sim::describe_findings({finding("H7006", kError, copy, store), finding("H7003", kError, store, copy)});
  EXPECT_EQ(count(text, "error H"), 1u) << text;
  EXPECT_NE(text.find("the same at x.cu:5 (H7003) (2 times in all)"), std::string::npos) << text;
}

TEST(DescribeFindings, NamesOfTemplatesAreShort) {
  sim::Finding f = finding("H7001", kError, at("reads", "x.cu", 1));
  f.here.where.kernel = f.here.where.function = std::string(5000, 'k');
  EXPECT_LT(f.to_string().size(), 600u);
}

TEST(DescribeFindings, AtMostAScreen) {
  std::vector<sim::Finding> all;
  for (uint32_t line = 0; line < 40; ++line) all.push_back(finding(line % 2 == 0 ? "H7001" : "H7401", kError, at("reads", "x.cu", line), at("written by", "y.cu", line)));
  const std::string text = sim::describe_findings(all);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 50);
  EXPECT_NE(text.find("\nand 35 more: H7001, H7401\n"), std::string::npos) << text;
  EXPECT_EQ(count(sim::describe_findings(all, ~size_t{0}), "error H"), 40u);
}

std::vector<sim::Finding> findings_of(const std::string& body, uint32_t threads) {
  AsyncCase c;
  c.threads = threads;
  c.buffers = {Bytes(16384)};
  c.body = body;
  sim::HazardChecker checker;
  run_async(c, {.listeners = {checker.listener()}});
  return checker.findings();
}

const std::string kBarrier = "@first mbarrier.init.shared::cta.b64 [bar], 1;\nbar.sync 0;\n";
const std::string kCopy = R"(
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
)";

std::string order_of(const std::vector<sim::Finding>& all, const char* code) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const sim::Finding& f) { return f.code == code; });
  return found == all.end() ? "no " + std::string(code) : found->order;
}

TEST(DescribeOrder, NamesThePhaseThatNobodyWaitedFor) {
  const std::string never = order_of(findings_of(kBarrier + kCopy + "ld.shared.b32 %r1, [smem];\n" + wait_for("[bar]", 0), 32), "H7001");
  EXPECT_EQ(never, "the first ends with phase 0 of the mbarrier at 0x400 of CTA rank 0; warp 0 has waited for none of its phases, and no thread that has is ordered before it");
  const std::string earlier = order_of(findings_of(kBarrier + kCopy + wait_for("[bar]", 0) + kCopy + "ld.shared.b32 %r1, [smem];\n" + wait_for("[bar]", 1), 32), "H7001");
  EXPECT_EQ(earlier, "the first ends with phase 1 of the mbarrier at 0x400 of CTA rank 0; warp 0 knows its phases up to 0 only");
}

const std::string kOwnWord = "shl.b32 %r1, tid, 2;\nmov.u32 %r4, smem;\nadd.u32 %r1, %r1, %r4;\n";

// Of the waits that are there it says why they do not do.
TEST(DescribeOrder, NamesTheWaitThatFallsShort) {
  const std::string copy = kOwnWord + "cp.async.ca.shared.global [%r1], [buf0], 4;\n", use = "ld.shared.b32 %r5, [%r1];\ncp.async.wait_all;\n";
  const auto order = [&](const std::string& between) { return order_of(findings_of(copy + between + use, 32), "H7005"); };
  const std::string known = "warp 0 knows that the first was issued; no wait of warp 0 for its end happens before";
  EXPECT_EQ(order(""), known + ": it is in no group yet, because no commit_group follows it");
  EXPECT_EQ(order("cp.async.commit_group;\n"), known);
  EXPECT_EQ(order("cp.async.commit_group;\ncp.async.wait_group 1;\n").find(known + ": the last one, 'cp.async.wait_group 1;'"), 0u);
  EXPECT_TRUE(order("cp.async.commit_group;\ncp.async.wait_group 1;\n").ends_with("lets it go on"));
  const std::string early = order_of(findings_of("cp.async.wait_group 0;\n" + copy + "cp.async.commit_group;\n" + use, 32), "H7005");
  EXPECT_TRUE(early.ends_with("came before it was issued")) << early;
}

TEST(DescribeOrder, NamesTheFenceThatIsMissing) {
  const std::string store = kOwnWord + "st.shared.b32 [%r1], tid;\n", fence = "fence.proxy.async.shared::cta;\n";
  const std::string copy = "bar.sync 0;\n@first cp.async.bulk.global.shared::cta.bulk_group [buf0], [smem], 128;\n@first cp.async.bulk.commit_group;\n@first cp.async.bulk.wait_group 0;\n";
  EXPECT_EQ(order_of(findings_of(store + copy, 32), "H7101"), "in order, but no fence.proxy.async comes behind the first access and before the second");
  EXPECT_EQ(order_of(findings_of("st.shared.b32 [smem+64], tid;\n" + fence + store + copy, 32), "H7101"), "in order, but the last fence.proxy.async on the way was before the first access");
}

// The bytes of H7305 are expected by one instruction and delivered by another; neither initialises the mbarrier.
TEST(DescribeFindings, ThePartyOfMissingBytesDoesWhatItDoes) {
  const auto roles = [](const std::string& body) {
    std::string all;
    for (const sim::Finding& f : findings_of(body, 32))
      if (f.code == "H7305") all += f.here.role + ": " + f.here.where.ptx.substr(0, 40);
    return all;
  };
  EXPECT_EQ(roles(kBarrier + "@first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64;\n"), "expects bytes: @first mbarrier.expect_tx.relaxed.cta.sh");
  EXPECT_EQ(roles(kBarrier + "@first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];\n"),
            "writes, asynchronously: @first cp.async.bulk.shared::cta.global.");
}

TEST(DescribeOrder, NamesTheLastSynchronisation) {
  const std::string race = "setp.lt.u32 %p2, tid, 32;\n@%p2 st.shared.b32 [smem], tid;\n@!%p2 ld.shared.b32 %r1, [smem];\n";
  EXPECT_TRUE(order_of(findings_of(race, 64), "H7401").starts_with("no barrier, and no release and acquire, leads from warp "));
  const std::string later = order_of(findings_of("bar.sync 0;\n" + race, 64), "H7401");
  EXPECT_TRUE(later.starts_with("the last synchronisation from warp ") && later.ends_with(" was before the first access; none follows it")) << later;
}

}  // namespace
}  // namespace drywell::test
