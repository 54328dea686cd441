// The device side. Names follow the listing of "NVFP4 training in TransformerEngine", section "Device Code".
#include <functional>
#include <source_location>
#include <string>

#include "drywell/isa/builder.h"
#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/pipeline.h"
#include "drywell/isa/smem_descriptor.h"
#include "kernels/fused_rht/fused_rht.h"
#include "kernels/nvfp4/arithmetic.h"

namespace drywell::kernels {
namespace {

using namespace isa;
using namespace fused_rht;
using nvfp4::GlobalScales;
using nvfp4::PhiloxSeed;
using nvfp4::QuantizedTile;

// Named barrier for the TMEM allocation: 32 MMA threads arrive, 128 epilogue threads wait (CUTLASS reserves id 6,
// cutlass/arch/barrier.h ReservedNamedBarriers::TmemAllocBarrier).
constexpr int kTmemAllocBarrier = 6;
constexpr int kTmemAllocThreads = 32 + 128;
constexpr int kTmemColumns = 512;

nvfp4::Arithmetic arithmetic_of(const FusedRhtOptions& o) {
  return {.stochastic = o.stochastic,
          .te_scale_order = o.te_scale_order,
          .bf16_round_trip = o.bf16_round_trip,
          .approximate_reciprocal = o.approximate_reciprocal,
          .propagates_nan = true};
}

class FusedRht {
 public:
  explicit FusedRht(const FusedRhtOptions& o)
      : o_(o), k_("fused_rht"), mainloop_(k_, Reg{}, 0, kStages), accumulator_(k_, Reg{}, 0, kAccumulatorStages) {}

  Module build() {
    parameters();
    prologue();
    // The third warp only initialises the Hadamard barrier; the fourth has no work.
    k_.warp_role("dma", warp_, 1, 1, [&] { dma(); });
    k_.warp_role("mma", warp_, 0, 0, [&] { mma(); });
    k_.warp_role("epilogue", warp_, 4, 7, [&] { epilogue(); });
    k_.role("idle", 2, 3);
    return k_.finish();
  }

 private:
  // Loop state; every role has its own.
  struct Tile {
    Reg linear, m, n;
  };

  void parameters();
  void prologue();
  void dma();
  void mma();
  void epilogue();
  void epilogue_tile(const Tile& t, Reg k_tile, PipelineState& state, const GlobalScales& scales, Reg row, Reg row_inside, const PhiloxSeed& seed);
  Tile first_tile();
  void tile_coordinates(const Tile& t);
  /// do { body } while (tile inside); advance by the grid in between.
  void for_tiles(const std::function<void(const Tile&)>& body);
  /// for (k_tile = 0; k_tile < K_TILE_MAX && k_tile + tile_n < tiles_in_n; ++k_tile)
  void for_k_tiles(const Tile& t, const std::function<void(Reg)>& body);
  /// Orders tensor memory around a barrier (PTX ISA 9.7.16.11).
  void fence(const char* when, std::source_location where = std::source_location::current()) {
    if (o_.fences) k_(OpText(std::string("tcgen05.fence::") + when + "_thread_sync", where));
  }
  Reg tma_address(int64_t offset) { return k_.def("add.u32", smem_, offset); }

  FusedRhtOptions o_;
  KernelBuilder k_;
  Symbol map_a_{}, map_b_{}, c_{}, sfc_{}, amax_{}, rng_{}, m_size_{}, n_size_{}, k_size_{};
  Reg smem_, warp_, tid_, tiles_in_m_, tiles_in_n_, k_tile_max_, grid_;
  MbarrierRing mainloop_, accumulator_;
};

void FusedRht::parameters() {
  map_a_ = k_.param_bytes("tma_load_a", 128, 128);
  map_b_ = k_.param_bytes("tma_load_b", 128, 128);
  c_ = k_.param(Mod::u64, "C");
  sfc_ = k_.param(Mod::u64, "SFC");
  amax_ = k_.param(Mod::u64, "global_amax");
  rng_ = k_.param(Mod::u64, "rng_state");
  m_size_ = k_.param(Mod::u32, "M");
  n_size_ = k_.param(Mod::u32, "N");
  k_size_ = k_.param(Mod::u32, "K");
  k_.directives().maxntid = {256, 1, 1};
  k_.directives().minnctapersm = 1;
}

void FusedRht::prologue() {
  const Symbol shared = k_.dynamic_shared("shared_memory", 128);
  smem_ = k_.def("mov.u32", shared);
  tid_ = k_.def("mov.u32", SpecialReg::tid_x);
  warp_ = k_.def("shr.u32", tid_, 5);
  grid_ = k_.def("mov.u32", SpecialReg::nctaid_x);
  mainloop_ = MbarrierRing(k_, smem_, kMainloopBarriers, kStages);
  accumulator_ = MbarrierRing(k_, smem_, kAccumulatorBarriers, kAccumulatorStages);
  // Tile schedule. The input is read as M x N = n x m; N is split into 64-wide tiles, K_TILE_MAX of them per stripe.
  const Reg m = k_.load_param(m_size_, Mod::u32), n = k_.load_param(n_size_, Mod::u32), k = k_.load_param(k_size_, Mod::u32);
  tiles_in_m_ = k_.def("shr.u32", k_.def("add.u32", m, 127), 7);
  tiles_in_n_ = k_.def("shr.u32", k_.def("add.u32", n, 63), 6);
  k_tile_max_ = k_.def("shr.u32", k_.def("min.u32", n, k), 6);
  // Barriers: mainloop by warp 0, accumulator by warp 1, the Hadamard matrix's by warp 2.
  const auto by_warp = [&](uint32_t warp, const std::function<void()>& body) {
    const Reg mine = k_.reg(Mod::pred);
    k_("setp.eq.u32", mine, warp_, warp);
    k_.if_(mine, [&] { k_.elect_one(body); });
  };
  by_warp(0, [&] { mainloop_.init(1, 1); });
  by_warp(1, [&] { accumulator_.init(1, 128); });
  by_warp(2, [&] { k_("mbarrier.init.shared::cta.b64", mem(smem_, kHadamardBarrier), 1); });
  k_("fence.mbarrier_init.release.cluster");
  k_("bar.sync", 0);
}

void FusedRht::tile_coordinates(const Tile& t) {
  k_("rem.u32", t.m, t.linear, tiles_in_m_);
  k_("div.u32", t.n, t.linear, tiles_in_m_);
  k_("mul.lo.u32", t.n, t.n, k_tile_max_);
}

FusedRht::Tile FusedRht::first_tile() {
  Tile t{k_.def("mov.u32", SpecialReg::ctaid_x), k_.reg(Mod::b32), k_.reg(Mod::b32)};
  tile_coordinates(t);
  return t;
}

void FusedRht::for_tiles(const std::function<void(const Tile&)>& body) {
  const Tile t = first_tile();
  k_.do_while([&] {
    body(t);
    k_("add.u32", t.linear, t.linear, grid_);
    tile_coordinates(t);
    const Reg more = k_.reg(Mod::pred), inside_m = k_.reg(Mod::pred);
    k_("setp.lt.u32", inside_m, t.m, tiles_in_m_);
    k_("setp.lt.and.u32", more, t.n, tiles_in_n_, inside_m);
    return more;
  });
}

void FusedRht::for_k_tiles(const Tile& t, const std::function<void(Reg)>& body) {
  const Reg k_tile = k_.def("mov.u32", 0);
  k_.while_(
      [&] {
        const Reg more = k_.reg(Mod::pred), inside = k_.reg(Mod::pred);
        k_("setp.lt.u32", inside, k_tile, k_tile_max_);
        k_("setp.lt.and.u32", more, k_.def("add.u32", k_tile, t.n), tiles_in_n_, inside);
        return more;
      },
      [&] {
        body(k_tile);
        k_("add.u32", k_tile, k_tile, 1);
      });
}

// Loads the Hadamard matrix once, then 128 x 64 tiles into the ring: sixteen boxes of 64 x 8, each one swizzle atom.
void FusedRht::dma() {
  const Reg map_a = k_.def("cvta.param.u64", map_a_), map_b = k_.def("cvta.param.u64", map_b_);
  const Reg hadamard_barrier = tma_address(kHadamardBarrier), smem_b = tma_address(kSmemB), smem_a = tma_address(kSmemA);
  k_.elect_one([&] {
    k_("prefetch.tensormap", mem(map_a));
    k_("prefetch.tensormap", mem(map_b));
    k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(hadamard_barrier), kHadamardBytes);
    k_("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", mem(smem_b), tensor(map_b, {0, 0}), mem(hadamard_barrier));
  });
  mbarrier_wait(k_, hadamard_barrier, 0);
  PipelineState state(k_, kStages, PipelineState::Role::producer);
  const Reg first_cta_tile = k_.def("mov.u32", SpecialReg::ctaid_x);
  for_tiles([&](const Tile& t) {
    const Reg first_wave = k_.reg(Mod::pred), skip = k_.reg(Mod::pred), token = k_.reg(Mod::pred);
    k_("setp.eq.u32", first_wave, t.linear, first_cta_tile);
    k_("mov.pred", skip, first_wave);
    const auto try_acquire = [&] {
      // The first fill of the ring needs no wait.
      k_("mov.pred", token, skip);
      k_.if_not(skip, [&] { k_("mov.pred", token, mainloop_.try_acquire(state)); });
    };
    try_acquire();
    const Reg m0 = k_.def("shl.b32", t.m, 7);
    for_k_tiles(t, [&](Reg k_tile) {
      const Reg next = k_.def("add.u32", k_tile, 1);
      k_("setp.lt.and.u32", skip, next, kStages, first_wave);
      mainloop_.acquire(state, token);
      const Reg barrier = mainloop_.full(state);
      const Reg stage = k_.def("mad.lo.u32", state.index(), kStageBytes, smem_a);
      k_.elect_one([&] { k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(barrier), kStageBytes); });
      state.advance();
      try_acquire();
      const Reg k0 = k_.def("shl.b32", k_.def("add.u32", t.n, k_tile), 6);
      k_.elect_one([&] {
        const Reg m1 = k_.def("add.u32", m0, 64);
        for (int kk = 0; kk < 8; ++kk) {
          const Reg row = k_.def("add.u32", k0, 8 * kk);
          for (int half = 0; half < 2; ++half) {
            k_("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", mem(stage, 2048 * kk + 1024 * half),
               tensor(map_a, {half == 0 ? m0 : m1, row}), mem(barrier));
          }
        }
      });
    });
  });
  mainloop_.tail(state);
}

// SMEM descriptor without its start address; the address is added at run time.
uint64_t descriptor_base(uint32_t lbo, uint32_t sbo, Swizzle swizzle) {
  SmemDescriptor d;
  d.lbo = lbo;
  d.sbo = sbo;
  d.set_swizzle(swizzle);
  return d.encode();
}

// Four 128 x 16 x 16 MMAs per stage, each into its own 16 columns of tensor memory.
void FusedRht::mma() {
  const Reg tmem_slot = tma_address(kTmemBase);
  k_("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", mem(tmem_slot), kTmemColumns);
  k_("bar.warp.sync", -1);
  k_("bar.arrive", kTmemAllocBarrier, kTmemAllocThreads);
  const Reg tmem = k_.def("ld.shared.b32", mem(tmem_slot));
  InstrDescriptor idesc;
  idesc.kind = MmaKind::f16;
  idesc.m = 128;
  idesc.n = 16;
  idesc.a_type = code_of(MmaKind::f16, MmaElement::bf16);
  idesc.b_type = code_of(MmaKind::f16, MmaElement::bf16);
  idesc.d_type = static_cast<uint8_t>(MmaAccumulator::f32);
  idesc.transpose_a = idesc.transpose_b = true;  // both MN-major
  const Reg instruction = k_.def("mov.b32", idesc.encode());
  // A: 64 x 8 atoms; the next 64 along M are at +1024 bytes, the next 8 along K at +2048. B: 16 x 8 atoms, 256 bytes along K.
  const auto descriptor = [&](uint64_t base, Reg address) {
    const Reg field = k_.def("and.b32", k_.def("shr.u32", address, 4), 0x3FFF);
    return k_.def("or.b64", k_.def("cvt.u64.u32", field), static_cast<int64_t>(base));
  };
  const Reg desc_a = descriptor(descriptor_base(1024, 2048, Swizzle::b128), tma_address(kSmemA));
  const Reg desc_b = descriptor(descriptor_base(512, 256, Swizzle::b32), tma_address(kSmemB));
  PipelineState consumer(k_, kStages, PipelineState::Role::consumer), producer(k_, kAccumulatorStages, PipelineState::Role::producer);
  for_tiles([&](const Tile& t) {
    const Reg token = k_.reg(Mod::pred);
    k_("mov.pred", token, mainloop_.try_wait(consumer));
    for_k_tiles(t, [&](Reg k_tile) {
      mainloop_.wait(consumer, token);
      const Reg stage_a = k_.def("add.s64", desc_a, k_.def("mul.wide.u32", consumer.index(), kStageBytes / 16));
      accumulator_.acquire(producer);
      fence("after");
      const Reg columns = k_.def("mad.lo.u32", producer.index(), 64, tmem);
      k_.elect_one([&] {
        const Reg accumulate = k_.reg(Mod::pred);
        k_("setp.ne.b32", accumulate, k_.def("mov.b32", 0), 0);  // D = A*B, without the old D
        for (int i = 0; i < 4; ++i) {
          const Reg a = k_.def("add.s64", stage_a, 256 * i);
          k_("tcgen05.mma.cta_group::1.kind::f16", mem(columns, 16 * i), a, desc_b, instruction, accumulate);
        }
        k_("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", mem(accumulator_.full(producer)));
      });
      producer.advance();
      const PipelineState current = consumer.snapshot();
      consumer.advance();
      const Reg next = k_.def("add.u32", k_tile, 1), skip = k_.reg(Mod::pred);
      k_("setp.ge.u32", skip, next, k_tile_max_);
      k_("mov.pred", token, skip);
      k_.if_not(skip, [&] { k_("mov.pred", token, mainloop_.try_wait(consumer)); });
      k_.elect_one([&] { k_("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", mem(mainloop_.empty(current))); });
    });
  });
  k_("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned");
  accumulator_.tail(producer);
  k_("tcgen05.dealloc.cta_group::1.sync.aligned.b32", tmem, kTmemColumns);
}

void FusedRht::epilogue() {
  const GlobalScales scales = nvfp4::global_scales(k_, arithmetic_of(o_), k_.load_param(amax_, Mod::u64));
  k_("bar.sync", kTmemAllocBarrier, kTmemAllocThreads);
  const Reg tmem = k_.def("ld.shared.b32", mem(tma_address(kTmemBase)));
  const Reg thread = k_.def("and.b32", tid_, 127);
  // Each epilogue warp reads its own 32 lanes of tensor memory; thread t has row t of the tile.
  const Reg lane_base = k_.def("shl.b32", k_.def("and.b32", thread, 0x60), 16);
  const Reg warp_tmem = k_.def("add.u32", tmem, lane_base);
  const PhiloxSeed seed = o_.stochastic ? nvfp4::load_seed(k_, k_.load_param(rng_, Mod::u64)) : PhiloxSeed{};
  const Reg c = k_.load_param(c_, Mod::u64), sfc = k_.load_param(sfc_, Mod::u64);
  const Reg rows = k_.load_param(m_size_, Mod::u32), n = k_.load_param(n_size_, Mod::u32);
  const Reg c_pitch = k_.def("shr.u32", n, 1), sfc_pitch = k_.def("shr.u32", n, 4);
  PipelineState state(k_, kAccumulatorStages, PipelineState::Role::consumer);
  for_tiles([&](const Tile& t) {
    const Reg row = k_.def("mad.lo.u32", t.m, 128, thread), inside = k_.reg(Mod::pred);
    k_("setp.lt.u32", inside, row, rows);
    const Reg c_row = k_.def("mad.wide.u32", row, c_pitch, c), sfc_row = k_.def("mad.wide.u32", row, sfc_pitch, sfc);
    const Reg stripe = k_.def("mul.lo.u32", k_.def("mul.lo.u32", t.linear, k_tile_max_), 256);
    for_k_tiles(t, [&](Reg k_tile) {
      accumulator_.wait(state);
      fence("after");
      const Reg column = k_.def("mad.lo.u32", state.index(), 64, warp_tmem);
      const RegArray acc = k_.regs(Mod::f32, 64, "acc");
      k_("tcgen05.ld.sync.aligned.32x32b.x64.b32", acc, mem(column));
      k_("tcgen05.wait::ld.sync.aligned");
      fence("before");
      k_("mbarrier.arrive.shared::cta.b64", sink(), mem(accumulator_.empty(state)));
      state.advance();
      Reg sequence;
      if (o_.stochastic) sequence = k_.def("add.u32", k_.def("mad.lo.u32", k_tile, 256, thread), stripe);
      const QuantizedTile q = nvfp4::quantize_tile(k_, arithmetic_of(o_), acc, scales, seed, sequence);
      const Reg tile = k_.def("add.u32", t.n, k_tile);
      const Reg c_at = k_.def("add.s64", c_row, k_.def("mul.wide.u32", tile, 32)), sf_at = k_.def("add.s64", sfc_row, k_.def("mul.wide.u32", tile, 4));
      k_.if_(inside, [&] {
        k_("st.global.L1::no_allocate.v8.b32", mem(c_at), q.codes);
        k_("st.global.b32", mem(sf_at), q.scales);
      });
    });
  });
}

}  // namespace

isa::Module build_fused_rht(const FusedRhtOptions& o) { return FusedRht(o).build(); }

}  // namespace drywell::kernels
