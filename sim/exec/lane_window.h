// Addresses of the lanes of one access, resolved together: nearly every load and store of a warp stays in one allocation or one
// CTA's shared memory, so that one lookup serves all lanes and the loop over lanes has no branch.
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "sim/exec/memory.h"

namespace drywell::sim {

/// One access of a warp in host memory.
struct LaneWindow {
  enum class Shape : uint8_t {
    scattered,
    consecutive,
    uniform
  };
  uint8_t* base = nullptr;  // null: the lanes have to be resolved one by one
  Shape shape = Shape::scattered;
  uint64_t low = 0;            // the guest's address of base
  uint64_t offset[kWarpSize];  // bytes from base; lanes that do not access have that of the first lane that does

  const uint8_t* at(uint32_t lane) const { return base + offset[lane]; }
  uint8_t* at(uint32_t lane) { return base + offset[lane]; }
};

/// Host pointer to [low, high + bytes) if it is one piece of memory for every lane of the warp. `lane` is one of them.
inline uint8_t* resolve_span(Warp& w, Space space, uint64_t low, uint64_t high, uint64_t bytes, uint32_t lane) {
  const bool local = space == Space::local || (space == Space::generic && low >> 32 == window::kLocalHigh);
  if (local) return nullptr;  // each lane has its own
  const Gmem::Allocation* hint = nullptr;
  if (((low ^ high) >> 24) == 0) return resolve(w, space, low, high - low + bytes, lane, hint);  // one CTA's shared memory has 2^24 addresses
  const bool global = space == Space::global || space == Space::generic;
  return global ? w.cta->cluster->launch->gmem->translate(low, high - low + bytes, hint) : nullptr;
}

/// `out`: of all lanes, those that do not execute, too.
inline void lane_addresses(const Warp& w, const DecodedOp& op, std::span<uint64_t, kWarpSize> out) {
  if (op.wide) {
    const auto* a = lanes<uint64_t>(w, op.src[0]);
    for (uint32_t i = 0; i < kWarpSize; ++i) out[i] = a[i] + op.imm;
  } else {
    const auto* a = lanes<uint32_t>(w, op.src[0]);
    for (uint32_t i = 0; i < kWarpSize; ++i) out[i] = static_cast<uint32_t>(a[i] + static_cast<uint32_t>(op.imm));
  }
}

/// True if each lane's address is that of the lane before plus `bytes`.
template <class T>
inline bool is_row(const T* address, T bytes) {
  T gaps = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) gaps |= address[i] ^ static_cast<T>(address[0] + i * bytes);
  return gaps == 0;
}
inline bool is_row(const Warp& w, const DecodedOp& op, uint64_t bytes) {
  return op.wide ? is_row(lanes<uint64_t>(w, op.src[0]), bytes) : is_row(lanes<uint32_t>(w, op.src[0]), static_cast<uint32_t>(bytes));
}

/// The window of a whole warp's row: most accesses are one, and need no lane's address.
inline LaneWindow row_window(Warp& w, const DecodedOp& op, Space space, uint64_t bytes) {
  LaneWindow out;
  out.low = lane_address(w, op, 0);
  if ((out.low & (bytes - 1)) != 0) return out;
  out.base = resolve_span(w, space, out.low, out.low + (kWarpSize - 1) * bytes, bytes, 0);
  for (uint32_t i = 0; i < kWarpSize; ++i) out.offset[i] = i * bytes;
  out.shape = LaneWindow::Shape::consecutive;
  return out;
}

/// The window of an aligned access of `bytes`, a power of two, by the lanes of `mask`, which is not empty.
inline LaneWindow lane_window(Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint64_t bytes) {
  if (mask == kFullMask && is_row(w, op, bytes)) return row_window(w, op, space, bytes);
  LaneWindow out;
  lane_addresses(w, op, out.offset);
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  const uint64_t first = out.offset[lane];
  for (uint32_t i = 0; i < kWarpSize; ++i) out.offset[i] = (mask >> i & 1) != 0 ? out.offset[i] : first;
  uint64_t low = first, high = first, bits = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    low = std::min(low, out.offset[i]);
    high = std::max(high, out.offset[i]);
    bits |= out.offset[i];
  }
  if ((bits & (bytes - 1)) != 0) return out;
  out.base = resolve_span(w, space, low, high, bytes, lane);
  out.low = low;
  for (uint32_t i = 0; i < kWarpSize; ++i) out.offset[i] -= low;
  if (low == high) out.shape = LaneWindow::Shape::uniform;
  return out;
}

}  // namespace drywell::sim
