// malloc and free of kernels.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

constexpr char kHead[] = R"(.version 8.7
.target sm_90a
.address_size 64
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.extern .func (.param .b64 result) __nv_aligned_device_malloc(.param .b64 bytes, .param .b64 alignment);
.extern .func free(.param .b64 address);
)";

/// Text of a call: `to` = malloc(`bytes`).
std::string allocate(const std::string& to, const std::string& bytes) {
  return "{ .param .b64 in; .param .b64 out; st.param.b64 [in], " + bytes + "; call.uni (out), malloc, (in); ld.param.b64 " + to + ", [out]; }\n";
}
std::string release(const std::string& address) { return "{ .param .b64 in; st.param.b64 [in], " + address + "; call.uni free, (in); }\n"; }

class DeviceHeap : public testing::Test {
 protected:
  /// The kernel's body finds its index in %r0, out + 8 * index in %d0.
  RunResult run(const std::string& body, uint32_t ctas = 1, uint32_t threads = 32, const RunOptions& options = {}) {
    const LoadedModule m = device.load_ptx(std::string(kHead) +
                                           ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .pred %p<3>;\n"
                                           "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;\n"
                                           "ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %r0, 8; add.u64 %d0, %d0, %d1;\n" +
                                           body + "ret;\n}\n");
    LaunchConfig config;
    config.grid = {ctas, 1, 1};
    config.block = {threads, 1, 1};
    return device.launch(m, "k", config, Args().add(out), options);
  }
  std::vector<uint64_t> words(size_t n) {
    std::vector<uint64_t> v(n);
    device.read(v.data(), out, n * 8);
    return v;
  }
  Device device{{.arch = "sm_90a"}};
  GmemAddr out = device.allocate(8 * 1024, "out");
};

TEST_F(DeviceHeap, EachThreadHasItsOwnUntilItIsFreed) {
  ASSERT_TRUE(run(allocate("%d2", "24") + "st.u32 [%d2+20], %r0; st.global.u64 [%d0], %d2;\n", 4).ok());
  const std::vector<uint64_t> p = words(128);
  EXPECT_EQ(device.kernel_heap().allocations, 128u);
  EXPECT_EQ(device.kernel_heap().bytes, 128u * 24);
  for (size_t i = 0; i < p.size(); ++i) {
    EXPECT_EQ(p[i] % 16, 0u);
    uint32_t value = ~0u;
    device.read(&value, GmemAddr(p[i] + 20), 4);
    EXPECT_EQ(value, i);
    for (size_t j = 0; j < i; ++j) EXPECT_GE(std::max(p[i], p[j]) - std::min(p[i], p[j]), 24u);
  }
  // Another kernel reads and frees them.
  ASSERT_TRUE(run("ld.global.u64 %d2, [%d0]; ld.u32 %r3, [%d2+20]; cvt.u64.u32 %d3, %r3; st.global.u64 [%d0], %d3;\n" + release("%d2"), 4).ok());
  EXPECT_EQ(words(128)[77], 77u);
  EXPECT_EQ(device.kernel_heap().allocations, 0u);
  EXPECT_EQ(device.kernel_heap().bytes, 0u);
}

TEST_F(DeviceHeap, ReturnsNullWhereTheHeapIsFull) {
  device.set_kernel_heap(1000);
  ASSERT_TRUE(run(allocate("%d2", "100") + "st.global.u64 [%d0], %d2;\n").ok());
  const std::vector<uint64_t> p = words(32);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(p[i] != 0, i < 10) << i;  // 1000 / 100
  device.free_kernel_heap();
  ASSERT_TRUE(run(allocate("%d2", "0") + "st.global.u64 [%d0], %d2;\n" + release("%d2")).ok());  // free of 0 does nothing
  EXPECT_EQ(words(1)[0], 0u);
}

TEST_F(DeviceHeap, AlignsAsAsked) {
  const std::string text =
      "{ .param .b64 a; .param .b64 b; .param .b64 o; st.param.b64 [a], 40; st.param.b64 [b], 4096; call.uni (o), __nv_aligned_device_malloc, (a, b); ld.param.b64 %d2, [o]; }\n"
      "st.global.u64 [%d0], %d2;\n";
  ASSERT_TRUE(run(text).ok());
  for (const uint64_t p : words(32)) EXPECT_EQ(p % 4096, 0u);
  EXPECT_NE(words(1)[0], 0u);
}

TEST_F(DeviceHeap, AddressesAreTheSameForEveryNumberOfThreads) {
  const std::string body = allocate("%d2", "64") + "st.global.u64 [%d0], %d2;\n";
  std::vector<std::vector<uint64_t>> seen;
  for (const uint32_t threads : {1u, 4u}) {
    ASSERT_TRUE(run(body, 16, 64, {.threads = threads}).ok());
    seen.push_back(words(1024));
    device.free_kernel_heap();
  }
  for (size_t i = 0; i < seen[0].size(); ++i) EXPECT_EQ(seen[0][i] - seen[0][0], seen[1][i] - seen[1][0]) << i;
}

TEST_F(DeviceHeap, MistakesAreFaultsThatNameTheAllocation) {
  const auto fault_of = [&](const std::string& body) {
    const RunResult r = run(body);
    EXPECT_TRUE(r.fault.has_value());
    return r.fault.has_value() ? r.fault->to_string() : "";
  };
  const std::string one = "setp.ne.u32 %p0, %r2, 0; @%p0 bra END;\n" + allocate("%d2", "24");
  const std::string beside = fault_of(one + "st.u32 [%d2+24], %r0; END:\n");
  EXPECT_NE(beside.find("F3001"), std::string::npos) << beside;
  EXPECT_NE(beside.find("of a kernel' at"), std::string::npos) << beside;
  EXPECT_NE(beside.find("with 24 bytes"), std::string::npos) << beside;
  const std::string after = fault_of(one + "st.u32 [%d2], %r0;\n" + release("%d2") + "ld.u32 %r3, [%d2]; END:\n");
  EXPECT_NE(after.find("F3001"), std::string::npos) << after;
  EXPECT_NE(after.find("was freed"), std::string::npos) << after;
  const std::string twice = fault_of(one + release("%d2") + release("%d2") + "END:\n");
  EXPECT_NE(twice.find("F3008"), std::string::npos) << twice;
  const std::string other = fault_of(one + release("%d0") + "END:\n");
  EXPECT_NE(other.find("F3008"), std::string::npos) << other;
}

TEST_F(DeviceHeap, MemoryThatNothingHasWrittenIsReported) {
  HazardChecker checker({.level = CheckLevel::full});
  const std::string one = "setp.ne.u32 %p0, %r2, 0; @%p0 bra END;\n" + allocate("%d2", "24") + "st.u32 [%d2], %r0;\nld.u32 %r3, [%d2];\nld.u32 %r4, [%d2+8];\nadd.u32 %r3, %r3, %r4; st.global.u32 [%d0], %r3; END:\n";
  ASSERT_TRUE(run(one, 1, 32, {.listeners = {checker.listener()}}).ok());
  ASSERT_EQ(checker.findings().size(), 1u);
  EXPECT_NE(checker.findings()[0].to_string().find("H7504"), std::string::npos) << checker.findings()[0].to_string();
}

}  // namespace
}  // namespace drywell::sim
