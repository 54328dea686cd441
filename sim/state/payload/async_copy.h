// Payloads of cp.async.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

struct AsyncCopy {
  static constexpr PayloadKind kKind = PayloadKind::async_copy;
  uint32_t first_slot = 0;  // source address, its offset, src-size
  uint8_t bytes = 0;        // cp-size
  bool wide = false;        // the source address has 64-bit lanes
  bool has_size = false;    // the instruction has a src-size
  bool may_ignore = false;  // the instruction has an ignore-src, pred[0]
};

struct AsyncCopyArrive {
  static constexpr PayloadKind kKind = PayloadKind::async_copy_arrive;
  bool noinc = false;
};

}  // namespace drywell::sim::payload
