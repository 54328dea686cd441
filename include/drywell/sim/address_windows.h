// Where the state spaces lie among generic addresses, and where global memory begins.
#pragma once

#include <cstdint>

namespace drywell::sim {

/// Address windows of the generic space (one 64-bit value tells the state space). Not architectural: real windows are
/// chosen by the driver; these lie below the range real devices hand out so that a mixed-up address shows.
namespace window {
inline constexpr uint64_t kSharedHigh = 0x7EFF;  // high 32 bits of a generic address of shared memory
inline constexpr uint64_t kLocalHigh = 0x7EFE;
inline constexpr uint64_t kParamHigh = 0x7EFD;
inline constexpr uint64_t kCodeHigh = 0x7EFC;    // addresses of functions
inline constexpr uint64_t kGlobalBase = 0x7F00'0000'0000;
constexpr uint64_t generic(uint64_t high, uint64_t low) { return (high << 32) | low; }
/// Address of function `index` of a module, as a pointer to it holds.
constexpr uint64_t function_address(uint32_t index) { return generic(kCodeHigh, (uint64_t{index} + 1) * 16); }
}  // namespace window

}  // namespace drywell::sim
