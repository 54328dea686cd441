// The TMA warp: operands and scale factors of a stage, on one barrier.
#include <cstddef>

#include "kernels/gemm/made_maps.h"

namespace drywell::kernels::gemm {

using namespace isa;

// The warp waits as a whole and one lane issues: elect.sync elects the same lane every time.
void GemmDevice::load() {
  k_.elect_one([&] {
    if (c_.blockwise()) return;  // the tile's problem, and so its maps, are not yet known here
    for (const Symbol map :
         c_.scaled() ? std::vector{map_a_, map_b_, map_sfa_, map_sfb_} : std::vector{map_a_, map_b_})
      k_("prefetch.tensormap", mem(k_.def("cvta.param.u64", map)));
  });
  PipelineState state(k_, p_.stages, PipelineState::Role::producer);
  MadeMaps maps;
  if (c_.grouped) maps = copy_patterns(smem_at(p_.smem_maps), 0, offsetof(DeviceMaps, a), 2);
  for_tiles([&](const Tile& t) {
    if (c_.grouped) make_operand_maps(maps, t);
    k_.for_range(0, k_tiles(t), 1, [&](Reg k_tile) {
      mainloop_.acquire(state);
      k_.elect_one([&] { load_stage(t, k_tile, state); });
      state.advance();
    });
  });
  mainloop_.tail(state);
}

void GemmDevice::load_stage(const Tile& t, Reg k_tile, const PipelineState& state) {
  // All bytes of a pair count on the leader's barrier, in both CTAs' shared memory (docs/facts/tma-mbarrier.md §2.8).
  const Reg barrier = MbarrierRing(k_, leader_smem_, kMainloopBarriers, p_.stages).full(state);
  k_.if_(is_leader_, [&] {
    k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(mainloop_.full(state)),
       c_.cta_group * p_.stage_transaction_bytes);
  });
  load_operand(p_.a, map_address(t, map_a_, offsetof(DeviceMaps, a), 0), p_.smem_a, t.m0, k_tile, state.index(), barrier,
               {c_.cluster_n, rank_n_, [this] { return same_rows_mask(); }});
  const Reg n0 = pair() ? k_.def("mad.lo.u32", rank_m_, p_.b.rows, t.n0) : t.n0;
  load_operand(p_.b, map_address(t, map_b_, offsetof(DeviceMaps, b), 1), p_.smem_b, n0, k_tile, state.index(), barrier,
               {c_.cluster_m, tile_row_, [this] { return same_columns_mask(); }});
  if (c_.scaled()) load_scales(t, k_tile, state.index(), barrier);
}

namespace {

/// Mask of every `step`th of the first `count` * `step` CTAs of a cluster.
uint32_t every(uint32_t step, uint32_t count) {
  uint32_t ranks = 0;
  for (uint32_t i = 0; i < count; ++i) ranks |= 1u << i * step;
  return ranks;
}

}  // namespace

isa::Reg GemmDevice::same_rows_mask() {
  const uint32_t column = c_.cta_group * c_.cluster_m;  // CTAs of a column of tiles
  const Reg first = c_.cluster_m == 1 ? rank_m_ : k_.def("and.b32", rank_, column - 1);
  return k_.def("cvt.u16.u32", k_.def("shl.b32", k_.def("mov.b32", every(column, c_.cluster_n)), first));
}

isa::Reg GemmDevice::same_columns_mask() {
  const Reg first = k_.def("mad.lo.u32", rank_n_, c_.cta_group * c_.cluster_m, rank_m_);
  return k_.def("cvt.u16.u32", k_.def("shl.b32", k_.def("mov.b32", every(c_.cta_group, c_.cluster_m)), first));
}

// Both CTAs of every pair in this pair's row and column; for a single row that is the whole cluster.
isa::Reg GemmDevice::readers_mask() {
  if (c_.cluster_m == 1) return k_.def("cvt.u16.u32", k_.def("mov.b32", (1u << p_.cluster) - 1));
  const uint32_t pair = (1u << c_.cta_group) - 1, column = c_.cta_group * c_.cluster_m;
  const Reg first_of_row = k_.def("mul.lo.u32", tile_row_, c_.cta_group), pairs = k_.def("mov.b32", pair * every(column, c_.cluster_n));
  const Reg row = k_.def("shl.b32", pairs, first_of_row);
  const Reg first_of_column = k_.def("mul.lo.u32", rank_n_, column), all = k_.def("mov.b32", (1u << column) - 1);
  const Reg below = k_.def("shl.b32", all, first_of_column);
  return k_.def("cvt.u16.u32", k_.def("or.b32", row, below));
}

isa::Reg GemmDevice::pair_mask() {
  const Reg leader = k_.def("and.b32", rank_, 0xFFFE), both = k_.def("mov.b32", 3);
  return k_.def("cvt.u16.u32", k_.def("shl.b32", both, leader));
}

// A is the same for all columns of the cluster, B for all rows: each CTA loads its share of the lines and multicasts it to all of them.
void GemmDevice::load_operand(const OperandPlan& p, Reg descriptor, uint32_t smem, Reg mn0, Reg k_tile, Reg stage, Reg barrier, const Shares& shares) {
  const bool k_major = p.major == Major::k, multicast = shares.count > 1;
  Reg to = stage_at(smem, stage, p.bytes), k0 = k_.def("mul.lo.u32", k_tile, p_.tile_k), first = mn0, mask;
  if (multicast) {
    const uint32_t lines = (k_major ? p.rows : p_.tile_k) / shares.count;
    to = k_.def("mad.lo.u32", shares.rank, lines * p.span, to);
    (k_major ? first : k0) = k_.def("mad.lo.u32", shares.rank, lines, k_major ? first : k0);
    mask = shares.mask();
  }
  for (uint32_t chunk = 0; chunk < p.chunks; ++chunk) {
    const Reg at = k_.def("add.u32", to, chunk * p.lbo * (k_major ? 0 : 1));
    const Reg along = k_.def("add.u32", first, chunk * p.chunk_rows);
    if (k_major) {
      tma_load({k0, along}, descriptor, at, barrier, multicast ? &mask : nullptr);
    } else {
      tma_load({along, k0}, descriptor, at, barrier, multicast ? &mask : nullptr);
    }
  }
}

// Atoms of 512 bytes as 256 halfwords. SFA: this CTA's 128 rows. SFB: every atom of the tile's columns; both CTAs of a
// pair need all of them, so each loads every second atom and multicasts it to both.
void GemmDevice::load_scales(const Tile& t, Reg k_tile, Reg stage, Reg barrier) {
  const Reg atom_k = k_.def("mul.lo.u32", k_tile, p_.scale_atoms_k);
  const Reg sfa = k_.def("cvta.param.u64", map_sfa_), sfb = k_.def("cvta.param.u64", map_sfb_);
  const auto load_sfa = [&](const Reg* mask) {
    const Reg to = stage_at(p_.smem_sfa, stage, p_.sfa_bytes()), atom_m = k_.def("shr.u32", t.m0, 7);
    tma_load({0, atom_k, atom_m}, sfa, to, barrier, mask);
  };
  if (c_.cluster_n == 1) {
    load_sfa(nullptr);
  } else {
    const Reg first = k_.reg(Mod::pred);
    k_("setp.eq.u32", first, rank_n_, 0);
    k_.if_(first, [&] {
      const Reg mask = same_rows_mask();
      load_sfa(&mask);
    });
  }
  const Reg atom_n = k_.def("shr.u32", t.n0, 7), to = stage_at(p_.smem_sfb, stage, p_.sfb_bytes());
  for (uint32_t atom = 0; atom < p_.sfb_atoms; ++atom) {
    const auto load_sfb = [&](const Reg* mask) {
      const Reg at = k_.def("add.u32", to, atom * p_.sfa_bytes()), n = k_.def("add.u32", atom_n, atom);
      tma_load({0, atom_k, n}, sfb, at, barrier, mask);
    };
    if (!pair()) {
      load_sfb(nullptr);
      continue;
    }
    const Reg mine = k_.reg(Mod::pred);
    k_("setp.eq.u32", mine, rank_m_, atom % 2);
    k_.if_(mine, [&] {
      const Reg mask = pair_mask();
      load_sfb(&mask);
    });
  }
}

void GemmDevice::tma_load(const std::vector<Arg>& coordinates, Reg map, Reg to, Reg barrier,
                          const Reg* mask) {
  std::string text = coordinates.size() == 2 ? "cp.async.bulk.tensor.2d" : "cp.async.bulk.tensor.3d";
  text += ".shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  if (mask != nullptr) text += ".multicast::cluster";
  if (pair()) text += ".cta_group::2";
  Arg source = tensor(map, {});
  source.parts[1].parts = coordinates;
  std::vector<Arg> args = {mem(to), source, mem(barrier)};
  if (mask != nullptr) args.emplace_back(*mask);
  k_.emit(OpText(text), args);
}

}  // namespace drywell::kernels::gemm
