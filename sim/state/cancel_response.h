// The 16 bytes that clusterlaunchcontrol.try_cancel writes. Opaque to the guest; the format is Drywell's own.
#pragma once

#include <array>
#include <cstdint>

#include "drywell/core/types.h"

namespace drywell::sim {

struct CancelResponse {
  static constexpr uint32_t kCancelled = 1;
  Dim3 first_cta{0, 0, 0};
  bool cancelled = false;

  std::array<uint32_t, 4> words() const {
    return {first_cta.x, first_cta.y, first_cta.z, cancelled ? kCancelled : 0};
  }
  static CancelResponse of(const std::array<uint32_t, 4>& w) {
    return {{w[0], w[1], w[2]}, w[3] == kCancelled};
  }
};

}  // namespace drywell::sim
