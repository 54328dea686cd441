// Order of the tcgen05 family: pairs that PTX orders without a wait (docs/facts/tcgen05.md §7.2), commits, allocation.
#include <gtest/gtest.h>

#include <cstring>

#include "support/ptx_run.h"
#include "support/tensor_run.h"

namespace drywell::test {
namespace {

using isa::mem;

MmaCase f16_case(uint64_t seed) {
  MmaCase c;
  c.n = 32;
  c.tame = true;
  c.seed = seed;
  return c;
}

// Eight MMAs on one accumulator, A and B stepped through two 128-byte spans: each reads the D of the one
// before.
TEST(Tcgen05Order, MmasOnOneAccumulatorRunInOrder) {
  std::vector<MmaCase> cases;
  std::vector<MmaData> data;
  std::vector<SmemOperands> places;
  std::vector<TensorImage> images(1);
  for (unsigned k = 0; k < 8; ++k) {
    MmaCase c = f16_case(10 + k);
    c.a = c.b = {false, Swizzling::s128, k % 4};
    c.accumulate = k != 0;
    cases.push_back(c);
    data.push_back(random_matrices(c));
    if (k != 0) data[k].c = expected_d(cases[k - 1], data[k - 1]);
    places.push_back(store_smem(c, data[k], images, k < 4 ? 0 : 24 * 1024));
  }
  std::vector<TensorImage> expected = images;
  const auto d = expected_d(cases[7], data[7]);
  for (unsigned m = 0; m < 128; ++m) {
    for (unsigned n = 0; n < 32; ++n) expected[0].cell(m, n) = d[m][n];
  }
  TensorProgram p;
  p.steps = {[&](const TensorOperands& o) {
    for (unsigned k = 0; k < 8; ++k) {
      MmaSetup s;
      s.a_desc = places[k].a_desc;
      s.b_desc = places[k].b_desc;
      emit_mma(cases[k], s, o);
    }
  }};
  expect_tensor(p, images, expected);
}

// One lane issues from a loop that is long enough for its warp to give the others a turn; they wait for it at a barrier.
TEST(Tcgen05Order, ALoopOfOneLaneIsNotTakenForADeadlock) {
  MmaCase c = f16_case(20);
  c.accumulate = false;
  const MmaData data = random_matrices(c);
  const MmaSetup setup = place(c, data);
  TensorProgram p;
  p.steps = {[&](const TensorOperands& o) { o.k.for_range(0, 200, 1, [&](isa::Reg) { emit_mma(c, setup, o); }); }};
  expect_tensor(p, setup.images, expected_images(c, data, setup));
}

void shift_rows(TensorImage& image, unsigned first, unsigned columns) {
  for (unsigned column = first; column < first + columns; ++column) {
    for (unsigned lane = 0; lane < 128; ++lane) {
      if (lane % 32 != 31) image.cell(lane, column) = image.cell(lane + 1, column);
    }
  }
}

// A of the reference after its rows moved down once more.
void shift_a(MmaData& data) {
  for (unsigned m = 0; m < 128; ++m) {
    if (m % 32 != 31) data.a[m] = data.a[m + 1];
  }
}

// shift -> mma, mma -> shift, mma.ashift -> mma: each in one thread, one step, no wait.
TEST(Tcgen05Order, ShiftsAndMmasRunInOrder) {
  for (const bool ashift : {false, true}) {
    MmaCase c = f16_case(30);
    c.a_in_tmem = true;
    c.ashift = ashift;
    MmaData data = random_matrices(c);
    const MmaSetup setup = place(c, data);
    std::vector<TensorImage> expected = setup.images;
    for (unsigned i = 0; i < 3; ++i) {
      if (i != 0) shift_a(data);
      data.c = expected_d(c, data);
      shift_rows(expected[0], setup.a_tmem, 8);
    }
    for (unsigned m = 0; m < 128; ++m) {
      for (unsigned n = 0; n < c.n; ++n) expected[0].cell(m, n) = data.c[m][n];
    }
    TensorProgram p;
    p.steps = {[&](const TensorOperands& o) {
      for (unsigned i = 0; i < 3; ++i) {
        emit_mma(c, setup, o);
        if (!ashift) o.k("tcgen05.shift.cta_group::1.down", mem(o.word(setup.a_tmem)));
      }
    }};
    expect_tensor(p, setup.images, expected);
  }
}

// shift -> cp.4x256b at lane 31: the copy refreshes the rows the shift leaves.
TEST(Tcgen05Order, ACopyRefreshesTheLastRowsAfterAShift) {
  RandomWords words(3);
  std::vector<TensorImage> images(1);
  images[0].smem.resize(1024);
  for (uint8_t& v : images[0].smem) v = static_cast<uint8_t>(words.next());
  images[0].fill_tmem(words);
  std::vector<TensorImage> expected = images;
  shift_rows(expected[0], 64, 8);
  for (unsigned r = 0; r < 4; ++r) {
    for (unsigned w = 0; w < 8; ++w)
      std::memcpy(&expected[0].cell(32 * r + 31, 64 + w), &images[0].smem[16 * r + w / 4 * 128 + w % 4 * 4],
                  4);
  }
  TensorProgram p;
  p.steps = {[](const TensorOperands& o) {
    o.k("tcgen05.shift.cta_group::1.down", mem(o.word(64)));
    o.k("tcgen05.cp.cta_group::1.4x256b", mem(o.word(31 << 16 | 64)),
        o.descriptor(uint64_t{8} << 16 | uint64_t{8} << 32 | uint64_t{1} << 46));
  }};
  expect_tensor(p, images, expected);
}

// An MMA of the same thread puts its D over the A that the four before read from tensor memory: S over P in attention backward
// (docs/deviations.md).
TEST(Tcgen05Order, AnMmaWritesOverTheAOfThoseBefore) {
  MmaCase first = f16_case(60), second = f16_case(61);
  first.a_in_tmem = true;
  first.accumulate = second.accumulate = false;
  second.n = 64;
  const MmaData data = random_matrices(first), over = random_matrices(second);
  const MmaSetup setup = place(first, data);
  TensorProgram p;
  MmaSetup behind;
  behind.d = setup.a_tmem;
  std::vector<TensorImage> images = setup.images;
  const SmemOperands operands = store_smem(second, over, images, 24 * 1024);
  behind.a_desc = operands.a_desc;
  behind.b_desc = operands.b_desc;
  std::vector<TensorImage> expected = images;
  const auto d = expected_d(first, data), d_over = expected_d(second, over);
  for (unsigned m = 0; m < 128; ++m) {
    for (unsigned n = 0; n < 4 * first.n; ++n) expected[0].cell(m, n) = d[m][n % first.n];
    for (unsigned n = 0; n < second.n; ++n) expected[0].cell(m, setup.a_tmem + n) = d_over[m][n];
  }
  p.steps = {[&](const TensorOperands& o) {
    for (MmaSetup next = setup; next.d < 4 * first.n; next.d += first.n) emit_mma(first, next, o);
    emit_mma(second, behind, o);
  }};
  expect_tensor(p, images, expected);
}

// Collector: fill, use, lastuse of one A with three B; values as without.
TEST(Tcgen05Order, CollectorUsesChangeNoValue) {
  std::vector<MmaCase> cases;
  const MmaCase base = f16_case(50);
  const MmaData data = random_matrices(base);
  const MmaSetup setup = place(base, data);
  MmaData step = data;
  for (const char* use : {".collector::a::fill", ".collector::a::use", ".collector::a::lastuse"}) {
    MmaCase c = base;
    c.qualifiers = use;
    cases.push_back(c);
    step.c = expected_d(c, step);
  }
  std::vector<TensorImage> expected = setup.images;
  for (unsigned m = 0; m < 128; ++m) {
    for (unsigned n = 0; n < base.n; ++n) expected[0].cell(m, n) = step.c[m][n];
  }
  TensorProgram p;
  p.steps = {[&](const TensorOperands& o) {
    for (const MmaCase& c : cases) emit_mma(c, setup, o);
  }};
  expect_tensor(p, setup.images, expected);
  cases.push_back(cases[1]);  // a use after the last use
  expect_tensor_fault(p, setup.images, Code::F3219);
}

// ---- kernels as text

constexpr sim::DriverKind kDrivers[] = {sim::DriverKind::eager, sim::DriverKind::lazy,
                                        sim::DriverKind::shuffled, sim::DriverKind::timed};

std::string kernel_text(const std::string& body) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k(.param .u64 out)\n{\n"
         ".reg .b32 %r<40>;\n.reg .b64 %d<8>;\n.reg .b16 %h<4>;\n.reg .pred %p<8>;\n.shared .align 8 .b8 "
         "bar[8];\n.shared .align 4 .b8 slot[16];\n"
         "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %cluster_ctarank;\nld.param.u64 %d0, [out];\nmov.u32 %r2, "
         "bar;\nmov.u32 %r3, slot;\n"
         "setp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p1, %r0, 32;\n" +
         body + "\nret;\n}\n";
}

struct Ran {
  sim::RunResult result;
  std::vector<uint32_t> out;
};
Ran run_text(const std::string& body, sim::DriverKind driver, uint32_t ctas = 1, uint32_t threads = 64) {
  sim::Device device;
  Ran r;
  r.out.resize(64);
  const GmemAddr out = device.allocate(256);
  device.write(out, r.out.data(), 256);
  const sim::LoadedModule m = device.load(parse_or_throw(kernel_text(body)));
  r.result = device.launch(m, "k", {.grid = {ctas}, .block = {threads}, .cluster = {ctas}},
                           sim::Args().add(out), {.driver = driver});
  device.read(r.out.data(), out, 256);
  return r;
}

void expect_out(const std::string& body, const std::vector<uint32_t>& expected, uint32_t ctas = 1) {
  for (const sim::DriverKind driver : kDrivers) {
    const Ran r = run_text(body, driver, ctas);
    ASSERT_TRUE(r.result.ok()) << sim::driver_name(driver) << ": " << r.result.fault->to_string();
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(r.out[i], expected[i]) << sim::driver_name(driver) << " word " << i;
  }
}
void expect_text_fault(const std::string& body, Code code, uint32_t ctas = 1) {
  const Ran r = run_text(body, sim::DriverKind::eager, ctas);
  ASSERT_FALSE(r.result.ok()) << code;
  EXPECT_EQ(r.result.fault->code, code) << r.result.fault->to_string();
}

const std::string kAlloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 ";
const std::string kDealloc = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 ";

TEST(TmemAllocation, SeveralLiveOnesAndReuse) {
  expect_out(
      "@!%p1 bra done;\n" + kAlloc + "[slot], 256;\n" + kAlloc + "[slot+4], 128;\n" + kAlloc +
          "[slot+8], 64;\n" +
          "ld.shared.u32 %r10, [slot];\nld.shared.u32 %r11, [slot+4];\nld.shared.u32 %r12, [slot+8];\n" +
          kDealloc + "%r11, 128;\n" + kAlloc + "[slot+12], 128;\n" + "ld.shared.u32 %r13, [slot+12];\n" +
          kDealloc + "%r10, 256;\n" + kDealloc + "%r12, 64;\n" + kDealloc + "%r13, 128;\n" +
          "@%p0 st.global.v4.u32 [%d0], {%r10, %r11, %r12, %r13};\ndone:",
      {0, 256, 384, 256});
}

// All four warps of a warpgroup free the same columns in CUTLASS's example 112: a hazard (H7217), not a fault.
TEST(TmemAllocation, ASecondFreeFreesNothingElse) {
  expect_out("@!%p1 bra done;\n" + kAlloc + "[slot], 64;\n" + kAlloc + "[slot+4], 64;\nld.shared.u32 %r10, [slot];\n" +
                 kDealloc + "%r10, 64;\n" + kDealloc + "%r10, 64;\n" + kAlloc + "[slot+8], 128;\n" + kAlloc + "[slot+12], 64;\n" +
                 "ld.shared.u32 %r11, [slot+4];\nld.shared.u32 %r12, [slot+8];\nld.shared.u32 %r13, [slot+12];\n@%p0 st.global.v4.u32 [%d0], {%r10, %r11, %r12, %r13};\n" +
                 kDealloc + "%r11, 64;\n" + kDealloc + "%r12, 128;\n" + kDealloc + "%r13, 64;\ndone:",
             {0, 64, 128, 0});
}

// CUTLASS's example 77 (backward) issues its last product behind the dealloc: a hazard (H7206), not a fault, while nobody else has the columns.
TEST(TmemAllocation, AUseOfFreedColumnsIsPerformed) {
  expect_out("@!%p1 bra done;\n" + kAlloc + "[slot], 32;\nld.shared.u32 %r10, [slot];\nmov.u32 %r11, 77;\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r11};\n" +
                 "tcgen05.wait::st.sync.aligned;\n" + kDealloc + "%r10, 32;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r12}, [%r10];\ntcgen05.wait::ld.sync.aligned;\n" +
                 "@%p0 st.global.u32 [%d0], %r12;\ndone:",
             {77});
}

// Warp 1 allocates columns that warp 0 has: it blocks until they are free.
TEST(TmemAllocation, BlocksUntilColumnsAreFree) {
  expect_out("@!%p1 bra second;\n" + kAlloc +
                 "[slot], 512;\nbar.sync 0;\nld.shared.u32 %r10, [slot];\nmov.u32 %r20, 0;\n" +
                 "spin: add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p2, %r20, 200;\n@%p2 bra spin;\n@%p0 "
                 "st.global.u32 [%d0], 7;\n" +
                 kDealloc + "%r10, 512;\nbra done;\n" + "second:\nbar.sync 0;\n" + kAlloc +
                 "[slot+4], 256;\nld.global.u32 %r12, [%d0];\nld.shared.u32 %r11, [slot+4];\n" +
                 "st.global.u32 [%d0+4], %r12;\nst.global.u32 [%d0+8], %r11;\n" + kDealloc +
                 "%r11, 256;\ndone:",
             {7, 7, 0});
}

TEST(TmemAllocation, RefusesWhatPtxForbids) {
  const std::string warp0 = "@!%p1 bra done;\n";
  expect_text_fault(warp0 + "mov.u32 %r5, 48;\n" + kAlloc + "[slot], %r5;\ndone:", Code::F3201);
  expect_text_fault(
      warp0 + "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + kAlloc + "[slot], 32;\ndone:",
      Code::F3202);
  expect_text_fault(warp0 + "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32;\ndone:",
                    Code::F3204);
  expect_text_fault(warp0 + kAlloc + "[slot+2], 32;\ndone:", Code::F3205);
  expect_text_fault(warp0 + "shl.b32 %r5, %r0, 5;\nadd.u32 %r5, %r5, 32;\n" + kAlloc + "[slot], %r5;\ndone:",
                    Code::F3206);
  expect_text_fault(warp0 + kDealloc + "0, 32;\ndone:", Code::F3207);
  expect_text_fault(warp0 + kAlloc + "[slot], 64;\n" + kDealloc + "0, 32;\ndone:", Code::F3208);
  // Freed with another size: that allocation was never made.
  expect_text_fault(warp0 + kAlloc + "[slot], 64;\n" + kDealloc + "0, 64;\n" + kDealloc + "0, 32;\ndone:",
                    Code::F3207);
  expect_text_fault(warp0 + kAlloc + "[slot], 64;\ndone:", Code::F3214);
}

// cta_group::2: both CTAs get the same columns; the first to come waits for the other. Alone it waits for
// ever.
TEST(TmemAllocation, PairsAllocateTogether) {
  const std::string alloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;\n",
                    dealloc = "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 128;\n";
  const std::string delay =
      "setp.ne.u32 %p3, %r1, 1;\n@%p3 bra go;\nmov.u32 %r20, 0;\nspin: add.u32 %r20, %r20, 1;\nsetp.lt.u32 "
      "%p2, %r20, 300;\n@%p2 bra spin;\ngo:\n";
  expect_out("@!%p1 bra done;\n" + delay + alloc + alloc +
                 "ld.shared.u32 %r10, [slot];\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d1, %d0, %d1;\n@%p0 "
                 "st.global.u32 [%d1], %r10;\n" +
                 dealloc + "mov.u32 %r10, 0;\n" + dealloc + "done:",
             {128, 128, 128, 128}, 4);
  expect_text_fault("@!%p1 bra done;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra done;\n" + alloc + "done:", Code::F3601,
                    2);
}

const std::string kBarrier =
    "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync "
    "0;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
// Waits if its CTA's bit is set in %r30, then all CTAs test the barrier once; out[rank] is the result.
const std::string kReport =
    "shr.u32 %r31, %r30, %r1;\nand.b32 %r31, %r31, 1;\nsetp.eq.u32 %p4, %r31, 0;\n@%p4 bra asked;\n"
    "again: mbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], 0;\n@!%p5 bra again;\nasked:\nbar.sync 0;\n"
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nmbarrier.test_wait.parity.shared::cta."
    "b64 %p5, [bar], 0;\n"
    "selp.u32 %r32, 1, 0, %p5;\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d1, %d0, %d1;\n@%p0 st.global.u32 [%d1], "
    "%r32;\n";

TEST(Tcgen05Commit, ArrivesInTheCtasOfTheMask) {
  const std::string commit =
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r2], "
      "%h0;\n";
  expect_out(kBarrier +
                 "mov.u32 %r30, 13;\nsetp.eq.u32 %p2, %r1, 1;\nand.pred %p2, %p2, %p0;\nmov.b16 %h0, "
                 "13;\n@!%p2 bra issued;\n" +
                 commit + "issued:\n" + kReport,
             {1, 0, 1, 1}, 4);
}

TEST(Tcgen05Commit, ArrivesAtTheBarrierOfAnotherCta) {
  const std::string commit =
      "mapa.shared::cluster.u32 %r4, %r2, "
      "2;\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];\n";
  expect_out(kBarrier +
                 "mov.u32 %r30, 4;\nsetp.eq.u32 %p2, %r1, 0;\nand.pred %p2, %p2, %p0;\n@!%p2 bra issued;\n" +
                 commit + "issued:\n" + kReport,
             {0, 0, 1, 0}, 4);
}

TEST(Tcgen05Commit, NamesCtasAndBarriersThatExist) {
  const std::string commit =
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r2], "
      "%h0;\n";
  expect_text_fault(kBarrier + "mov.b16 %h0, 4;\n@!%p0 bra issued;\n" + commit + "issued:", Code::F3501, 2);
  expect_text_fault(
      "@!%p0 bra issued;\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
      "[%r2];\nissued:",
      Code::F3102);
}

}  // namespace
}  // namespace drywell::test
