// Launches in time: waves, clusters, persistent grids, work stealing, registers (docs/facts/timing.md §9; figures typed from there or from
// the CUDA C++ Programming Guide, not from the architecture file).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "drywell/sim/device.h"
#include "support/ptx_run.h"

namespace drywell::sim {
namespace {

/// Record of a CTA: its SM, its start and its end.
struct Stay {
  uint64_t from = 0, to = 0, sm = 0, extra = 0;
};

struct Shape {
  uint32_t ctas = 1, threads = 32, cluster = 1, sms = 4, smem = 0;
  std::string directives;  // ".maxnreg 64"
  std::string arch = "sm_100a";
  unsigned host_threads = 1;
};

struct Outcome {
  std::vector<Stay> stays;
  RunResult run;
};

/// Thread 0 of every CTA records its Stay around `body`, which may write %d3. %r1 is its CTA's index.
Outcome run(const Shape& s, const std::string& body) {
  const std::string text = fmt::format(
      ".version 9.0\n.target {}\n.address_size 64\n.visible .entry k(.param .u64 out) {}\n{{\n.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<12>; .reg .f32 %f<4>;\n"
      ".shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar;\nmov.u64 %d1, %clock64;\nmov.u32 %r1, %ctaid.x;\nmov.u64 %d3, 0;\n{}\n"
      "mov.u64 %d2, %clock64;\nld.param.u64 %d4, [out];\nmov.u32 %r2, %tid.x;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 ret;\nmad.wide.u32 %d4, %r1, 32, %d4;\n"
      "mov.u32 %r3, %smid;\ncvt.u64.u32 %d5, %r3;\nst.global.u64 [%d4], %d1;\nst.global.u64 [%d4+8], %d2;\nst.global.u64 [%d4+16], %d5;\nst.global.u64 [%d4+24], %d3;\nret;\n}}\n",
      s.arch, s.directives, body);
  Device d({.arch = s.arch, .sm_count = s.sms});
  const GmemAddr out = d.allocate(sizeof(Stay) * s.ctas);
  d.fill(out, 0, sizeof(Stay) * s.ctas);
  RunOptions o;
  o.driver = DriverKind::timed;
  o.threads = s.host_threads;
  Outcome r;
  r.run = d.launch(d.load(test::parse_or_throw(text)), "k", {.grid = {s.ctas}, .block = {s.threads}, .cluster = {s.cluster}, .dynamic_smem = s.smem}, Args().add(out), o);
  EXPECT_TRUE(r.run.ok()) << r.run.fault->to_string();
  r.stays.resize(s.ctas);
  d.read(r.stays.data(), out, sizeof(Stay) * s.ctas);
  return r;
}

constexpr char kWork[] = "nanosleep.u32 2000;";  // 2 us

/// Most CTAs of one SM at the same time.
uint32_t most_together(const std::vector<Stay>& stays) {
  uint32_t most = 0;
  for (const Stay& a : stays)
    most = std::max(most, static_cast<uint32_t>(std::count_if(stays.begin(), stays.end(), [&](const Stay& b) { return b.sm == a.sm && b.from <= a.from && a.from < b.to; })));
  return most;
}

// One CTA a cycle for the whole chip (QRC), and another one on an SM some time after one has ended.
// Only the end of the body is executed; found by the attack.
TEST(Launch, OfAKernelWithoutInstructionsEnds) {
  for (const char* body : {"", ".reg .b32 %r<4>;", "{ }", "L:"}) {
    Device device;
    const LoadedModule m = device.load_ptx(fmt::format(".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{{ {}\n}}\n", body));
    const RunResult r = device.launch(m, "k", {.grid = {3}, .block = {64}}, {}, {.driver = DriverKind::timed});
    EXPECT_TRUE(r.ok()) << body;
    EXPECT_NE(r.cycles, 0u) << body;
  }
}

// Eight CTAs of four warps, each a chain of 1,024 dependent products, which alone takes 4,786 cycles: four warps fill an issue slot. The first CTAs
// of an SM of an H200 take that time, the last more than twice as long (chain1-8-3 of traces/hw/h200-2026-11-29-order.txt).
TEST(Launch, TheFirstCtaOfAnSmEndsFirst) {
  std::string body = "mov.f32 %f1, 0f3FC00000; mov.f32 %f2, %f1; mov.u32 %r5, 64;\nL:\n";
  for (int i = 0; i < 16; ++i) body += "fma.rn.f32 %f1, %f1, %f2, %f2;\n";
  body += "sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;\nmov.b32 %r6, %f1; cvt.u64.u32 %d3, %r6;";
  const auto stays = run({.ctas = 8, .threads = 128, .sms = 1, .arch = "sm_90a"}, body).stays;
  const std::array measured{5113, 5288, 5596, 6127, 8636, 10260, 10916, 11674};
  for (size_t i = 0; i < measured.size(); ++i) EXPECT_NEAR(static_cast<double>(stays[i].to - stays[0].from), measured[i], 0.13 * measured[i]) << i;
}

// The same with an approximation in each step: the warps of the first CTAs do not wait behind more than one of another's (mixed-8-3 of the record).
TEST(Launch, TheFirstCtaGoesFirstAtTheUnitOfApproximations) {
  std::string body = "mov.f32 %f1, 0f3FC00000; mov.f32 %f2, %f1; mov.u32 %r5, 32; mov.u32 %r7, %tid.x;\nL:\n";
  for (int i = 0; i < 8; ++i) body += "ex2.approx.ftz.f32 %f1, %f1; fma.rn.f32 %f1, %f1, %f2, %f2; xor.b32 %r7, %r7, %r5; fma.rn.f32 %f1, %f1, %f2, %f2;\n";
  body += "sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;\nmov.b32 %r6, %f1; add.u32 %r6, %r6, %r7; cvt.u64.u32 %d3, %r6;";
  const auto stays = run({.ctas = 8, .threads = 128, .sms = 1, .arch = "sm_90a"}, body).stays;
  EXPECT_NEAR(static_cast<double>(stays[0].to - stays[0].from), 9339, 0.13 * 9339);
  EXPECT_NEAR(static_cast<double>(stays[7].to - stays[0].from), 19298, 0.13 * 19298);
}

// 4,224 CTAs of a warp start within 384 ns of an H200 (traces/hw/h200-2026-11-27-launch.txt): 5.6 a cycle.
TEST(Launch, FillsEmptyPlacesAtOnceAndReplacesThoseThatEnd) {
  const auto stays = run({.ctas = 12, .sms = 4, .smem = 200 << 10}, kWork).stays;
  EXPECT_EQ(most_together(stays), 1u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_LE(stays[i].from, stays[0].from + 1 + i) << "CTA " << i;
  for (uint32_t i = 4; i < 12; ++i) EXPECT_GT(stays[i].from, stays[i - 4].to) << "the SM was taken until then";
  std::map<uint64_t, int> on;
  for (const Stay& s : stays) ++on[s.sm];
  for (const auto& [sm, n] : on) EXPECT_EQ(n, 3) << "SM " << sm;
}

// The 132 SMs of an H200 start their first CTA within 64 to 96 ns, 127 to 190 cycles (fill of traces/hw/h200-2026-11-27-launch.txt).
TEST(Launch, ReachesTheSmsOneAfterAnother) {
  const auto stays = run({.ctas = 132, .sms = 132, .arch = "sm_90a"}, kWork).stays;
  const auto [first, last] = std::minmax_element(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) { return a.from < b.from; });
  EXPECT_GE(last->from - first->from, 120u);
  EXPECT_LE(last->from - first->from, 190u);
}

// The dispatcher deals the CTAs that follow at one rate: an empty CTA takes 0.6015 ns of an H200 at 1.98 GHz, from 200,000 to a million of
// them (launch,empty of traces/hw/h200-2026-11-22-scalar-launch-atomics.csv).
TEST(Launch, DealsReplacementsAtTheSameRate) {
  const double expected = 16000 * 0.6015e-9 * 1.98e9;
  const auto cycles = [](uint32_t ctas) { return run({.ctas = ctas, .sms = 132, .arch = "sm_90a"}, "").run.cycles; };
  EXPECT_NEAR(static_cast<double>(cycles(32000) - cycles(16000)), expected, 0.02 * expected);
  const auto pairs = [](uint32_t ctas) { return run({.ctas = ctas, .cluster = 2, .sms = 132, .directives = ".reqnctapercluster 2", .arch = "sm_90a"}, "").run.cycles; };
  EXPECT_NEAR(static_cast<double>(pairs(32000) - pairs(16000)), expected, 0.02 * expected);
}

/// CTAs of 1024 threads whose estimate of registers lets one be on an SM, two without it. The first 132 wait for all 264.
std::string crowded(bool talks, int values = 80) {
  std::string text = "mov.u32 %r4, 0;\n";
  if (talks) {
    text +=
        "ld.param.u64 %d4, [out]; mov.u32 %r5, %tid.x; setp.ne.u32 %p2, %r5, 0; @%p2 bra JOIN;\natom.add.release.gpu.global.u32 %r6, [%d4+24], 1;\n"
        "WAIT: ld.acquire.gpu.global.u32 %r6, [%d4+24]; setp.lt.u32 %p3, %r6, 8; @%p3 bra WAIT;\nJOIN: bar.sync 0;\n";
  }
  text += fmt::format(".reg .b32 %v<{}>;\n", values + 1);
  for (int i = 0; i < values; ++i) text += fmt::format("mov.u32 %v{}, %clock;\n", i);
  for (int i = 0; i < values; ++i) text += fmt::format("xor.b32 %r4, %r4, %v{};\n", i);
  return text + "cvt.u64.u32 %d3, %r4; and.b64 %d3, %d3, 0;\n";
}

TEST(Occupancy, TheEstimateOfRegistersKeepsNoGridApartThatTalks) {
  EXPECT_EQ(most_together(run({.ctas = 16, .threads = 1024, .sms = 4}, crowded(false) + kWork).stays), 1u);
  const Outcome r = run({.ctas = 8, .threads = 1024, .sms = 4}, crowded(true));
  EXPECT_EQ(most_together(r.stays), 2u);
}

// 512 threads each: four fill the 2,048 of an SM; 232,448 bytes: one; 32 CTAs at most.
TEST(Occupancy, IsWhatTheProgrammingGuideSays) {
  EXPECT_EQ(most_together(run({.ctas = 16, .threads = 512, .sms = 2}, kWork).stays), 4u);
  EXPECT_EQ(most_together(run({.ctas = 6, .sms = 2, .smem = 100 << 10}, kWork).stays), 2u);
  EXPECT_EQ(most_together(run({.ctas = 80, .sms = 2}, kWork).stays), 32u);
}

// 65,536 registers, given to warps in units of 256: 128 for each of 256 threads leave room for two CTAs, 40 for six (quantize-fp8). .maxnreg
// takes no registers that the text does not need.
TEST(Occupancy, CountsTheRegistersUpToMaxnreg) {
  EXPECT_EQ(most_together(run({.ctas = 12, .threads = 256, .sms = 2, .directives = ".maxnreg 128"}, crowded(false, 180) + kWork).stays), 2u);
  EXPECT_EQ(most_together(run({.ctas = 20, .threads = 256, .sms = 2, .directives = ".maxnreg 40"}, crowded(false) + kWork).stays), 6u);
  EXPECT_EQ(most_together(run({.ctas = 20, .threads = 256, .sms = 2, .directives = ".maxnreg 128"}, kWork).stays), 8u);
}

// Few values need few registers: threads bound the number of CTAs.
TEST(Occupancy, LeavesRegistersOutWhereNothingSaysHowMany) {
  const Outcome r = run({.ctas = 20, .threads = 256, .sms = 2}, kWork);
  EXPECT_EQ(most_together(r.stays), 8u);
  EXPECT_EQ(r.run.timing->residency_limit, "threads");
}

// CTAs of a cluster run at the same time on SMs of one GPC; a cluster starts only where all of it fits.
TEST(Clusters, RunTogetherOnNeighbouringSms) {
  const auto stays = run({.ctas = 24, .cluster = 4, .sms = 16, .smem = 200 << 10, .directives = ".reqnctapercluster 4"},
                         std::string(kWork) + "\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;")
                         .stays;
  for (uint32_t c = 0; c < 24; c += 4) {
    std::set<uint64_t> sms;
    for (uint32_t i = c; i < c + 4; ++i) {
      sms.insert(stays[i].sm);
      EXPECT_EQ(stays[i].from, stays[c].from) << "CTA " << i << " starts with its cluster";
    }
    EXPECT_EQ(sms.size(), 4u);
    EXPECT_EQ(*sms.begin() % 4, 0u);
    EXPECT_EQ(*sms.rbegin(), *sms.begin() + 3) << "cluster " << c / 4;
  }
}

// One CTA on each SM takes tile after tile: no CTA is replaced, and all SMs end within a tile of each other.
TEST(PersistentGrid, KeepsItsSmsUntilTheTilesRunOut) {
  const std::string loop =
      "mov.u32 %r4, %r1;\nNEXT:\nnanosleep.u32 1000;\nadd.u64 %d3, %d3, 1;\nmov.u32 %r5, %nctaid.x;\nadd.u32 %r4, %r4, %r5;\nsetp.lt.u32 %p2, %r4, 22;\n@%p2 bra NEXT;";
  const auto stays = run({.ctas = 4, .sms = 4}, loop).stays;
  uint64_t tiles = 0, first_end = ~uint64_t{0}, last_end = 0;
  for (const Stay& s : stays) {
    tiles += s.extra;
    first_end = std::min(first_end, s.to);
    last_end = std::max(last_end, s.to);
  }
  EXPECT_EQ(tiles, 22u);
  EXPECT_EQ(stays[0].extra, 6u);
  EXPECT_EQ(stays[3].extra, 5u);
  EXPECT_NEAR(static_cast<double>(last_end - first_end), 1000 * 1.85, 0.05 * 1850);  // one tile of a microsecond
}

// Cluster launch control: running CTAs cancel CTAs that have not started and do their work; these never start (PTX ISA 9.7.13.17).
std::string stealing() {
  return "mov.u32 %r10, bar;\nmov.u32 %r11, answer;\nmov.u32 %r12, 0;\nmbarrier.init.shared::cta.b64 [%r10], 1;\n"
         "STEAL:\nnanosleep.u32 3000;\nadd.u64 %d3, %d3, 1;\n"
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 16;\nclusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r11], [%r10];\n"
         "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], %r12;\n@!%p3 bra WAIT;\nxor.b32 %r12, %r12, 1;\n"
         "{\n.reg .b128 %q;\nld.shared.b128 %q, [%r11];\nclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q;\n}\n"
         "fence.proxy.async.shared::cta;\n@%p4 bra STEAL;";
}

TEST(ClusterLaunchControl, TakesOverWhatHasNotStarted) {
  const Shape s{.ctas = 21, .threads = 1, .sms = 4, .smem = 200 << 10};
  const Outcome one = run(s, stealing());
  uint64_t work = 0, started = 0;
  for (const Stay& c : one.stays) {
    work += c.extra;
    started += c.to != 0;
  }
  EXPECT_EQ(work, 21u) << "every CTA's work is done once";
  EXPECT_EQ(started, 4u) << "the others were cancelled";
  EXPECT_NEAR(static_cast<double>(one.stays[0].extra), 21.0 / 4, 1);
  Shape many = s;
  many.host_threads = 4;
  EXPECT_EQ(run(many, stealing()).run.cycles, one.run.cycles);
}

// setmaxnreg.dec takes 73 cycles, .inc 50 (QRC, B300; one figure for both here), and .inc waits until enough registers are free.
TEST(Setmaxnreg, TakesItsTimeAndWaitsForRegisters) {
  const auto cycles = [](const std::string& change) {
    return run({.threads = 256, .directives = ".maxntid 256, 1, 1 .maxnreg 168"}, "mov.u64 %d6, %clock64;\n" + change + "\nmov.u64 %d7, %clock64;\nsub.u64 %d3, %d7, %d6;").stays[0].extra;
  };
  const uint64_t alone = cycles("setmaxnreg.dec.sync.aligned.u32 40;");
  EXPECT_NEAR(static_cast<double>(alone), 73, 0.05 * 73 + 4);
  // Warps 4 to 7 give up registers after 2 us; warps 0 to 3 want them.
  const uint64_t waited = cycles(
      "mov.u32 %r6, %tid.x;\nsetp.ge.u32 %p5, %r6, 128;\n@%p5 bra GIVE;\nsetmaxnreg.inc.sync.aligned.u32 232;\nbra GO;\nGIVE:\nnanosleep.u32 2000;\nsetmaxnreg.dec.sync.aligned.u32 40;\nGO:");
  EXPECT_GE(waited, 3700u);
  EXPECT_LE(waited, 4000u);
}

}  // namespace
}  // namespace drywell::sim
