// Named barriers that reduce, and those whose lanes come one by one.
#include <gtest/gtest.h>

#include "support/ptx_run.h"

namespace drywell::test {
namespace {

constexpr uint32_t kThreads = 96;

/// Runs `body` in one CTA; it leaves one word per thread in `result`.
std::vector<uint32_t> run_cta(const std::string& body, sim::DriverKind driver) {
  const std::string text =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
      ".reg .b32 tid, result, t; .reg .b64 a; .reg .pred p, q, r;\nmov.u32 tid, %tid.x;\n" +
      body + "\nld.param.u64 a, [out];\nmad.wide.u32 a, tid, 4, a;\nst.global.u32 [a], result;\nret;\n}\n";
  sim::Device d;
  const GmemAddr out = d.allocate(4 * kThreads);
  sim::RunOptions options;
  options.driver = driver;
  const sim::RunResult r = d.launch(d.load(parse_or_throw(text)), "k", {.grid = {1}, .block = {kThreads}},
                                    sim::Args().add(out), options);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.fault->to_string());
  std::vector<uint32_t> words(kThreads);
  d.read(words.data(), out, 4 * kThreads);
  return words;
}
void expect_all(const std::string& body, uint32_t want) {
  for (const auto driver :
       {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed}) {
    EXPECT_EQ(run_cta(body, driver), std::vector<uint32_t>(kThreads, want)) << body;
  }
}

TEST(NamedBarrier, Reduces) {
  expect_all("setp.lt.u32 p, tid, 40; bar.red.popc.u32 result, 0, p;", 40);
  expect_all("setp.lt.u32 p, tid, 40; barrier.cta.red.popc.aligned.u32 result, 3, 96, !p;", 56);
  expect_all("setp.lt.u32 p, tid, 95; bar.red.and.pred q, 0, p; selp.u32 result, 1, 0, q;", 0);
  expect_all("setp.lt.u32 p, tid, 96; bar.red.and.pred q, 0, p; selp.u32 result, 1, 0, q;", 1);
  expect_all("setp.eq.u32 p, tid, 95; bar.red.or.pred q, 0, p; selp.u32 result, 1, 0, q;", 1);
  expect_all("setp.eq.u32 p, tid, 96; bar.red.or.pred q, 0, p; selp.u32 result, 1, 0, q;", 0);
}

// A second instance starts from zero, and early arrivals at the second do not change the result of the
// first.
TEST(NamedBarrier, InstancesDoNotMix) {
  expect_all(
      "setp.lt.u32 p, tid, 10; bar.red.popc.u32 result, 0, p; setp.lt.u32 p, tid, 3; bar.red.popc.u32 t, 0, "
      "p; mad.lo.u32 result, result, 1000, t;",
      10003);
}

// The barrier counts arrivals: warp 0 arrives for itself and then waits, with warp 1, at a barrier for 96 threads, as FlashAttention 3's
// first warpgroup does for its first turn (right on an H200).
TEST(NamedBarrier, AWarpThatArrivesTwiceCountsTwice) {
  expect_all(R"(mov.u32 result, 5; setp.ge.u32 p, tid, 64; @p bra OUT;
setp.lt.u32 q, tid, 32; @q bar.arrive 1, 96; bar.sync 1, 96; mov.u32 result, 5;
OUT: bar.sync 0;)",
             5);
}

// barrier.sync without .aligned: the halves of a warp arrive at different times, from a divergent branch.
TEST(NamedBarrier, LanesComeOneByOne) {
  expect_all(R"(mov.u32 result, 0; and.b32 t, tid, 1; setp.eq.u32 p, t, 0;
@p bra MEET; add.u32 result, result, 7; sub.u32 result, result, 7;
MEET: barrier.sync 0; setp.eq.u32 q, t, 0; barrier.red.popc.u32 result, 1, q;)",
             48);
}

// "bar.sync … enforced per thread, and thus will not succeed until reached by all non-exited threads in the block" (CUDA C++ Programming Guide,
// independent thread scheduling): at any place. nvcc unrolls a loop with a barrier whose lanes leave one after the other into two.
TEST(NamedBarrier, LanesComeFromSeveralPlaces) {
  expect_all("mov.u32 result, 0; setp.lt.u32 p, tid, 40; @p bra SECOND; bar.sync 0; bra OUT; SECOND: bar.sync 0; OUT: add.u32 result, result, 9;", 9);
  expect_all(R"(mov.u32 result, 0; rem.u32 t, tid, 3;
TOP: setp.lt.u32 p, t, 2; @p bra REST;
bar.sync 0; bar.sync 0; add.u32 result, result, 2; sub.u32 t, t, 2; bra TOP;
REST: setp.eq.u32 p, t, 0; @p bra OUT; bar.sync 0; add.u32 result, result, 1; sub.u32 t, t, 1; bra REST;
OUT: rem.u32 t, tid, 3; setp.eq.u32 p, t, 2; @p bra END; bar.sync 0; setp.eq.u32 p, t, 1; @p bra END; bar.sync 0;
END: sub.u32 result, result, t; add.u32 result, result, 5;)",
             5);
}

// Lanes that a guard excludes go on: here they exit, and exited threads do not count.
TEST(NamedBarrier, ExcludedLanesGoOn) {
  for (const auto driver : {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed}) {
    const std::vector<uint32_t> words = run_cta("mov.u32 result, 1; setp.lt.u32 p, tid, 48; @p barrier.sync 0; @p mov.u32 result, 2;", driver);
    for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(words[i], i < 48 ? 2u : 1u) << i;
  }
}

}  // namespace
}  // namespace drywell::test
