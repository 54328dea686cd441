// The device side of the GEMM kernels, in the DSL. Private to kernels/gemm.
#pragma once

#include <functional>
#include <string>

#include "drywell/isa/builder.h"
#include "drywell/isa/pipeline.h"
#include "kernels/gemm/plan.h"

namespace drywell::kernels::gemm {

/// Emits one kernel: four (or eight) epilogue warps, then one warp for MMA and one for TMA loads, as in CUTLASS's persistent
/// examples, and one warp for software scales.
class GemmDevice {
 public:
  GemmDevice(const GemmPlan& plan, isa::Target target);
  isa::Module build();

 private:
  using Reg = isa::Reg;

  /// This CTA's part of an output tile: first row and column.
  struct Tile {
    Reg m0, n0;
    Reg problem, k_tiles;  // blockwise: the address of its DeviceProblem
    Reg slot;              // grouped: address of the problem's tensor maps of this CTA
  };

  void parameters();
  void scalar_parameters();
  void prologue();
  void init_barriers();
  void allocate_tmem();
  void teardown();
  void synchronise_cluster();
  /// Runs `body` for every tile of this cluster, in the same order in all roles.
  void for_tiles(const std::function<void(const Tile&)>& body);
  void for_problem_tiles(const std::function<void(const Tile&)>& body);
  /// Returns a tensor map's address: that of a parameter, `offset` bytes into the parameter of all four, or the `made`th
  /// map that the device made.
  Reg map_address(const Tile& t, isa::Symbol map, size_t offset, uint32_t made);
  Reg k_tiles(const Tile& t) const { return c_.blockwise() ? t.k_tiles : k_tiles_; }

  void place_in_cluster();
  /// CTA masks of the cluster: CTAs that compute with the same rows of A; with the same columns of B; this CTA's pair; CTAs whose
  /// stages this CTA's MMA frees.
  Reg same_rows_mask();
  Reg same_columns_mask();
  Reg pair_mask();
  Reg readers_mask();

  struct EpilogueState;

  // TMA loads
  void load();
  void load_stage(const Tile& t, Reg k_tile, const isa::PipelineState& state);
  /// CTAs that load an operand together: their number, the rank of this CTA among them, and their mask.
  struct Shares {
    uint32_t count;
    Reg rank;
    std::function<Reg()> mask;
  };
  void load_operand(const OperandPlan& p, Reg descriptor, uint32_t smem, Reg mn0, Reg k_tile, Reg stage, Reg barrier, const Shares& shares);
  void load_scales(const Tile& t, Reg k_tile, Reg stage, Reg barrier);
  void tma_load(const std::vector<isa::Arg>& coordinates, Reg map, Reg to, Reg barrier, const Reg* mask);

  // Software scales: their loads, and their use in the epilogue
  void load_block_scales();
  void promote_tile(EpilogueState& s, const Tile& t);
  void promote_block(EpilogueState& s, Reg stage, Reg own_factor, uint32_t block);
  std::vector<Reg> load_factors(Reg stage, uint32_t block, uint32_t first, uint32_t count);
  isa::RegArray load_part(Reg from, uint32_t first, uint32_t columns);
  isa::Reg block_stage(Reg stage) { return stage_at(p_.smem_sfa, stage, p_.block_bytes()); }

  // Tensor maps of a grouped launch, made on the device
  struct MadeMaps;
  struct MapTensor;
  MadeMaps copy_patterns(Reg staging, uint32_t first, size_t pattern, uint32_t count);
  /// Makes `maps` again if the tile belongs to another problem than the last one.
  void make_maps(MadeMaps& maps, const Tile& t, const std::vector<MapTensor>& tensors);
  void replace_tensor(Reg map, const Tile& t, const MapTensor& x);
  void make_operand_maps(MadeMaps& maps, const Tile& t);
  void make_output_maps(MadeMaps& maps, const Tile& t);

  // MMA
  struct MmaState;
  void mma();
  void mma_tile(MmaState& s, const Tile& t);
  void mma_stage(MmaState& s, Reg k_tile, Reg d, Reg sfb_shift);
  void mma_blocks(MmaState& s, const Tile& t);
  /// Issues instruction `step` of a stage.
  void issue(MmaState& s, uint32_t step, Reg d, Reg a, Reg b, Reg sfa, Reg sfb, Reg accumulate);
  /// Copies the stage's scale factors to tensor memory; returns the column of the first factor of SFA.
  Reg copy_scales(MmaState& s);
  void wait_for_scale_buffer(MmaState& s);
  /// Returns the matrix descriptor at `bytes` times `stage` after `first`.
  Reg stage_descriptor(Reg first, Reg stage, uint32_t bytes);
  uint32_t instruction_descriptor(uint32_t step) const;
  void commit(Reg barrier, const Reg* mask);

  // Epilogue
  void epilogue();
  void epilogue_tile(EpilogueState& s, const Tile& t);
  void epilogue_subtile(EpilogueState& s, const Tile& t, uint32_t subtile);
  isa::RegArray load_accumulators(EpilogueState& s, uint32_t subtile);
  void release_accumulators(EpilogueState& s);
  void scale_by_alpha(EpilogueState& s, const isa::RegArray& acc, Reg buffer, Reg source_barrier);
  void store_row(EpilogueState& s, const isa::RegArray& acc, Reg buffer);
  Reg chunk_swizzle();
  void place_thread(EpilogueState& s);
  /// The part of a warp's subtile that one TMA operation moves.
  struct Box {
    isa::Arg coordinates;
    Reg staged;  // address in shared memory
  };
  std::vector<Box> boxes(Reg row, Reg column, Reg buffer);
  void add_source(EpilogueState& s, const isa::RegArray& acc, Reg buffer);
  void add_source_columns(EpilogueState& s, const isa::RegArray& acc, Reg buffer);
  void store_columns(EpilogueState& s, const isa::RegArray& acc, Reg buffer);

  Reg smem_at(uint32_t offset) { return k_.def("add.u32", smem_, offset); }
  Reg stage_at(uint32_t offset, Reg stage, uint32_t bytes) {
    return k_.def("mad.lo.u32", stage, bytes, smem_at(offset));
  }
  bool pair() const { return c_.cta_group == 2; }
  uint32_t mma_warp() const { return p_.epilogue_warps; }
  uint32_t accumulator_barriers() const { return c_.blockwise() ? kBlockAccumulatorBarriers : kAccumulatorBarriers; }
  uint32_t source_barriers() const { return p_.epilogue_warps > 4 ? kWideSourceBarriers : kSourceBarriers; }
  std::string group() const { return pair() ? ".cta_group::2" : ".cta_group::1"; }

  const GemmPlan& p_;
  const GemmConfig& c_;
  isa::KernelBuilder k_;
  isa::Symbol map_a_{}, map_b_{}, map_sfa_{}, map_sfb_{}, map_c_{}, map_d_{}, tiles_m_param_{},
      tiles_param_{}, k_tiles_param_{}, alpha_{}, beta_{}, problem_{}, maps_{}, groups_{}, workspace_{};
  Reg smem_, leader_smem_, warp_, lane_, tiles_m_, tiles_, k_tiles_;
  Reg rank_, rank_m_, is_leader_;  // in the cluster; of the pair: row, predicate of the first CTA
  Reg tile_row_, rank_n_;          // of the cluster's tiles: row (only if there are several), column
  isa::MbarrierRing mainloop_, accumulator_, block_scales_;
};

}  // namespace drywell::kernels::gemm
