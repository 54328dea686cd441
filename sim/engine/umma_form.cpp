#include "sim/engine/umma_form.h"

#include <fmt/format.h>

namespace drywell::sim {
namespace {

numeric::Format element_format(isa::MmaElement e) {
  switch (e) {
    case isa::MmaElement::bf16: return numeric::Format::bf16;
    case isa::MmaElement::tf32: return numeric::Format::tf32;
    case isa::MmaElement::e4m3: return numeric::Format::e4m3;
    case isa::MmaElement::e5m2: return numeric::Format::e5m2;
    case isa::MmaElement::e2m3: return numeric::Format::e2m3;
    case isa::MmaElement::e3m2: return numeric::Format::e3m2;
    case isa::MmaElement::e2m1: return numeric::Format::e2m1;
    default: return numeric::Format::f16;
  }
}

numeric::MmaKind numeric_kind(isa::MmaKind k) {
  switch (k) {
    case isa::MmaKind::tf32: return numeric::MmaKind::tf32;
    case isa::MmaKind::f8f6f4: return numeric::MmaKind::f8f6f4;
    case isa::MmaKind::mxf8f6f4: return numeric::MmaKind::mxf8f6f4;
    case isa::MmaKind::mxf4: return numeric::MmaKind::mxf4;
    case isa::MmaKind::mxf4nvf4: return numeric::MmaKind::mxf4nvf4;
    default: return numeric::MmaKind::f16;
  }
}

const numeric::MmaRow* find_arithmetic(const isa::InstrDescriptor& d) {
  numeric::MmaQuery q;
  q.kind = numeric_kind(d.kind);
  q.a = element_format(d.a_element());
  q.b = element_format(d.b_element());
  q.d = d.accumulator() == isa::MmaAccumulator::f16 ? numeric::Format::f16 : numeric::Format::f32;
  if (isa::is_block_scaled(d.kind)) q.scale = d.scale_ue8m0 ? numeric::Format::ue8m0 : numeric::Format::ue4m3;
  return numeric::find_mma(q);
}

// The first error as a fault of the guest (F3211, F3212); an unsupported form keeps its U code.
EngineResult first_error(const Diagnostics& problems, const char* operand) {
  for (const Diagnostic& d : problems.list()) {
    if (d.severity != Severity::error) continue;
    const Code code = code_kind(d.code) == 'U' ? d.code : d.code == Code::E1407 ? Code::F3211
                                                                                : Code::F3212;
    return GuestError{code, fmt::format("tcgen05.mma{}: {}", operand, d.to_string())};
  }
  return std::nullopt;
}

numeric::CodeStorage storage_of(isa::SmemElement e) {
  switch (e) {
    case isa::SmemElement::packed4: return numeric::CodeStorage::nibbles;
    case isa::SmemElement::half: return numeric::CodeStorage::halves;
    case isa::SmemElement::word: return numeric::CodeStorage::words;
    default: return numeric::CodeStorage::bytes;
  }
}

uint32_t metadata_groups(const isa::InstrDescriptor& d) {
  if (d.kind == isa::MmaKind::tf32) return d.k() / 2;
  return d.k() / (isa::is_packed_fp4(d.kind) ? 8 : 4);
}

EngineResult check_smem(const Smem& smem, uint64_t word, const isa::OperandTile& tile, bool sm103, const char* operand) {
  const isa::SmemDescriptor d = isa::SmemDescriptor::decode(word);
  Diagnostics problems;
  isa::check(d, problems, {}, sm103);
  isa::check_operand(d, tile, smem.size(), problems);
  return first_error(problems, operand);
}

// A and the metadata start at D's lane (not always 0 in layouts that use half of the lanes, rule M4), scale factors at
// lane 0.
EngineResult check_lane(const char* what, uint32_t lane, uint32_t wanted) {
  if (lane == wanted) return std::nullopt;
  return GuestError{Code::F3215,
                    fmt::format("tcgen05.mma: {} at lane {}, where lane {} is needed", what, lane, wanted)};
}

EngineResult check_tmem(const TmemGroup& group, const char* what, uint32_t address, uint32_t lane,
                        uint32_t columns) {
  if (auto e = check_lane(what, TmemAddr(address).lane(), lane); e.has_value()) return e;
  return group.check_columns(fmt::format("tcgen05.mma: {}", what), TmemAddr(address).column(), columns);
}

}  // namespace

isa::MmaKind mma_kind_of(isa::Mod m) {
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

numeric::Format UmmaForm::a_format() const { return element_format(idesc.a_element()); }
numeric::Format UmmaForm::b_format() const { return element_format(idesc.b_element()); }

std::vector<uint32_t> factor_words(uint32_t id, uint32_t factors) {
  std::vector<uint32_t> out = {0};
  for (uint32_t j = 4 - id; j < factors; j += 4) out.push_back(j);
  return out;
}

EngineResult decode_form(const Umma& u, UmmaForm& f) {
  const isa::MmaKind kind = mma_kind_of(u.kind);
  f.idesc = isa::InstrDescriptor::decode(kind, u.idesc);
  f.form.kind = kind;
  f.form.cta_group = u.cta_group;
  f.form.ws = u.ws;
  f.form.sparse = u.sparse;
  f.form.a_in_tmem = u.a_in_tmem;
  f.form.scale = static_cast<isa::ScaleVector>(u.scale_vec);
  f.form.sm103 = u.sm103;
  f.mask = isa::ZeroColumnMask::decode(u.zero_column_mask);
  Diagnostics problems;
  isa::check(f.idesc, f.form, problems);
  if (u.ws) isa::check(f.mask, f.idesc, problems);
  if (u.ashift && f.idesc.m != 128 && f.idesc.m != 256)
    problems.error(Code::E1432, {}, "ashift needs M = 128 or 256");
  if (auto e = first_error(problems, ""); e.has_value()) return e;
  f.layout = *isa::d_layout(f.idesc.m, u.cta_group, u.ws, u.sparse);
  f.ctas = u.cta_group;
  f.m = f.idesc.m;
  f.n = f.idesc.n;
  f.m_per_cta = f.m / f.ctas;
  f.a = isa::operand_tile_a(f.idesc, u.cta_group);
  f.b = isa::operand_tile_b(f.idesc, u.cta_group);
  f.stored_k = f.a.k;
  f.k = f.b.k;
  f.b.mn += f.mask.column_shift;
  f.factors = f.idesc.k96 ? u.scale_vec * 3u / 2 : u.scale_vec;
  f.groups = u.sparse ? metadata_groups(f.idesc) : 0;
  f.column_groups = isa::d_column_groups(f.layout);
  f.a_copies = u.a_in_tmem ? f.column_groups : 1;
  f.meta_copies = u.sparse ? f.column_groups : 1;
  f.storage = storage_of(f.a.element);
  f.a_row_bytes = f.stored_k * isa::storage_bits(f.a.element) / 8;
  f.b_row_bytes = f.k * isa::storage_bits(f.b.element) / 8;
  if (!f.integer()) {
    f.arithmetic = find_arithmetic(f.idesc);
    if (f.arithmetic == nullptr)
      return GuestError{Code::U5000, "unsupported: no public record of this MMA's arithmetic"};
  }
  return std::nullopt;
}

EngineResult check_places(const TmemGroup& group, const Umma& u, const UmmaForm& f) {
  const uint32_t d_lane = TmemAddr(u.d).lane();
  if (!isa::is_valid_d_base_lane(f.layout, d_lane))
    return GuestError{Code::F3215, fmt::format("tcgen05.mma: D at lane {}", d_lane)};
  EngineResult e =
      group.check_columns("tcgen05.mma: D", TmemAddr(u.d).column(), isa::d_columns(f.layout, f.n));
  if (!e.has_value() && u.a_in_tmem)
    e = check_tmem(group, "A", static_cast<uint32_t>(u.a), d_lane, isa::a_columns(f.idesc.k96));
  if (!e.has_value() && u.sparse)
    e = check_tmem(group, "sparse metadata", u.meta, d_lane,
                   isa::metadata_columns(f.idesc.kind) + f.idesc.sparsity_selector);
  if (!e.has_value() && f.factors != 0) {
    e = check_tmem(group, "scale factors of A", u.sfa & isa::kScaleAddressMask, 0,
                   isa::sfa_columns(f.layout, f.idesc.sfa_id + f.factors));
    if (!e.has_value())
      e = check_tmem(group, "scale factors of B", u.sfb & isa::kScaleAddressMask, 0,
                     isa::sfb_columns(f.layout, f.n, f.idesc.sfb_id + f.factors));
  }
  for (uint32_t i = 0; i < group.count() && !e.has_value(); ++i) {
    if (!u.a_in_tmem) e = check_smem(group.cta(i).smem, u.a, f.a, u.sm103, " operand A");
    if (!e.has_value()) e = check_smem(group.cta(i).smem, u.b, f.b, u.sm103, " operand B");
  }
  return e;
}

}  // namespace drywell::sim
