// cp.async: bytes, zero fill, groups and mbarriers, the same memory under every driver policy.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "drywell/core/error.h"
#include "support/ptx_run.h"

namespace drywell::test {
namespace {

constexpr const char* kHeader =
    ".version 9.0\n.target sm_100a\n.address_size 64\n"
    ".visible .entry test(.param .u64 in, .param .u64 out) {\n"
    "  .reg .b64 %src, %dst, %d<8>;\n  .reg .b32 %me, %s, %t<32>;\n  .reg .pred %p<8>;\n"
    "  .shared .align 128 .b8 smem[8192];\n  .shared .align 8 .b8 bar[8];\n"
    "  mov.u32 %me, %tid.x;\n  mov.u32 %s, smem;\n  ld.param.u64 %src, [in];\n  ld.param.u64 %dst, [out];\n"
    "  mad.lo.u32 %t0, %me, 16, %s;\n  mul.wide.u32 %d0, %me, 16;\n  add.s64 %d1, %src, %d0;\n  add.s64 %d2, %dst, %d0;\n"
    "  st.shared.v4.u32 [%t0], {-1, -1, -1, -1};\n  bar.sync 0;\n";
// Each thread reads its own 16 bytes back.
constexpr const char* kFooter = "  ld.shared.v4.u32 {%t1, %t2, %t3, %t4}, [%t0];\n  st.global.v4.u32 [%d2], {%t1, %t2, %t3, %t4};\n  ret;\n}\n";

using Bytes = std::vector<uint8_t>;

struct Policy {
  sim::DriverKind driver;
  uint64_t seed;
};
constexpr Policy kPolicies[] = {{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::shuffled, 2}, {sim::DriverKind::shuffled, 3}, {sim::DriverKind::timed, 0}};

/// Runs the kernel with `threads` threads on random bytes under every policy; returns the (equal) outputs.
Bytes run(const std::string& body, uint32_t threads, const Bytes& in) {
  Bytes first;
  for (const Policy& policy : kPolicies) {
    sim::Device device;
    const sim::LoadedModule m = device.load(parse_or_throw(kHeader + body + kFooter));
    const GmemAddr from = device.allocate(in.size()), to = device.allocate(16 * threads);
    device.write(from, in.data(), in.size());
    const sim::RunResult r = device.launch(m, "test", {.grid = {1}, .block = {threads}}, sim::Args().add(from).add(to), {.driver = policy.driver, .seed = policy.seed});
    if (!r.ok()) throw InputError(r.fault->code, r.fault->to_string());
    Bytes out(16 * threads);
    device.read(out.data(), to, out.size());
    if (first.empty()) first = out;
    EXPECT_EQ(out, first) << "policy " << static_cast<int>(policy.driver) << " seed " << policy.seed;
  }
  return first;
}

Bytes random_bytes(size_t count) {
  Words words(count);
  Bytes v(count);
  for (uint8_t& b : v) b = static_cast<uint8_t>(words.next());
  return v;
}

/// The fault's code, or nothing if there was none.
std::optional<Code> fault_of(const std::string& body) {
  try {
    run(body, 32, random_bytes(512));
  } catch (const InputError& e) {
    return e.code();
  }
  return std::nullopt;
}

TEST(CpAsync, EverySizeArrives) {
  const Bytes in = random_bytes(64 * 16);
  for (const unsigned size : {4u, 8u, 16u}) {
    const Bytes out = run(fmt::format("  cp.async.ca.shared.global [%t0], [%d1], {};\n  cp.async.wait_all;\n", size), 64, in);
    for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % 16 < size ? in[i] : 0xFF) << size << " bytes, byte " << i;
  }
}

// The bytes of cp-size beyond src-size are zero; a true ignore-src zeroes all of them (PTX ISA 9.7.9.25.2.1).
TEST(CpAsync, FillsWithZeros) {
  const Bytes in = random_bytes(32 * 16);
  Bytes out = run("  and.b32 %t5, %me, 15;\n  cp.async.cg.shared.global.L2::128B [%t0], [%d1], 16, %t5;\n  cp.async.wait_all;\n", 32, in);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % 16 < (i / 16) % 16 ? in[i] : 0) << i;
  out = run("  setp.lt.u32 %p1, %me, 7;\n  cp.async.ca.shared.global [%t0], [%d1], 8, %p1;\n  cp.async.wait_all;\n", 32, in);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % 16 >= 8 ? 0xFF : i / 16 < 7 ? 0
                                                                                            : in[i])
                                              << i;
}

// With zero bytes to read, any source address is allowed.
TEST(CpAsync, ZeroSourceBytesReadNothing) {
  const Bytes out = run("  mov.u64 %d1, 0;\n  cp.async.cg.shared::cta.global [%t0], [%d1], 16, 0;\n  cp.async.wait_all;\n", 32, random_bytes(16));
  EXPECT_EQ(out, Bytes(512, 0));
}

// Two groups into the same place, waited for one by one: the first is read before the second is issued.
TEST(CpAsync, GroupsCompleteInOrder) {
  const Bytes in = random_bytes(64 * 16);
  const std::string body =
      "  cp.async.ca.shared.global [%t0], [%d1], 4;\n  cp.async.commit_group;\n"
      "  cp.async.ca.shared.global [%t0+4], [%d1+4], 4;\n  cp.async.commit_group;\n"
      "  cp.async.wait_group 1;\n  ld.shared.u32 %t9, [%t0];\n  cp.async.wait_group 0;\n  st.shared.u32 [%t0+8], %t9;\n";
  const Bytes out = run(body, 64, in);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % 16 < 8 ? in[i] : i % 16 < 12 ? in[i - 8]
                                                                                             : 0xFF)
                                              << i;
}

// A warp whose lanes are in different groups: half of them commit once more.
TEST(CpAsync, LanesCountTheirOwnGroups) {
  const Bytes in = random_bytes(32 * 16);
  const Bytes out = run(
      "  setp.lt.u32 %p1, %me, 16;\n  @%p1 cp.async.commit_group;\n  cp.async.ca.shared.global [%t0], [%d1], 16;\n"
      "  cp.async.commit_group;\n  cp.async.wait_group 0;\n",
      32, in);
  EXPECT_EQ(out, in);
}

// PTX ISA 9.7.13.15.15: .noinc counts against the expected arrivals, the other form does not.
class CpAsyncArrive : public testing::TestWithParam<bool> {};

TEST_P(CpAsyncArrive, TheBarrierCoversTheCopies) {
  const bool noinc = GetParam();
  const Bytes in = random_bytes(64 * 16);
  // Threads read the bytes of their neighbour's copy.
  const std::string body = fmt::format(
      "  setp.eq.u32 %p0, %me, 0;\n  mov.u32 %t6, bar;\n  @%p0 mbarrier.init.shared::cta.b64 [%t6], 64;\n  bar.sync 0;\n"
      "  cp.async.ca.shared.global [%t0], [%d1], 16;\n  cp.async.mbarrier.arrive{}.shared::cta.b64 [%t6];\n{}"
      "LOOP:\n  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%t6], 0;\n  @!%p2 bra LOOP;\n"
      "  xor.b32 %t7, %me, 33;\n  mad.lo.u32 %t0, %t7, 16, %s;\n",
      noinc ? ".noinc" : "", noinc ? "" : "  mbarrier.arrive.shared::cta.b64 _, [%t6];\n");
  const Bytes out = run(body, 64, in);
  for (size_t t = 0; t < 64; ++t) EXPECT_EQ(Bytes(out.begin() + 16 * t, out.begin() + 16 * t + 16), Bytes(in.begin() + 16 * (t ^ 33), in.begin() + 16 * (t ^ 33) + 16));
}
INSTANTIATE_TEST_SUITE_P(, CpAsyncArrive, testing::Bool(), [](const auto& tested) { return tested.param ? "noinc" : "inc"; });

TEST(CpAsync, Faults) {
  EXPECT_EQ(fault_of("  cp.async.ca.shared.global [%t0+4], [%d1], 16;\n  cp.async.wait_all;\n"), Code::F3002);
  EXPECT_EQ(fault_of("  cp.async.ca.shared.global [%t0], [%d1+4], 8;\n  cp.async.wait_all;\n"), Code::F3002);
  EXPECT_EQ(fault_of("  cp.async.ca.shared.global [%t0], [%d1+1048576], 16;\n  cp.async.wait_all;\n"), Code::F3001);
  EXPECT_EQ(fault_of("  mov.u32 %t5, 9;\n  cp.async.ca.shared.global [%t0], [%d1], 8, %t5;\n  cp.async.wait_all;\n"), Code::F3321);
  EXPECT_EQ(fault_of("  mov.u32 %t6, bar;\n  cp.async.mbarrier.arrive.shared.b64 [%t6];\n"), Code::F3102);
}

}  // namespace
}  // namespace drywell::test
