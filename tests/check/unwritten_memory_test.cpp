// H7504 over several launches: memory that no launch and no host call wrote is found in every launch, also by a checker of its own
// for each launch, as `drywell exec` has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"
#include "support/async_run.h"

namespace drywell::sim {
namespace {

// Reads the first word of `from`, writes the first of `to`.
constexpr const char* kCopyWord = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 to, .param .u64 from)
{
  .reg .b32 %r1;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.global.u32 %r1, [%rd2];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class UnwrittenMemory : public testing::Test {
 protected:
  bool warns(GmemAddr to, GmemAddr from) {
    HazardChecker checker;
    RunOptions o;
    o.listeners.push_back(checker.listener());
    EXPECT_TRUE(d_.launch(m_, "k", {.grid = {1}, .block = {1}}, Args().add(to).add(from), o).ok());
    const auto findings = checker.findings();
    return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.code == "H7504"; });
  }
  Device d_;
  LoadedModule m_ = d_.load_ptx(kCopyWord);
  GmemAddr a_ = d_.allocate(64, "a"), b_ = d_.allocate(64, "b"), c_ = d_.allocate(64, "c");
};

TEST_F(UnwrittenMemory, IsFoundInEveryLaunch) {
  EXPECT_TRUE(warns(b_, a_));
  EXPECT_TRUE(warns(b_, a_));
  EXPECT_FALSE(warns(c_, b_));  // the launch before wrote it
  uint32_t word = 0;
  d_.read(&word, a_, 4);  // reading is not writing
  EXPECT_TRUE(warns(c_, a_));
  d_.write(a_, &word, 4);
  EXPECT_FALSE(warns(c_, a_));
}

// A part of an allocation is written: the rest is as new.
TEST_F(UnwrittenMemory, IsFoundBesideWhatIsWritten) {
  const auto at = [](GmemAddr a, uint64_t bytes) { return GmemAddr(a.value() + bytes); };
  const uint32_t two[] = {1, 2};
  d_.write(at(a_, 8), two, 8);
  EXPECT_FALSE(warns(c_, at(a_, 8)));
  EXPECT_FALSE(warns(c_, at(a_, 12)));
  EXPECT_TRUE(warns(c_, at(a_, 4)));
  EXPECT_TRUE(warns(c_, at(a_, 16)));
  EXPECT_FALSE(warns(at(a_, 16), c_));  // a kernel writes it
  EXPECT_FALSE(warns(c_, at(a_, 16)));
  EXPECT_TRUE(warns(c_, at(a_, 20)));
  d_.fill(a_, 0xFF, 64);  // the poison's own value, written
  EXPECT_FALSE(warns(c_, at(a_, 20)));
  d_.poison(a_, 64);
  EXPECT_TRUE(warns(c_, at(a_, 8)));
}

TEST_F(UnwrittenMemory, IsNotKnownAfterALaunchThatNobodyWatched) {
  EXPECT_TRUE(d_.launch(m_, "k", {.grid = {1}, .block = {1}}, Args().add(b_).add(a_)).ok());
  EXPECT_FALSE(warns(c_, b_));
  EXPECT_FALSE(warns(c_, a_));  // that launch may have written it
  const GmemAddr fresh = d_.allocate(64, "fresh");
  EXPECT_TRUE(warns(c_, fresh));
}

// Each CTA of the grid executes `body` in one thread: %r1 is its number, %rd1 the memory that is new.
std::vector<std::string> codes_of(const std::string& body, uint32_t ctas) {
  Device d;
  const LoadedModule m = d.load_ptx(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 fresh, .param .u64 flag)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<4>;\n"
      "ld.param.u64 %rd1, [fresh];\nld.param.u64 %rd2, [flag];\nmov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n" +
      body + "\nret;\n}\n");
  const GmemAddr fresh = d.allocate(64, "fresh"), flag = d.allocate(64, "flag");
  d.fill(flag, 0, 64);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  EXPECT_TRUE(d.launch(m, "k", {.grid = {ctas}, .block = {1}}, Args().add(fresh).add(flag), o).ok()) << body;
  std::vector<std::string> codes;
  for (const Finding& f : checker.findings()) codes.push_back(f.code);
  return codes;
}
using testing::ElementsAre;
using testing::IsEmpty;

TEST(UnwrittenAtomics, ReadWhatTheyChange) {
  EXPECT_THAT(codes_of("red.global.add.u32 [%rd1], 1;", 3), ElementsAre("H7504"));
  EXPECT_THAT(codes_of("atom.global.cas.b32 %r2, [%rd1], 0, 1;", 1), ElementsAre("H7504"));
  EXPECT_THAT(codes_of("atom.global.exch.b32 %r2, [%rd1], 0; red.global.add.u32 [%rd1], 1;", 1), IsEmpty());
  EXPECT_THAT(codes_of("st.global.u32 [%rd1], 0; red.global.add.u32 [%rd1], 1;", 1), IsEmpty());
}

// The first CTA stores the poison's own value and releases it; the others claim the place as long as it has that value.
TEST(UnwrittenAtomics, BehindAnotherCtasStoreAreSilent) {
  const std::string wait = "WAIT: ld.acquire.gpu.global.u32 %r3, [%rd2]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT; ";
  const std::string first = "@%p1 st.global.u32 [%rd1], -1; @%p1 st.release.gpu.global.u32 [%rd2], 1; ";
  EXPECT_THAT(codes_of(first + wait + "atom.global.cas.b32 %r2, [%rd1], -1, 5;", 3), IsEmpty());
  EXPECT_THAT(codes_of(first + wait + "atom.global.max.s32 %r2, [%rd1], -1;", 3), IsEmpty());
}

// A sum that nobody cleared: the thread that loads it also stores it.
TEST(UnwrittenLoads, AreNotMendedByALaterStore) {
  EXPECT_THAT(codes_of("ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;", 1), ElementsAre("H7504"));
  EXPECT_THAT(codes_of("st.global.u32 [%rd1], 0; ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;", 1), IsEmpty());
  EXPECT_THAT(codes_of("mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r1;", 3), ElementsAre("H7504"));
}

// The first CTA stores the poison's own value; the others load it, and store there in turn.
TEST(UnwrittenLoads, BehindAnotherCtasStoreAreSilent) {
  const std::string wait = "WAIT: ld.acquire.gpu.global.u32 %r3, [%rd2]; setp.ne.u32 %p2, %r3, %r1; @%p2 bra WAIT; ";
  const std::string pass = "add.u32 %r3, %r1, 1; st.release.gpu.global.u32 [%rd2], %r3;";
  EXPECT_THAT(codes_of(wait + "@%p1 st.global.u32 [%rd1], -1; @!%p1 ld.global.u32 %r2, [%rd1]; @!%p1 st.global.u32 [%rd1], %r1; " + pass, 3), IsEmpty());
}

// A box of 12 floats a row at a tensor of 8: the last four of each row go nowhere, and nothing has written them in shared memory (padding).
std::vector<Finding> store_of_padded_box(const std::string& guard) {
  test::AsyncCase c;
  isa::TensorMapFields f;
  f.type = isa::TensorType::f32;
  f.rank = 2;
  f.dim = {8, 4, 1, 1, 1};
  f.stride[0] = 32;
  f.box = {12, 4, 1, 1, 1};
  c.buffers = {test::Bytes(128)};
  c.maps = {{f, 0}};
  c.body = "shr.u32 %r1, tid, 3; and.b32 %r2, tid, 7; setp.ne.u32 %p2, %r2, 7; mov.u32 %r4, smem; mad.lo.u32 %r3, %r1, 48, %r4; shl.b32 %r2, %r2, 2; add.u32 %r3, %r3, %r2;" + guard +
           "st.shared.u32 [%r3], tid; fence.proxy.async.shared::cta; bar.sync 0;"
           "@first cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map0, {0, 0}], [smem]; @first cp.async.bulk.commit_group; @first cp.async.bulk.wait_group 0;";
  HazardChecker checker;
  EXPECT_TRUE(test::run_async(c, {.driver = DriverKind::eager, .listeners = {checker.listener()}}).result.ok());
  return checker.findings();
}
TEST(UnwrittenShared, BeyondTheTensorIsNotStored) {
  EXPECT_TRUE(store_of_padded_box("").empty());
  const auto found = store_of_padded_box("@%p2 ");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "H7501");
}

// The first eight bytes of shared memory are written, and stored; the array in global memory has no more.
TEST(UnwrittenShared, WhatTheByteMaskLeavesOutIsNotStored) {
  const auto found = [](const std::string& mask) {
    test::AsyncCase c;
    c.buffers = {test::Bytes(8)};
    c.body = "mov.b16 %h1, " + mask + "; mov.u32 %r4, smem; @first st.shared.u64 [%r4], 7; fence.proxy.async.shared::cta;" +
             "@first cp.async.bulk.global.shared::cta.bulk_group.cp_mask [buf0], [%r4], 16, %h1; @first cp.async.bulk.commit_group; @first cp.async.bulk.wait_group 0;";
    HazardChecker checker;
    const bool ok = test::run_async(c, {.driver = DriverKind::eager, .listeners = {checker.listener()}}).result.ok();
    return std::pair(ok, checker.findings().size());
  };
  EXPECT_EQ(found("0x00FF"), (std::pair<bool, size_t>(true, 0)));
  EXPECT_EQ(found("0x01FF"), (std::pair<bool, size_t>(false, 1))) << "a byte more than the array has, which nothing has written";
}

}  // namespace
}  // namespace drywell::sim
