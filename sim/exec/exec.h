// Helpers for every family of semantics: lane loops, faults, blocking, memory access.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "sim/state/cta.h"
#include "sim/state/program.h"

namespace drywell::sim {

Effect exec_unsupported(Warp&, const DecodedOp&, LaneMask);
/// ret: in a function the lanes return to their call sites; in the kernel they exit.
Effect exec_return(Warp&, const DecodedOp&, LaneMask);
/// Writes the registers of frame `index` that hold addresses (FunctionCode::frame_addresses).
void write_frame_addresses(Warp& w, uint32_t index, const FunctionCode& code);

/// Records a guest fault; the driver adds the location.
Effect fault(Warp& w, Code code, std::string message);
/// Blocks the warp until the cluster's state changes.
Effect block(Warp& w, BlockReason reason, uint32_t address = 0, uint32_t parity = 0, uint64_t detail = 0);

/// Lane storage of a value type: 32-bit lanes up to 32 bits, 64-bit lanes above.
template <class T>
using Lane = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;

template <class T>
inline T from_lane(Lane<T> v) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(v);
  } else {
    return static_cast<T>(v);
  }
}
template <class T>
inline Lane<T> to_lane(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<Lane<T>>(v);
  } else {
    return static_cast<Lane<T>>(static_cast<std::make_unsigned_t<T>>(v));  // narrow values are zero-extended in the register
  }
}

template <class T>
inline const Lane<T>* lanes(const Warp& w, Src s) {
  return reinterpret_cast<const Lane<T>*>(w.bank[s.bank] + s.offset);
}
template <class T>
inline Lane<T>* lanes(Warp& w, uint32_t dst) {
  return reinterpret_cast<Lane<T>*>(w.bank[0] + dst);
}
/// Entries of Program::slots from `first` on.
inline const Src* slots_at(const Warp& w, uint32_t first) { return &w.cta->cluster->launch->program->slots[first]; }
inline LaneMask read_pred(const Warp& w, PredSrc p) { return p.negated ? ~w.preds[p.index] : w.preds[p.index]; }
inline void write_pred(Warp& w, uint32_t index, LaneMask value, LaneMask mask) { w.preds[index] = (w.preds[index] & ~mask) | (value & mask); }

/// Stores `result` (32 lanes) in the lanes whose bit of `mask` is set.
template <class L>
inline void store_masked(L* __restrict d, const L* __restrict result, LaneMask mask) {
  if (mask == kFullMask) {
    std::memcpy(d, result, sizeof(L) * kWarpSize);
    return;
  }
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    if ((mask >> i) & 1) d[i] = result[i];
  }
}

template <class D, class A, class F>
inline void map1(Warp& w, const DecodedOp& op, LaneMask mask, F f) {
  const Lane<A>* a = lanes<A>(w, op.src[0]);
  Lane<D> r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to_lane<D>(f(from_lane<A>(a[i])));
  store_masked(lanes<D>(w, op.dst), r, mask);
}
template <class D, class A, class F>
inline void map2(Warp& w, const DecodedOp& op, LaneMask mask, F f) {
  const Lane<A>* a = lanes<A>(w, op.src[0]);
  const Lane<A>* b = lanes<A>(w, op.src[1]);
  Lane<D> r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to_lane<D>(f(from_lane<A>(a[i]), from_lane<A>(b[i])));
  store_masked(lanes<D>(w, op.dst), r, mask);
}
template <class D, class A, class C, class F>
inline void map3(Warp& w, const DecodedOp& op, LaneMask mask, F f) {
  const Lane<A>* a = lanes<A>(w, op.src[0]);
  const Lane<A>* b = lanes<A>(w, op.src[1]);
  const Lane<C>* c = lanes<C>(w, op.src[2]);
  Lane<D> r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to_lane<D>(f(from_lane<A>(a[i]), from_lane<A>(b[i]), from_lane<C>(c[i])));
  store_masked(lanes<D>(w, op.dst), r, mask);
}

/// Marks a register slot as written by a tcgen05.ld in flight.
inline void mark_pending(Warp& w, uint32_t slot) {
  const uint32_t bit = (w.frame_base + slot) / 128;
  if (w.pending_regs.size() <= bit / 64) w.pending_regs.resize(bit / 64 + 1);
  w.pending_regs[bit / 64] |= uint64_t{1} << (bit % 64);
}
inline bool is_pending(const Warp& w, uint32_t slot) {
  const uint32_t bit = (w.frame_base + slot) / 128;
  return bit / 64 < w.pending_regs.size() && (w.pending_regs[bit / 64] >> (bit % 64) & 1) != 0;
}

/// Calls f for each lane of `mask`, the lowest lane first.
template <class F>
inline void for_lanes(LaneMask mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<uint32_t>(std::countr_zero(mask)));
}

/// Address of lane `lane` of an address operand decoded by set_address.
inline uint64_t lane_address(const Warp& w, const DecodedOp& op, uint32_t lane) {
  const uint8_t* base = w.bank[op.src[0].bank] + op.src[0].offset;
  uint64_t a;
  if (op.wide) {
    std::memcpy(&a, base + 8 * lane, 8);
  } else {
    uint32_t a32;
    std::memcpy(&a32, base + 4 * lane, 4);
    // 32-bit address registers (shared windows) wrap at 32 bits.
    return static_cast<uint32_t>(a32 + static_cast<uint32_t>(op.imm));
  }
  return a + op.imm;
}

/// True for a store, not executed yet, whose lanes store the bytes that the memory has.
LaneMask lanes_that_store_what_is_there(const Warp& w, const DecodedOp& op, LaneMask mask);
/// Returns a digest of addresses and values of a store, not executed yet; 0 if it is not known.
uint64_t digest_of_stored(const Warp& w, const DecodedOp& op, LaneMask mask);
/// Returns a digest of the value, and its size, that each lane of a store, not executed yet, stores; 0 if values differ.
uint64_t digest_of_value(const Warp& w, const DecodedOp& op, LaneMask mask);

/// Lanes of a store, not executed yet, that have the address of another one of its lanes and another value.
LaneMask lanes_that_collide(const Warp& w, const DecodedOp& op, LaneMask mask);

/// Value of lane `lane` of a source; `wide` selects 64-bit lanes instead of 32-bit lanes.
inline uint64_t lane_value(const Warp& w, Src s, uint32_t lane, bool wide) {
  const uint8_t* base = w.bank[s.bank] + s.offset;
  if (wide) {
    uint64_t v;
    std::memcpy(&v, base + 8 * lane, 8);
    return v;
  }
  uint32_t v;
  std::memcpy(&v, base + 4 * lane, 4);
  return v;
}

/// Shared address as rank << 24 | offset. In .shared::cta the rank is always that of the executing CTA; in
/// .shared::cluster and in generic addresses the address bits hold the rank (docs/facts/tma-mbarrier.md §5).
inline uint32_t shared_address(const Warp& w, uint64_t address, bool cluster_space) {
  const auto low = static_cast<uint32_t>(address);
  return cluster_space ? low : cluster_address(w.cta->rank, shared_offset(low));
}
inline bool is_shared_generic(uint64_t address) { return (address >> 32) == window::kSharedHigh; }

/// Host pointer to `bytes` of shared memory at rank << 24 | offset, or nullptr if outside.
inline uint8_t* shared_pointer(const Warp& w, uint32_t address, uint64_t bytes) {
  Cluster& c = *w.cta->cluster;
  const uint32_t rank = shared_rank(address);
  if (rank >= c.ctas.size() || !c.cta(rank).smem.contains(shared_offset(address), bytes)) return nullptr;
  return c.cta(rank).smem.data() + shared_offset(address);
}

}  // namespace drywell::sim
