// Strong identifiers and addresses. Spaces never mix: a TMEM address cannot be handed to global memory by accident. All are values: any threads
// may read one at the same time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace drywell {

/// An integer that only compares and adds with its own kind.
template <class Tag, class Rep>
class Strong {
 public:
  using rep = Rep;  // the plain integer
  constexpr Strong() = default;
  /// From the plain integer, explicitly.
  constexpr explicit Strong(Rep v) : v_(v) {}
  /// The plain integer.
  constexpr Rep value() const { return v_; }
  /// By value.
  constexpr auto operator<=>(const Strong&) const = default;
  /// Wraps as the plain integer does.
  constexpr Strong& operator+=(Rep d) {
    v_ = static_cast<Rep>(v_ + d);
    return *this;
  }
  /// `d` behind `a`.
  friend constexpr Strong operator+(Strong a, Rep d) { return Strong(static_cast<Rep>(a.v_ + d)); }
  /// The distance from `b` to `a`.
  friend constexpr Rep operator-(Strong a, Strong b) { return static_cast<Rep>(a.v_ - b.v_); }

 private:
  Rep v_{};
};

/// Byte address in simulated global memory (generic window).
using GmemAddr = Strong<struct GmemTag, uint64_t>;

/// TMEM address: lane in bits 31..16, 32-bit column in bits 15..0 (PTX ISA 9.7.16.1).
class TmemAddr {
 public:
  constexpr TmemAddr() = default;
  /// From the word that instructions take.
  constexpr explicit TmemAddr(uint32_t raw) : raw_(raw) {}
  /// Lane 0 to 127, column 0 to 511.
  static constexpr TmemAddr of(uint32_t lane, uint32_t column) { return TmemAddr((lane << 16) | (column & 0xFFFF)); }
  /// The word that instructions take.
  constexpr uint32_t raw() const { return raw_; }
  /// Bits 31..16.
  constexpr uint32_t lane() const { return raw_ >> 16; }
  /// Bits 15..0, in 32-bit columns.
  constexpr uint32_t column() const { return raw_ & 0xFFFF; }
  /// By the word.
  constexpr auto operator<=>(const TmemAddr&) const = default;

 private:
  uint32_t raw_ = 0;
};

inline constexpr uint32_t kWarpSize = 32;  // lanes of a warp

/// One bit per lane of a warp.
using LaneMask = uint32_t;
inline constexpr LaneMask kFullMask = 0xFFFFFFFFu;  // all lanes

/// Three-dimensional extent or index, x fastest.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;  // extents, or an index

  /// True if all three are equal.
  constexpr bool operator==(const Dim3&) const = default;
  /// The number of elements, modulo 2^64 (size_of in sizes.h does not wrap).
  constexpr uint64_t count() const { return uint64_t{x} * y * z; }
  /// Position of linear index `i` in this extent, x fastest.
  constexpr Dim3 at(uint64_t i) const {
    return {static_cast<uint32_t>(i % x), static_cast<uint32_t>(i / x % y), static_cast<uint32_t>(i / x / y)};
  }
  /// Linear index of `p` in this extent.
  constexpr uint64_t linear(Dim3 p) const { return p.x + uint64_t{x} * (p.y + uint64_t{y} * p.z); }
};

}  // namespace drywell

/// Strong integers as keys of unordered containers.
template <class Tag, class Rep>
struct std::hash<drywell::Strong<Tag, Rep>> {
  /// The hash of the plain integer.
  size_t operator()(drywell::Strong<Tag, Rep> s) const noexcept { return std::hash<Rep>{}(s.value()); }
};
