// Shared memory and tensor memory while the tensor core is always busy: the accesses that wait (docs/facts/timing.md §4.3 and §5).
#include <gtest/gtest.h>

#include <functional>

#include "drywell/isa/smem_descriptor.h"
#include "tests/timing/harness.h"
#include "tests/timing/umma_descriptor.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

struct Place {
  Reg tmem, data, memory, bar;  // tensor memory; 64 KiB of shared memory; global memory; an mbarrier
};
using Work = std::function<void(KernelBuilder&, const Place&)>;

/// Warps 4 to 7 do `work`; warp 0 issues `mmas` of M=128, N=256 with A and B in shared memory: 128 cycles each, 96 of them fetch.
IssueLog beside(int mmas, const Work& work) {
  TimedKernel kernel;
  kernel.values = false;
  kernel.launch = {.grid = {1}, .block = {256}, .dynamic_smem = 66 << 10};
  const auto r = run_timed_kernel(kernel, [&](KernelBuilder& k, Symbol pointer, const auto&) {
    const Symbol bar = k.shared("bar", 16, 8), slot = k.shared("slot", 4, 4), data = k.dynamic_shared("data", 1024);
    const Reg tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred), issuer = k.reg(Mod::pred), others = k.reg(Mod::pred), on = k.reg(Mod::pred);
    k("setp.eq.u32", first, tid, 0);
    k("setp.lt.u32", issuer, tid, 32);
    k("setp.ge.u32", others, tid, 128);
    k("setp.eq.u32", on, tid, tid);
    k.if_(issuer, [&] { k("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", mem(slot), 512); });
    k.when(first)("mbarrier.init.shared::cta.b64", mem(bar), 1);
    k.when(first)("mbarrier.init.shared::cta.b64", mem(bar, 8), 1);
    k("bar.sync", 0);
    const Place p{k.def("ld.shared.b32", mem(slot)), k.def("mov.u32", data), k.load_param(pointer, Mod::u64), k.def("mov.u32", bar)};
    k.if_(issuer, [&] {
      const Reg idesc = k.def("mov.b32", bf16_descriptor(128, 256).encode()), ab = k.def("mov.b64", static_cast<int64_t>(SmemDescriptor::make(1024, 16, 1024, Swizzle::b128).encode()));
      k.elect_one([&] {
        for (int i = 0; i < mmas; ++i) k("tcgen05.mma.cta_group::1.kind::f16", mem(p.tmem), ab, ab, idesc, on);
        k("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", mem(p.bar));
      });
      k.do_while([&] {
        const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
        k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
        k("not.pred", again, done);
        return again;
      });
    });
    k.if_(others, [&] { work(k, p); });
    k("bar.sync", 0);
    k.if_(issuer, [&] { k("tcgen05.dealloc.cta_group::1.sync.aligned.b32", p.tmem, 512); });
  });
  return r.log;
}

constexpr int kBusy = 48;  // MMAs: 6,144 cycles

double rate(const IssueLog& log, const char* mnemonic, size_t skip) {
  auto cycles = log.of(mnemonic, 4);
  cycles.erase(cycles.begin(), cycles.begin() + static_cast<ptrdiff_t>(skip));
  return spacing(cycles);
}

double mma_cycles(const IssueLog& log) { return static_cast<double>(log.of("mbarrier.try_wait").front() - log.of("tcgen05.mma").front()); }

Work loads(int count) {
  return [count](KernelBuilder& k, const Place& p) {
    const Reg at = k.def("add.u32", p.data, k.def("shl.b32", k.def("mov.u32", SpecialReg::laneid), 2));
    std::vector<Reg> d;
    for (int i = 0; i < 8; ++i) d.push_back(k.reg(Mod::u32));
    for (int i = 0; i < count; ++i) k("ld.shared.u32", d[static_cast<size_t>(i) % 8], mem(at, 128 * i));
  };
}

// "Tensor wins": in 128 cycles an MMA leaves 32 wavefronts to the loads, which alone have one per cycle.
TEST(BesideTheTensorCore, LoadsGetTheCyclesItsFetchLeaves) {
  const IssueLog alone = beside(1, loads(256)), busy = beside(kBusy, loads(256));
  EXPECT_NEAR(rate(alone, "ld", 64), 4, 0.2) << "four warps, a wavefront a cycle";
  EXPECT_NEAR(rate(busy, "ld", 64), 16, 0.8);
  EXPECT_NEAR(mma_cycles(busy), mma_cycles(beside(kBusy, [](auto&, auto&) {})), 0.01 * kBusy * 128) << "the loads cost it nothing";
}

// "STS during continuous MMA: 85% of its solo rate".
TEST(BesideTheTensorCore, StoresKeepMostOfTheirRate) {
  const Work stores = [](KernelBuilder& k, const Place& p) {
    const Reg lane = k.def("mov.u32", SpecialReg::laneid), at = k.def("add.u32", p.data, k.def("shl.b32", lane, 2));
    for (int i = 0; i < 256; ++i) k("st.shared.u32", mem(at), lane);
  };
  EXPECT_NEAR(rate(beside(1, stores), "st", 64) / rate(beside(kBusy, stores), "st", 64), 0.85, 0.05 * 0.85);
}

double copy_cycles(int mmas, bool load) {
  constexpr uint32_t kBytes = 4096;
  constexpr int kCopies = 16;
  const IssueLog log = beside(mmas, [&](KernelBuilder& k, const Place& p) {
    const auto wait = [&](int parity) {
      k.do_while([&] {
        const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
        k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(p.bar, 8), parity);
        k("not.pred", again, done);
        return again;
      });
    };
    const Reg mine = k.reg(Mod::pred);
    k("setp.eq.u32", mine, k.def("mov.u32", SpecialReg::tid_x), 128);
    for (int round = 0; round < (load ? 2 : 1); ++round) {  // the second time the L2 has it
      k.if_(mine, [&] {
        if (load) k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(p.bar, 8), kBytes * kCopies);
        for (int i = 0; i < kCopies; ++i) {
          if (load) {
            k("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", mem(p.data, i * kBytes), mem(p.memory, i * kBytes), kBytes, mem(p.bar, 8));
          } else {
            k("cp.async.bulk.global.shared::cta.bulk_group", mem(p.memory, i * kBytes), mem(p.data, i * kBytes), kBytes);
          }
        }
        if (!load) {
          k("cp.async.bulk.commit_group");
          k("cp.async.bulk.wait_group.read", 0);
        }
      });
      if (load) wait(round);
    }
  });
  const auto end = load ? log.of("mbarrier.try_wait", 4).back() : log.of("cp.async.bulk.wait_group", 4).back();
  const auto starts = log.of("cp.async.bulk", 4);
  return static_cast<double>(end - starts[load ? kCopies : 0]);
}

// "TMA or bulk store SMEM to GMEM: 31.8 B/clk/SM solo; about half during continuous MMA".
TEST(BesideTheTensorCore, BulkStoresGoAtHalfTheirRate) {
  const double alone = copy_cycles(1, false), busy = copy_cycles(kBusy, false);
  EXPECT_NEAR(16 * 4096 / alone, 31.8, 0.05 * 31.8);
  EXPECT_NEAR(busy / alone, 2, 0.1);
}

// "bulk load GMEM(L2) to SMEM: about 120 B/clk for one SM alone; not slowed by MMA".
TEST(BesideTheTensorCore, BulkLoadsKeepTheirRate) { EXPECT_NEAR(copy_cycles(kBusy, true) / copy_cycles(1, true), 1, 0.02); }

// "MMA time not affected by ld/st; ld/st lose at most about 1/32 of slots".
TEST(BesideTheTensorCore, TensorMemoryLoadsLoseAThirtySecond) {
  const Work reads = [](KernelBuilder& k, const Place& p) {
    std::vector<RegArray> sets;
    for (int s = 0; s < 3; ++s) sets.push_back(k.regs(Mod::b32, 64));
    for (int i = 0; i < 40; ++i) k("tcgen05.ld.sync.aligned.32x32b.x64.b32", sets[static_cast<size_t>(i) % 3], mem(p.tmem));
    k("tcgen05.wait::ld.sync.aligned");
  };
  const IssueLog alone = beside(1, reads), busy = beside(kBusy, reads);
  const double solo = rate(alone, "tcgen05.ld", 8), with = rate(busy, "tcgen05.ld", 8);
  EXPECT_NEAR(solo, 32, 1.6);
  EXPECT_GE(with, solo);
  EXPECT_LE(with, solo * (1 + 1.0 / 32) + 0.5);
  EXPECT_NEAR(mma_cycles(busy), mma_cycles(beside(kBusy, [](auto&, auto&) {})), 0.01 * kBusy * 128);
}

}  // namespace
}  // namespace drywell::sim
