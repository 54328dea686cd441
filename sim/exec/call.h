// Calls: frames, arguments, return addresses, and the functions that Drywell itself implements.
#pragma once

#include "sim/exec/exec.h"

namespace drywell::sim {

/// A thread's local memory, all its frames together (CUDA C++ Programming Guide, compute capabilities: 512
/// KB).
inline constexpr uint64_t kMaxLocalBytes = 512 << 10;
/// Bytes of it that a call itself takes, for its return address; with an alignment of 16.
inline constexpr uint64_t kCallBytes = 16;
/// Host memory for the registers of one warp, all its frames together: more than any function that ptxas
/// compiles needs at the depth that local memory allows.
inline constexpr uint64_t kMaxRegisterBytes = 256 << 20;
/// DecodedOp has 16 bits for a predicate; a function has three of its own.
inline constexpr uint32_t kMaxPredicates = 65533;

/// Replaces the running group by `groups` (not empty): the first group runs, the others wait.
void run_groups(Warp& w, std::span<const LaneGroup> groups);

/// Host pointer to `bytes` at `address` of a lane's local memory, or nullptr if they are beyond the running
/// frame.
uint8_t* local_pointer(Warp& w, uint32_t lane, uint64_t address, uint64_t bytes);

/// Host pointer to the bytes of `v`, a call's argument or result in the running frame, for one lane.
uint8_t* call_value(Warp& w, const CallSite::Value& v, uint32_t lane);

/// vprintf(format, arguments): appends to the launch's output (CUDA C++ Programming Guide, formatted output).
Effect exec_vprintf(Warp& w, const CallSite& site, LaneMask mask);
/// __assertfail(message, file, line, function, size): fault F3702.
Effect exec_assert_fail(Warp& w, const CallSite& site, LaneMask mask);
/// malloc(bytes), __nv_aligned_device_malloc(bytes, alignment): an allocation of device memory in each lane, or 0.
Effect exec_malloc(Warp& w, const CallSite& site, LaneMask mask);
/// free(address): fault F3008 for what malloc did not return.
Effect exec_free(Warp& w, const CallSite& site, LaneMask mask);

/// Argument `index` of one lane, at most 64 bits.
uint64_t call_argument(Warp& w, const CallSite& site, size_t index, uint32_t lane);
/// The first result of one lane, where the call has one.
void set_call_result(Warp& w, const CallSite& site, uint32_t lane, uint64_t value);

}  // namespace drywell::sim
