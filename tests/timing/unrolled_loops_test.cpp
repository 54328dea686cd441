// The timed driver's form of loops and of short skips: it computes what the kernel as written computes.
#include "sim/timing/unrolled_loops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "drywell/sim/check.h"
#include "drywell/sim/device.h"
#include "sim/timing/predication.h"

namespace drywell::sim {
namespace {

std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %d<9>;\n"
         ".shared .b32 tile[256];\nld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\n" +
         body + "st.global.u32 [%d0], %r9;\nret;\n}\n";
}

size_t length(const isa::Module& m) { return m.functions.at(0).body.size(); }

bool is_unrolled(const std::string& body) {
  const isa::Module m = isa::parse_ptx_or_throw(kernel(body), "k.ptx");
  return length(with_unrolled_loops(m)) != length(m);
}

std::vector<uint32_t> results(const std::string& body, DriverKind driver, HazardChecker* checker = nullptr) {
  Device device({.arch = "sm_90a"});
  const LoadedModule m = device.load_ptx(kernel(body), "k.ptx");
  const GmemAddr out = device.allocate(4 * 32);
  RunOptions options;
  options.driver = driver;
  if (checker != nullptr) options.listeners.push_back(checker->listener());
  const RunResult r = device.launch(m, "k", {.grid = {1}, .block = {32}}, Args().add(out), options);
  EXPECT_TRUE(r.ok()) << body;
  std::vector<uint32_t> words(32);
  device.read(words.data(), out, 4 * words.size());
  return words;
}

/// A loop from `first` by `step` while `compare` holds; it sums a function of the counter.
std::string loop(const std::string& first, int step, const std::string& compare, const std::string& bound) {
  return fmt::format(
      "mov.u32 %r1, {};\nmov.u32 %r9, 0;\nL:\nmul.lo.u32 %r2, %r1, 77;\nxor.b32 %r9, %r9, %r2;\nadd.u32 %r9, %r9, 5;\nadd.s32 %r1, %r1, {};\n"
      "setp.{} %p1, %r1, {};\n@%p1 bra L;\nxor.b32 %r9, %r9, %r1;\n",
      first, step, compare, bound);
}

struct Case {
  std::string first;
  int step;
  std::string compare, bound;
};

TEST(UnrolledLoops, ComputeWhatTheLoopComputes) {
  const Case cases[] = {
      {"0", 1, "lt.s32", "%r0"}, {"%r0", 3, "lt.u32", "100"}, {"5", 7, "le.s32", "%r0"}, {"%r0", -1, "gt.s32", "0"}, {"100", -9, "ge.s32", "%r0"}, {"%r0", 1, "ne.s32", "40"}, {"64", -4, "ne.s32", "0"}, {"2147483640", 1, "lt.s32", "%r0"}, {"0", 1, "lt.s32", "-3"}, {"4294967280", 3, "lo.u32", "4294967290"}};
  for (const Case& c : cases) {
    const std::string body = loop(c.first, c.step, c.compare, c.bound);
    EXPECT_TRUE(is_unrolled(body)) << body;
    EXPECT_EQ(results(body, DriverKind::timed), results(body, DriverKind::eager)) << body;
  }
}

TEST(UnrolledLoops, ALimitBeyondTheTypeKeepsTheLoop) {
  for (const Case& c : {Case{"-20", 1, "ne.s32", "0"}, Case{"-2147483648", 5, "lt.s32", "-2147483640"}}) {
    const std::string body = loop(c.first, c.step, c.compare, c.bound);
    EXPECT_FALSE(is_unrolled(body)) << body;
    EXPECT_EQ(results(body, DriverKind::timed), results(body, DriverKind::eager)) << body;
  }
}

TEST(UnrolledLoops, AddressesAndMovedCountersKeepTheirValues) {
  const std::string fill = "mov.u32 %r7, tile;\nshl.b32 %r6, %r0, 2;\nadd.u32 %r7, %r7, %r6;\nmul.lo.u32 %r5, %r0, %r0;\nst.shared.u32 [%r7], %r5;\nbar.warp.sync -1;\n";
  const std::string by_address = fill +
                                 "mov.u32 %r7, tile;\nmov.u32 %r9, 1;\nmov.u32 %r1, 0;\nL:\nld.shared.u32 %r2, [%r7];\nadd.u32 %r7, %r7, 4;\nmad.lo.u32 %r9, %r9, 3, %r2;\n"
                                 "st.shared.u32 [%r7+124], %r9;\nadd.u32 %r3, %r1, 1;\nsetp.lt.u32 %p1, %r3, %r0;\nmov.u32 %r1, %r3;\n@%p1 bra L;\nadd.u32 %r9, %r9, %r3;\n";
  EXPECT_TRUE(is_unrolled(by_address));
  EXPECT_EQ(results(by_address, DriverKind::timed), results(by_address, DriverKind::eager));
}

TEST(UnrolledLoops, OthersStayAsTheyAre) {
  EXPECT_FALSE(is_unrolled("mov.u32 %r1, 0;\nL:\n.pragma \"nounroll\";\nadd.u32 %r1, %r1, 1;\nadd.u32 %r9, %r9, %r1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"));
  EXPECT_FALSE(is_unrolled("mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, %r0;\nadd.u32 %r9, %r9, %r1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"));
  EXPECT_FALSE(is_unrolled("mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nbar.sync 0;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"));
  EXPECT_FALSE(is_unrolled("mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nadd.u32 %r8, %r8, 2;\nsetp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;\n"));
}

TEST(PredicatedSkips, ComputeWhatTheSkipComputes) {
  const std::string skip =
      "mov.u32 %r9, 3;\nmov.u32 %r1, 10;\nmov.u32 %r5, 0;\nL:\nsetp.gt.u32 %p1, %r0, %r5;\n@%p1 bra OVER;\nadd.u32 %r2, %r5, 9;\nadd.u32 %r1, %r1, 1;\n"
      "mad.lo.u32 %r9, %r2, %r1, %r9;\nOVER:\nadd.u32 %r5, %r5, 5;\nsetp.lt.u32 %p2, %r5, 30;\n@%p2 bra L;\n";
  const isa::Module m = isa::parse_ptx_or_throw(kernel(skip), "k.ptx");
  EXPECT_EQ(length(with_predicated_skips(m)) + 1, length(m));
  EXPECT_EQ(results(skip, DriverKind::timed), results(skip, DriverKind::eager));
}

// The lanes that skip the loads have not written %r1 and %r2, so that they may not add them either.
TEST(PredicatedSkips, ReadNoRegisterThatTheSkippedLanesHaveNot) {
  const std::string body =
      "mov.u32 %r9, 0;\nsetp.ge.u32 %p1, %r0, 9;\n@%p1 bra S;\nst.shared.u32 [tile], 1;\nld.shared.u32 %r1, [tile];\nld.shared.u32 %r2, [tile];\n"
      "add.u32 %r3, %r1, %r2;\nadd.u32 %r9, %r3, 1;\nS:\n";
  const isa::Module m = isa::parse_ptx_or_throw(kernel(body), "k.ptx");
  EXPECT_LT(length(with_predicated_skips(m)), length(m)) << "the skip is a branch";
  HazardChecker checker;
  EXPECT_EQ(results(body, DriverKind::timed, &checker), results(body, DriverKind::eager));
  for (const Finding& f : checker.findings()) EXPECT_NE(f.code, "H7502") << f.to_string();
}

std::string two_sides(const std::string& first, const std::string& second) {
  return "mov.u32 %r9, 3;\nmov.u32 %r1, 10;\nmov.u32 %r5, 0;\nL:\nsetp.gt.u32 %p1, %r0, %r5;\n" + first + second +
         "END:\nadd.u32 %r5, %r5, 5;\nsetp.lt.u32 %p2, %r5, 30;\n@%p2 bra L;\n";
}

// As nvcc writes two sides, and as a choice of two jumps.
TEST(PredicatedSkips, TwoShortSidesAreOneBlock) {
  const std::string one = "add.u32 %r2, %r5, 9;\nmad.lo.u32 %r9, %r2, %r1, %r9;\n", other = "shl.b32 %r2, %r5, 1;\nadd.u32 %r1, %r1, %r2;\n";
  const std::string falls = two_sides("@%p1 bra A;\n" + one + "bra.uni END;\n", "A:\n" + other);
  const std::string chooses = two_sides("@%p1 bra A;\nbra.uni B;\nA:\n" + one + "bra.uni END;\n", "B:\n" + other);
  for (const std::string& body : {falls, chooses}) {
    const isa::Module m = isa::parse_ptx_or_throw(kernel(body), "k.ptx");
    EXPECT_EQ(length(with_predicated_skips(m)) + (body == falls ? 2 : 3), length(m));
    EXPECT_EQ(results(body, DriverKind::timed), results(body, DriverKind::eager));
  }
}

TEST(PredicatedSkips, LongSidesLoadsAndSidesWithOtherEntriesStay) {
  std::string nine, eight;
  for (int k = 0; k < 9; ++k) nine += "add.u32 %r9, %r9, %r1;\n";
  for (int k = 0; k < 8; ++k) eight += "add.u32 %r9, %r9, %r1;\n";
  const std::string add = "add.u32 %r1, %r1, 1;\n", load = "ld.shared.u32 %r1, [tile];\n";
  const std::vector<std::pair<std::string, std::string>> sides{{nine, add}, {add, eight}, {load, add}, {add, load}};
  for (const auto& [first, second] : sides) {
    const isa::Module m = isa::parse_ptx_or_throw(kernel(two_sides("@%p1 bra A;\n" + first + "bra.uni END;\n", "A:\n" + second)), "k.ptx");
    EXPECT_EQ(length(with_predicated_skips(m)), length(m)) << first << second;
  }
  const std::string entered = two_sides("@%p1 bra A;\n" + add + "bra.uni END;\n", "A:\n" + add) + "setp.eq.u32 %p1, %r9, 77;\n@%p1 bra A;\n";
  const isa::Module m = isa::parse_ptx_or_throw(kernel(entered), "k.ptx");
  EXPECT_EQ(length(with_predicated_skips(m)), length(m)) << "another branch goes to the second side";
  const std::string listed = two_sides("@%p1 bra A;\n" + add + "bra.uni END;\n", "A:\n" + add) + "TO: .branchtargets A, DONE;\nbrx.idx %r0, TO;\nDONE:\n";
  const isa::Module t = isa::parse_ptx_or_throw(kernel(listed), "k.ptx");
  EXPECT_EQ(length(with_predicated_skips(t)), length(t)) << "a list of targets names the second side";
}

TEST(PredicatedSkips, ABarrierAnExitOrALabelInsideKeepsTheBranch) {
  for (const std::string inside : {"bar.sync 0;\n", "exit;\n", "INNER:\nadd.u32 %r9, %r9, 1;\n", "@%p2 add.u32 %r9, %r9, 1;\n"}) {
    const isa::Module m = isa::parse_ptx_or_throw(kernel("setp.gt.u32 %p1, %r0, 5;\n@%p1 bra OVER;\n" + inside + "OVER:\n"), "k.ptx");
    EXPECT_EQ(length(with_predicated_skips(m)), length(m)) << inside;
  }
}

}  // namespace
}  // namespace drywell::sim
