// The shape of a tcgen05.cp from its modifiers (docs/facts/tcgen05.md §3).
#pragma once

#include "drywell/isa/tmem_copy.h"
#include "sim/state/async_op.h"

namespace drywell::sim {

inline isa::CopyShape copy_shape(const TmemCopy& p) {
  switch (p.shape) {
    case isa::Mod::_4x256b: return isa::CopyShape::s4x256b;
    case isa::Mod::_128x128b: return isa::CopyShape::s128x128b;
    case isa::Mod::_64x128b:
      return p.multicast == isa::Mod::warpx2_01_23 ? isa::CopyShape::s64x128b_01_23
                                                   : isa::CopyShape::s64x128b_02_13;
    case isa::Mod::_32x128b: return isa::CopyShape::s32x128b_warpx4;
    default: return isa::CopyShape::s128x256b;
  }
}

}  // namespace drywell::sim
