#include "drywell/isa/inspect/tmem_check.h"

#include <fmt/format.h>

#include "drywell/isa/layout/print.h"

namespace drywell::isa {
namespace {

using layout::IntTuple;

/// Place of the element at `offset`, for elements of `bits` bits: CuTe counts lane << 16 | column in
/// elements.
TmemPlace place_of(int64_t offset, unsigned bits) {
  const int64_t per_cell = 32 / bits, lane_step = int64_t{65536} * per_cell;
  const int64_t lane = offset >= 0 ? offset / lane_step : -((-offset + lane_step - 1) / lane_step), rest = offset - lane * lane_step;
  return {lane, rest / per_cell, static_cast<unsigned>(rest % per_cell) * bits};
}

/// One element that an instruction reads or writes: its coordinate in mode 0 and its place relative to the instruction's
/// address.
struct Touched {
  IntTuple coord;
  TmemPlace place;
};

IntTuple pair(int64_t a, int64_t b) { return IntTuple::of({a, b}); }

std::vector<Touched> accumulator(const TmemUseForm& u, DLayout layout) {
  std::vector<Touched> out;
  for (unsigned n = 0; n < u.n; ++n) {
    for (unsigned m = 0; m < d_rows_per_cta(layout); ++m) {
      const TmemCell c = d_cell(layout, m, n, u.n);
      out.push_back({pair(m, n), {c.lane, c.column, 0}});
    }
  }
  return out;
}

std::vector<Touched> a_operand(const TmemUseForm& u, DLayout layout) {
  std::vector<Touched> out;
  const unsigned stored = mma_k(u.form.kind, false, u.k96);
  for (unsigned k = 0; k < stored; ++k) {
    const TmemBits bits = a_bits(u.form.kind, u.element, k);
    for (unsigned m = 0; m < d_rows_per_cta(layout); ++m)
      out.push_back({pair(m, k), {a_row(layout, m, 0, u.n).lane, bits.column, bits.low - (bits.width < 8 ? bits.low % 8u : 0u)}});
  }
  return out;
}

/// Factors of rows below `rows`, in all four lane partitions that hold a copy.
std::vector<Touched> factors(const TmemUseForm& u, DLayout layout, unsigned rows) {
  std::vector<Touched> out;
  for (unsigned copy = 0; copy < 4; ++copy) {
    for (unsigned j = 0; j < u.factors(); ++j) {
      for (unsigned row = 0; row < rows; ++row) {
        const bool of_b = u.operand == TmemOperand::sfb;
        const TmemByte at = of_b ? sfb_place(layout, row, u.n, j, 0, copy) : sfa_place(row, j, 0, copy);
        out.push_back({IntTuple::of({pair(row, copy), pair(0, j)}), {at.lane, at.column, 8u * at.byte}});
      }
    }
  }
  return out;
}

/// True if an MMA's factors may start at this byte of a cell (PTX ISA 9.7.16.10.7: ids 0…3, 0 and 2, 0). The three or six factors of K = 96
/// may start where the ones before them end.
bool is_factor_id(unsigned byte, unsigned factors) { return byte % (factors == 3 ? 1 : factors == 6 ? 2
                                                                                                    : factors) ==
                                                            0; }

class Comparison {
 public:
  Comparison(const layout::ComposedLayout& l, unsigned bits, std::string_view who) : bits_(bits), who_(who) {
    const layout::Layout& all = l.layout();
    if (all.rank() == 0 || !all.shape().is_tuple()) layout::fail(Code::E1804, "a tensor-memory layout has a mode for the instruction and one for every repetition");
    rest_ = all.rank() > 1 ? layout::take(all, 1, all.rank()) : layout::Layout();
    mode_ = all.mode(0);
  }

  TmemCheck run(const std::vector<Touched>& touched, std::optional<unsigned> factors) {
    const int64_t repetitions = layout::size(rest_).value;
    if (repetitions * static_cast<int64_t>(touched.size()) > (int64_t{1} << 26)) layout::fail(Code::E1808, "too many elements to compare");
    TmemCheck r;
    for (int64_t j = 0; j < repetitions; ++j) {
      const int64_t base = rest_.index(j);
      const TmemPlace from = place_of(base, bits_);
      r.bases.push_back(from);
      if (factors.has_value() && !is_factor_id(from.bit / 8, *factors)) {
        r.detail = fmt::format("{}: its factors start at byte {} of the cell, which is no factor id of .scale_vec::{}X", name(j), from.bit / 8, *factors);
        return r;
      }
      for (const Touched& t : touched) {
        const TmemPlace says = place_of(base + mode_(t.coord).leaf().value, bits_);
        TmemPlace wants = t.place;
        wants.lane += from.lane;
        wants.column += from.column;
        wants.bit += from.bit;
        if (const std::string why = difference(t, says, wants, j); !why.empty()) {
          r.detail = why;
          return r;
        }
      }
    }
    r.ok = true;
    r.detail = fmt::format("{} elements of {} {} lie where {} has them", touched.size(), repetitions, repetitions == 1 ? "instruction" : "instructions", who_);
    return r;
  }

  /// Throws E1804 unless the mode's size is at least `extent`.
  void need(const layout::Layout& mode, int64_t extent, const char* what) const {
    const int64_t has = layout::size(mode).value;
    if (has < extent)
      layout::fail(Code::E1804, fmt::format("{} of {} needs {}, the layout's {} has {}", what, who_, extent, layout::to_string(mode, layout::Marks::plain), has));
  }
  const layout::Layout& mode() const { return mode_; }

 private:
  std::string name(int64_t j) const {
    return fmt::format("instruction {}", layout::to_string(layout::idx2crd(layout::Int(j), rest_.shape()), layout::Marks::plain));
  }
  std::string difference(const Touched& t, const TmemPlace& says, const TmemPlace& wants, int64_t j) const {
    if (says == wants && says.lane >= 0 && says.lane < 128 && says.column < 512) return {};
    const std::string at = layout::to_string(t.coord, layout::Marks::plain);
    if (says == wants) return fmt::format("{}, element {}: {} is outside tensor memory", name(j), at, to_string(says));
    return fmt::format("{}, element {}: the layout says {}, {} {}", name(j), at, to_string(says), who_, to_string(wants));
  }

  unsigned bits_;
  std::string who_;
  layout::Layout rest_, mode_;
};

/// ((rows, copies), (vector, factors)).
void need_factor_form(const Comparison& c, unsigned rows, unsigned factors) {
  const layout::Layout& m = c.mode();
  if (m.rank() != 2 || m.mode(0).rank() != 2 || m.mode(1).rank() != 2) layout::fail(Code::E1804, "scale factors' mode 0 is ((rows, copies), (vector, factors))");
  c.need(m.mode(0).mode(0), rows, "rows");
  c.need(m.mode(0).mode(1), 4, "the copies for the lane partitions");
  c.need(m.mode(1).mode(1), factors, "factors a row");
}

void need_matrix_form(const Comparison& c, int64_t rows, int64_t columns) {
  if (c.mode().rank() != 2) layout::fail(Code::E1804, "mode 0 is (rows, columns)");
  c.need(c.mode().mode(0), rows, "rows");
  c.need(c.mode().mode(1), columns, "columns");
}

}  // namespace

std::string_view to_string(TmemOperand o) {
  static constexpr std::string_view kNames[] = {"D", "A", "SFA", "SFB"};
  return kNames[static_cast<size_t>(o)];
}

std::string to_string(const TmemPlace& p) {
  return p.bit == 0 ? fmt::format("lane {} column {}", p.lane, p.column) : fmt::format("lane {} column {} bit {}", p.lane, p.column, p.bit);
}

TmemCheck check_tmem_layout(const layout::ComposedLayout& l, const TmemUseForm& use) {
  const auto d = d_layout(use.m, use.form.cta_group, use.form.ws, use.form.sparse);
  if (!d.has_value()) layout::fail(Code::E1804, fmt::format("no tcgen05.mma has M = {} with cta_group::{}", use.m, use.form.cta_group));
  const bool scale = use.operand == TmemOperand::sfa || use.operand == TmemOperand::sfb;
  const unsigned bits = scale ? 8 : use.operand == TmemOperand::a ? std::max(8u, element_bits(use.element))
                                                                  : 32;
  const std::string who = fmt::format("tcgen05.mma's {}", to_string(use.operand));
  Comparison c(l, is_packed_fp4(use.form.kind) && use.operand == TmemOperand::a ? 4 : bits, who);
  if (use.operand == TmemOperand::d) {
    need_matrix_form(c, d_rows_per_cta(*d), use.n);
    return c.run(accumulator(use, *d), std::nullopt);
  }
  if (use.operand == TmemOperand::a) {
    need_matrix_form(c, d_rows_per_cta(*d), mma_k(use.form.kind, false, use.k96));
    return c.run(a_operand(use, *d), std::nullopt);
  }
  if (use.form.scale == ScaleVector::none) layout::fail(Code::E1804, "this kind has no scale factors");
  if (use.operand == TmemOperand::sfb && *d == DLayout::B) layout::fail(Code::E1804, "SFB of a pair with M = 128 is split between lane partitions: not compared");
  const unsigned rows = use.operand == TmemOperand::sfa ? d_rows_per_cta(*d) : use.n;
  need_factor_form(c, rows, use.factors());
  return c.run(factors(use, *d, rows), use.factors());
}

TmemCheck check_tmem_access(const layout::ComposedLayout& l, const TmemAccess& access) {
  Comparison c(l, 32, "tcgen05.ld");
  const layout::Layout& m = c.mode();
  // (((registers, threads), 1), …) as CuTe prints its partitions.
  const bool nested = m.rank() == 2 && m.mode(0).rank() == 2 && layout::size(m.mode(1)).value == 1;
  const unsigned registers = tmem_registers(access.shape, access.num);
  std::vector<Touched> touched;
  for (unsigned t = 0; t < 32; ++t) {
    for (unsigned r = 0; r < registers; ++r) {
      const TmemOffset o = tmem_offset(access, t, r);
      touched.push_back({nested ? pair(0, 0) : pair(r, t), {o.lane, o.column, 0}});
      if (nested) touched.back().coord = IntTuple::of({pair(r, t), 0});
    }
  }
  const layout::Layout& tv = nested ? m.mode(0) : m;
  if (tv.rank() != 2) layout::fail(Code::E1804, "mode 0 is (registers, threads)");
  c.need(tv.mode(0), registers, "registers");
  c.need(tv.mode(1), 32, "threads");
  return c.run(touched, std::nullopt);
}

}  // namespace drywell::isa
