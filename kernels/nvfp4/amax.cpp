// Largest magnitudes: the plain reduction, and the fused kernel that finds the maximum before and after the transform.
#include <algorithm>

#include "drywell/core/bits.h"
#include "drywell/isa/pipeline.h"
#include "drywell/isa/tensor_map.h"
#include "kernels/nvfp4/nvfp4.h"

namespace drywell::kernels::nvfp4 {
namespace {

using namespace isa;

constexpr uint32_t kAmaxThreads = 256;
constexpr uint32_t kAmaxBlocksPerSm = 8;

/// Keeps the larger magnitude in each half; ignores NaN.
void fold(KernelBuilder& k, Reg largest, Reg pair) { k("max.bf16x2", largest, largest, k.def("abs.bf16x2", pair)); }

/// Reduces the threads' maxima to one value, atomically in memory: magnitudes of f32 have the same order as their bits.
void reduce_amax(KernelBuilder& k, Reg pairs, Reg tid, uint32_t warps, Symbol scratch, Reg out) {
  const auto halves = widen_bf16(k, pairs);
  const Reg mine = k.reg(Mod::b32), lead = k.reg(Mod::pred), first = k.reg(Mod::pred);
  k("mov.b32", mine, k.def("max.f32", halves[0], halves[1]));
  const Reg of_warp = k.def("redux.sync.max.u32", mine, -1);
  const Reg slots = k.def("mov.u32", scratch), slot = k.def("mad.lo.u32", k.def("shr.u32", tid, 5), 4, slots);
  k("setp.eq.u32", lead, k.def("and.b32", tid, 31), 0);
  k.when(lead)("st.shared.b32", mem(slot), of_warp);
  k("bar.sync", 0);
  k("setp.eq.u32", first, tid, 0);
  k.if_(first, [&] {
    const Reg all = k.def("ld.shared.b32", mem(slots));
    for (uint32_t w = 1; w < warps; ++w) k("max.u32", all, all, k.def("ld.shared.b32", mem(slots, 4 * w)));
    k("red.global.max.u32", mem(out), all);
  });
}

// ---- rht-amax

constexpr uint32_t kTile = 128, kStage = 64, kStages = 4, kBuffers = 2, kRhtThreads = 128;
constexpr uint32_t kStageBytes = kStage * kStage * 2, kRowBytes = kStage * 2;

class RhtAmax {
 public:
  RhtAmax(const RhtAmaxOptions& o, Target target) : o_(o), k_("rht_amax", target) {}

  Module build() {
    prologue();
    for (uint32_t stage = 0; stage < kStages; ++stage) {
      if (stage + 1 < kStages) load(stage + 1);
      mbarrier_wait(k_, k_.def("add.u32", barriers_, 8 * stage), 0);
      for (uint32_t stripe = 0; stripe < kStage / 16; ++stripe) block(stage % kBuffers, stripe);
      k_("fence.proxy.async.shared::cta");
      k_("bar.sync", 0);
    }
    if (o_.identity) reduce_amax(k_, identity_, tid_, 4, scratch_[0], k_.load_param(identity_out_, Mod::u64));
    if (o_.transformed) reduce_amax(k_, transformed_, tid_, 4, scratch_[1], k_.load_param(transformed_out_, Mod::u64));
    return k_.finish();
  }

 private:
  void prologue() {
    map_ = k_.param_bytes("map_x", kTensorMapBytes, 64);
    signs_ = k_.param(Mod::u32, "signs");
    identity_out_ = k_.param(Mod::u64, "amax");
    transformed_out_ = k_.param(Mod::u64, "amax_rht");
    k_.directives().maxntid = {kRhtThreads, 1, 1};
    buffers_ = k_.def("mov.u32", k_.shared("in", kBuffers * kStageBytes, 1024));
    barriers_ = k_.def("mov.u32", k_.shared("barriers", 8 * kStages, 8));
    scratch_[0] = k_.shared("warp_amax", 16, 4);
    scratch_[1] = k_.shared("warp_amax_rht", 16, 4);
    tid_ = k_.def("mov.u32", SpecialReg::tid_x);
    identity_ = k_.def("mov.b32", 0);
    transformed_ = k_.def("mov.b32", 0);
    leader_ = k_.reg(Mod::pred);
    k_("setp.eq.u32", leader_, tid_, 0);
    k_.if_(leader_, [&] {
      for (uint32_t s = 0; s < kStages; ++s) k_("mbarrier.init.shared::cta.b64", mem(barriers_, 8 * s), 1);
      k_("fence.mbarrier_init.release.cluster");
      k_("fence.proxy.async.shared::cta");
    });
    k_("bar.sync", 0);
    load(0);
    if (o_.transformed) hadamard_fragment();
    tile_addresses();
  }

  void load(uint32_t stage) {
    const Reg x = k_.def("mad.lo.u32", k_.def("mov.u32", SpecialReg::ctaid_x), kTile, stage % 2 * kStage);
    const Reg y = k_.def("mad.lo.u32", k_.def("mov.u32", SpecialReg::ctaid_y), kTile, stage / 2 * kStage);
    k_.if_(leader_, [&] {
      k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(barriers_, 8 * stage), kStageBytes);
      k_("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", mem(buffers_, stage % kBuffers * kStageBytes),
         tensor(k_.def("cvta.param.u64", map_), {x, y}), mem(barriers_, 8 * stage));
    });
  }

  // "The random hadamard matrix is constructed on device, where 8 values … are created (and reused) per thread": the B
  // fragments of two m16n8k16, +-0.25 in bf16.
  void hadamard_fragment() {
    zero_ = k_.regs(Mod::f32, 4, "zero");
    for (const Reg z : zero_) k_("mov.f32", z, 0.0f);
    const Reg signs = k_.load_param(signs_, Mod::u32), lane = k_.def("and.b32", tid_, 31);
    const Reg k0 = k_.def("shl.b32", k_.def("and.b32", lane, 3), 1), n0 = k_.def("shr.u32", lane, 2);
    const auto entry = [&](uint32_t dk, uint32_t dn) {
      const Reg row = k_.def("add.u32", k0, dk), column = k_.def("add.u32", n0, dn);
      const Reg parity = k_.def("popc.b32", k_.def("and.b32", row, column));
      const Reg negative = k_.def("and.b32", k_.def("xor.b32", parity, k_.def("shr.u32", signs, row)), 1);
      return k_.def("mad.lo.u32", negative, 0x8000, 0x3E80);
    };
    for (uint32_t n = 0; n < 2; ++n) {
      for (uint32_t half = 0; half < 2; ++half) {
        const Reg low = entry(8 * half, 8 * n), high = entry(8 * half + 1, 8 * n);
        hadamard_[n][half] = k_.def("mad.lo.u32", high, 0x10000, low);
      }
    }
  }

  // A lane holds the address of one row of four 8 x 8 matrices: rows 0-7 and 8-15 of the stripe, two chunks of eight
  // columns of the warp's sixteen, at their place in the 128-byte swizzle.
  void tile_addresses() {
    const Reg lane = k_.def("and.b32", tid_, 31), warp = k_.def("shr.u32", tid_, 5);
    const Reg row7 = k_.def("and.b32", lane, 7);
    const Reg row = k_.def("add.u32", row7, k_.def("shl.b32", k_.def("shr.u32", lane, 4), 3));
    const Reg chunk = k_.def("mad.lo.u32", warp, 2, k_.def("and.b32", k_.def("shr.u32", lane, 3), 1));
    const Reg swizzled = k_.def("shl.b32", k_.def("xor.b32", chunk, row7), 4);
    row_address_ = k_.def("add.u32", buffers_, k_.def("mad.lo.u32", row, kRowBytes, swizzled));
  }

  void block(uint32_t buffer, uint32_t stripe) {
    const RegArray a = k_.regs(Mod::b32, 4, "a");
    k_("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", a, mem(row_address_, buffer * kStageBytes + stripe * 16 * kRowBytes));
    if (o_.transformed) {
      for (const auto& b : hadamard_) {
        const RegArray d = k_.regs(Mod::f32, 4, "d");
        k_("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", d, a, vec(b[0], b[1]), zero_);
        fold(k_, transformed_, k_.def("cvt.rn.bf16x2.f32", d[1], d[0]));
        fold(k_, transformed_, k_.def("cvt.rn.bf16x2.f32", d[3], d[2]));
      }
    }
    if (!o_.identity) return;
    for (const Reg pair : a) fold(k_, identity_, pair);
  }

  RhtAmaxOptions o_;
  KernelBuilder k_;
  Symbol map_{}, signs_{}, identity_out_{}, transformed_out_{}, scratch_[2]{};
  Reg buffers_, barriers_, tid_, leader_, identity_, transformed_, row_address_;
  Reg hadamard_[2][2];
  RegArray zero_;
};

}  // namespace

Module build_amax(Target target) {
  KernelBuilder k("amax", target);
  const Symbol x = k.param(Mod::u64, "x"), vectors = k.param(Mod::u32, "vectors"), out = k.param(Mod::u64, "amax");
  k.directives().maxntid = {kAmaxThreads, 1, 1};
  const Symbol scratch = k.shared("warp_amax", kAmaxThreads / 32 * 4, 4);
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), from = k.load_param(x, Mod::u64);
  const Reg first = k.def("mad.lo.u32", k.def("mov.u32", SpecialReg::ctaid_x), kAmaxThreads, tid);
  const Reg step = k.def("mul.lo.u32", k.def("mov.u32", SpecialReg::nctaid_x), kAmaxThreads);
  const Reg largest = k.def("mov.b32", 0);
  k.for_range(first, k.load_param(vectors, Mod::u32), step, [&](Reg i) {
    const RegArray words = k.regs(Mod::b32, 4, "x");
    k("ld.global.v4.b32", words, mem(k.def("mad.wide.u32", i, 16, from)));
    for (const Reg w : words) fold(k, largest, w);
  });
  reduce_amax(k, largest, tid, kAmaxThreads / 32, scratch, k.load_param(out, Mod::u64));
  return k.finish();
}

sim::LaunchConfig amax_launch(const Bf16Matrix& x, uint32_t sm_count) {
  const uint64_t blocks = ceil_div(x.rows * x.columns / 8, kAmaxThreads);
  return {.grid = {static_cast<uint32_t>(std::min<uint64_t>(blocks, kAmaxBlocksPerSm * sm_count))}, .block = {kAmaxThreads}};
}

sim::RunResult launch_amax(Accelerator& device, const Bf16Matrix& x, GmemAddr amax, const sim::RunOptions& run) {
  device.load(build_amax(device.arch().target));
  sim::Args args;
  args.add(x.at).add(static_cast<uint32_t>(x.rows * x.columns / 8)).add(amax);
  return device.launch("amax", amax_launch(x, device.sm_count()), args, run);
}

Module build_rht_amax(const RhtAmaxOptions& o, Target target) { return RhtAmax(o, target).build(); }

sim::LaunchConfig rht_amax_launch(const Bf16Matrix& x) {
  return {.grid = {static_cast<uint32_t>(ceil_div(x.columns, kTile)), static_cast<uint32_t>(ceil_div(x.rows, kTile))}, .block = {kRhtThreads}};
}

sim::RunResult launch_rht_amax(Accelerator& device, const Bf16Matrix& x, const RhtAmaxOptions& o, uint16_t signs, GmemAddr identity,
                               GmemAddr transformed, const sim::RunOptions& run) {
  TensorMapFields f;
  f.type = TensorType::bf16;
  f.rank = 2;
  f.address = x.at.value();
  f.dim = {x.columns, x.rows, 1, 1, 1};
  f.stride[0] = 2 * x.columns;
  f.box = {kStage, kStage, 1, 1, 1};
  f.swizzle = Swizzle::b128;
  device.load(build_rht_amax(o, device.arch().target));
  sim::Args args;
  args.add(device.encode(f)).add(uint32_t{signs}).add(identity).add(transformed);
  return device.launch("rht_amax", rht_amax_launch(x), args, run);
}

}  // namespace drywell::kernels::nvfp4
