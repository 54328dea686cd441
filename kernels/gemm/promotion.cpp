// Software scales: one warp copies a stage's f32 factors to shared memory; the epilogue warps scale each block of K and add it to
// sums in registers.
#include <cstddef>

#include "kernels/gemm/epilogue_state.h"

namespace drywell::kernels::gemm {

using namespace isa;

namespace {
constexpr uint32_t kEarlyFactors = 8;  // registers for factors of B
}

void GemmDevice::load_block_scales() {
  PipelineState state(k_, kBlockRing, PipelineState::Role::producer);
  for_tiles([&](const Tile& t) {
    const blockwise::ScaleView a = blockwise::load_view(k_, t.problem, offsetof(DeviceProblem, sfa)),
                               b = blockwise::load_view(k_, t.problem, offsetof(DeviceProblem, sfb));
    blockwise::StageCopier copy_a(k_, p_.block_a, a, blockwise::quotient(k_, t.m0, c_.block.m), lane_),
        copy_b(k_, p_.block_b, b, blockwise::quotient(k_, t.n0, c_.block.n), lane_);
    k_.for_range(0, t.k_tiles, 1, [&](Reg) {
      block_scales_.acquire(state);
      const Reg to = block_stage(state.index());
      copy_a.copy(to);
      copy_b.copy(k_.def("add.u32", to, p_.block_b_offset()));
      k_("cp.async.mbarrier.arrive.noinc.shared::cta.b64", mem(block_scales_.full(state)));
      state.advance();
    });
  });
  block_scales_.tail(state);
  k_("cp.async.wait_all");
}

void GemmDevice::promote_tile(EpilogueState& s, const Tile& t) {
  const Reg factor_row = blockwise::quotient(k_, s.own_row, c_.block.m);
  const Reg own_factor = k_.def("mul.lo.u32", factor_row, 4 * p_.block_a.row_stride());
  s.promoted = k_.regs(Mod::f32, p_.thread_columns(), "sum");
  // The right half of a row has its own factors, unless one factor serves the whole tile.
  if (p_.share != RowShare::whole && c_.block.n <= p_.thread_columns())
    s.part_factor = k_.def("mul.lo.u32", s.part, 4 * p_.block_b.row_stride() * (p_.thread_columns() / c_.block.n));
  for (const Reg r : s.promoted) k_("mov.f32", r, 0.0f);
  k_.for_range(0, t.k_tiles, 1, [&](Reg) {
    PipelineState& scales = *s.block_scales;
    block_scales_.wait(scales);
    const Reg stage = block_stage(scales.index());
    for (uint32_t block = 0; block < p_.blocks_of_stage(); ++block) promote_block(s, stage, own_factor, block);
    k_("bar.warp.sync", -1);
    k_.if_(s.first_lane, [&] { k_("mbarrier.arrive.shared::cta.b64", sink(), mem(block_scales_.empty(scales))); });
    scales.advance();
  });
}

// Loads `count` factors of SFB from `first`, sixteen bytes at a time where they are adjacent.
std::vector<Reg> GemmDevice::load_factors(Reg stage, uint32_t block, uint32_t first, uint32_t count) {
  const blockwise::StageScales& b = p_.block_b;
  const auto at = [&](uint32_t factor) { return mem(stage, p_.block_b_offset() + 4 * (factor * b.row_stride() + block * b.k_stride())); };
  std::vector<Reg> out;
  const bool side_by_side = b.row_stride() == 1 && b.rows % 4 == 0 && first % 4 == 0 && count % 4 == 0;
  for (uint32_t f = first; f < first + count && !side_by_side; ++f) out.push_back(k_.def("ld.shared.f32", at(f)));
  for (uint32_t f = first; f < first + count && side_by_side; f += 4) {
    const RegArray four = k_.regs(Mod::f32, 4, "sfb");
    k_("ld.shared.v4.f32", four, at(f));
    out.insert(out.end(), four.begin(), four.end());
  }
  return out;
}

// sum = fma(accumulator, fl(SFA * SFB), sum): SFA belongs to the thread's row, SFB to granularity_n columns. The loads of factors are
// issued before the wait for the accumulators: all of them if they are few, else those of the next columns.
void GemmDevice::promote_block(EpilogueState& s, Reg stage, Reg own_factor, uint32_t block) {
  const uint32_t columns = p_.thread_columns(), chunk = std::min(columns, p_.share == RowShare::warp_groups ? 16u : 32u), factors = std::max(1u, columns / c_.block.n);
  const Reg factors_b = s.part_factor.valid() ? k_.def("add.u32", stage, s.part_factor) : stage;
  const Reg sfa = k_.def("ld.shared.f32", mem(k_.def("add.u32", stage, own_factor), 4 * block * p_.block_a.k_stride()));
  const bool few = factors <= kEarlyFactors;
  std::vector<Reg> sfb;
  if (few) sfb = load_factors(factors_b, block, 0, factors);
  accumulator_.wait(s.accumulator);
  k_("tcgen05.fence::after_thread_sync");
  const Reg from = k_.def("mad.lo.u32", s.accumulator.index(), c_.bn, s.tmem);
  Reg scale;
  for (uint32_t first = 0; first < columns; first += chunk) {
    if (!few) sfb = load_factors(factors_b, block, first / c_.block.n, chunk / c_.block.n);
    const RegArray part = load_part(from, first, chunk);
    if (first + chunk == columns) release_accumulators(s);
    for (uint32_t i = 0; i < chunk; ++i) {
      const uint32_t column = first + i;
      if (column % c_.block.n == 0) scale = k_.def("mul.f32", sfa, sfb[(few ? column : i) / c_.block.n]);
      k_("fma.rn.f32", s.promoted[column], part[i], scale, s.promoted[column]);
    }
  }
  s.accumulator.advance();
}

RegArray GemmDevice::load_part(Reg from, uint32_t first, uint32_t columns) {
  const RegArray part = k_.regs(Mod::f32, columns, "part");
  if (p_.share == RowShare::lanes) {
    k_(OpText("tcgen05.ld.sync.aligned.16x32bx2.x" + std::to_string(columns) + ".b32"), part, mem(from, first), p_.thread_columns());
  } else {
    k_(OpText("tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(columns) + ".b32"), part, mem(from, first));
  }
  k_("tcgen05.wait::ld.sync.aligned");
  return part;
}

}  // namespace drywell::kernels::gemm
