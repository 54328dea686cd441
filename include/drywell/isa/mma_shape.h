// The shape tokens of mma.sync, such as .m16n8k16.
#pragma once

#include <cstdint>

#include "drywell/isa/mods.h"

namespace drywell::isa {

/// The shape of one mma.sync: A is m x k, B k x n.
struct MmaShape {
  uint16_t m = 0, n = 0, k = 0;  // in elements
};

/// The shape that a shape token names.
constexpr MmaShape mma_shape(Mod m) {
  switch (m) {
    case Mod::m8n8k4: return {8, 8, 4};
    case Mod::m8n8k16: return {8, 8, 16};
    case Mod::m8n8k32: return {8, 8, 32};
    case Mod::m8n8k128: return {8, 8, 128};
    case Mod::m16n8k4: return {16, 8, 4};
    case Mod::m16n8k8: return {16, 8, 8};
    case Mod::m16n8k16: return {16, 8, 16};
    case Mod::m16n8k32: return {16, 8, 32};
    case Mod::m16n8k64: return {16, 8, 64};
    case Mod::m16n8k128: return {16, 8, 128};
    default: return {16, 8, 256};
  }
}

/// Scale factors of a row of A, or of a column of B, in one mma.sync with block scales. `vec` may be absent
/// (PTX ISA 9.7.14.5.14).
constexpr unsigned mma_scale_factors(Mod kind, Mod vec) {
  if (vec == Mod::none) return kind == Mod::kind_mxf8f6f4 ? 1 : 2;
  return vec == Mod::scale_vec_1X ? 1 : vec == Mod::scale_vec_2X ? 2
                                                                 : 4;
}

}  // namespace drywell::isa
