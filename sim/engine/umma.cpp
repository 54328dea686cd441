// The tensor core: tcgen05.mma. The operands' codes are read at one moment; the product is computed and D is written at
// another, so that a missing wait changes the result.
#include <algorithm>

#include "drywell/sim/arch_config.h"
#include "sim/engine/umma_product.h"

namespace drywell::sim {
namespace {

// Calls visit(m, n, cell, disabled) for every D(m, n). Tensor memory is stored column by column and a tile row by row:
// blocks of columns keep both in the cache.
template <class Visit>
void for_cells(const TmemGroup& group, const Umma& u, const UmmaForm& f, Visit visit) {
  const TmemAddr d(u.d);
  const uint32_t width = f.n / f.column_groups;
  constexpr uint32_t kBlock = 16;
  for (uint32_t g = 0; g < f.column_groups; ++g) {
    for (uint32_t first = 0; first < width; first += kBlock) {
      const uint32_t last = std::min(first + kBlock, width);
      for (uint32_t m = 0; m < f.m; ++m) {
        const isa::TmemCell at = isa::d_cell(f.layout, m, g * width, f.n);
        const uint32_t lane = d.lane() + at.lane;
        uint32_t* cell = group.tmem(at.cta).column(d.column()) + lane;
        // disable-output-lane: words 0..3 are the even CTA's lanes, words 4..7 the odd CTA's (docs/facts/tcgen05.md §4.5).
        const bool disabled = (u.disable_lane[4 * at.cta + lane / 32] >> (lane % 32) & 1) != 0;
        for (uint32_t i = first; i < last; ++i)
          visit(m, g * width + i, cell[size_t{i} * kTmemLanes], disabled);
      }
    }
  }
}

}  // namespace

EngineResult read_operands(Cluster& c, AsyncOp& op, Umma& u) {
  UmmaForm f;
  if (auto e = decode_form(u, f); e.has_value()) return e;
  const TmemGroup group(c, op.issuer, u.cta_group);
  if (auto e = check_places(group, u, f); e.has_value()) return e;
  op.staging.resize(UmmaStage(f).bytes);
  if (auto e = read_operands(group, u, f, op.staging.data()); e.has_value()) return e;
  // A has been read: the next MMA in the pipeline reads the shifted A (docs/facts/tcgen05.md §4.5).
  if (u.ashift) group.shift_down(TmemAddr(static_cast<uint32_t>(u.a)).column(), isa::kTmemAColumns);
  return std::nullopt;
}

EngineResult write_result(Cluster& c, AsyncOp& op, Umma& u) {
  UmmaForm f;
  if (auto e = decode_form(u, f); e.has_value()) return e;
  const TmemGroup group(c, op.issuer, u.cta_group);
  if (auto e = group.check_columns("tcgen05.mma: D", TmemAddr(u.d).column(), isa::d_columns(f.layout, f.n));
      e.has_value())
    return e;
  const UmmaProduct product(u, f, op.staging.data());
  if (product.can_run_in_place()) {
    product.run_in_place(group);
    return std::nullopt;
  }
  std::vector<uint32_t> tile(size_t{f.m} * f.n);
  const bool halves = f.halves_d();
  if (u.accumulate) {
    for_cells(group, u, f, [&](uint32_t m, uint32_t n, uint32_t& cell, bool) {
      tile[size_t{m} * f.n + n] = halves ? cell & 0xFFFF : cell;
    });
  }
  product.run(tile);
  for_cells(group, u, f, [&](uint32_t m, uint32_t n, uint32_t& cell, bool disabled) {
    if (disabled) return;
    const uint32_t d = tile[size_t{m} * f.n + n];
    // The upper half of the cell after an f16 result is not documented; here it is unchanged (docs/deviations.md).
    cell = halves ? (cell & 0xFFFF0000u) | d : d;
  });
  return std::nullopt;
}

}  // namespace drywell::sim
