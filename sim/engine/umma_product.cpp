#include "sim/engine/umma_product.h"

#include <algorithm>
#include <cstring>

namespace drywell::sim {
namespace {

void take_rows(const uint8_t* from, size_t bytes, const std::vector<uint32_t>& rows, std::vector<uint8_t>& out) {
  out.resize(rows.size() * bytes);
  for (size_t r = 0; r < rows.size(); ++r) std::copy_n(from + rows[r] * bytes, bytes, out.data() + r * bytes);
}

}  // namespace

// Each CTA uses its own copy of B's scale factors. Programs keep the copies equal; then one product covers both CTAs.
uint32_t UmmaProduct::row_blocks() const {
  const size_t bytes = size_t{f_.n} * f_.factors;
  return f_.ctas == 2 && std::memcmp(stage_ + at_.sfb, stage_ + at_.sfb + bytes, bytes) != 0 ? 2 : 1;
}

UmmaProduct::Piece UmmaProduct::piece(uint32_t first_row, uint32_t rows, uint32_t copy, uint32_t first_column, uint32_t columns,
                                      uint32_t cta) const {
  Piece p = {};
  p.rows = rows;
  p.columns = columns;
  p.a = stage_ + (size_t{f_.a_copies > 1 ? copy : 0} * f_.m + first_row) * f_.a_row_bytes;
  p.b = stage_ + at_.b + size_t{first_column} * f_.b_row_bytes;
  p.b_stride = f_.b_row_bytes;
  p.sfa = stage_ + at_.sfa + size_t{first_row} * f_.factors;
  p.sfb = stage_ + at_.sfb + (size_t{cta} * f_.n + first_column) * f_.factors;
  return p;
}

void UmmaProduct::run(std::vector<uint32_t>& tile) const {
  const uint32_t groups = std::max(f_.a_copies, f_.meta_copies), width = f_.n / groups;
  for (uint32_t g = 0; g < groups; ++g) {
    for (uint32_t i = 0; i < row_blocks(); ++i) block(g, width, i, tile.data());
  }
}

void UmmaProduct::block(uint32_t g, uint32_t width, uint32_t i, uint32_t* tile) const {
  const uint32_t rows = f_.m / row_blocks(), first = i * rows, column = g * width;
  Piece p = piece(first, rows, g, column, width, i);
  p.d = tile + size_t{first} * f_.n + column;
  p.row_step = f_.n;
  p.column_step = 1;
  if (f_.groups == 0) return multiply(p);
  sparse(p, stage_ + at_.meta + (size_t{g} * f_.m + first) * f_.groups);
}

bool UmmaProduct::can_run_in_place() const {
  const auto& off = u_.disable_lane;
  return f_.layout != isa::DLayout::C && f_.layout != isa::DLayout::F && f_.groups == 0 &&
         std::all_of(off.begin(), off.end(), [](uint32_t lanes) { return lanes == 0; });
}

void UmmaProduct::run_in_place(const TmemGroup& group) const {
  const TmemAddr d(u_.d);
  const uint32_t width = f_.n / f_.column_groups;
  for (uint32_t g = 0; g < f_.column_groups; ++g) {
    for (uint32_t i = 0; i < f_.ctas; ++i) {
      Piece p = piece(i * f_.m_per_cta, f_.m_per_cta, g, g * width, width, i);
      const isa::TmemCell first = isa::d_cell(f_.layout, i * f_.m_per_cta, g * width, f_.n);
      p.d = group.tmem(first.cta).column(d.column()) + d.lane() + first.lane;
      p.row_step = 1;
      p.column_step = kTmemLanes;
      multiply(p);
    }
  }
}

// Rows with the same metadata are multiplied with the same elements of B. Positions that are not selected do not affect the
// result, whatever their values (docs/facts/numerics.md §3.4 S).
void UmmaProduct::sparse(const Piece& all, const uint8_t* meta) const {
  std::vector<bool> done(all.rows, false);
  std::vector<uint8_t> a, b, sfa;
  std::vector<uint32_t> tile;
  for (uint32_t first = 0; first < all.rows; ++first) {
    if (done[first]) continue;
    const uint8_t* pattern = meta + size_t{first} * f_.groups;
    std::vector<uint32_t> rows;
    for (uint32_t r = first; r < all.rows; ++r) {
      if (done[r] || std::memcmp(meta + size_t{r} * f_.groups, pattern, f_.groups) != 0) continue;
      rows.push_back(r);
      done[r] = true;
    }
    take_rows(all.a, f_.a_row_bytes, rows, a);
    take_rows(all.sfa, f_.factors, rows, sfa);
    select_b(all, pattern, b);
    tile.resize(rows.size() * all.columns);
    for (size_t r = 0; r < rows.size(); ++r)
      std::copy_n(all.d + rows[r] * all.row_step, all.columns, tile.data() + r * all.columns);
    multiply({static_cast<uint32_t>(rows.size()), all.columns, a.data(), b.data(), f_.a_row_bytes, sfa.data(), all.sfb,
              tile.data(), all.columns, 1});
    for (size_t r = 0; r < rows.size(); ++r)
      std::copy_n(tile.data() + r * all.columns, all.columns, all.d + rows[r] * all.row_step);
  }
}

void UmmaProduct::select_b(const Piece& p, const uint8_t* meta, std::vector<uint8_t>& out) const {
  std::vector<uint32_t> k(f_.stored_k);
  for (uint32_t i = 0; i < f_.stored_k; ++i) k[i] = selected_k(f_.idesc.kind, meta, i);
  out.assign(size_t{p.columns} * f_.a_row_bytes, 0);
  const bool nibbles = f_.storage == numeric::CodeStorage::nibbles;
  const size_t bytes = nibbles ? 0 : f_.a_row_bytes / f_.stored_k;
  for (uint32_t n = 0; n < p.columns; ++n) {
    const uint8_t* from = p.b + n * p.b_stride;
    uint8_t* to = out.data() + n * f_.a_row_bytes;
    for (uint32_t i = 0; i < f_.stored_k; ++i) {
      if (nibbles) {
        to[i / 2] =
            static_cast<uint8_t>(to[i / 2] | (from[k[i] / 2] >> (k[i] % 2 * 4) & 0xF) << (i % 2 * 4));
      } else {
        std::memcpy(to + i * bytes, from + k[i] * bytes, bytes);
      }
    }
  }
}

// In tensor memory, neighbouring rows of D are adjacent in host memory: A and B are then swapped, so that the vectors of the
// product run along A's rows. The upper half of a cell after an f16 result is not documented; here it is unchanged
// (docs/deviations.md).
void UmmaProduct::multiply(const Piece& p) const {
  if (f_.integer()) return multiply_integers(p);
  const bool a_in_lanes = p.row_step == 1;
  const size_t stride = a_in_lanes ? p.column_step : p.row_step;
  const numeric::MmaParams& params = f_.arithmetic->params;
  numeric::mma_tile(params, a_in_lanes ? source_b(p) : source_a(p), a_in_lanes ? source_a(p) : source_b(p),
                    {u_.accumulate ? p.d : nullptr, stride, p.d, stride, u_.scale_d, f_.halves_d()});
}

numeric::OperandSource UmmaProduct::source_a(const Piece& p) const {
  return source(f_.a_format(), p.rows, p.a, f_.a_row_bytes, f_.idesc.negate_a, p.sfa);
}
numeric::OperandSource UmmaProduct::source_b(const Piece& p) const {
  return source(f_.b_format(), p.columns, p.b, p.b_stride, f_.idesc.negate_b, p.sfb);
}

numeric::OperandSource UmmaProduct::source(numeric::Format format, uint32_t rows, const uint8_t* codes, size_t stride,
                                           bool negate, const uint8_t* scales) const {
  numeric::OperandSource s;
  s.format = format;
  s.rows = rows;
  s.k = f_.stored_k;
  s.codes = codes;
  s.row_stride = stride;
  s.storage = f_.storage;
  s.negate = negate;
  s.scale_format = f_.arithmetic->scale_format;
  s.scales_per_row = f_.factors;
  s.scales = scales;
  s.scale_stride = f_.factors;
  return s;
}

void UmmaProduct::multiply_integers(const Piece& p) const {
  numeric::IntegerTile t;
  t.k = f_.stored_k;
  t.m = p.rows;
  t.a = p.a;
  t.a_stride = f_.a_row_bytes;
  t.a_signed = f_.idesc.a_element() == isa::MmaElement::s8;
  t.n = p.columns;
  t.b = p.b;
  t.b_stride = p.b_stride;
  t.b_signed = f_.idesc.b_element() == isa::MmaElement::s8;
  t.saturate = f_.idesc.saturate;
  size_t stride = p.row_step;
  if (p.row_step == 1) {  // D transposed
    std::swap(t.m, t.n);
    std::swap(t.a, t.b);
    std::swap(t.a_stride, t.b_stride);
    std::swap(t.a_signed, t.b_signed);
    stride = p.column_step;
  }
  numeric::mma_tile_i8(t, {u_.accumulate ? p.d : nullptr, stride, p.d, stride, u_.scale_d});
}

}  // namespace drywell::sim
