// Warps that read what another warp changes: a race only if something depends on what they read. The kernels are what Triton 3.9 makes of
// rows of eight elements that four warps change in place.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

constexpr uint32_t kThreads = 128;

// All threads load the element tid % 8, and the first eight have %p2.
const std::string kBegin = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p)
{
.shared .align 16 .b8 s[64];
.reg .b32 %r<20>;
.reg .b64 %rd<6>;
.reg .pred %p<6>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 7;
mad.wide.u32 %rd2, %r2, 4, %rd1;
and.b32 %r3, %r1, 120;
setp.eq.b32 %p2, %r3, 0;
and.b32 %r4, %r1, 31;
setp.eq.b32 %p3, %r4, 0;
shr.u32 %r5, %r1, 5;
mad.wide.u32 %rd3, %r5, 4, %rd1;
ld.global.b32 %r6, [%rd2];
)";

const std::string kNormalise = R"(
mul.f32 %r7, %r6, %r6;
shfl.sync.bfly.b32 %r8, %r7, 4, 31, -1;
fma.rn.f32 %r9, %r6, %r6, %r8;
shfl.sync.bfly.b32 %r10, %r9, 2, 31, -1;
add.f32 %r9, %r9, %r10;
shfl.sync.bfly.b32 %r10, %r9, 1, 31, -1;
add.f32 %r9, %r9, %r10;
rsqrt.approx.ftz.f32 %r11, %r9;
)";
const std::string kStore = "mul.f32 %r12, %r11, %r6;\n@%p2 st.global.b32 [%rd2], %r12;\n";
const std::string kIncrement = "add.u32 %r11, %r6, 1;\n@%p2 st.global.b32 [%rd2], %r11;\n";

std::vector<std::pair<RunOptions, std::string>> drivers() {
  std::vector<std::pair<RunOptions, std::string>> all;
  for (const DriverKind d : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed}) {
    for (const uint64_t seed : {1, 7}) {
      RunOptions o;
      o.driver = d;
      o.seed = seed;
      all.emplace_back(o, driver_name(d));
    }
  }
  return all;
}

/// The codes of a kernel's findings under a driver, each once.
std::set<std::string> codes_of(const std::string& body, RunOptions o, uint32_t ctas = 1) {
  Device d;
  const LoadedModule m = d.load_ptx(kBegin + body + "ret;\n}\n");
  HazardChecker checker;
  o.listeners.push_back(checker.listener());
  const GmemAddr p = d.allocate(4096);
  const std::vector<float> values(1024, 2.0f);
  d.write(p, values.data(), values.size() * sizeof(float));
  EXPECT_TRUE(d.launch(m, "k", {.grid = {ctas}, .block = {kThreads}}, Args().add(p), o).ok());
  std::set<std::string> codes;
  for (const Finding& f : checker.findings()) codes.insert(f.code);
  return codes;
}

void expect(const std::string& body, const std::set<std::string>& codes) {
  for (const auto& [options, name] : drivers()) EXPECT_EQ(codes_of(body, options), codes) << name << " " << options.seed << "\n"
                                                                                          << body;
}

TEST(UnusedReads, OfARowChangedInPlaceAreANote) {
  expect(kIncrement, {"H7407"});
  expect(kNormalise + kStore, {"H7407"});
  expect(kNormalise + "setp.eq.b32 %p4, %r1, 0;\n@%p4 st.global.b32 [%rd1+64], %r11;\n" + kStore, {"H7407"});  // warp 0 stores the factor
  expect("mov.u32 %r7, 0;\nL:\nld.global.b32 %r6, [%rd2];\n" + kIncrement + "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p4, %r7, 3;\n@%p4 bra L;\n", {"H7407"});
}

// A branch decides what the instructions up to the meeting of its paths compute, and nothing else: erf of libdevice is so.
TEST(UnusedReads, ThatABranchComputesWithAreANote) {
  const std::string choice = "add.u32 %r11, %r6, 1;\nsetp.eq.u32 %p4, %r6, 9;\n", store = "@%p2 st.global.b32 [%rd2], %r11;\n";
  expect(choice + "@%p4 bra L;\nadd.u32 %r11, %r6, 3;\nL:\n" + store, {"H7407"});
  expect(choice + "@%p4 bra E;\nadd.u32 %r11, %r6, 3;\nbra L;\nE:\nadd.u32 %r11, %r6, 5;\nL:\n" + store, {"H7407"});
  expect(choice + "mov.u32 %r7, 0;\n@%p4 bra L;\nM:\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p4, %r7, 3;\n@%p4 bra M;\nL:\n" + store, {"H7407"});
  // The compiler puts the meeting, and what follows it, ahead of the branch: Triton's logarithm in a loop (Liger-Kernel's JSD).
  expect("mov.u32 %r7, 0;\nbra N;\nL:\n" + store + "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p5, %r7, 3;\n@!%p5 bra X;\nN:\nld.global.b32 %r6, [%rd2];\n" + choice +
             "@%p4 bra L;\nadd.u32 %r11, %r6, 3;\nbra.uni L;\nX:\n",
         {"H7407"});
}

// What the branch leaves is stored by the warp that read; a store, a barrier or another loop is what it decides about.
TEST(UsedReads, ByABranchAreRaces) {
  const std::string choice = kIncrement + "setp.eq.u32 %p4, %r6, 9;\nmov.u32 %r13, 1;\n";
  const std::string bodies[] = {
      "@%p4 bra L;\nmov.u32 %r13, 2;\nL:\n@%p3 st.global.b32 [%rd3+64], %r13;\n",
      "@%p4 bra L;\nsetp.eq.u32 %p4, %r5, 0;\nL:\nselp.b32 %r13, 3, 4, %p4;\n@%p3 st.global.b32 [%rd3+64], %r13;\n",
      "@%p4 bra E;\nmov.u32 %r13, 2;\nbra L;\nE:\n@%p3 st.global.b32 [%rd3+64], %r5;\nL:\n",
      "@%p4 bra L;\nbar.sync 0;\nL:\n",
      "@%p4 bra L;\nret;\nL:\n",
      "bra N;\nL:\n@%p3 st.global.b32 [%rd3+64], %r13;\nbra X;\nN:\n@%p4 bra L;\nmov.u32 %r13, 2;\nbra.uni L;\nX:\n",
  };
  for (const std::string& body : bodies) expect(choice + body, {"H7402"});
  expect("bar.sync 0;\n" + kIncrement + "M:\nld.global.b32 %r6, [%rd2];\nsetp.eq.u32 %p4, %r6, 9;\n@%p4 bra M;\n", {"H7402"});  // the loop waits for what it loads
}

TEST(UnusedReads, ThatABarrierOrdersAreNone) {
  expect("bar.sync 0;\n" + kIncrement, {});
}

// Each warp stores something that it makes of what it read.
TEST(UsedReads, AreRaces) {
  const std::string uses[] = {
      kNormalise + "@%p3 st.global.b32 [%rd3+64], %r11;\n" + kStore,
      kNormalise + kStore + "@%p3 st.global.b32 [%rd3+64], %r11;\n",
      kIncrement + "@%p3 atom.global.add.u32 %r13, [%rd3+64], %r11;\n",
      kIncrement + "shl.b32 %r13, %r5, 2;\nmov.u32 %r14, s;\nadd.u32 %r13, %r13, %r14;\n@%p3 st.shared.b32 [%r13], %r11;\n",
      kIncrement + "setp.eq.u32 %p4, %r6, 9;\n@%p4 st.global.b32 [%rd3+64], %r5;\n",
      kIncrement + "setp.eq.u32 %p4, %r6, 9;\n@%p4 bra L;\n@%p3 st.global.b32 [%rd3+64], %r5;\nL:\n",
      kIncrement + "setp.eq.u32 %p4, %r6, 9;\nselp.b32 %r13, 3, 4, %p4;\n@%p3 st.global.b32 [%rd3+64], %r13;\n",
      kIncrement + "mul.wide.u32 %rd4, %r6, 0;\nadd.u64 %rd4, %rd4, %rd3;\n@%p3 st.global.b32 [%rd4+64], %r5;\n",
  };
  for (const std::string& body : uses) expect(body, {"H7402"});
}

// The warps that read go on to other work, with a store of a register that had the value before.
TEST(UnusedReads, ThatARegisterForgetsAreANote) {
  expect(kIncrement + "mov.u32 %r6, 5;\nmov.u32 %r11, %r6;\n@%p3 st.global.b32 [%rd3+64], %r11;\n", {"H7407"});
}

// The lanes of a warp store sums that differ in the last bit in one place; a second warp with the same lanes stores the same.
TEST(EqualStores, OfLanesThatShareAPlaceAreNoRace) {
  const std::string place = "mov.u32 %r7, s;\n";
  expect(place + "st.shared.b32 [%r7], %r4;\n", {"H7413"});
  expect(place + "st.shared.b32 [%r7], %r1;\n", {"H7401", "H7413"});
  expect("st.global.b32 [%rd1+64], %r4;\n", {"H7413"});
  expect("st.global.b32 [%rd1+64], %r1;\n", {"H7402", "H7413"});
}

// Each of two CTAs loads a word and stores it again, as Triton's test_load_scope_sem_coop_grid_cta_one; both store a constant; the others change it.
TEST(EqualStores, OfTwoCtas) {
  const std::string first = "setp.eq.u32 %p4, %r1, 0;\n";
  for (const auto& [options, name] : drivers()) {
    EXPECT_EQ(codes_of(first + "@%p4 st.global.b32 [%rd1], %r6;\n", options, 2), std::set<std::string>{"H7408"}) << name;
    EXPECT_EQ(codes_of(first + "@%p4 st.global.b32 [%rd1+64], 7;\n", options, 2), std::set<std::string>{}) << name;
    EXPECT_EQ(codes_of(first + "mov.u32 %r7, %ctaid.x;\n@%p4 st.global.b32 [%rd1+64], %r7;\n", options, 2), std::set<std::string>{"H7402"}) << name;
    EXPECT_EQ(codes_of(first + "add.u32 %r7, %r6, 1;\n@%p4 st.global.b32 [%rd1], %r7;\n", options, 2).count("H7402"), 1u) << name;
  }
}

// The last threads begin anew at the first place, as where an index is taken modulo the number of elements: what they store is there.
TEST(EqualStores, OfAPartAreNoRace) {
  const auto wrapped = [](const std::string& elements, const std::string& value) {
    return "mov.u32 %r9, %ctaid.x;\nmad.lo.u32 %r7, %r9, 128, %r1;\nrem.u32 %r7, %r7, " + elements + ";\nmul.wide.u32 %rd4, %r7, 4;\nadd.u64 %rd4, %rd4, %rd1;\n" + value + "st.global.b32 [%rd4+64], %r8;\n";
  };
  for (const auto& [options, name] : drivers()) {
    EXPECT_EQ(codes_of(wrapped("300", "add.u32 %r8, %r7, 5;\n"), options, 3), std::set<std::string>{}) << name;
    EXPECT_EQ(codes_of(wrapped("100", "add.u32 %r8, %r7, 5;\n"), options, 1), std::set<std::string>{}) << name;
    EXPECT_EQ(codes_of(wrapped("300", "add.u32 %r8, %r7, %r9;\n"), options, 3), std::set<std::string>{"H7402"}) << name;
    EXPECT_EQ(codes_of(wrapped("100", "add.u32 %r8, %r1, 5;\n"), options, 1), std::set<std::string>{"H7402"}) << name;
  }
}

// One CTA stores what the memory had at the start, the other something else: which is last decides, and the order of the simulation does not.
TEST(EqualStores, OfWhatWasThereBeforeAreRaces) {
  const std::string body = "mov.u32 %r9, %ctaid.x;\nmad.lo.u32 %r7, %r9, 64, %r1;\nmul.wide.u32 %rd4, %r7, 4;\nadd.u64 %rd4, %rd4, %rd1;\nsetp.eq.u32 %p4, %r9, ";
  for (const auto& [options, name] : drivers()) {
    for (const char* cta : {"0", "1"})
      EXPECT_EQ(codes_of(body + cta + ";\nselp.b32 %r8, 5, 0x40000000, %p4;\nst.global.b32 [%rd4+64], %r8;\n", options, 2), std::set<std::string>{"H7402"}) << name << cta;
  }
}

// A second warp stores what the first one has stored: the memory does not change by it, but it did by the first, which no reader has waited for.
TEST(EqualStores, HideNoStoreBeforeThem) {
  const std::string by_two_warps = "setp.eq.u32 %p4, %r1, 0;\n@%p4 st.global.b32 [%rd1+1024], 7;\nbar.sync 0;\nsetp.eq.u32 %p4, %r1, 32;\n@%p4 st.global.b32 [%rd1+1024], 7;\n";
  const std::string read = "ld.global.b32 %r8, [%rd1+1024];\nst.global.b32 [%rd1+2048], %r8;\n";
  const std::string of_two_ctas = "mov.u32 %r7, %ctaid.x;\nsetp.ne.u32 %p4, %r7, 0;\n@%p4 bra R;\n" + by_two_warps + "bra E;\nR:\nsetp.ne.u32 %p4, %r1, 0;\n@%p4 bra E;\n" + read + "E:\n";
  const std::string of_one = "setp.eq.u32 %p4, %r1, 0;\n@%p4 st.global.b32 [%rd1+1024], 7;\nsetp.eq.u32 %p4, %r1, 32;\n@%p4 st.global.b32 [%rd1+1024], 7;\nsetp.ne.u32 %p4, %r1, 64;\n@%p4 bra E;\n" + read + "E:\n";
  // Whoever waits for the first store may read beside the second.
  const std::string waited = "setp.eq.u32 %p4, %r1, 0;\n@%p4 st.global.b32 [%rd1+1024], 7;\nbar.sync 0;\nsetp.eq.u32 %p4, %r1, 32;\n@%p4 st.global.b32 [%rd1+1024], 7;\nsetp.ne.u32 %p4, %r1, 64;\n@%p4 bra E;\n" + read + "E:\n";
  for (const auto& [options, name] : drivers()) {
    EXPECT_EQ(codes_of(of_two_ctas, options, 2), std::set<std::string>{"H7402"}) << name;
    EXPECT_EQ(codes_of(of_one, options).count("H7402"), 1u) << name;
    EXPECT_EQ(codes_of(waited, options).count("H7402"), 0u) << name;
  }
}

// A flag that every CTA raises, in its last store (HeCBench's pathfinder; the flags of searches by levels).
TEST(EqualStores, OfManyCtasAreNoRace) {
  const std::string raise = "setp.eq.u32 %p4, %r4, 11;\n@%p4 st.global.u8 [%rd1+64], 1;\n@%p4 st.global.v2.b32 [%rd1+72], {%r1, 3};\n";
  for (const auto& [options, name] : drivers()) EXPECT_EQ(codes_of("mov.u32 %r1, 9;\n" + raise, options, 5), std::set<std::string>{}) << name;
}

// What a CTA has read there before may have decided whether it stores, and what.
TEST(EqualStores, OfCtasThatHaveReadThePlaceAreRaces) {
  const std::string once = "setp.ne.u32 %p4, %r1, 0;\n@%p4 bra E;\nld.global.b32 %r7, [%rd1+64];\nsetp.eq.u32 %p5, %r7, 0;\n@%p5 bra E;\nst.global.b32 [%rd1+64], 7;\nE:\n";
  for (const auto& [options, name] : drivers()) EXPECT_EQ(codes_of(once, options, 2).count("H7402"), 1u) << name;
}

// Two CTAs store the same, and a third one reads: it may read what was there before.
TEST(EqualStores, OfTwoCtasHideNoReader) {
  const std::string body =
      "setp.ne.u32 %p4, %r1, 0;\n@%p4 bra E;\nmov.u32 %r7, %ctaid.x;\nsetp.eq.u32 %p5, %r7, 0;\n@!%p5 st.global.b32 [%rd1+1024], 7;\n"
      "@!%p5 bra E;\nld.global.b32 %r8, [%rd1+1024];\nst.global.b32 [%rd1+2048], %r8;\nE:\n";
  for (const auto& [options, name] : drivers()) EXPECT_EQ(codes_of(body, options, 3).count("H7402"), 1u) << name;
}

/// One thread of each CTA draws a number, and the one that drew `last` goes on with `then`. Memory has 0x40000000 there.
std::string with_ticket(uint32_t last, const std::string& then) {
  return "setp.ne.u32 %p4, %r1, 0;\n@%p4 bra E;\natom.global.add.u32 %r7, [%rd1+64], 1;\nsetp.ne.u32 %p5, %r7, " + std::to_string(0x40000000 + last) + ";\n@%p5 bra E;\n" + then + "E:\n";
}

// The last CTA's atomic has observed those of the others (PTX ISA 8.9, causality order): it may reset the counter with an ordinary store.
TEST(ObservedAtomics, ComeBeforeWhatFollowsTheObserver) {
  for (const auto& [options, name] : drivers()) {
    EXPECT_EQ(codes_of(with_ticket(3, "st.global.b32 [%rd1+64], 0;\n"), options, 4), std::set<std::string>{}) << name;
    EXPECT_EQ(codes_of(with_ticket(3, "ld.global.b32 %r8, [%rd1+64];\nst.global.b32 [%rd1+2048], %r8;\n"), options, 4), std::set<std::string>{}) << name;
    EXPECT_EQ(codes_of(with_ticket(1, "st.global.b32 [%rd1+64], 0;\n"), options, 4).count("H7402"), 1u) << name;
    EXPECT_EQ(codes_of(with_ticket(3, "st.global.b32 [%rd1+2048], 0;\n") + "@!%p4 st.global.b32 [%rd1+2048], %r7;\n", options, 4).count("H7402"), 1u) << name;
  }
}

// Four lanes have 16 bytes each, and each in its turn fills two words of them alone, one after the other.
TEST(LanesApart, EachWithItsOwnMemoryExchangeNothing) {
  const std::string alone =
      "setp.ge.u32 %p4, %r1, 4;\n@%p4 bra E;\nshl.b32 %r7, %r1, 4;\nmov.u32 %r8, s;\nadd.u32 %r7, %r7, %r8;\nst.shared.b32 [%r7+4], 0;\nmov.u32 %r9, 0;\n"
      "L:\nsetp.ne.u32 %p5, %r9, %r1;\n@%p5 bra M;\nmov.u32 %r10, 0;\n"
      "K:\nand.b32 %r12, %r10, 1;\nmad.lo.u32 %r12, %r12, 4, %r7;\nst.shared.b32 [%r12+4], %r10;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p5, %r10, 100;\n@%p5 bra K;\n"
      "M:\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p5, %r9, 4;\n@%p5 bra L;\n";
  const std::string store = "mad.wide.u32 %rd4, %r1, 4, %rd1;\nst.global.b32 [%rd4+2048], %r11;\nE:\n";
  expect(alone + "ld.shared.b32 %r11, [%r7+4];\n" + store, {});
  const std::string of_the_next = alone + "setp.eq.u32 %p5, %r1, 3;\n@%p5 bra E;\nld.shared.b32 %r11, [%r7+20];\n" + store;
  for (const auto& [options, name] : drivers()) EXPECT_EQ(codes_of(of_the_next, options).count("H7405"), 1u) << name;
}

}  // namespace
}  // namespace drywell::sim
