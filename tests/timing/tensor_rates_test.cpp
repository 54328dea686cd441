// Rates of the tensor core and of tensor memory through kernels on the timed driver, against docs/facts/timing.md §4 and §5: every kind,
// small N, weight-stationary, tcgen05.cp by shape, and shared memory while the tensor core reads it. (umma_test.cpp has the
// tables by shape.) Values are off: every shape runs.
#include <gtest/gtest.h>

#include <functional>

#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/smem_descriptor.h"
#include "sim/timing/server.h"
#include "tests/timing/harness.h"
#include "tests/timing/umma_descriptor.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

/// Places that an operation of the batch may use.
struct Batch {
  Reg tmem, b, on;
};
using EmitOne = std::function<void(KernelBuilder&, const Batch&)>;

// Cycles of each operation: issue of the first to the return of the wait on the commit after the last, of two batches.
double batch_cycles(const EmitOne& one, int count) {
  TimedKernel kernel;
  kernel.values = false;
  kernel.launch.dynamic_smem = 64 << 10;
  const auto r = run_timed_kernel(kernel, [&](KernelBuilder& k, Symbol, const auto&) {
    const Symbol bar = k.shared("bar", 8, 8), slot = k.shared("slot", 4, 4), data = k.dynamic_shared("data", 1024);
    const Reg tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred), on = k.reg(Mod::pred);
    k("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", mem(slot), 512);
    k("setp.eq.u32", first, tid, 0);
    k("setp.eq.u32", on, tid, tid);
    k.when(first)("mbarrier.init.shared::cta.b64", mem(bar), 1);
    k("bar.sync", 0);
    const Reg bar_at = k.def("mov.u32", bar);
    k.def("mov.u32", data);
    const Batch batch{k.def("ld.shared.b32", mem(slot)), k.def("mov.b64", static_cast<int64_t>(SmemDescriptor::make(1024, 16, 1024, Swizzle::b128).encode())), on};
    k.elect_one([&] {
      for (int i = 0; i < count; ++i) one(k, batch);
      k("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", mem(bar_at));
    });
    k.do_while([&] {
      const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
      k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
      k("not.pred", again, done);
      return again;
    });
    k("tcgen05.dealloc.cta_group::1.sync.aligned.b32", batch.tmem, 512);
  });
  return static_cast<double>(r.result.cycles);
}

double interval(const EmitOne& one) { return (batch_cycles(one, 96) - batch_cycles(one, 32)) / 64; }

struct Kind {
  const char* text;
  MmaKind kind;
  MmaElement element;
  MmaAccumulator d;
};
const Kind kKinds[] = {
    {"kind::f16", MmaKind::f16, MmaElement::bf16, MmaAccumulator::f32},
    {"kind::tf32", MmaKind::tf32, MmaElement::tf32, MmaAccumulator::f32},
    {"kind::f8f6f4", MmaKind::f8f6f4, MmaElement::e4m3, MmaAccumulator::f32},
    {"kind::f8f6f4", MmaKind::f8f6f4, MmaElement::e2m1, MmaAccumulator::f32},
    {"kind::i8", MmaKind::i8, MmaElement::s8, MmaAccumulator::s32},
    {"kind::mxf8f6f4.block_scale", MmaKind::mxf8f6f4, MmaElement::e4m3, MmaAccumulator::f32},
    {"kind::mxf4.block_scale.scale_vec::2X", MmaKind::mxf4, MmaElement::e2m1, MmaAccumulator::f32},
    {"kind::mxf4nvf4.block_scale.scale_vec::4X", MmaKind::mxf4nvf4, MmaElement::e2m1, MmaAccumulator::f32},
};

EmitOne mma(const Kind& kind, uint16_t m, uint16_t n) {
  InstrDescriptor d;
  d.kind = kind.kind;
  d.m = m;
  d.n = n;
  d.a_type = d.b_type = code_of(kind.kind, kind.element);
  d.d_type = static_cast<uint8_t>(kind.d);
  d.scale_ue8m0 = kind.kind == MmaKind::mxf8f6f4 || kind.kind == MmaKind::mxf4;
  if (is_block_scaled(kind.kind)) d.d_type = 0;
  return [text = "tcgen05.mma.cta_group::1." + std::string(kind.text), d](KernelBuilder& k, const Batch& b) {
    const Reg idesc = k.def("mov.b32", d.encode());
    if (is_block_scaled(d.kind)) {
      k(OpText(text), mem(b.tmem), b.b, b.b, idesc, mem(b.tmem, 256), mem(b.tmem, 288), b.on);
    } else {
      k(OpText(text), mem(b.tmem), b.b, b.b, idesc, b.on);
    }
  };
}

// "same II across kinds: all 128 cyc at M=128 N=256" (docs/facts/timing.md §4.1).
TEST(UmmaKinds, AllTakeTheSameTime) {
  for (const Kind& kind : kKinds) EXPECT_NEAR(interval(mma(kind, 128, 256)), 128, 0.05 * 128) << kind.text;
}

// MX-scaled: one to five cycles more than the dense kind (docs/facts/timing.md §4.2).
TEST(UmmaKinds, ScaledOnesTakeALittleLonger) {
  const double dense = batch_cycles(mma(kKinds[2], 128, 128), 1), scaled = batch_cycles(mma(kKinds[5], 128, 128), 1);
  EXPECT_GE(scaled - dense, 1);
  EXPECT_LE(scaled - dense, 5);
}

// 32 + N/4 if only the fetch of A and B counts; N = 32 and 16 were measured as 41 and 39 with a loop around them.
TEST(UmmaSmallN, IsFetchBound) {
  for (const auto& [n, cycles] : {std::pair{8, 34.0}, {16, 36.0}, {32, 40.0}})
    EXPECT_NEAR(interval(mma(kKinds[0], 128, static_cast<uint16_t>(n))), cycles, 0.05 * cycles) << n;
}

// "ws M64 N256: about 76 cyc" (docs/facts/timing.md §4.1, one weak source); the fetch of A and B takes 80.
TEST(UmmaWeightStationary, TakesThePublishedTime) {
  const double cycles = interval([&](KernelBuilder& k, const Batch& b) {
    k("tcgen05.mma.ws.cta_group::1.kind::f16", mem(b.tmem), b.b, b.b, k.def("mov.b32", bf16_descriptor(64, 256).encode()), b.on);
  });
  EXPECT_NEAR(cycles, 78, 0.05 * 78);
}

// docs/facts/timing.md §5, one producer: 64 to 66 for 4 KiB, 51.3 and 20 in batches, 18 for scale factors.
TEST(TmemCopyRate, IsThePublishedOneByShape) {
  for (const auto& [shape, cycles] : {std::pair{"128x256b", 64.0}, {"128x128b", 51.3}, {"64x128b.warpx2::02_13", 20.0}, {"32x128b.warpx4", 18.0}}) {
    const std::string op = std::string("tcgen05.cp.cta_group::1.") + shape;
    EXPECT_NEAR(interval([&](KernelBuilder& k, const Batch& b) { k(OpText(op), mem(b.tmem), b.b); }), cycles, 0.05 * cycles) << shape;
  }
}

// "Tensor wins; each M128N128 SS MMA removes 64 LDS wavefronts (65.75 measured)": a load waits until the core has read.
TEST(SharedMemoryBesideTheTensorCore, LoadsGetWhatIsLeft) {
  SmemPort port;
  for (int i = 0; i < 16; ++i) port.reserve(64.0 * i, 64);
  EXPECT_NEAR(port.begin(0, 1), 16 * 65.75, 0.05 * 16 * 65.75);
}

}  // namespace
}  // namespace drywell::sim
