// Payloads of tcgen05: tensor memory and its copies.
#pragma once

#include "drywell/isa/mods.h"
#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// alloc, dealloc and relinquish_alloc_permit.
struct TmemAllocation {
  static constexpr PayloadKind kKind = PayloadKind::tmem_allocation;
  uint8_t cta_group = 1;  // CTAs
};

struct TmemCommit {
  static constexpr PayloadKind kKind = PayloadKind::tmem_commit;
  uint8_t cta_group = 1;   // CTAs
  bool multicast = false;  // src[1]
};

/// ld, st and ld.red.
struct TmemAccess {
  static constexpr PayloadKind kKind = PayloadKind::tmem_access;
  uint32_t first_slot = 0, count = 0;  // registers
  uint32_t num = 1;                    // .xN
  int32_t split = 0;                   // 16x32bx2: column of the second half
  isa::Mod shape = isa::Mod::none;
  isa::Mod reduce_op = isa::Mod::none;  // min or max; none: not ld.red
  isa::Mod reduce_type = isa::Mod::none;
  bool reduce_abs = false, reduce_nan = false;
  bool pack = false;
  uint32_t reduced = 0;  // register that receives the minimum or maximum
};

struct TmemCopy {
  static constexpr PayloadKind kKind = PayloadKind::tmem_copy;
  isa::Mod shape = isa::Mod::none, multicast = isa::Mod::none;
  isa::Mod format = isa::Mod::none;  // source format of the decompression
  uint8_t cta_group = 1;             // CTAs
};

struct TmemShift {
  static constexpr PayloadKind kKind = PayloadKind::tmem_shift;
  uint8_t cta_group = 1;  // CTAs
};

}  // namespace drywell::sim::payload
