// What a launch that faults says of its clusters does not depend on the host's threads: those up to the fault count.
#include <gtest/gtest.h>

#include <drywell/sim/device.h>

#include "sim/schedule/ordered_counts.h"
#include "sim/state/output.h"

namespace drywell::sim {
namespace {

/// CTA 0 runs long and then faults, while the others print and end.
constexpr const char* kLateFault = R"(
.version 8.8
.target sm_100a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[4] = {120, 10, 0};
.visible .entry k() {
 .reg .b64 %t; .reg .b32 %r<3>; .reg .pred %p<2>;
 mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, 0;
 mov.u64 %t, text; cvta.global.u64 %t, %t;
 { .param .b64 f; .param .b64 w; .param .b32 r; st.param.b64 [f], %t; st.param.b64 [w], 0; call.uni (r), vprintf, (f, w); }
 @!%p0 ret;
L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 200000; @%p1 bra L;
 trap;
}
)";

TEST(FaultOrder, InstructionsAndTextEndWithTheClusterThatFaulted) {
  for (const auto driver : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled}) {
    Device device;
    const LoadedModule m = device.load_ptx(kLateFault);
    const auto run = [&](unsigned threads) { return device.launch(m, "k", {.grid = {40}, .block = {1}}, {}, {.driver = driver, .threads = threads}); };
    const RunResult one = run(1), four = run(4);
    ASSERT_TRUE(one.fault.has_value() && four.fault.has_value());
    EXPECT_EQ(one.output, "x\n");
    EXPECT_EQ(four.output, "x\n") << driver_name(driver);
    EXPECT_EQ(four.warp_instructions, one.warp_instructions) << driver_name(driver);
  }
}

TEST(OrderedCounts, AddInOrderUpToTheLast) {
  OrderedCounts counts;
  counts.begin(false);
  std::string order;
  const auto add = [&](uint64_t cluster, uint64_t n) {
    counts.add(cluster, {n, {}}, [&](uint64_t c, const OrderedCounts::Count&, uint64_t sum) { order += std::to_string(c) + ":" + std::to_string(sum) + " "; });
  };
  add(2, 100), add(0, 1), add(4, 10'000);
  EXPECT_EQ(order, "0:1 ");
  EXPECT_EQ(counts.total(), 10'101u);
  counts.end_at(3);
  EXPECT_EQ(counts.total(), 101u);
  add(1, 10), add(3, 1'000);
  EXPECT_EQ(order, "0:1 1:11 2:111 3:1111 ");
  EXPECT_EQ(counts.total(), 1'111u);
}

TEST(OutputLog, KeepsTheFirstClustersTextWhateverTheOrder) {
  const auto kept = [](std::vector<uint64_t> order) {
    OutputLog log(10);
    for (const uint64_t cluster : order) log.append(cluster, std::string(4, static_cast<char>('a' + cluster)));
    EXPECT_TRUE(log.truncated());
    return log.text();
  };
  EXPECT_EQ(kept({0, 1, 2, 3}), "aaaabbbbcc");
  EXPECT_EQ(kept({3, 2, 1, 0}), "aaaabbbbcc");
  EXPECT_EQ(kept({2, 3, 0, 1}), "aaaabbbbcc");
}

TEST(OutputLog, ForgetsWhatIsBehindACluster) {
  OutputLog log(100);
  log.append(3, "d"), log.append(1, "b"), log.append(2, "c");
  log.end_at(2);
  EXPECT_EQ(log.text(), "bc");
  EXPECT_FALSE(log.truncated());
}

}  // namespace
}  // namespace drywell::sim
