// tcgen05.cp copies units of 16 bytes from shared memory to one or several lane partitions and can expand packed formats
// (docs/facts/tcgen05.md §3). tcgen05.shift moves rows down (§2.6).
#include <fmt/format.h>

#include <cstring>

#include "sim/engine/tmem_copy_form.h"
#include "sim/engine/tmem_group.h"

namespace drywell::sim {
namespace {

isa::CopyFormat copy_format(const TmemCopy& p) {
  switch (p.format) {
    case isa::Mod::b4x16_p64: return isa::CopyFormat::b4x16_p64;
    case isa::Mod::b6x16_p32: return isa::CopyFormat::b6x16_p32;
    default: return isa::CopyFormat::none;
  }
}

EngineResult check(const TmemGroup& group, const TmemCopy& p, const isa::SmemDescriptor& desc,
                   isa::CopyShape shape) {
  const TmemAddr at(p.taddr);
  Diagnostics problems;
  isa::check_copy(desc, shape, at.lane(), at.column(), group.cta(0).smem.size(), problems);
  for (const Diagnostic& d : problems.list()) {
    if (d.severity == Severity::error)
      return GuestError{code_kind(d.code) == 'U' ? d.code : Code::F3216, fmt::format("tcgen05.cp: {}", d.to_string())};
  }
  return group.check_columns("tcgen05.cp writes", at.column(), isa::copy_columns(shape));
}

}  // namespace

EngineResult read_operands(Cluster& c, AsyncOp& op, TmemCopy& p) {
  const TmemGroup group(c, op.issuer, p.cta_group);
  const isa::SmemDescriptor desc = isa::SmemDescriptor::decode(p.desc);
  const isa::CopyShape shape = copy_shape(p);
  if (auto e = check(group, p, desc, shape); e.has_value()) return e;
  const uint32_t rows = isa::copy_rows(shape), units = isa::copy_units(shape);
  op.staging.resize(size_t{16} * group.count() * rows * units);
  uint8_t* out = op.staging.data();
  for (uint32_t i = 0; i < group.count(); ++i) {
    const Smem& smem = group.cta(i).smem;
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t unit = 0; unit < units; ++unit, out += 16) {
        const uint8_t* in = smem.data() + isa::copy_source(desc, row, unit);
        isa::decompress_unit(copy_format(p), std::span<const uint8_t, 16>(in, 16),
                             std::span<uint8_t, 16>(out, 16));
      }
    }
  }
  return std::nullopt;
}

EngineResult write_result(Cluster& c, AsyncOp& op, TmemCopy& p) {
  const TmemGroup group(c, op.issuer, p.cta_group);
  const isa::CopyShape shape = copy_shape(p);
  const TmemAddr at(p.taddr);
  const uint32_t words = isa::copy_columns(shape);
  if (auto e = group.check_columns("tcgen05.cp writes", at.column(), words); e.has_value()) return e;
  const uint8_t* in = op.staging.data();
  for (uint32_t i = 0; i < group.count(); ++i) {
    for (uint32_t row = 0; row < isa::copy_rows(shape); ++row) {
      const isa::CopyLanes lanes = isa::copy_lanes(shape, row);
      for (uint32_t w = 0; w < words; ++w, in += 4) {
        uint32_t* column = group.tmem(i).column(at.column() + w) + at.lane();
        for (uint32_t k = 0; k < lanes.count; ++k) std::memcpy(column + lanes.lane[k], in, 4);
      }
    }
  }
  return std::nullopt;
}

EngineResult read_operands(Cluster& c, AsyncOp& op, TmemShift& p) {
  const TmemAddr at(p.taddr);
  if (at.lane() % 32 != 0 || at.lane() >= kTmemLanes) {
    return GuestError{Code::F3215,
                      fmt::format("tcgen05.shift at lane {}: a multiple of 32 is needed", at.lane())};
  }
  return TmemGroup(c, op.issuer, p.cta_group).check_columns("tcgen05.shift", at.column(), isa::kTmemAColumns);
}

EngineResult write_result(Cluster& c, AsyncOp& op, TmemShift& p) {
  const TmemGroup group(c, op.issuer, p.cta_group);
  const uint32_t column = TmemAddr(p.taddr).column();
  if (auto e = group.check_columns("tcgen05.shift", column, isa::kTmemAColumns); e.has_value()) return e;
  group.shift_down(column, isa::kTmemAColumns);
  return std::nullopt;
}

}  // namespace drywell::sim
