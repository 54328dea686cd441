// Footprints of the tensor core: tcgen05.mma, cp, shift, ld and st.
#include <array>

#include "sim/engine/span_sink.h"
#include "sim/engine/tmem_copy_form.h"
#include "sim/engine/tmem_target.h"
#include "sim/engine/umma_form.h"

namespace drywell::sim {
namespace {

/// Rank of the first CTA of the operation: its CTA, or the even CTA of its pair.
uint32_t first_cta(const AsyncOp& op, uint32_t cta_group) { return cta_group == 2 ? op.issuer.cta & ~1u : op.issuer.cta; }

/// Bytes of a chunk of 16 that hold values: codes of four and six bits, one to a byte of storage, lie at its start, and
/// nothing has to write the rest.
uint32_t used_bytes(isa::MmaKind kind, isa::MmaElement element) {
  switch (element) {
    case isa::MmaElement::e2m1: return isa::is_packed_fp4(kind) ? 16 : 8;
    case isa::MmaElement::e2m3:
    case isa::MmaElement::e3m2: return 12;
    default: return 16;
  }
}
uint32_t used_bytes(isa::Mod format) { return format == isa::Mod::b4x16_p64 ? 8 : format == isa::Mod::b6x16_p32 ? 12
                                                                                                                : 16; }

void shared_operand(uint32_t cta, uint64_t word, const isa::OperandTile& tile, uint32_t used, const SpanVisitor& visit) {
  std::vector<uint32_t> chunks(tile.chunks());
  isa::operand_row_chunks(isa::SmemDescriptor::decode(word), tile, chunks);
  const uint32_t per_line = tile.chunks_per_line();
  // The last chunk of a line may be partly used.
  const uint32_t line_bytes = (tile.major == isa::Major::k ? tile.k : tile.mn) * isa::storage_bits(tile.element) / 8;
  SharedSpans spans(cta, visit);
  for (uint32_t i = 0; i < chunks.size(); ++i) spans.add(chunks[i], std::min(used, line_bytes - i % per_line * 16));
}

// Cells of the rows of D or A: lane by lane, `columns` wide.
template <class Place>
void rows(const UmmaForm& f, const Place& place) {
  for (uint32_t g = 0; g < f.column_groups; ++g) {
    for (uint32_t m = 0; m < f.m; ++m) place(g, m);
  }
}

void accumulator(const AsyncOp& op, const Umma& u, const UmmaForm& f, bool written, const SpanVisitor& visit) {
  const uint32_t first = first_cta(op, u.cta_group), width = f.n / f.column_groups;
  const TmemAddr d(u.d);
  // Layouts A and D use all lanes of each CTA, in order (docs/facts/tcgen05.md §5).
  const bool whole = (f.layout == isa::DLayout::A || f.layout == isa::DLayout::D) && (!written || u.disable_lane == decltype(u.disable_lane){});
  if (whole) {
    for (uint32_t cta = 0; cta < f.ctas; ++cta) visit({Memory::tmem, first + cta, 0, 0, d.lane(), kTmemLanes, d.column(), f.n});
    return;
  }
  TmemSpans spans(visit);
  rows(f, [&](uint32_t g, uint32_t m) {
    const isa::TmemCell at = isa::d_cell(f.layout, m, g * width, f.n);
    const uint32_t lane = d.lane() + at.lane;
    if (written && (u.disable_lane[4 * at.cta + lane / 32] >> (lane % 32) & 1) != 0) return;
    spans.add(first + at.cta, lane, d.column(), width);
  });
}

void tensor_a(const AsyncOp& op, const Umma& u, const UmmaForm& f, const SpanVisitor& visit) {
  const TmemAddr a(static_cast<uint32_t>(u.a));
  TmemSpans spans(visit);
  rows(f, [&](uint32_t copy, uint32_t m) {
    const isa::TmemCell at = isa::a_row(f.layout, m, copy * (f.n / f.column_groups), f.n);
    spans.add(first_cta(op, u.cta_group) + at.cta, a.lane() + at.lane, a.column(), isa::a_columns(f.idesc.k96));
  });
}

void scale_factors(const AsyncOp& op, const Umma& u, const UmmaForm& f, const SpanVisitor& visit) {
  const TmemAddr a(u.sfa & isa::kScaleAddressMask), b(u.sfb & isa::kScaleAddressMask);
  const bool halves = f.layout == isa::DLayout::B;
  TmemSpans spans(visit);
  for (uint32_t cta = 0; cta < f.ctas; ++cta) {
    for (uint32_t p = 0; p < 4; ++p) {
      const auto cell = [&](TmemAddr base, const isa::TmemByte& at) {
        spans.add(first_cta(op, u.cta_group) + cta, base.lane() + at.lane, base.column() + at.column, 1);
      };
      for (uint32_t j : factor_words(f.idesc.sfa_id, f.factors)) {
        for (uint32_t m = 0; m < f.m_per_cta; ++m) cell(a, isa::sfa_place(m, j, f.idesc.sfa_id, p));
      }
      for (uint32_t j : factor_words(f.idesc.sfb_id, f.factors)) {
        for (uint32_t n = 0; n < f.n; ++n) {
          if (!halves || n / (f.n / 2) == p / 2) cell(b, isa::sfb_place(f.layout, n, f.n, j, f.idesc.sfb_id, p));
        }
      }
    }
  }
}

void metadata(const AsyncOp& op, const Umma& u, const UmmaForm& f, const SpanVisitor& visit) {
  const TmemAddr base(u.meta);
  const uint32_t step = f.k / f.groups;
  TmemSpans spans(visit);
  for (uint32_t copy = 0; copy < f.meta_copies; ++copy) {
    for (uint32_t group = 0; group < f.groups; ++group) {
      for (uint32_t m = 0; m < f.m; ++m) {
        const isa::TmemBits at = isa::metadata_bits(f.idesc.kind, group * step, m, f.idesc.sparsity_selector);
        const uint32_t lane = isa::metadata_lane(f.idesc.kind, f.layout, m, group * step, copy);
        spans.add(first_cta(op, u.cta_group) + m / f.m_per_cta, base.lane() + lane, base.column() + at.column, 1);
      }
    }
  }
}

}  // namespace

void reads_of(const AsyncOp& op, const Umma& u, const SpanVisitor& visit, Memories asked) {
  UmmaForm f;
  if (decode_form(u, f).has_value()) return;
  for (uint32_t i = 0; i < f.ctas && (asked & only(Memory::shared)) != 0; ++i) {
    const uint32_t cta = first_cta(op, u.cta_group) + i;
    if (!u.a_in_tmem) shared_operand(cta, u.a, f.a, used_bytes(f.idesc.kind, f.idesc.a_element()), visit);
    shared_operand(cta, u.b, f.b, used_bytes(f.idesc.kind, f.idesc.b_element()), visit);
  }
  if ((asked & only(Memory::tmem)) == 0) return;
  if (u.a_in_tmem) tensor_a(op, u, f, visit);
  if (f.factors != 0) scale_factors(op, u, f, visit);
  if (u.sparse) metadata(op, u, f, visit);
  if (u.accumulate) accumulator(op, u, f, false, visit);
}

void writes_of(const AsyncOp& op, const Umma& u, const SpanVisitor& visit) {
  UmmaForm f;
  if (decode_form(u, f).has_value()) return;
  accumulator(op, u, f, true, visit);
  if (!u.ashift) return;
  for (uint32_t i = 0; i < f.ctas; ++i) {
    visit({Memory::tmem, first_cta(op, u.cta_group) + i, 0, 0, 0, kTmemLanes, TmemAddr(static_cast<uint32_t>(u.a)).column(), isa::kTmemAColumns});
  }
}

void reads_of(const AsyncOp& op, const TmemCopy& p, const SpanVisitor& visit) {
  const isa::SmemDescriptor desc = isa::SmemDescriptor::decode(p.desc);
  const isa::CopyShape shape = copy_shape(p);
  const uint32_t used = used_bytes(p.format);
  for (uint32_t i = 0; i < p.cta_group; ++i) {
    SharedSpans spans(first_cta(op, p.cta_group) + i, visit);
    for (uint32_t row = 0; row < isa::copy_rows(shape); ++row) {
      for (uint32_t unit = 0; unit < isa::copy_units(shape); ++unit) spans.add(isa::copy_source(desc, row, unit), used);
    }
  }
}

void writes_of(const AsyncOp& op, const TmemCopy& p, const SpanVisitor& visit) {
  const isa::CopyShape shape = copy_shape(p);
  const TmemAddr at(p.taddr);
  TmemSpans spans(visit);
  for (uint32_t i = 0; i < p.cta_group; ++i) {
    for (uint32_t k = 0; k < isa::copy_lanes(shape, 0).count; ++k) {
      for (uint32_t row = 0; row < isa::copy_rows(shape); ++row) {
        spans.add(first_cta(op, p.cta_group) + i, at.lane() + isa::copy_lanes(shape, row).lane[k], at.column(), isa::copy_columns(shape));
      }
    }
  }
}

void cells_of(const AsyncOp& op, const TmemShift& p, const SpanVisitor& visit) {
  for (uint32_t i = 0; i < p.cta_group; ++i)
    visit({Memory::tmem, first_cta(op, p.cta_group) + i, 0, 0, 0, kTmemLanes, TmemAddr(p.taddr).column(), isa::kTmemAColumns});
}

void cells_of(const Cluster& c, const AsyncOp& op, const TmemLdSt& t, const SpanVisitor& visit) {
  TmemTarget at;
  if (locate(c, op, t, at).has_value()) return;
  const unsigned regs = isa::tmem_registers(at.access.shape, t.num);
  if (at.is_plain()) return visit({Memory::tmem, op.issuer.cta, 0, 0, at.lane, kWarpSize, at.column, regs});
  std::array<uint32_t, kTmemColumns> lanes{};  // bit per lane of the quarter
  for (unsigned r = 0; r < regs; ++r) {
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const isa::TmemOffset o = isa::tmem_offset(at.access, l, r);
      for (int32_t k = 0; k < (t.pack ? 2 : 1); ++k) lanes[static_cast<uint32_t>(static_cast<int32_t>(at.column) + o.column + k)] |= 1u << o.lane;
    }
  }
  for (uint32_t first = 0, last; first < kTmemColumns; first = last) {
    for (last = first + 1; last < kTmemColumns && lanes[last] == lanes[first]; ++last) {
    }
    TmemSpans spans(visit);
    for (uint32_t left = lanes[first]; left != 0; left &= left - 1)
      spans.add(op.issuer.cta, at.lane + static_cast<uint32_t>(std::countr_zero(left)), first, last - first);
  }
}

}  // namespace drywell::sim
