// The SMEM swizzles: XOR functions of the absolute byte address in the shared window, used by TMA, tcgen05 and wgmma.
// Source: docs/facts/tma-mbarrier.md §2.5, docs/facts/tcgen05.md §4.6 (PTX ISA 5.5.6, 9.7.16.4; CuTe Swizzle<B,M,S>). Addresses
// and sizes are in bytes. All functions depend on their arguments only and may be called at the same time.
#pragma once

#include <cstdint>
#include <string_view>

namespace drywell::isa {

/// Numbered as CUtensorMapSwizzle (cuda.h).
enum class Swizzle : uint8_t {
  none = 0,
  b32 = 1,
  b64 = 2,
  b128 = 3,
  b128_atom32 = 4,
  b128_atom32_flip8 = 5,  // TMA loads only
  b128_atom64 = 6,
};
/// Number of swizzles.
inline constexpr unsigned kSwizzleCount = 7;

/// address ^ ((row & mask) << shift) ^ (row & 1 ? flip : 0), where row = address >> 7 is the 128-byte line.
struct SwizzleXor {
  uint8_t mask = 0, shift = 0, flip = 0;  // of the formula
  /// Returns the swizzled address, in bytes.
  constexpr uint32_t operator()(uint32_t address) const {
    const uint32_t row = address >> 7;
    return address ^ ((row & mask) << shift) ^ ((row & 1) * flip);
  }
};

constexpr SwizzleXor swizzle_xor(Swizzle s) {
  switch (s) {
    case Swizzle::none: return {0, 0, 0};
    case Swizzle::b32: return {1, 4, 0};
    case Swizzle::b64: return {3, 4, 0};
    case Swizzle::b128: return {7, 4, 0};
    case Swizzle::b128_atom32: return {3, 5, 0};
    // The set of 128-byte lines with exchanged 8-byte halves is not published; odd lines are a guess (docs/facts/tma-mbarrier.md §2.5 marks it
    // [G]).
    case Swizzle::b128_atom32_flip8: return {3, 5, 8};
    case Swizzle::b128_atom64: return {1, 6, 0};
  }
  return {};
}

/// Returns the physical byte address of logical byte address `address`. Each mode is its own inverse.
constexpr uint32_t swizzle_address(Swizzle s, uint32_t address) { return swizzle_xor(s)(address); }

/// Bytes of one swizzled row (the TMA row pitch); 0 for none.
constexpr uint32_t swizzle_span(Swizzle s) {
  switch (s) {
    case Swizzle::none: return 0;
    case Swizzle::b32: return 32;
    case Swizzle::b64: return 64;
    default: return 128;
  }
}

/// Bytes that stay together: the unit that the XOR moves.
constexpr uint32_t swizzle_atom(Swizzle s) {
  switch (s) {
    case Swizzle::b128_atom32: return 32;
    case Swizzle::b128_atom32_flip8: return 8;
    case Swizzle::b128_atom64: return 64;
    default: return 16;
  }
}

/// Address period of the XOR pattern in bytes; 1 for none.
constexpr uint32_t swizzle_period(Swizzle s) {
  return s == Swizzle::none ? 1 : (uint32_t{swizzle_xor(s).mask} + 1) * 128;
}

/// "none", "32B", "64B", "128B", …
constexpr std::string_view to_string(Swizzle s) {
  switch (s) {
    case Swizzle::none: return "none";
    case Swizzle::b32: return "32B";
    case Swizzle::b64: return "64B";
    case Swizzle::b128: return "128B";
    case Swizzle::b128_atom32: return "128B, atom 32B";
    case Swizzle::b128_atom32_flip8: return "128B, atom 32B, flip 8B";
    case Swizzle::b128_atom64: return "128B, atom 64B";
  }
  return "?";
}

}  // namespace drywell::isa
