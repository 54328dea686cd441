// Reductions that commute need no order of CTAs (docs/deviations.md, "Memory and order"): a launch uses the host's threads, and the memory is the same.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <drywell/sim/device.h>
#include <drywell/sim/report.h>

#include "sim/exec/decode.h"
#include "support/ptx_run.h"

namespace drywell::test {
namespace {

using namespace sim;

constexpr uint32_t kCtas = 200, kThreads = 96, kWords = 8;

/// Each thread does `body` once; its number is in %r3, the address of word (number % 8) in %rd3, and of the next word in %rd4.
std::string kernel(const std::string& body) {
  return fmt::format(R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry work(.param .u64 out) {{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, {}, %r1;
  ld.param.u64 %rd1, [out];
  and.b32 %r4, %r3, {};
  mul.wide.u32 %rd2, %r4, 8; add.u64 %rd3, %rd1, %rd2; add.u64 %rd4, %rd3, 8;
  cvt.u64.u32 %rd6, %r3;
{}
  ret;
}}
)",
                     kThreads, kWords - 1, body);
}

bool ordered(const std::string& body) {
  const isa::Module m = parse_or_throw(kernel(body));
  return decode(m, m.functions[0], {})->ordered_across_ctas;
}

TEST(CtaOrder, OfReductionsOfIntegersDoesNotMatter) {
  EXPECT_FALSE(ordered("  red.global.add.u32 [%rd3], %r3;"));
  EXPECT_FALSE(ordered("  red.relaxed.gpu.global.max.s64 [%rd3], %rd6;"));
  EXPECT_FALSE(ordered("  red.xor.b32 [%rd3], %r3;")) << "a generic address";
  EXPECT_FALSE(ordered("  atom.global.add.u32 %r5, [%rd3], 1;")) << "as nvcc writes an atomicAdd without a use";
  EXPECT_FALSE(ordered("  setp.eq.u32 %p1, %r1, 0;\n  @%p1 atom.global.or.b64 %rd5, [%rd3], %rd6;"));
  EXPECT_FALSE(ordered("  red.global.add.u32 [%rd3], %r3;\n  ld.global.u32 %r5, [%rd4];\n  st.global.u32 [%rd4], %r5;")) << "a weak load is of what no other CTA changes";
}

TEST(CtaOrder, OfOldValuesAndRoundedSumsDoes) {
  EXPECT_TRUE(ordered("  atom.global.add.u32 %r5, [%rd3], 1;\n  st.global.u32 [%rd4], %r5;"));
  EXPECT_TRUE(ordered("  red.global.add.f32 [%rd3], %f1;"));
  EXPECT_TRUE(ordered("  red.global.inc.u32 [%rd3], 7;"));
  EXPECT_TRUE(ordered("  atom.global.exch.b32 %r5, [%rd3], %r3;"));
  EXPECT_TRUE(ordered("  atom.global.cas.b32 %r5, [%rd3], %r3, %r1;"));
}

TEST(CtaOrder, MattersToAStrongLoad) {
  EXPECT_TRUE(ordered("  red.global.add.u32 [%rd3], %r3;\n  ld.acquire.gpu.global.u32 %r5, [%rd3];\n  st.global.u32 [%rd4], %r5;"));
  EXPECT_TRUE(ordered("  red.global.add.u32 [%rd3], %r3;\n  ld.volatile.global.u32 %r5, [%rd3];\n  st.global.u32 [%rd4], %r5;"));
}

std::vector<uint64_t> run(const std::string& body, DriverKind driver, unsigned threads, uint64_t& cycles) {
  Device device({.arch = "sm_90a"});
  const GmemAddr out = device.allocate(8 * (kWords + 1), "out");
  const std::vector<uint64_t> zeros(kWords + 1);
  device.write(out, zeros.data(), 8 * zeros.size());
  RunOptions options;
  options.driver = driver;
  options.threads = threads;
  const RunResult r = device.launch(device.load_ptx(kernel(body)), "work", {.grid = {kCtas}, .block = {kThreads}}, Args().add(out), options);
  EXPECT_TRUE(r.ok());
  cycles = r.cycles;
  std::vector<uint64_t> words(kWords + 1);
  device.read(words.data(), out, 8 * words.size());
  return words;
}

struct Reduction {
  const char* body;
  uint64_t (*apply)(uint64_t, uint64_t);
};

TEST(CtaOrder, SumsAreTheSameOnAnyNumberOfThreads) {
  const Reduction all[] = {{"  red.global.add.u64 [%rd3], %rd6;", [](uint64_t a, uint64_t b) { return a + b; }},
                           {"  atom.global.max.u64 %rd7, [%rd3], %rd6;", [](uint64_t a, uint64_t b) { return std::max(a, b); }},
                           {"  red.global.xor.b64 [%rd3], %rd6;", [](uint64_t a, uint64_t b) { return a ^ b; }},
                           {"  red.global.or.b64 [%rd3], %rd6;", [](uint64_t a, uint64_t b) { return a | b; }}};
  for (const Reduction& r : all) {
    std::vector<uint64_t> expected(kWords + 1);
    for (uint64_t i = 0; i < uint64_t{kCtas} * kThreads; ++i) expected[i % kWords] = r.apply(expected[i % kWords], i);
    for (const DriverKind driver : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed}) {
      uint64_t alone = 0, together = 0;
      EXPECT_EQ(run(r.body, driver, 1, alone), expected) << r.body << driver_name(driver);
      EXPECT_EQ(run(r.body, driver, 4, together), expected) << r.body << driver_name(driver);
      EXPECT_EQ(alone, together);
    }
  }
}

}  // namespace
}  // namespace drywell::test
