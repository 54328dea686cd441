#include "sim/exec/mma_format.h"

#include <bit>

#include "drywell/core/error.h"

namespace drywell::sim {

numeric::Format format_of(isa::Mod type) {
  switch (type) {
    case isa::Mod::f16: return numeric::Format::f16;
    case isa::Mod::bf16: return numeric::Format::bf16;
    case isa::Mod::tf32: return numeric::Format::tf32;
    case isa::Mod::e4m3: return numeric::Format::e4m3;
    case isa::Mod::e5m2: return numeric::Format::e5m2;
    case isa::Mod::e3m2: return numeric::Format::e3m2;
    case isa::Mod::e2m3: return numeric::Format::e2m3;
    case isa::Mod::e2m1: return numeric::Format::e2m1;
    default: return numeric::Format::f32;
  }
}

numeric::MmaKind mma_kind(isa::Mod a) {
  if (a == isa::Mod::f16 || a == isa::Mod::bf16) return numeric::MmaKind::f16;
  return a == isa::Mod::tf32 ? numeric::MmaKind::tf32 : numeric::MmaKind::f8f6f4;
}

numeric::MmaArch mma_arch(isa::Target target) {
  const unsigned chip = isa::target_number(target);
  if (chip >= 120) return numeric::MmaArch::sm_120;
  if (chip >= 100) return numeric::MmaArch::sm_100;
  if (chip >= 90) return numeric::MmaArch::sm_90;
  return chip == 89 ? numeric::MmaArch::sm_89 : numeric::MmaArch::sm_80;
}

uint32_t find_row(const numeric::MmaQuery& query) {
  const numeric::MmaRow* row = numeric::find_mma(query);
  if (row == nullptr) throw Unsupported("no public record says how this product is rounded");
  return static_cast<uint32_t>(row - numeric::mma_rows().data());
}

uint32_t half_to_float_bits(uint32_t half) { return std::bit_cast<uint32_t>(numeric::to_float(numeric::Format::f16, half)); }

}  // namespace drywell::sim
