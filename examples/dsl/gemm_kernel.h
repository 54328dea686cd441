// D = A x B^T in bf16 with f32 sums: TMA brings tiles to shared memory, tcgen05 multiplies them, mbarriers
// order both. docs/dsl.md explains this file block by block. gemm.cpp runs it, gemm_library.cpp registers it for the command.
#pragma once

#include "drywell/core/types.h"
#include "drywell/isa/builder.h"
#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/pipeline.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tensor_map.h"

namespace dsl_example {

using namespace drywell;
using namespace drywell::isa;

inline constexpr uint32_t kTile = 128, kTileK = 64, kStages = 4;         // a CTA computes 128 x 128 of D
inline constexpr uint32_t kOperandBytes = kTile * kTileK * 2;            // 128 rows of 128 bytes: one swizzle atom wide
inline constexpr uint32_t kSmemA = 0, kSmemB = kStages * kOperandBytes;  // offsets in shared memory
inline constexpr uint32_t kRing = 2 * kStages * kOperandBytes, kDone = kRing + 16 * kStages, kTmemSlot = kDone + 8;
inline constexpr uint32_t kSmemBytes = kTmemSlot + 8, kThreads = 192;  // warps 0-3 epilogue, 4 loads, 5 multiplies

/// The kernel while it is built: registers that all roles use. With `pair`, two CTAs of a cluster share their tile of B: each loads half
/// of its rows and multicasts it to both.
struct Gemm {
  bool pair = false;
  KernelBuilder k{"gemm", Target::sm_100a};
  Symbol map_a = k.param_bytes("map_a", 128, 64), map_b = k.param_bytes("map_b", 128, 64);
  Reg d = k.named("d", k.load_param(k.param(Mod::u64, "d"), Mod::u64));
  Reg columns = k.named("columns", k.load_param(k.param(Mod::u32, "n"), Mod::u32));
  Reg k_tiles = k.named("k_tiles", k.load_param(k.param(Mod::u32, "k_tiles"), Mod::u32));
  Reg smem = k.named("smem", k.def("mov.u32", k.dynamic_shared("tiles", 1024)));
  Reg thread = k.named("thread", k.def("mov.u32", SpecialReg::tid_x));
  Reg warp = k.named("warp", k.def("shr.u32", thread, 5));
  Reg tile_m = k.named("tile_m", k.def("shl.b32", k.def("mov.u32", SpecialReg::ctaid_x), 7));
  Reg tile_n = k.named("tile_n", k.def("shl.b32", k.def("mov.u32", SpecialReg::ctaid_y), 7));
  MbarrierRing ring{k, smem, kRing, kStages};
  Reg rank = k.named("rank", k.def("mov.u32", SpecialReg::cluster_ctarank));
  Reg done = k.named("done", k.def("add.u32", smem, kDone));
  Reg tmem = k.reg(Mod::b32, "tmem");

  void prologue();
  void cluster_sync();
  void load();
  void load_b(Reg to, Reg map, Reg column, Reg full);
  void multiply();
  void epilogue();
  void teardown();
};

// Barriers and tensor memory exist before any role begins.
inline void Gemm::prologue() {
  const Reg first = k.reg(Mod::pred, "is_first_warp");
  k("setp.eq.u32", first, warp, 0);
  k.if_(first, [&] {
    k.elect_one([&] {
      ring.init(1, pair ? 2 : 1);
      k("mbarrier.init.shared::cta.b64", mem(done), 1);
    });
    k("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", mem(smem, kTmemSlot), kTile);
    k("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned");
  });
  k("fence.mbarrier_init.release.cluster");
  k("tcgen05.fence::before_thread_sync");
  k("bar.sync", 0);
  if (pair) cluster_sync();
  k("tcgen05.fence::after_thread_sync");
  k("ld.shared.b32", tmem, mem(smem, kTmemSlot));
}

// The other CTA has started, and its barriers exist.
inline void Gemm::cluster_sync() {
  k("barrier.cluster.arrive.aligned");
  k("barrier.cluster.wait.aligned");
}

inline constexpr const char* kCopy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
inline constexpr uint32_t kBothCtas = 3;  // a bit for each CTA of the cluster

// A multicast copy writes to the same offset of each CTA's shared memory, and signals each CTA's barrier there.
inline void Gemm::load_b(Reg to, Reg map, Reg column, Reg full) {
  if (!pair) return k(kCopy, mem(to, kSmemB), tensor(map, {column, tile_n}), mem(full));
  const Reg half_row = k.def("mad.lo.u32", rank, kTile / 2, tile_n);
  const Reg half = k.def("mad.lo.u32", rank, kOperandBytes / 2, to);
  k("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster", mem(half, kSmemB),
    tensor(map, {column, half_row}), mem(full), k.def("mov.u16", kBothCtas));
}

// One thread fills the ring: it waits until a stage is empty, announces the number of bytes, and starts two
// copies.
inline void Gemm::load() {
  const Reg a = k.def("cvta.param.u64", map_a), b = k.def("cvta.param.u64", map_b);
  PipelineState stage(k, kStages, PipelineState::Role::producer);
  k.for_range(0, k_tiles, 1, [&](Reg k_tile) {
    ring.acquire(stage);
    const Reg full = ring.full(stage), column = k.def("mul.lo.u32", k_tile, kTileK);
    const Reg to = k.def("mad.lo.u32", stage.index(), kOperandBytes, smem);
    k.elect_one([&] {
      k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(full), 2 * kOperandBytes);
      k(kCopy, mem(to, kSmemA), tensor(a, {column, tile_m}), mem(full));
      load_b(to, b, column, full);
    });
    stage.advance();
  });
  ring.tail(stage);  // no CTA ends before it has seen the last commits arrive
}

// One thread multiplies: four steps of K = 16 a stage. The commit of a stage makes it empty; the last one
// ends the sum.
inline void Gemm::multiply() {
  InstrDescriptor form;
  form.m = form.n = kTile;
  form.a_type = form.b_type = code_of(MmaKind::f16, MmaElement::bf16);
  form.d_type = static_cast<uint8_t>(MmaAccumulator::f32);
  const uint64_t operand = SmemDescriptor::make(0, 16, 1024, Swizzle::b128).encode();
  const Reg accumulate = k.reg(Mod::pred, "accumulate"),
            idesc = k.named("idesc", k.def("mov.u32", form.encode()));
  const auto descriptor = [&](Reg at, uint32_t offset) {  // the address in 16-byte units is the low part
    const Reg units = k.def("shr.u32", k.def("add.u32", at, offset), 4);
    return k.def("or.b64", k.def("cvt.u64.u32", units), operand);
  };
  PipelineState stage(k, kStages, PipelineState::Role::consumer);
  k.for_range(0, k_tiles, 1, [&](Reg k_tile) {
    ring.wait(stage);
    const Reg at = k.def("mad.lo.u32", stage.index(), kOperandBytes, smem);
    k.elect_one([&] {
      k("setp.ne.u32", accumulate, k_tile, 0);  // the first step overwrites the sums
      for (uint32_t step = 0; step < kTileK / 16; ++step) {
        k("tcgen05.mma.cta_group::1.kind::f16", mem(tmem), descriptor(at, kSmemA + 32 * step),
          descriptor(at, kSmemB + 32 * step), idesc, accumulate);
        if (step == 0) k("setp.eq.u32", accumulate, k_tile, k_tile);
      }
      const Reg empty = ring.empty(stage);
      if (pair)
        k("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64", mem(empty), k.def("mov.u16", kBothCtas));
      else
        k("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", mem(empty));
    });
    stage.advance();
  });
  k.elect_one([&] { k("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", mem(done)); });
}

// Four warps: each reads the 32 lanes of tensor memory that are its own, 32 columns at a time. A lane is a
// row of D.
inline void Gemm::epilogue() {
  mbarrier_wait(k, done, 0);
  k("tcgen05.fence::after_thread_sync");
  const Reg row = k.named("row", k.def("add.u32", tile_m, thread));
  const Reg first = k.def("mad.lo.u32", row, columns, tile_n),
            to = k.named("to", k.def("mad.wide.u32", first, 4, d));
  const Reg lanes = k.def("add.u32", tmem, k.def("shl.b32", warp, 21));  // lane 32 * warp is in bits 31..16
  const RegArray sums = k.regs(Mod::b32, 32, "sum");
  for (uint32_t column = 0; column < kTile; column += 32) {
    k("tcgen05.ld.sync.aligned.32x32b.x32.b32", sums, mem(k.def("add.u32", lanes, column)));
    k("tcgen05.wait::ld.sync.aligned");
    for (uint32_t i = 0; i < 32; i += 4) k("st.global.v4.b32", mem(to, 4 * (column + i)), sums.slice(i, 4));
  }
  k("tcgen05.fence::before_thread_sync");
}

inline void Gemm::teardown() {
  const Reg first = k.reg(Mod::pred);
  k("bar.sync", 0);
  k("setp.eq.u32", first, warp, 0);
  k.if_(first, [&] {
    k("tcgen05.fence::after_thread_sync");
    k("tcgen05.dealloc.cta_group::1.sync.aligned.b32", tmem, kTile);
  });
}

inline Module build_gemm(bool pair = false) {
  Gemm g{.pair = pair};
  g.k.directives().maxntid = {kThreads, 1, 1};
  if (pair) g.k.directives().reqnctapercluster = {2, 1, 1};
  g.prologue();
  g.k.warp_role("epilogue", g.warp, 0, 3, [&] { g.epilogue(); });
  g.k.warp_role("load", g.warp, 4, 4, [&] { g.load(); });
  g.k.warp_role("mma", g.warp, 5, 5, [&] { g.multiply(); });
  g.teardown();
  return g.k.finish();
}

/// The fields of the tensor map of a row-major rows x columns bf16 matrix in boxes of `box_rows` x 64.
inline TensorMapFields operand_fields(GmemAddr at, uint32_t rows, uint32_t columns, uint32_t box_rows = kTile) {
  TensorMapFields f;
  f.type = TensorType::bf16;
  f.rank = 2;
  f.address = at.value();
  f.dim = {columns, rows};
  f.stride = {2 * columns};
  f.box = {kTileK, box_rows};
  f.swizzle = Swizzle::b128;
  return f;
}

}  // namespace dsl_example
