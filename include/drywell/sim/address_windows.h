// Address windows of the state spaces in the generic address space, and the base of global memory.
#pragma once

#include <cstdint>

namespace drywell::sim {

/// Address windows of the generic space (a 64-bit value determines the state space). Not architectural: the driver chooses
/// the real windows; these are below the addresses of real devices, so that an address of the wrong space is visible.
namespace window {
inline constexpr uint64_t kSharedHigh = 0x7EFF;            // high 32 bits of a generic address of shared memory
inline constexpr uint64_t kLocalHigh = 0x7EFE;             // the same of local memory
inline constexpr uint64_t kParamHigh = 0x7EFD;             // the same of parameters
inline constexpr uint64_t kCodeHigh = 0x7EFC;              // addresses of functions
inline constexpr uint64_t kGlobalBase = 0x7F00'0000'0000;  // the lowest address of global memory
/// A generic address of its two halves.
constexpr uint64_t generic(uint64_t high, uint64_t low) { return (high << 32) | low; }
/// Address of function `index` of a module: the value of a pointer to the function.
constexpr uint64_t function_address(uint32_t index) { return generic(kCodeHigh, (uint64_t{index} + 1) * 16); }
}  // namespace window

}  // namespace drywell::sim
