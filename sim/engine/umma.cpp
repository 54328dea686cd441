// The tensor core: tcgen05.mma (facts/tcgen05.md §4-§6). Operands are read as raw bytes at one moment, the product is
// formed and D written at another, so that a missing wait shows.
#include <fmt/format.h>

#include <cstring>

#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tmem_layout.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/engine/engine.h"

namespace drywell::sim {
namespace {

isa::MmaKind kind_of(isa::Mod m) {
  switch (m) {
    case isa::Mod::kind_tf32: return isa::MmaKind::tf32;
    case isa::Mod::kind_f8f6f4: return isa::MmaKind::f8f6f4;
    case isa::Mod::kind_i8: return isa::MmaKind::i8;
    case isa::Mod::kind_mxf8f6f4: return isa::MmaKind::mxf8f6f4;
    case isa::Mod::kind_mxf4: return isa::MmaKind::mxf4;
    case isa::Mod::kind_mxf4nvf4: return isa::MmaKind::mxf4nvf4;
    default: return isa::MmaKind::f16;
  }
}

// Elements of 16 bits, whatever the major-ness, as K-major codes: out[row * k + kk].
EngineResult gather_halves(const Smem& smem, const isa::SmemDescriptor& d, const isa::OperandTile& tile, uint16_t* out) {
  std::vector<uint32_t> chunks(tile.chunks());
  isa::operand_row_chunks(d, tile, chunks);
  const uint32_t per_line = tile.chunks_per_line();
  for (uint32_t line = 0; line < tile.lines(); ++line) {
    for (uint32_t chunk = 0; chunk < per_line; ++chunk) {
      const uint32_t at = chunks[line * per_line + chunk];
      if (!smem.contains(at, 16)) return GuestError{"F3211", fmt::format("an MMA operand reaches shared address {:#x}, past the CTA's {:#x}", at, smem.size())};
      uint16_t v[8];
      std::memcpy(v, smem.data() + at, 16);
      if (tile.major == isa::Major::k) {
        std::memcpy(out + line * tile.k + chunk * 8, v, 16);
      } else {
        for (uint32_t e = 0; e < 8; ++e) out[(chunk * 8 + e) * tile.k + line] = v[e];
      }
    }
  }
  return std::nullopt;
}

struct Shape {
  isa::InstrDescriptor idesc;
  isa::OperandTile a, b;
};

EngineResult check_form(const Umma& u, Shape& s) {
  const isa::MmaKind kind = kind_of(u.kind);
  s.idesc = isa::InstrDescriptor::decode(kind, u.idesc);
  Diagnostics problems;
  isa::MmaForm form;
  form.kind = kind;
  form.cta_group = u.cta_group;
  form.ws = u.ws;
  form.sparse = u.sparse;
  form.a_in_tmem = u.a_in_tmem;
  isa::check(s.idesc, form, problems);
  if (problems.has_errors()) return GuestError{"F3212", problems.to_string()};
  if (kind != isa::MmaKind::f16 || u.cta_group != 1 || u.a_in_tmem || u.sparse || u.ws || s.idesc.accumulator() != isa::MmaAccumulator::f32) {
    return GuestError{"U5000", "unsupported form of tcgen05.mma"};
  }
  s.a = isa::operand_tile_a(s.idesc, u.cta_group);
  s.b = isa::operand_tile_b(s.idesc, u.cta_group);
  return std::nullopt;
}

}  // namespace

EngineResult read(Cluster& c, AsyncOp& op, Umma& u) {
  Shape s;
  if (auto e = check_form(u, s); e.has_value()) return e;
  const Smem& smem = c.cta(op.issuer.cta).smem;
  op.staging.resize(2 * size_t{s.a.k} * (s.a.mn + s.b.mn));
  auto* codes = reinterpret_cast<uint16_t*>(op.staging.data());
  if (auto e = gather_halves(smem, isa::SmemDescriptor::decode(u.a), s.a, codes); e.has_value()) return e;
  return gather_halves(smem, isa::SmemDescriptor::decode(u.b), s.b, codes + size_t{s.a.k} * s.a.mn);
}

EngineResult write(Cluster& c, AsyncOp& op, Umma& u) {
  Shape s;
  if (auto e = check_form(u, s); e.has_value()) return e;
  Cta& cta = c.cta(op.issuer.cta);
  const TmemAddr d(u.d);
  if (!cta.tmem->owns(d.column(), s.idesc.n, cta.serial + 1)) {
    return GuestError{"F3213", fmt::format("tcgen05.mma writes TMEM columns {} to {}, which this CTA has not allocated", d.column(), d.column() + s.idesc.n - 1)};
  }
  const auto format_of = [](isa::MmaElement e) { return e == isa::MmaElement::bf16 ? numeric::Format::bf16 : numeric::Format::f16; };
  numeric::MmaQuery q;
  q.a = format_of(s.idesc.a_element());
  q.b = format_of(s.idesc.b_element());
  const numeric::MmaRow* row = numeric::find_mma(q);
  if (row == nullptr) return GuestError{"U5000", "unsupported: no public record of this MMA's arithmetic"};
  const auto* codes = reinterpret_cast<const uint16_t*>(op.staging.data());
  numeric::MmaOperand a, b;
  numeric::OperandSource src;
  src.format = q.a;
  src.rows = s.a.mn;
  src.k = s.a.k;
  src.codes = codes;
  src.row_stride = 2 * s.a.k;
  src.negate = s.idesc.negate_a;
  a.assign(numeric::MmaOperand::Side::a, row->params, src);
  src.format = q.b;
  src.rows = s.b.mn;
  src.codes = codes + size_t{s.a.k} * s.a.mn;
  src.negate = s.idesc.negate_b;
  b.assign(numeric::MmaOperand::Side::b, row->params, src);
  std::vector<uint32_t> tile(size_t{s.idesc.m} * s.idesc.n);
  const isa::DLayout layout = *isa::d_layout(s.idesc.m, 1, false, false);
  const auto cell = [&](uint32_t m, uint32_t n) -> uint32_t& {
    const isa::TmemCell at = isa::d_cell(layout, m, n, s.idesc.n);
    return cta.tmem->at(d.lane() + at.lane, d.column() + at.column);
  };
  if (u.accumulate) {
    for (uint32_t m = 0; m < s.idesc.m; ++m) {
      for (uint32_t n = 0; n < s.idesc.n; ++n) tile[size_t{m} * s.idesc.n + n] = cell(m, n);
    }
  }
  numeric::TileOutput out;
  out.c = u.accumulate ? tile.data() : nullptr;
  out.c_stride = s.idesc.n;
  out.d = tile.data();
  out.d_stride = s.idesc.n;
  out.input_d_shift = u.scale_d;
  numeric::mma_tile(row->params, a, b, out);
  for (uint32_t m = 0; m < s.idesc.m; ++m) {
    if ((u.disable_lane[m / 32] >> (m % 32) & 1) != 0) continue;
    for (uint32_t n = 0; n < s.idesc.n; ++n) cell(m, n) = tile[size_t{m} * s.idesc.n + n];
  }
  return std::nullopt;
}

}  // namespace drywell::sim
