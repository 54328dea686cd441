// The tensor core: tcgen05.mma. Operands are read as codes at one moment, the product is formed and D written
// at another, so that a missing wait shows.
#include <algorithm>
#include <cstring>

#include "sim/engine/umma_operands.h"

namespace drywell::sim {
namespace {

// Rows of A times rows of B with everything they share; C comes from `tile`, D goes there.
struct Piece {
  uint32_t rows, columns;
  const uint8_t* a;
  const uint8_t* b;
  size_t b_stride;
  const uint8_t* sfa;
  const uint8_t* sfb;
  uint32_t* tile;
  size_t stride;
};

class Product {
 public:
  Product(const Umma& u, const UmmaForm& f, const uint8_t* stage) : u_(u), f_(f), at_(f), stage_(stage) {}

  /// D of the whole tile, [m][n]; `tile` holds C if the instruction reads it.
  void run(std::vector<uint32_t>& tile) const {
    const uint32_t groups = std::max(f_.a_copies, f_.meta_copies), width = f_.n / groups;
    for (uint32_t g = 0; g < groups; ++g) {
      for (uint32_t i = 0; i < row_blocks(); ++i) block(g, width, i, tile.data());
    }
  }

 private:
  // Each CTA uses its own copy of B's scale factors. They are equal in every sensible program, and one
  // product will do.
  uint32_t row_blocks() const {
    const size_t bytes = size_t{f_.n} * f_.factors;
    return f_.ctas == 2 && std::memcmp(stage_ + at_.sfb, stage_ + at_.sfb + bytes, bytes) != 0 ? 2 : 1;
  }

  void block(uint32_t g, uint32_t width, uint32_t i, uint32_t* tile) const {
    const uint32_t rows = f_.m / row_blocks(), first = i * rows, column = g * width;
    Piece p;
    p.rows = rows;
    p.columns = width;
    p.a = stage_ + (size_t{f_.a_copies > 1 ? g : 0} * f_.m + first) * f_.a_row_bytes;
    p.b = stage_ + at_.b + size_t{column} * f_.b_row_bytes;
    p.b_stride = f_.b_row_bytes;
    p.sfa = stage_ + at_.sfa + size_t{first} * f_.factors;
    p.sfb = stage_ + at_.sfb + (size_t{i} * f_.n + column) * f_.factors;
    p.tile = tile + size_t{first} * f_.n + column;
    p.stride = f_.n;
    if (f_.groups == 0) return multiply(p);
    sparse(p, stage_ + at_.meta + (size_t{g} * f_.m + first) * f_.groups);
  }

  // Rows that keep the same k meet the same B; positions that are not kept take no part, whatever they hold
  // (facts/numerics.md §3.4 S).
  void sparse(const Piece& all, const uint8_t* meta) const {
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
        std::copy_n(all.tile + rows[r] * all.stride, all.columns, tile.data() + r * all.columns);
      multiply({static_cast<uint32_t>(rows.size()), all.columns, a.data(), b.data(), f_.a_row_bytes,
                sfa.data(), all.sfb, tile.data(), all.columns});
      for (size_t r = 0; r < rows.size(); ++r)
        std::copy_n(tile.data() + r * all.columns, all.columns, all.tile + rows[r] * all.stride);
    }
  }

  static void take_rows(const uint8_t* from, size_t bytes, const std::vector<uint32_t>& rows,
                        std::vector<uint8_t>& out) {
    out.resize(rows.size() * bytes);
    for (size_t r = 0; r < rows.size(); ++r)
      std::copy_n(from + rows[r] * bytes, bytes, out.data() + r * bytes);
  }

  void select_b(const Piece& p, const uint8_t* meta, std::vector<uint8_t>& out) const {
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

  void multiply(const Piece& p) const {
    numeric::TileOutput out;
    out.c = u_.accumulate ? p.tile : nullptr;
    out.c_stride = p.stride;
    out.d = p.tile;
    out.d_stride = p.stride;
    out.input_d_shift = u_.scale_d;
    if (f_.integer()) return multiply_integers(p, out);
    const numeric::MmaParams& params = f_.arithmetic->params;
    numeric::MmaOperand a, b;
    a.assign(numeric::MmaOperand::Side::a, params,
             source(f_.a_format(), p.rows, p.a, f_.a_row_bytes, f_.idesc.negate_a, p.sfa));
    b.assign(numeric::MmaOperand::Side::b, params,
             source(f_.b_format(), p.columns, p.b, p.b_stride, f_.idesc.negate_b, p.sfb));
    numeric::mma_tile(params, a, b, out);
  }

  numeric::OperandSource source(numeric::Format format, uint32_t rows, const uint8_t* codes, size_t stride,
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

  void multiply_integers(const Piece& p, const numeric::TileOutput& out) const {
    numeric::IntegerTile t;
    t.m = p.rows;
    t.n = p.columns;
    t.k = f_.stored_k;
    t.a = p.a;
    t.a_stride = f_.a_row_bytes;
    t.a_signed = f_.idesc.a_element() == isa::MmaElement::s8;
    t.b = p.b;
    t.b_stride = p.b_stride;
    t.b_signed = f_.idesc.b_element() == isa::MmaElement::s8;
    t.saturate = f_.idesc.saturate;
    numeric::mma_tile_i8(t, out);
  }

  const Umma& u_;
  const UmmaForm& f_;
  const UmmaStage at_;
  const uint8_t* stage_;
};

// Calls visit(m, n, cell, disabled) for every D(m, n). Tensor memory lies column by column and a tile row by
// row: blocks of columns keep both in the cache.
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
        // disable-output-lane: words 0..3 the even CTA's lanes, 4..7 the odd's (facts/tcgen05.md §4.5).
        const bool disabled = (u.disable_lane[4 * at.cta + lane / 32] >> (lane % 32) & 1) != 0;
        for (uint32_t i = first; i < last; ++i)
          visit(m, g * width + i, cell[size_t{i} * kTmemLanes], disabled);
      }
    }
  }
}

}  // namespace

EngineResult read(Cluster& c, AsyncOp& op, Umma& u) {
  UmmaForm f;
  if (auto e = decode_form(u, f); e.has_value()) return e;
  const TmemGroup group(c, op.issuer, u.cta_group);
  if (auto e = check_places(group, u, f); e.has_value()) return e;
  op.staging.resize(UmmaStage(f).bytes);
  if (auto e = read_operands(group, u, f, op.staging.data()); e.has_value()) return e;
  // The array has taken A: the next MMA in the pipe finds it moved (facts/tcgen05.md §4.5).
  if (u.ashift) group.shift_down(TmemAddr(static_cast<uint32_t>(u.a)).column(), isa::kTmemAColumns);
  return std::nullopt;
}

EngineResult write(Cluster& c, AsyncOp& op, Umma& u) {
  UmmaForm f;
  if (auto e = decode_form(u, f); e.has_value()) return e;
  const TmemGroup group(c, op.issuer, u.cta_group);
  if (auto e = group.check_columns("tcgen05.mma: D", TmemAddr(u.d).column(), isa::d_columns(f.layout, f.n));
      e.has_value())
    return e;
  std::vector<uint32_t> tile(size_t{f.m} * f.n);
  const bool halves = f.halves_d();
  if (u.accumulate) {
    for_cells(group, u, f, [&](uint32_t m, uint32_t n, uint32_t& cell, bool) {
      tile[size_t{m} * f.n + n] = halves ? cell & 0xFFFF : cell;
    });
  }
  Product(u, f, op.staging.data()).run(tile);
  for_cells(group, u, f, [&](uint32_t m, uint32_t n, uint32_t& cell, bool disabled) {
    if (disabled) return;
    const uint32_t d = tile[size_t{m} * f.n + n];
    // What an f16 result leaves in the upper half is not documented: unchanged here (docs/deviations.md).
    cell = halves ? (cell & 0xFFFF0000u) | d : d;
  });
  return std::nullopt;
}

}  // namespace drywell::sim
