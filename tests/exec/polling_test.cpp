// Threads that wait for a word in memory: others run before the wait has tried too often (docs/function-vs-time.md, "Clusters and warps that poll").
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "drywell/isa/parse.h"
#include "sim/exec/decode.h"
#include "support/async_run.h"

namespace drywell::test {
namespace {

// Stream-K and the like: every CTA polls a word that a CTA behind it writes. `poll` reads it into %r3, from [%rd1+4], and ends when it is not zero.
std::vector<uint32_t> words_of_a_chain(const std::string& poll, const std::string& functions = "") {
  constexpr uint32_t kCtas = 8;
  AsyncCase c;
  c.declarations = functions;
  c.threads = 64;
  c.ctas = kCtas;
  c.buffers = {to_bytes(std::vector<uint32_t>(kCtas + 1))};
  c.body = R"(
  .reg .b64 %start, %now;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd1, buf0;
  sub.u32 %r2, %r2, 1;
  setp.eq.u32 %p1, %r1, %r2;
  mov.u32 %r4, 6;
  @%p1 bra LAST;
)" + poll + R"(
  add.u32 %r4, %r3, 1;
LAST:
  bar.sync 0;
  @first st.release.gpu.global.u32 [%rd1], %r4;
)";
  return from_bytes<uint32_t>(run_everywhere(c).at(0));
}
const std::vector<uint32_t> kChain = {13, 12, 11, 10, 9, 8, 7, 6, 0};

// With a barrier in the loop, as Triton's compiler has it. A CTA that polls must give way soon, not after the 64 million instructions of a
// slice: run_everywhere allows four million for all of them.
TEST(SpinningCtas, GiveWayToThoseTheyWaitFor) {
  EXPECT_EQ(words_of_a_chain(R"(
POLL:
  bar.sync 0;
  ld.acquire.gpu.global.u32 %r3, [%rd1+4];
  setp.eq.u32 %p2, %r3, 0;
  bar.red.popc.u32 %r5, 0, %p2;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra POLL;
)"),
            kChain);
}

// A loop with a limit has other registers each time.
TEST(SpinningCtas, GiveWayBeforeTheyHaveTriedTooOften) {
  EXPECT_EQ(words_of_a_chain(R"(
  mov.u32 %r5, 0;
POLL:
  ld.relaxed.gpu.global.u32 %r3, [%rd1+4];
  add.u32 %r5, %r5, 1;
  setp.eq.u32 %p2, %r3, 0;
  setp.lt.and.u32 %p2, %r5, 4000, %p2;
  @%p2 bra POLL;
  fence.acq_rel.gpu;
)"),
            kChain);
}
TEST(SpinningCtas, GiveWayBeforeTheirTimeIsUp) {
  EXPECT_EQ(words_of_a_chain(R"(
  mov.u64 %start, %clock64;
POLL:
  ld.volatile.global.u32 %r3, [%rd1+4];
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra DONE;
  mov.u64 %now, %clock64;
  sub.u64 %now, %now, %start;
  setp.lt.u64 %p2, %now, 2000000;
  @%p2 bra POLL;
  trap;
DONE:
  fence.acq_rel.gpu;
)"),
            kChain);
}
TEST(SpinningCtas, GiveWayWhileTheySleepLongerAndLonger) {
  EXPECT_EQ(words_of_a_chain(R"(
  mov.u32 %r5, 8;
POLL:
  atom.acquire.gpu.global.or.b32 %r3, [%rd1+4], 0;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra DONE;
  nanosleep.u32 %r5;
  add.u32 %r5, %r5, 8;
  bra POLL;
DONE:
)"),
            kChain);
}

// As nvcc -G compiles it: a function for each atomic, and objects in memory.
const std::string kLook = ".func (.reg .b32 %v) look(.reg .b64 %p) { ld.acquire.gpu.global.u32 %v, [%p]; ret; }\n";
TEST(SpinningCtas, GiveWayWhereTheyPollThroughFunctions) {
  EXPECT_EQ(words_of_a_chain(R"(
  .local .b32 tries;
  .reg .b64 %word;
  mov.u32 %r5, 0;
  add.u64 %word, %rd1, 4;
POLL:
  add.u32 %r5, %r5, 1;
  st.local.u32 [tries], %r5;
  call (%r3), done, (%word);
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra POLL;
)",
                             kLook + ".func (.reg .b32 %v) done(.reg .b64 %p) { call (%v), look, (%p); ret; }\n"),
            kChain);
}

// The warp of the lower index runs first and has 400 attempts; the other needs 300 instructions.
TEST(SpinningWarps, LetTheOthersRunBeforeTheyHaveTriedTooOften) {
  AsyncCase c;
  c.threads = 64;
  c.buffers = {to_bytes(std::vector<uint32_t>(2))};
  c.body = R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  @first st.shared.u32 [smem], 0;
  bar.sync 0;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra OTHER;
POLL:
  ld.volatile.shared.u32 %r3, [smem];
  add.u32 %r2, %r2, 1;
  setp.eq.u32 %p2, %r3, 0;
  setp.lt.and.u32 %p2, %r2, 400, %p2;
  @%p2 bra POLL;
  @first st.global.u32 [buf0], %r3;
  bra DONE;
OTHER:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 100;
  @%p2 bra OTHER;
  setp.eq.u32 %p3, %r1, 32;
  @%p3 st.volatile.shared.u32 [smem], 77;
DONE:
)";
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), (std::vector<uint32_t>{77, 0}));
}

// A lock for each half of a warp, as tiles of cooperative groups have it: one lane tries, and the others get its answer by a shuffle. The lanes of the half
// that spins part and meet in each round; the other half, which has the lock, must get its turn.
TEST(SpinningLanes, OfATileLeaveTheLockToAnotherTileOfTheirWarp) {
  AsyncCase c;
  c.threads = 64;
  c.buffers = {to_bytes(std::vector<uint32_t>(2))};  // the lock, what is counted behind it
  c.body = R"(
  mov.u64 %rd1, buf0;
  mov.u32 %r1, %laneid;
  and.b32 %r2, %r1, 16;
  shl.b32 %r3, 65535, %r2;
  and.b32 %r4, %r1, 15;
  setp.ne.u32 %p1, %r4, 15;
AGAIN:
  @%p1 bra TRIED;
  atom.relaxed.gpu.global.exch.b32 %r5, [%rd1], 1;
TRIED:
  shfl.sync.idx.b32 %r5, %r5, 15, 4127, %r3;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra AGAIN;
  fence.acq_rel.gpu;
  ld.relaxed.gpu.global.u32 %r6, [%rd1+4];
  add.u32 %r6, %r6, 1;
  bar.warp.sync %r3;
  @%p1 bra END;
  st.relaxed.gpu.global.u32 [%rd1+4], %r6;
  fence.acq_rel.gpu;
  st.relaxed.gpu.global.u32 [%rd1], 0;
END:
)";
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), (std::vector<uint32_t>{0, 4}));
}

// Triton's ConSan: the warps of a CTA hold a lock from a barrier on, look at a word, and take the lock again as soon as they have left it. Their
// turns ended at the barrier, always with the lock, and the CTA that was to write the word never got it.
TEST(SpinningWarps, GetALockThatOthersTakeAgainAndAgain) {
  AsyncCase c;
  c.threads = 64;
  c.ctas = c.cluster = 2;
  c.buffers = {to_bytes(std::vector<uint32_t>(3))};  // the lock, the word, what is counted behind it
  c.body = R"(
  mov.u64 %rd1, buf0;
  mov.u32 %r1, %cluster_ctarank;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WRITER;
AGAIN:
  @!first bra TAKEN;
TAKE:
  atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 0, 1;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra TAKE;
TAKEN:
  bar.sync 0;
  ld.relaxed.gpu.global.u32 %r3, [%rd1+4];
  bar.sync 0;
  @first atom.release.gpu.global.exch.b32 %r2, [%rd1], 0;
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra AGAIN;
  @first red.relaxed.gpu.global.add.u32 [%rd1+8], %r3;
  bra END;
WRITER:
  @!first bra END;
WAIT:
  atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 0, 1;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  st.relaxed.gpu.global.u32 [%rd1+4], 5;
  atom.release.gpu.global.exch.b32 %r2, [%rd1], 0;
END:
)";
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), (std::vector<uint32_t>{0, 5, 5}));
}

std::string marks_of(const std::vector<bool>& inside) {
  std::string marks;
  for (const bool x : inside) marks += x ? 'x' : '.';
  return marks;
}

std::unique_ptr<sim::Program> program_of(const isa::Module& m) { return sim::decode(m, m.functions.back(), {}); }

isa::Module module_of(const std::string& functions, const std::string& body) {
  return isa::parse_ptx_or_throw(".version 8.6\n.target sm_100a\n.address_size 64\n" + functions +
                                     ".entry k()\n{\n.reg .b32 %r<8>;\n.reg .b64 %a, %b;\n"
                                     ".reg .pred %p, %q;\n" +
                                     body + "ret;\n}\n",
                                 "polling.ptx");
}

/// For each instruction of a kernel, whether it is in a polling loop: "x" or ".".
std::string polling(const std::string& body) {
  const isa::Module m = module_of("", body);
  return marks_of(program_of(m)->polling);
}
/// The same of loops that may poll through functions; those of the functions follow.
std::string may_poll(const std::string& functions, const std::string& body) {
  const isa::Module m = module_of(functions, body);
  return marks_of(program_of(m)->may_poll);
}

// The last mark is of the end behind the body.
TEST(PollingLoops, AreFoundInAProgram) {
  EXPECT_EQ(polling("mov.u32 %r1, 0;\nL: ld.acquire.gpu.global.u32 %r2, [%a];\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\n"), ".xxx..");
  EXPECT_EQ(polling("L: atom.global.cas.b32 %r2, [%a], 0, 1;\nsetp.ne.u32 %p, %r2, 0;\n@%p bra L;\nst.global.u32 [%b], %r2;\n"), "xxx...");
  EXPECT_EQ(polling("L: bar.sync 0;\n@%q ld.volatile.global.u32 %r2, [%a];\nbar.red.or.pred %p, 0, %q;\n@%p bra L;\n"), "xxxx..");
}
TEST(PollingLoops, DoNotDoAnythingElse) {
  EXPECT_EQ(polling("L: ld.acquire.gpu.global.u32 %r2, [%a];\nst.global.u32 [%b], %r2;\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\n"), "") << "a store";
  EXPECT_EQ(polling("L: ld.acquire.gpu.global.u32 %r2, [%a];\nred.global.add.u32 [%b], %r2;\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\n"), "") << "a reduction";
  EXPECT_EQ(polling("L: ld.global.u32 %r2, [%a];\nadd.u32 %r1, %r1, %r2;\nsetp.lt.u32 %p, %r1, 9;\n@%p bra L;\n"), "") << "a weak load";
  EXPECT_EQ(polling("@%p bra L;\nld.acquire.gpu.global.u32 %r2, [%a];\nL: mov.u32 %r1, 0;\n"), "") << "no loop";
}

TEST(PollingLoops, MayCallFunctionsThatLook) {
  const std::string done = ".func (.reg .b32 %v) done(.reg .b64 %p) { call (%v), look, (%p); ret; }\n";
  const std::string loop = "mov.u32 %r1, 0;\nL: st.u32 [%b], %r1;\ncall (%r2), done, (%a);\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\n";
  EXPECT_EQ(may_poll(kLook + done, loop).substr(0, 7), ".xxxx..");
  EXPECT_EQ(may_poll(kLook + done, loop).find('x', 7), std::string::npos) << "the functions have no loop";
}
TEST(PollingLoops, DoNotCallFunctionsThatDoMore) {
  const std::string loop = "L: call (%r2), f, (%a);\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\n", head = ".func (.reg .b32 %v) f(.reg .b64 %p) { ";
  EXPECT_EQ(may_poll(head + "ld.acquire.gpu.global.u32 %v, [%p]; st.release.gpu.global.u32 [%p], %v; ret; }\n", loop), "") << "a strong store";
  EXPECT_EQ(may_poll(head + "atom.global.add.u32 %v, [%p], 1; red.global.add.u32 [%p], 1; ret; }\n", loop), "") << "a reduction";
  EXPECT_EQ(may_poll(head + "ld.global.u32 %v, [%p]; ret; }\n", loop), "") << "a weak load";
  EXPECT_EQ(may_poll(head + "ld.acquire.gpu.global.u32 %v, [%p]; call (%v), f, (%p); ret; }\n", loop), "") << "a function that calls itself";
  const std::string device = ".extern .func (.reg .b32 %v) __cudaCDP2LaunchDeviceV2(.reg .b64 %p);\n";
  EXPECT_EQ(may_poll(device + kLook, "L: call (%r2), look, (%a);\ncall (%r2), __cudaCDP2LaunchDeviceV2, (%a);\nsetp.eq.u32 %p, %r2, 0;\n@%p bra L;\n"), "") << "a function that nothing defines";
}

}  // namespace
}  // namespace drywell::test
