// Threads that have exited, at barriers of every form: what an H200 does (driver 580.159, CUDA 13.0, 2026-11-22), under every driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "drywell/core/files.h"
#include "drywell/sim/device.h"
#include "drywell/sim/driver_words.h"
#include "support/paths.h"

namespace drywell::sim {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kDrivers = {"eager", "lazy", "shuffled:1", "shuffled:2", "shuffled:3", "timed"};

struct Outcome {
  RunResult run;
  std::vector<uint32_t> words;
};

Outcome launch(const std::string& ptx, const std::string& driver, Dim3 grid, Dim3 block, std::vector<uint32_t> further = {}) {
  Device device({.arch = "sm_90a"});
  const GmemAddr out = device.allocate(64, "out");
  device.fill(out, 0, 64);
  const LoadedModule m = device.load_ptx(ptx);
  RunOptions options;
  parse_driver(driver, options);
  Args args;
  args.add(out);
  for (const uint32_t v : further) args.add(v);
  Outcome o{device.launch(m, m.module().functions[0].name, {.grid = grid, .block = block}, args, options), std::vector<uint32_t>(16)};
  device.read(o.words.data(), out, 64);
  return o;
}

/// Lane 0 of each warp stores %v at out[4 * warp + 16 * rank].
std::string kernel(const std::string& body, const std::string& directives = {}) {
  return fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {}
{{
  .reg .pred %p<8>; .reg .b32 %t, %w, %l, %v, %a, %r; .reg .b64 %d, %o;
  mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; and.b32 %l, %t, 31; mov.u32 %r, %cluster_ctarank; mov.u32 %v, 42;
{}
  setp.ne.u32 %p7, %l, 0; @%p7 bra END;
  ld.param.u64 %d, [out]; shl.b32 %a, %r, 2; add.u32 %a, %a, %w; mul.wide.u32 %o, %a, 4; add.u64 %d, %d, %o; st.global.u32 [%d], %v;
END:
  ret;
}}
)",
                     directives, body);
}

struct BarrierCase {
  const char* name;
  const char* body;
  std::vector<uint32_t> words;  // on an H200
  const char* directives = "";
  uint32_t grid = 1;
};

class ExitedThreads : public testing::TestWithParam<BarrierCase> {};

TEST_P(ExitedThreads, DoNotCount) {
  const BarrierCase& c = GetParam();
  for (const std::string& driver : kDrivers) {
    SCOPED_TRACE(driver);
    const Outcome o = launch(kernel(c.body, c.directives), driver, {c.grid}, {128});
    ASSERT_TRUE(o.run.ok()) << o.run.fault->to_string();
    EXPECT_EQ(std::vector<uint32_t>(o.words.begin(), o.words.begin() + static_cast<ptrdiff_t>(c.words.size())), c.words);
  }
}

INSTANTIATE_TEST_SUITE_P(Barriers, ExitedThreads, testing::Values(BarrierCase{"WarpExitsBefore", "setp.eq.u32 %p0, %w, 1; @%p0 bra END; bar.sync 0;", {42, 0, 42, 42}}, BarrierCase{"WarpExitsWhileOthersWait", "setp.eq.u32 %p0, %w, 3; @%p0 nanosleep.u32 100000; @%p0 bra END; bar.sync 0;", {42, 42, 42, 0}}, BarrierCase{"WarpLeavesByExit", "setp.eq.u32 %p0, %w, 1; @%p0 exit; bar.sync 0;", {42, 0, 42, 42}}, BarrierCase{"HalfOfEveryWarp", "setp.ge.u32 %p0, %l, 16; @%p0 bra END; bar.sync 0;", {42, 42, 42, 42}}, BarrierCase{"HalfOfEveryWarpWithACount", "setp.ge.u32 %p0, %l, 16; @%p0 bra END; bar.sync 1, 128;", {42, 42, 42, 42}}, BarrierCase{"HalfOfEveryWarpNotAligned", "setp.ge.u32 %p0, %l, 16; @%p0 bra END; barrier.sync 1, 128;", {42, 42, 42, 42}}, BarrierCase{"NotAligned", "setp.eq.u32 %p0, %w, 1; @%p0 bra END; barrier.sync 2;", {42, 0, 42, 42}}, BarrierCase{"APartOfAWarpAndWarps", "setp.ge.u32 %p0, %t, 100; @%p0 bra END; bar.sync 0;", {42, 42, 42, 42}}, BarrierCase{"OneLaneWhileItsWarpWaits", "setp.eq.u32 %p0, %t, 127; @%p0 nanosleep.u32 100000; @%p0 bra END; barrier.sync 1;", {42, 42, 42, 42}}, BarrierCase{"OneLaneOfEachWarpComes", "setp.ne.u32 %p0, %l, 0; @%p0 bra END; barrier.sync 1;", {42, 42, 42, 42}}, BarrierCase{"PopcOfAWarpLess", "setp.eq.u32 %p0, %w, 1; @%p0 bra END; setp.eq.u32 %p1, %w, %w; bar.red.popc.u32 %v, 0, %p1;", {96, 0, 96, 96}}, BarrierCase{"PopcOfHalfTheLanes", "setp.ge.u32 %p0, %l, 16; @%p0 bra END; setp.eq.u32 %p1, %w, %w; bar.red.popc.u32 %v, 0, %p1;", {64, 64, 64, 64}}, BarrierCase{"AndOfAWarpLess", "setp.eq.u32 %p0, %w, 1; @%p0 bra END; setp.lt.u32 %p1, %t, 200; bar.red.and.pred %p2, 0, %p1; selp.u32 %v, 11, 0, %p2;", {11, 0, 11, 11}}, BarrierCase{"ArriveByFourLanes",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "setp.ge.u32 %p0, %w, 2; @%p0 bra END; setp.eq.u32 %p1, %w, 0; @%p1 bra SYNC; setp.ge.u32 %p2, %l, 4; @%p2 bra END; bar.arrive 1, 64; mov.u32 %v, 43; bra OUT; "
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "SYNC: bar.sync 1, 64; OUT:",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 {42, 43, 0, 0}},
                                                                  BarrierCase{"WarpSync", "and.b32 %a, %t, 1; setp.ne.u32 %p0, %a, 0; @%p0 bra END; bar.warp.sync 0xffffffff;", {42, 42, 42, 42}}, BarrierCase{"ClusterWithoutACta", "setp.eq.u32 %p0, %r, 1; @%p0 bra END; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", {42, 42, 42, 42, 0, 0, 0, 0}, ".reqnctapercluster 2", 2}, BarrierCase{"ClusterWithoutAWarpOfEach", "setp.eq.u32 %p0, %w, 1; @%p0 bra END; barrier.cluster.arrive; barrier.cluster.wait;", {42, 0, 42, 42, 42, 0, 42, 42}, ".reqnctapercluster 2", 2}, BarrierCase{"ClusterWhileACtaWaits", "setp.eq.u32 %p0, %r, 1; @%p0 nanosleep.u32 200000; @%p0 bra END; barrier.cluster.arrive; barrier.cluster.wait;", {42, 42, 42, 42, 0}, ".reqnctapercluster 2", 2}, BarrierCase{"ClusterAfterItsArrival", "barrier.cluster.arrive; setp.eq.u32 %p0, %r, 1; @%p0 bra END; barrier.cluster.wait; barrier.cluster.arrive; barrier.cluster.wait;", {42, 42, 42, 42, 0}, ".reqnctapercluster 2", 2}, BarrierCase{"ClusterWithQuartersOfWarps", "setp.ge.u32 %p0, %l, 8; @%p0 bra END; barrier.cluster.arrive; barrier.cluster.wait;", {42, 42, 42, 42, 42, 42, 42, 42}, ".reqnctapercluster 2", 2}),
                         [](const auto& i) { return std::string(i.param.name); });

// A thread count counts threads that have exited: an H200 hangs.
TEST(ExitedThreadsAndACount, AreWaitedFor) {
  for (const char* body : {"setp.eq.u32 %p0, %w, 1; @%p0 bra END; bar.sync 1, 128;", "setp.eq.u32 %p0, %w, 3; @%p0 nanosleep.u32 1000; @%p0 bra END; bar.sync 1, 128;",
                           "setp.ge.u32 %p0, %w, 2; @%p0 bra END; bar.sync 1, 96;"}) {
    for (const std::string& driver : kDrivers) {
      SCOPED_TRACE(driver);
      const Outcome o = launch(kernel(body), driver, {1}, {128});
      ASSERT_FALSE(o.run.ok());
      EXPECT_THAT(o.run.fault->to_string(), HasSubstr("F3601"));
    }
  }
}

std::string corpus(const std::string& name) { return read_text_file(test::source_path("tests/corpus/verdicts/" + name)); }

TEST(Verdicts, EarlyReturnBeforeSyncthreads) {
  for (const std::string& driver : kDrivers) EXPECT_EQ(launch(corpus("early_exit.ptx"), driver, {1}, {128}).words[0], 42u) << driver;
}

// try_wait answers false for a lane whose warp's others wait elsewhere.
TEST(Verdicts, ALaneMayTimeOutWhileItsWarpWaits) {
  for (const std::string& driver : kDrivers) {
    const Outcome o = launch(corpus("tw.ptx"), driver, {1}, {32});
    ASSERT_TRUE(o.run.ok()) << driver << o.run.fault->to_string();
    EXPECT_EQ(o.words[0], 0u) << driver;
  }
}

// A loop that gives up after n attempts ends, whatever n is.
TEST(Verdicts, ABoundedPollEnds) {
  for (const std::string& driver : kDrivers) {
    for (const uint32_t n : {1u, 3u, 4u, 5u, 100u}) {
      const Outcome o = launch(corpus("tl.ptx"), driver, {1}, {32}, {n});
      ASSERT_TRUE(o.run.ok()) << driver << o.run.fault->to_string();
      EXPECT_EQ(o.words[0], n) << driver;
    }
  }
}

// barrier.cluster releases and acquires remote arrivals.
TEST(Verdicts, ARemoteArrivalIsSeenBehindTheClusterBarrier) {
  for (int seed = 0; seed < 20; ++seed) {
    for (const std::string& driver : {std::string("eager"), std::string("lazy"), "shuffled:" + std::to_string(seed), std::string("timed")}) {
      Device device({.arch = "sm_90a"});
      const GmemAddr out = device.allocate(64, "out");
      const LoadedModule m = device.load_ptx(corpus("rem.ptx"));
      RunOptions options;
      parse_driver(driver, options);
      const RunResult r = device.launch(m, "rem", {.grid = {2}, .block = {32}, .cluster = {2, 1, 1}}, Args().add(out), options);
      ASSERT_TRUE(r.ok()) << driver << r.fault->to_string();
      uint32_t words[2];
      device.read(words, out, 8);
      EXPECT_EQ(words[0], 1u) << driver;
      EXPECT_EQ(words[1], 77u) << driver;
    }
  }
}

// In memory a signalling NaN stays what it is; add.f64 quiets it (H200).
TEST(Verdicts, AtomicSumsKeepANansPayload) {
  const Outcome o = launch(corpus("atomnan.ptx"), "eager", {1}, {1});
  EXPECT_EQ(o.words[2], 1u);
  EXPECT_EQ(o.words[3], 0x7FF00000u);
  EXPECT_EQ(o.words[4], 1u);
  EXPECT_EQ(o.words[5], 0x7FF80000u);
}

// What Triton 3.6 makes of tl.make_tensor_descriptor: maps from zeroed bytes and tensormap.replace of every field. C = A * B^T in bf16,
// with operands -1, 0 and 1, so that every sum is exact. An H200 gives the right result.
TEST(Verdicts, TritonsTensorDescriptorsAreTensorMaps) {
  constexpr uint32_t m = 256, n = 384, k = 256;
  constexpr uint16_t kValues[] = {0x0000, 0x3F80, 0xBF80};
  const auto value = [&](uint32_t i, uint32_t salt) { return kValues[((i * 2654435761u + salt) >> 13 & 0xFFFF) % 3]; };
  std::vector<uint16_t> a(m * k), b(n * k), c(m * n), want(m * n);
  for (uint32_t i = 0; i < a.size(); ++i) a[i] = value(i, 1);
  for (uint32_t i = 0; i < b.size(); ++i) b[i] = value(i, 77777);
  const auto number = [](uint16_t v) { return v == 0 ? 0 : v == 0x3F80 ? 1
                                                                       : -1; };
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      int sum = 0;
      for (uint32_t x = 0; x < k; ++x) sum += number(a[i * k + x]) * number(b[j * k + x]);
      const auto exact = static_cast<float>(sum);
      want[i * n + j] = static_cast<uint16_t>(std::bit_cast<uint32_t>(exact) >> 16);
    }
  }
  for (const std::string& driver : kDrivers) {
    SCOPED_TRACE(driver);
    Device device({.arch = "sm_90a"});
    const GmemAddr pa = device.allocate(a.size() * 2, "a"), pb = device.allocate(b.size() * 2, "b"), pc = device.allocate(c.size() * 2, "c"),
                   scratch = device.allocate(6 * 3 * 128, "scratch");
    device.write(pa, a.data(), a.size() * 2);
    device.write(pb, b.data(), b.size() * 2);
    const LoadedModule module = device.load_ptx(corpus("triton_device_tensormap.ptx"));
    RunOptions options;
    parse_driver(driver, options);
    const RunResult r = device.launch(module, "mm_tma_k", {.grid = {6}, .block = {256}, .dynamic_smem = 131096},
                                      Args().add(pa).add(pb).add(pc).add(m).add(n).add(k).add(scratch).add(uint64_t{0}), options);
    ASSERT_TRUE(r.ok()) << r.fault->to_string();
    device.read(c.data(), pc, c.size() * 2);
    EXPECT_EQ(c, want);
  }
}

}  // namespace
}  // namespace drywell::sim
