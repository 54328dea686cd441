// H7412: loads whose value an atomic of the same thread checks. A note, where others only have atomics; what the value is used for otherwise is a race.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using Codes = std::set<std::string>;

RunOptions driver(DriverKind kind, uint64_t seed = 1) {
  RunOptions o;
  o.driver = kind;
  o.seed = seed;
  return o;
}

/// In `body`: %r1 is the thread's number in the grid, %rd1 a word, generic, %rd3 the same, global, %rd2 other memory with 8 bytes for each thread.
Codes codes_of(const std::string& body, RunOptions o, uint32_t ctas, uint32_t threads, const std::string& functions = "") {
  Device d;
  const LoadedModule m = d.load_ptx(R"(.version 8.7
.target sm_100a
.address_size 64
)" + functions + R"(
.visible .entry k(.param .u64 p)
{
.shared .align 8 .b64 s;
.reg .b32 %r<20>;
.reg .f32 %f<6>;
.reg .b64 %rd<12>;
.reg .pred %p<6>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd3, %rd1;
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r1, %r2, 128, %r1;
mad.wide.u32 %rd2, %r1, 8, %rd1;
add.u64 %rd2, %rd2, 64;
)" + body + "\nEND:\nret;\n}\n");
  HazardChecker checker;
  o.listeners.push_back(checker.listener());
  const GmemAddr p = d.allocate(8192);
  d.fill(p, 0, 8192);
  const RunResult r = d.launch(m, "k", {.grid = {ctas}, .block = {threads}}, Args().add(p), o);
  EXPECT_TRUE(r.ok()) << body << (r.fault ? r.fault->to_string() : "");
  Codes codes;
  for (const Finding& f : checker.findings()) codes.insert(f.code);
  return codes;
}

void expect(const std::string& body, const Codes& codes, uint32_t ctas, uint32_t threads, const std::string& functions = "") {
  for (const RunOptions& o : {driver(DriverKind::eager), driver(DriverKind::lazy), driver(DriverKind::shuffled, 1), driver(DriverKind::shuffled, 7), driver(DriverKind::timed)})
    EXPECT_EQ(codes_of(body, o, ctas, threads, functions), codes) << driver_name(o.driver) << " " << o.seed << ", " << ctas << " CTAs\n"
                                                                  << body;
}
// Between clusters the last accesses are compared, which here are atomics: what is no race of a cluster must be silent, or a note, there, too.
void expect(const std::string& body, const Codes& codes) {
  expect(body, codes, 1, 128);
  if (codes.count("H7402") != 0) return;
  for (const DriverKind d : {DriverKind::eager, DriverKind::shuffled}) {
    Codes others = codes_of(body, driver(d), 3, 32);
    others.erase("H7412");
    EXPECT_EQ(others, Codes{}) << body;
  }
}

const Codes kGuess{"H7412"}, kRace{"H7402"};

// CUDA C++ Programming Guide, "Atomic functions": any atomic can be made of atomicCAS.
std::string sum(const std::string& load, const std::string& to) {
  return load + "\nL:\nmov.b32 %f1, %r3;\nadd.f32 %f2, %f1, 0f3F800000;\nmov.b32 %r4, %f2;\natom." + to + ".cas.b32 %r5, [" + (to == "shared" ? "%r10" : "%rd3") + "], %r3, %r4;\nsetp.ne.s32 %p1, %r3, %r5;\nmov.u32 %r3, %r5;\n@%p1 bra L;\n";
}

TEST(Guesses, OfACompareAndSwapAreANote) {
  expect(sum("ld.global.u32 %r3, [%rd3];", "global"), kGuess);
  expect(sum("ld.u32 %r3, [%rd1];", "global"), kGuess);
  expect(sum("add.s64 %rd7, %rd3, 20;\nadd.s64 %rd8, %rd7, -20;\nld.global.u32 %r3, [%rd8];", "global"), kGuess);
  expect("ld.global.u32 %r3, [%rd3+20];\nadd.s64 %rd7, %rd3, 20;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\natom.global.exch.b32 %r4, [%rd7], 1;", kGuess);
  expect(sum("ld.global.u32 %r3, [%rd3];", "global") + "st.global.u32 [%rd2], %r5;", kGuess);
  expect(sum("ld.global.u32 %r3, [%rd3];\nst.global.u32 [%rd2], %r3;", "global"), kGuess);  // a stack: the next node, until the swap succeeds
  const std::string shared = "mov.u32 %r10, s;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 st.shared.u32 [s], 0;\nbar.sync 0;\n";
  expect(shared + sum("ld.shared.u32 %r3, [s];", "shared"), kGuess, 1, 128);
  expect(shared + sum("ld.shared.u32 %r3, [%r10];", "shared"), kGuess, 1, 128);
}

TEST(Guesses, ThatDecideWhetherThereIsAnAtomicAreANote) {
  expect("add.u32 %r9, %r1, 1;\nld.global.u32 %r3, [%rd3];\nsetp.ge.u32 %p1, %r3, %r9;\n@%p1 bra END;\natom.global.max.u32 %r4, [%rd3], %r9;", kGuess);
  expect("add.u32 %r9, %r1, 1;\nld.global.u32 %r3, [%rd3];\nsetp.lt.u32 %p1, %r3, %r9;\n@%p1 red.global.max.u32 [%rd3], %r9;", kGuess);
  expect("ld.global.u32 %r3, [%rd3+4];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\natom.global.exch.b32 %r4, [%rd3+4], 1;", kGuess);
  expect("ld.global.u32 %r3, [%rd3];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\nadd.u32 %r9, %r1, 1;\natom.global.cas.b32 %r4, [%rd3], 0, %r9;", kGuess);
  // The maximum of floats: a loop that ends where the value is large enough.
  expect(
      "cvt.rn.f32.u32 %f1, %r1;\nmov.b32 %r9, %f1;\nld.global.u32 %r3, [%rd3];\nL:\nmov.b32 %f2, %r3;\nsetp.geu.f32 %p1, %f2, %f1;\n@%p1 bra END;\n"
      "atom.global.cas.b32 %r4, [%rd3], %r3, %r9;\nsetp.ne.u32 %p2, %r4, %r3;\nmov.u32 %r3, %r4;\n@%p2 bra L;",
      kGuess);
}

// A table in shared memory, of keys that are not there yet (0 is none): a slot is read, and taken by a compare-and-swap whose address was made in another way.
const std::string kSlots = "mov.u32 %r10, s;\nand.b32 %r11, %r1, 1;\nshl.b32 %r12, %r11, 2;\nadd.u32 %r13, %r10, %r12;\n";
const std::string kClearSlots = kSlots + "setp.lt.u32 %p2, %r1, 2;\n@%p2 st.shared.u32 [%r13], 0;\nbar.sync 0;\n";
const std::string kGenericSlot = "cvt.u64.u32 %rd7, %r10;\ncvta.shared.u64 %rd8, %rd7;\nmul.wide.u32 %rd9, %r11, 4;\nadd.s64 %rd10, %rd8, %rd9;\n";
const std::string kTakeSlot = "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\nadd.u32 %r9, %r1, 1;\n" + kGenericSlot + "atom.relaxed.cta.cas.b32 %r4, [%rd10], 0, %r9;\n";

TEST(Guesses, AtAnAddressThatIsMadeAnewAreANote) {
  expect(kClearSlots + "ld.shared.u32 %r3, [%r13];\n" + kTakeSlot, kGuess, 1, 128);
  expect(kClearSlots + "mad.lo.u32 %r14, %r11, 4, %r10;\nld.shared.u32 %r3, [%r14];\n" + kTakeSlot, kGuess, 1, 128);
  // The next slot, in a loop: its index is a register that the loop changes.
  const std::string probe = kClearSlots + "mov.u32 %r11, 0;\nL:\nshl.b32 %r15, %r11, 2;\nadd.u32 %r16, %r10, %r15;\nld.shared.u32 %r3, [%r16];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra NEXT;\n" + kGenericSlot +
                            "add.u32 %r9, %r1, 1;\natom.cas.b32 %r4, [%rd10], 0, %r9;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra END;\nNEXT:\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p1, %r11, 2;\n@%p1 bra L;\n";
  expect(probe, kGuess, 1, 128);
}

// The lanes of a warp look at slots together. The one that swaps has the index of its slot in a window of one, which is 0 where the slot is free.
std::string window(const std::string& index) {
  return "and.b32 %r11, %r1, 1;\nmul.wide.u32 %rd7, %r11, 4;\nadd.s64 %rd8, %rd3, %rd7;\nld.global.u32 %r3, [%rd8];\n" + index +
         " ;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra FREE;\nsetp.eq.u32 %p2, %r3, 77;\nselp.b64 %rd9, 8, -1, %p2;\nFREE:\nvote.sync.ballot.b32 %r6, %p1, -1;\nsetp.eq.s32 %p3, %r6, 0;\n@%p3 bra END;\n@!%p1 bra END;\n"
         "add.s64 %rd6, %rd3, %rd7;\nshl.b64 %rd11, %rd9, 2;\nadd.s64 %rd10, %rd6, %rd11;\nadd.u32 %r9, %r1, 1;\natom.global.cas.b32 %r4, [%rd10], %r3, %r9;\n";
}

TEST(Guesses, WithAnIndexThatIsAConstantOnTheWayAreANote) {
  expect(window("mov.b64 %rd9, 0"), kGuess, 1, 128);
  // Another slot than the one that was loaded; with an atomic ahead, so that there is something to race with.
  const std::string ahead = "and.b32 %r12, %r1, 1;\nmul.wide.u32 %rd5, %r12, 4;\nadd.s64 %rd5, %rd3, %rd5;\natom.global.add.u32 %r13, [%rd5], 0;\n";
  expect(ahead + window("mov.b64 %rd9, 4"), kRace, 1, 128);
  expect(ahead + window("cvt.u64.u32 %rd9, %r11"), kRace, 1, 128);
}

// Two slots of a key and a value, whose place is a register twice, as a global and as a generic address: it is made ahead of the loop, and anew where none of the lane's slots is free. The swap expects what nobody loaded, at the slot that was free.
std::string probing(const std::string& next, const std::string& chosen = "0, 8") {
  return "and.b32 %r11, %r1, 1;\nmul.wide.u32 %rd7, %r11, 16;\nadd.s64 %rd4, %rd3, %rd7;\nadd.s64 %rd5, %rd1, %rd7;\nmov.u32 %r7, 0;\nL:\nld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd4];\nsetp.eq.u32 %p1, %r3, 0;\nsetp.eq.u32 %p2, %r5, 0;\n"
         "or.pred %p3, %p1, %p2;\n@%p3 bra FREE;\nadd.u32 %r7, %r7, 1;\nsetp.gt.u32 %p4, %r7, 3;\n@%p4 bra END;\n" +
         next + "bra L;\nFREE:\nselp.b64 %rd9, " + chosen + ", %p1;\nadd.s64 %rd10, %rd5, %rd9;\nadd.u32 %r9, %r1, 1;\nmov.b64 %rd8, {%r9, %r9};\nmov.b64 %rd7, 0;\natom.global.cas.b64 %rd6, [%rd10], %rd7, %rd8;\nsetp.ne.s64 %p4, %rd6, 0;\nadd.u32 %r7, %r7, 1;\nsetp.gt.u32 %p5, %r7, 6;\n@%p5 bra END;\n@%p4 bra L;\n";
}
const std::string kBothNext = "mul.wide.u32 %rd7, %r7, 16;\nadd.s64 %rd4, %rd3, %rd7;\nadd.s64 %rd5, %rd1, %rd7;\n";

TEST(Guesses, OfAPlaceInTwoRegistersAreANote) {
  expect(probing(kBothNext), kGuess, 1, 128);
  expect(probing("add.s64 %rd4, %rd4, 16;\nadd.s64 %rd5, %rd5, 16;\n"), kGuess, 1, 128);
  // One of them goes on by more, or alone, or the slot is another one than those that were loaded.
  expect(probing("add.s64 %rd4, %rd4, 16;\nadd.s64 %rd5, %rd5, 32;\n"), kRace, 1, 128);
  expect(probing("add.s64 %rd5, %rd5, 0;\nadd.s64 %rd4, %rd4, 16;\nadd.s64 %rd4, %rd4, 0;\n"), kRace, 1, 128);
  expect(probing(kBothNext, "0, 16"), kRace, 1, 128);
}

// The two slots are kept in local memory, and the swap expects the one that is indexed there.
std::string kept(const std::string& expected) {
  return ".local .align 8 .b8 window[8];\nmov.u64 %rd4, window;\nand.b32 %r11, %r1, 1;\nmul.wide.u32 %rd7, %r11, 8;\nadd.s64 %rd8, %rd3, %rd7;\nld.global.v2.u32 {%r3, %r4}, [%rd8];\nst.local.v2.u32 [%rd4], {%r3, %r4};\n"
         "mov.b64 %rd9, 0;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra FREE;\nsetp.eq.u32 %p2, %r4, 0;\n@!%p2 bra END;\nmov.b64 %rd9, 1;\nFREE:\nshl.b64 %rd11, %rd9, 2;\nadd.s64 %rd5, %rd4, %rd11;\n" +
         expected + "\nadd.s64 %rd10, %rd8, %rd11;\nadd.u32 %r9, %r1, 1;\natom.global.cas.b32 %r6, [%rd10], %r5, %r9;\n";
}
TEST(Guesses, ThatAreKeptInLocalMemoryAreANote) {
  expect(kept("ld.local.u32 %r5, [%rd5];"), kGuess, 1, 128);
  expect(kept("ld.local.u32 %r5, [%rd5];\nst.global.u32 [%rd2], %r5;"), kGuess, 1, 128);  // until the swap has checked it
  expect(kept("ld.local.u32 %r7, [%rd5];\nst.global.u32 [%rd2], %r7;\nmov.u32 %r5, 0;"), kRace, 1, 128);
}

// A key and a value, loaded one after the other, and swapped as 64 bits.
std::string pair_of(const std::string& load) { return load + "mov.b64 %rd7, {%r3, %r4};\nadd.u32 %r9, %r1, 1;\nmov.b64 %rd8, {%r9, %r9};\natom.global.cas.b64 %rd9, [%rd3+8], %rd7, %rd8;\n"; }

TEST(Guesses, InsideOfAWiderAtomicAreANote) {
  expect(pair_of("ld.global.u32 %r3, [%rd3+8];\nld.global.u32 %r4, [%rd3+12];\n"), kGuess);
  expect(pair_of("ld.global.v2.u32 {%r3, %r4}, [%rd3+8];\n"), kGuess);
  // The second word lies behind what is swapped.
  expect("atom.global.add.u32 %r5, [%rd3+16], 1;\n" + pair_of("ld.global.u32 %r3, [%rd3+8];\nld.global.u32 %r4, [%rd3+16];\n"), {"H7402", "H7412"});
  expect("atom.global.add.u32 %r5, [%rd3+16], 1;\n" + pair_of("ld.global.v2.u32 {%r4, %r3}, [%rd3+16];\n"), kRace);
}

TEST(Guesses, InALoopWithAnAtomicAreANote) {
  expect("mov.u32 %r6, 0;\nL:\nmad.lo.u32 %r9, %r1, 4, %r6;\nld.global.u32 %r3, [%rd3];\nsetp.ge.u32 %p1, %r3, %r9;\n@%p1 bra NEXT;\natom.global.max.u32 %r4, [%rd3], %r9;\nNEXT:\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 4;\n@%p1 bra L;", kGuess);
}

// The loop has no other end than the value: a thread waits for another one, by a load that gives no order.
TEST(Guesses, OnWhichALoopWaitsAreRaces) {
  const std::string spin = "setp.eq.u32 %p2, %r1, 0;\n@%p2 atom.global.exch.b32 %r4, [%rd3], 1;\n@%p2 bra END;\nsetp.ne.u32 %p2, %r1, 32;\n@%p2 bra END;\nL:\nld.global.u32 %r3, [%rd3];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\natom.global.exch.b32 %r4, [%rd3], 0;";
  expect(spin, kRace);
}

TEST(Guesses, AtAnAddressThatIsAnotherByThenAreRaces) {
  const std::string index = "and.b32 %r11, %r1, 1;\nmov.u32 %r12, %r11;\n", swap = "mul.wide.u32 %rd9, %r12, 4;\nadd.s64 %rd10, %rd3, %rd9;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra END;\nadd.u32 %r9, %r1, 1;\natom.global.cas.b32 %r4, [%rd10], 0, %r9;";
  const std::string load = "mul.wide.u32 %rd7, %r12, 4;\nadd.s64 %rd8, %rd3, %rd7;\nld.global.u32 %r3, [%rd8];\n";
  expect(index + load + swap, kGuess);
  expect(index + load + "xor.b32 %r12, %r12, 1;\n" + swap, kRace);
  // The load's address was made before the index changed, and the atomic's behind it.
  expect(index + "mul.wide.u32 %rd7, %r12, 4;\nadd.s64 %rd8, %rd3, %rd7;\nxor.b32 %r12, %r12, 1;\nld.global.u32 %r3, [%rd8];\n" + swap, kRace);
}

TEST(Guesses, WhoseValueIsUsedOtherwiseAreRaces) {
  expect("ld.global.u32 %r3, [%rd3];\nst.global.u32 [%rd2], %r3;\natom.global.add.u32 %r4, [%rd3], 1;", kRace);
  expect("ld.global.u32 %r3, [%rd3];\nmul.wide.u32 %rd5, %r3, 0;\nadd.u64 %rd5, %rd5, %rd2;\nld.global.u32 %r6, [%rd5];\nst.global.u32 [%rd2+4], %r6;\natom.global.add.u32 %r4, [%rd3], 1;", kRace);
  expect("ld.global.u32 %r3, [%rd3];\nadd.u32 %r3, %r3, 1;\natom.global.add.u32 %r4, [%rd3], %r3;", kRace);
  // The word is not the one that is swapped.
  expect("ld.global.u32 %r3, [%rd3];\nL:\natom.global.cas.b32 %r5, [%rd3+4], %r3, %r1;\nsetp.eq.u32 %p1, %r5, 99;\n@%p1 bra L;\nred.global.add.u32 [%rd3], 1;\nst.global.u32 [%rd2], %r3;", kRace);
}

// The last CTA reads how many there were, in place of what its atomic returned.
TEST(Guesses, BehindTheAtomicAreRaces) {
  expect("atom.global.add.u32 %r4, [%rd3], 1;\nld.global.u32 %r3, [%rd3];\nsetp.ne.u32 %p1, %r3, 96;\n@%p1 bra END;\nst.global.u32 [%rd2], 1;", kRace);
}

// As nvcc -G has it: a function that is the atomic, and one that calls it.
const std::string kSwap = R"(
.func (.param .b32 result) swap(.param .b64 at, .param .b32 old, .param .b32 new)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [at];
  ld.param.u32 %r1, [old];
  ld.param.u32 %r2, [new];
  atom.cas.b32 %r3, [%rd1], %r1, %r2;
  st.param.b32 [result+0], %r3;
  ret;
}
.func (.param .b32 result) outer(.param .b64 at, .param .b32 old, .param .b32 new)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [at];
  ld.param.u32 %r1, [old];
  ld.param.u32 %r2, [new];
  {
  .param .b64 param0; .param .b32 param1; .param .b32 param2; .param .b32 retval0;
  st.param.b64 [param0+0], %rd1;
  st.param.b32 [param1+0], %r1;
  st.param.b32 [param2+0], %r2;
  call.uni (retval0), swap, (param0, param1, param2);
  ld.param.b32 %r3, [retval0+0];
  }
  st.param.b32 [result+0], %r3;
  ret;
}
)";
std::string sum_by(const std::string& function, const std::string& expected) {
  return "ld.u32 %r3, [%rd1];\nmov.b64 %rd6, %rd1;\nL:\nmov.b32 %r9, %r3;\nadd.u32 %r4, %r9, 1;\n{\n.param .b64 param0; .param .b32 param1; .param .b32 param2; .param .b32 retval0;\n"
         "st.param.b64 [param0+0], %rd6;\nst.param.b32 [param1+0], " +
         expected + ";\nst.param.b32 [param2+0], %r4;\ncall.uni (retval0), " + function +
         ", (param0, param1, param2);\nld.param.b32 %r5, [retval0+0];\n}\nsetp.ne.s32 %p1, %r9, %r5;\nmov.u32 %r3, %r5;\n@%p1 bra L;\n";
}

TEST(Guesses, GoToFunctionsThatAreAtomics) {
  for (const std::string function : {"swap", "outer"}) {
    expect(sum_by(function, "%r9"), kGuess, 1, 128, kSwap);
  }
  // It expects what nobody loaded, and stores what was made of the load.
  const std::string no_check =
      "ld.u32 %r3, [%rd1];\nadd.u32 %r4, %r3, 1;\n{\n.param .b64 param0; .param .b32 param1; .param .b32 param2; .param .b32 retval0;\nst.param.b64 [param0+0], %rd1;\n"
      "st.param.b32 [param1+0], 0;\nst.param.b32 [param2+0], %r4;\ncall.uni (retval0), swap, (param0, param1, param2);\nld.param.b32 %r5, [retval0+0];\n}\nst.u32 [%rd2], %r5;\n";
  expect(no_check, kRace, 1, 128, kSwap);
}

TEST(Guesses, WhereOthersStoreAreRaces) {
  const std::string stores = "setp.eq.u32 %p2, %r1, 40;\nsetp.eq.u32 %p3, %r1, 133;\nor.pred %p2, %p2, %p3;\n@%p2 st.global.u32 [%rd3], 3;\n@%p2 bra END;\n";
  for (const uint32_t ctas : {1u, 3u}) {
    const Codes codes = codes_of(stores + sum("ld.global.u32 %r3, [%rd3];", "global"), driver(DriverKind::eager), ctas, ctas == 1 ? 128 : 32);
    EXPECT_EQ(codes.count("H7402"), 1u) << ctas;
  }
}

}  // namespace
}  // namespace drywell::sim
