// N and K of wgmma's shape tokens.
#pragma once

#include "drywell/isa/mods.h"

namespace drywell::isa {

/// The shape of one wgmma.mma_async; M is 64.
struct WgmmaShape {
  unsigned n = 0, k = 0;  // in elements
};

/// .m64nNkK; mods.inc lists N = 8 … 256 for each K, 64 (sparse 8-bit) last.
constexpr WgmmaShape wgmma_shape(Mod m) {
  constexpr unsigned kDepths[] = {8, 16, 32, 256, 64};
  const unsigned i = static_cast<unsigned>(m) - static_cast<unsigned>(Mod::m64n8k8);
  return {8 * (i % 32 + 1), kDepths[i / 32 % 5]};
}

}  // namespace drywell::isa
