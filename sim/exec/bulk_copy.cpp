// Semantics of table/bulk_copy.inc, the issue side, and bulk groups.
#include <fmt/format.h>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"
#include "sim/exec/operands.h"
#include "sim/state/payload/bulk_copy.h"
#include "sim/state/payload/group_wait.h"

namespace drywell::sim {
namespace {

// Slots from payload::BulkCopy::first_slot.
enum Place : size_t {
  kTo = 0,
  kFrom = kAddressSlots,
  kMbar = 2 * kAddressSlots,
  kSize = 3 * kAddressSlots,
  kMask,
  kByteMask,
  kIgnoredLeft,
  kIgnoredRight
};

// PTX requires multiples of 16 bytes; for other sizes the chip drops the remainder (docs/facts/tma-mbarrier.md §2.3).
constexpr uint32_t kGranule = 16;

uint32_t value_of(const Warp& w, Src s, uint32_t lane) { return lanes<uint32_t>(w, s)[lane]; }

constexpr uint32_t kMostIgnored = kGranule - 1;

/// Bytes at the ends of a copy's source that may be outside an allocation: none, or two operands say how many.
enum class Ends : uint8_t {
  all_read,
  ignored
};

template <BulkCopy::Kind Kind, Ends E = Ends::all_read>
Effect copy(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::BulkCopy>();
  const Src* s = slots_at(w, x.first_slot);
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    BulkCopy b;
    b.kind = Kind;
    b.reduce_op = x.reduce_op;
    b.reduce_type = x.reduce_type;
    b.bytes = value_of(w, s[kSize], lane) / kGranule * kGranule;
    b.src = Kind == BulkCopy::Kind::global_to_shared ? slot_address(w, s + kFrom, lane)
                                                     : slot_shared_address(w, s + kFrom, lane, false);
    b.dst = Kind == BulkCopy::Kind::shared_to_global ? slot_address(w, s + kTo, lane)
                                                     : slot_shared_address(w, s + kTo, lane, x.cluster_space);
    if (!is_aligned(b.src, kGranule) || !is_aligned(b.dst, kGranule)) {
      result = fault(
          w, Code::F3310,
          fmt::format("bulk copy from {:#x} to {:#x}: both must be 16-byte aligned (error 716 on a device)",
                      b.src, b.dst));
      return;
    }
    if (b.bytes == 0) return;  // no copy and no signal (measured)
    if (E == Ends::ignored) {
      const uint32_t left = value_of(w, s[kIgnoredLeft], lane), right = value_of(w, s[kIgnoredRight], lane);
      if (std::max(left, right) > kMostIgnored) {
        result = fault(w, Code::F3310, fmt::format("bulk copy that ignores {} bytes at its left end and {} at its right end: at most {} (PTX ISA 9.7.9.25.4.1)", left, right, kMostIgnored));
        return;
      }
      b.ignored_left = static_cast<uint8_t>(left);
      b.ignored_right = static_cast<uint8_t>(right);
    }
    if (Kind == BulkCopy::Kind::shared_to_global) {
      if (x.byte_mask) b.byte_mask = static_cast<uint16_t>(value_of(w, s[kByteMask], lane));
      b.group = join_group(w.bulk_groups, lane);
    } else {
      b.mbar = slot_shared_address(w, s + kMbar, lane, x.cluster_space);
      if (x.multicast) b.multicast = static_cast<uint16_t>(value_of(w, s[kMask], lane));
      if (x.multicast && b.multicast == 0) {
        result = fault(w, Code::F3503, "multicast copy to no CTA at all");
        return;
      }
    }
    issue(w, lane, b);
  });
  return result;
}

Effect prefetch(Warp& w, const DecodedOp& op, LaneMask mask) {
  Effect result = Effect::next;
  const Gmem::Allocation* hint = nullptr;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    const uint64_t address = lane_address(w, op, lane);
    const uint32_t bytes = value_of(w, op.src[1], lane);
    if (!is_aligned(address, kGranule)) {
      result = fault(w, Code::F3310, fmt::format("bulk prefetch at {:#x}: 16-byte alignment is needed", address));
    } else if (bytes != 0 && w.cta->cluster->launch->gmem->translate(address, bytes, hint) == nullptr) {
      result = access_fault(w, Space::global, address, kGranule, lane, false);
    }
  });
  return result;
}

// src[1]: size (64-bit lanes).
Effect zero_fill(Warp& w, const DecodedOp& op, LaneMask mask) {
  constexpr uint64_t kMost = 16777216;
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    const uint64_t address = lane_address(w, op, lane), bytes = lanes<uint64_t>(w, op.src[1])[lane];
    const uint32_t at = shared_address(w, address, is_shared_generic(address));
    if (bytes % 8 != 0 || bytes > kMost || !is_aligned(address, 8)) {
      result = fault(w, Code::F3310,
                     fmt::format("st.bulk of {} bytes at {:#x}: multiples of 8, at most {} bytes", bytes,
                                 address, kMost));
      return;
    }
    uint8_t* to = shared_rank(at) == w.cta->rank ? shared_pointer(w, at, bytes) : nullptr;
    if (to == nullptr) {
      result = access_fault(w, Space::shared_cta, address, 8, lane, true);
      return;
    }
    std::memset(to, 0, bytes);
  });
  return result;
}

// Row positions of the operands; -1: the form does not have the operand.
struct Positions {
  int mbar = -1, mask = -1, byte_mask = -1, ignored_left = -1, ignored_right = -1;
};

void bind_copy(Decoder& d, DecodedOp& op, const Positions& at, isa::Mod reduce_op = isa::Mod::none, isa::Mod reduce_type = isa::Mod::none) {
  const auto operand = [&](int position) {
    return position < 0 ? nullptr : d.operand(static_cast<size_t>(position));
  };
  const auto push_value = [&](const isa::Operand* o, unsigned bits) {
    d.push_slot(o != nullptr ? d.source(*o, bits) : Src{});
  };
  const isa::Operand *mbar = operand(at.mbar), *mask = operand(at.mask), *byte_mask = operand(at.byte_mask);
  op.emplace<payload::BulkCopy>({.first_slot = d.next_slot(), .cluster_space = d.has(isa::Mod::shared_cluster), .multicast = mask != nullptr, .byte_mask = byte_mask != nullptr, .reduce_op = reduce_op, .reduce_type = reduce_type});
  push_address(d, *d.operand(0));
  push_address(d, *d.operand(1));
  mbar != nullptr ? push_address(d, *mbar) : push_nothing(d, kAddressSlots);
  push_value(d.operand(2), 32);
  push_value(mask, 16);
  push_value(byte_mask, 16);
  push_value(operand(at.ignored_left), 32);
  push_value(operand(at.ignored_right), 32);
}

void bind_reduction(Decoder& d, DecodedOp& op, const Positions& at) {
  const isa::Mod what = d.mod(isa::Slot::op), type = d.mod(isa::Slot::type);
  bind_copy(d, op, at, what, type);
  if (what == isa::Mod::add && isa::is_float_type(type)) d.program().ordered_across_ctas = true;
}

Effect commit_group(Warp& w, const DecodedOp&, LaneMask mask) {
  commit_groups(w.bulk_groups, mask);
  return Effect::next;
}

Effect wait_group(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::GroupWait>();
  if (groups_complete(w.bulk_groups, mask, x.allowed, x.reads_only ? GroupWork::reads : GroupWork::writes)) return Effect::next;
  return block(w, BlockReason::bulk_group, static_cast<uint32_t>(x.allowed));
}

}  // namespace

template <>
ExecFn bind<isa::row::cp_async_bulk_load>(Decoder& d, DecodedOp& op) {
  bind_copy(d, op, {.mbar = 3, .mask = 4});
  return copy<BulkCopy::Kind::global_to_shared>;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_ignore_oob>(Decoder& d, DecodedOp& op) {
  bind_copy(d, op, {.mbar = 5, .ignored_left = 3, .ignored_right = 4});
  return copy<BulkCopy::Kind::global_to_shared, Ends::ignored>;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_remote>(Decoder& d, DecodedOp& op) {
  bind_copy(d, op, {.mbar = 3});
  return copy<BulkCopy::Kind::shared_to_shared>;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_store>(Decoder& d, DecodedOp& op) {
  bind_copy(d, op, {.byte_mask = 4});
  return copy<BulkCopy::Kind::shared_to_global>;
}
template <>
ExecFn bind<isa::row::cp_reduce_async_bulk_remote>(Decoder& d, DecodedOp& op) {
  bind_reduction(d, op, {.mbar = 3});
  return copy<BulkCopy::Kind::shared_to_shared>;
}
template <>
ExecFn bind<isa::row::cp_reduce_async_bulk>(Decoder& d, DecodedOp& op) {
  bind_reduction(d, op, {});
  return copy<BulkCopy::Kind::shared_to_global>;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_prefetch>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  op.src[1] = d.source(*d.operand(1), 32);
  return prefetch;
}
template <>
ExecFn bind<isa::row::st_bulk>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  op.src[1] = d.source(*d.operand(1), 64);
  return zero_fill;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_commit_group>(Decoder&, DecodedOp&) {
  return commit_group;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_wait_group>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::GroupWait>({.allowed = static_cast<uint64_t>(d.operand(0)->value), .reads_only = d.has(isa::Mod::read)});
  return wait_group;
}

}  // namespace drywell::sim
