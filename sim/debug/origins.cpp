// Sources of a byte or cell that an asynchronous operation wrote, from the engines' own address functions.
#include <fmt/format.h>

#include <algorithm>

#include "sim/debug/describe.h"
#include "sim/debug/provenance.h"
#include "sim/engine/tensor_plan.h"
#include "sim/engine/tmem_copy_form.h"
#include "sim/engine/umma_form.h"

namespace drywell::sim {
namespace {

constexpr size_t kMostRuns = 6;  // runs of bytes listed in Origin::where

struct Finder {
  const Session& s;
  const Cluster& c;
  const AsyncOp& op;
  const Place& place;
  std::string& detail;
  std::vector<Origin> out{};

  WarpRef cta(uint32_t rank) const { return {c.index, rank, 0}; }
  WarpRef issuer() const { return {c.index, op.issuer.cta, op.issuer.warp}; }
  uint32_t first_cta(uint32_t group) const { return group == 2 ? op.issuer.cta & ~1u : op.issuer.cta; }

  void add(std::string what, Place from, std::string where = {}) {
    if (where.empty()) where = describe_place(s, from, issuer());
    out.push_back({std::move(what), std::move(from), std::move(where)});
  }
  void add_cell(std::string what, uint32_t rank, uint32_t lane, uint32_t column, uint32_t columns = 1) { add(std::move(what), WatchTmem{cta(rank), lane, 1, column, columns}); }

  // ---- tcgen05.mma: the row of A and the column of B of the cell.

  // Adds line `mn` of an operand in shared memory as runs of bytes.
  void add_line(std::string what, uint32_t rank, uint64_t word, const isa::OperandTile& tile, uint32_t mn) {
    const isa::SmemDescriptor d = isa::SmemDescriptor::decode(word);
    const uint32_t bytes = std::max(1u, isa::value_bits(tile.element) / 8);
    std::string where;
    std::optional<uint32_t> first;
    uint32_t begin = 0, end = 0;
    size_t runs = 0;
    const auto flush = [&] {
      if (end == begin || ++runs > kMostRuns) return;
      where += fmt::format("{}{:#x}..{:#x}", where.empty() ? "SMEM " : ", ", begin, end - 1);
    };
    for (uint32_t k = 0; k < tile.k; ++k) {
      const uint32_t at = isa::operand_address(d, tile.major, tile.element, mn, k).byte;
      if (!first.has_value()) first = at;
      if (end != begin && at <= end && at + bytes >= end) {
        end = at + bytes;
        continue;
      }
      flush();
      begin = at;
      end = at + bytes;
    }
    flush();
    if (runs > kMostRuns) where += fmt::format(" and {} more", runs - kMostRuns);
    if (rank != op.issuer.cta) where += fmt::format(" of CTA rank {}", rank);
    if (first.has_value()) add(std::move(what), WatchSmem{cta(rank), *first, bytes}, std::move(where));
  }

  void add_product(const Umma& u, const UmmaForm& f, uint32_t m, uint32_t n) {
    const uint32_t first = first_cta(u.cta_group), n_per_cta = f.n / f.ctas;
    const isa::TmemCell cell = isa::d_cell(f.layout, m, n, f.n);
    detail = fmt::format("D[{}, {}]", m, n);
    if (u.a_in_tmem) {
      const isa::TmemCell a = isa::a_row(f.layout, m, n, f.n);
      add_cell(fmt::format("A row {}", m), first + a.cta, TmemAddr(static_cast<uint32_t>(u.a)).lane() + a.lane, TmemAddr(static_cast<uint32_t>(u.a)).column(), isa::a_columns(f.idesc.k96));
    } else {
      add_line(fmt::format("A row {}", m), first + m / f.m_per_cta, u.a, f.a, m % f.m_per_cta);
    }
    add_line(fmt::format("B column {}", n), first + n / n_per_cta, u.b, f.b, n % n_per_cta + f.mask.column_shift);
    if (f.factors != 0) {
      const TmemAddr a(u.sfa & isa::kScaleAddressMask), b(u.sfb & isa::kScaleAddressMask);
      const uint32_t lane = TmemAddr(u.d).lane() + cell.lane, partition = lane / 32;
      const auto add_scales = [&](std::string what, TmemAddr base, const isa::TmemByte& at) { add_cell(std::move(what), first + cell.cta, base.lane() + at.lane, base.column() + at.column); };
      for (const uint32_t j : factor_words(f.idesc.sfa_id, f.factors))
        add_scales(fmt::format("scales of A row {}", m), a, isa::sfa_place(m % f.m_per_cta, j, f.idesc.sfa_id, partition));
      for (const uint32_t j : factor_words(f.idesc.sfb_id, f.factors))
        add_scales(fmt::format("scales of B column {}", n), b, isa::sfb_place(f.layout, n, f.n, j, f.idesc.sfb_id, partition));
    }
    if (u.accumulate) add_cell("the cell before", first + cell.cta, TmemAddr(u.d).lane() + cell.lane, TmemAddr(u.d).column() + cell.column);
  }

  void operator()(const Umma& u) {
    const auto* t = std::get_if<WatchTmem>(&place);
    UmmaForm f;
    if (t == nullptr || decode_form(u, f).has_value()) return;
    const TmemAddr d(u.d);
    for (uint32_t m = 0; m < f.m; ++m) {
      for (uint32_t n = 0; n < f.n; ++n) {
        const isa::TmemCell at = isa::d_cell(f.layout, m, n, f.n);
        if (first_cta(u.cta_group) + at.cta == t->cta.cta && d.lane() + at.lane == t->lane && d.column() + at.column == t->column) return add_product(u, f, m, n);
      }
    }
  }

  // ---- copies

  void operator()(const TensorCopy& t) {
    TensorPlan p;
    if (plan_copy(t, p).has_value()) return;
    const auto* smem = std::get_if<WatchSmem>(&place);
    const auto* gmem = std::get_if<WatchGmem>(&place);
    for (const isa::TileRow& row : p.box.rows) {
      for_runs(p, shared_offset(t.smem), row, [&](uint32_t byte, uint32_t at, uint32_t n) {
        const uint64_t global = p.map.address + row.global_offset + byte;
        if (!out.empty()) return;
        if (smem != nullptr && smem->offset >= at && smem->offset < at + n) {
          const uint32_t inside = byte + (smem->offset - at);
          if (inside < row.first || inside >= row.last) detail = "outside the tensor: filled";
          else add_element(t, p, global + (smem->offset - at));
        } else if (gmem != nullptr && gmem->address >= global && gmem->address < global + n) {
          add("shared memory", WatchSmem{cta(shared_rank(t.smem)), at + static_cast<uint32_t>(gmem->address - global), 4});
        }
      });
    }
  }

  // The tensor coordinates of a byte, from the strides.
  void add_element(const TensorCopy& t, const TensorPlan& p, uint64_t address) {
    const unsigned bits = isa::element_bits(p.map.type);
    uint64_t rest = address - p.map.address;
    std::string coordinates;
    for (uint32_t dim = t.rank; dim > 1; --dim) {
      const uint64_t stride = p.map.stride[dim - 2];
      coordinates = fmt::format("{}{}{}", stride == 0 ? 0 : rest / stride, coordinates.empty() ? "" : ", ", coordinates);
      rest = stride == 0 ? rest : rest % stride;
    }
    detail = fmt::format("tensor element ({}{}{})", rest * 8 / bits, coordinates.empty() ? "" : ", ", coordinates);
    add("global memory", WatchGmem{address, std::max(1u, bits / 8)});
  }

  void operator()(const BulkCopy& b) {
    uint64_t offset = 0;
    if (const auto* smem = std::get_if<WatchSmem>(&place); smem != nullptr && !b.to_global())
      offset = smem->offset - shared_offset(static_cast<uint32_t>(b.dst));
    else if (const auto* gmem = std::get_if<WatchGmem>(&place); gmem != nullptr && b.to_global())
      offset = gmem->address - b.dst;
    else return;
    if (b.from_global()) return add("global memory", WatchGmem{b.src + offset, 4});
    if (!b.from_shared()) return;
    const auto src = static_cast<uint32_t>(b.src);
    add("shared memory", WatchSmem{cta(shared_rank(src)), shared_offset(src) + static_cast<uint32_t>(offset), 4});
  }

  void operator()(const AsyncCopy& a) {
    const auto* smem = std::get_if<WatchSmem>(&place);
    for (const AsyncCopy::Lane& l : a.lanes) {
      if (smem == nullptr || smem->offset < shared_offset(l.smem) || smem->offset >= shared_offset(l.smem) + l.bytes) continue;
      const uint32_t byte = smem->offset - shared_offset(l.smem);
      if (byte >= l.src_bytes) detail = "zero-filled";
      else add("global memory", WatchGmem{l.gmem + byte, 4});
      return;
    }
  }

  void operator()(const TmemCopy& t) {
    const auto* cell = std::get_if<WatchTmem>(&place);
    const isa::CopyShape shape = copy_shape(t);
    const TmemAddr at(t.taddr);
    if (cell == nullptr || cell->column < at.column()) return;
    const uint32_t unit = (cell->column - at.column()) / 4;
    for (uint32_t row = 0; row < isa::copy_rows(shape); ++row) {
      const isa::CopyLanes lanes = isa::copy_lanes(shape, row);
      for (unsigned i = 0; i < lanes.count; ++i) {
        if (at.lane() + lanes.lane[i] != cell->lane) continue;
        // Expanded formats have another order of bytes within their unit: the whole unit is the source.
        const bool plain = t.format == isa::Mod::none;
        const uint32_t byte = plain ? (cell->column - at.column()) % 4 * 4 : 0;
        return add(fmt::format("row {} of the copy", row), WatchSmem{cta(cell->cta.cta), isa::copy_source(isa::SmemDescriptor::decode(t.desc), row, unit) + byte, plain ? 4u : 16u});
      }
    }
  }

  template <class T>
  void operator()(const T&) {}
};

}  // namespace

std::vector<Origin> origins_of(const Session& s, const Cluster& c, const AsyncOp& op, const Place& place, std::string& detail) {
  Finder f{s, c, op, place, detail};
  std::visit(f, op.payload);
  return std::move(f.out);
}

}  // namespace drywell::sim
