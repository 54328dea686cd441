// Swizzles, and layouts with the prefix that CuTe prints in front of them: a swizzle, a pointer, a coordinate.
// Semantics follow NVIDIA/cutlass include/cute/{swizzle,swizzle_layout,layout_composed,pointer_flagged}.hpp. Const
// calls and free functions may run at the same time.
#pragma once

#include <optional>

#include "drywell/isa/layout/layout.h"

namespace drywell::layout {

/// Swizzle<B,M,S>: bits [M, M+B) ^= bits [M+S, M+S+B) (S < 0 exchanges the two ranges). Throws E1811 unless 0 <= B <=
/// |S| and the bits fit in 62.
class Swizzle {
 public:
  /// Swizzle<0,4,3>: the identity.
  Swizzle() = default;
  /// Swizzle<bits, base, shift>.
  Swizzle(int bits, int base, int shift);
  /// Returns the swizzle that XORs the bits of mask y into the bits of mask z (CuTe make_swizzle); E1811 if there is
  /// none.
  static Swizzle of_masks(uint64_t y, uint64_t z);

  /// B.
  int bits() const { return bits_; }
  /// M.
  int base() const { return base_; }
  /// S.
  int shift() const { return shift_; }
  /// The bits that are read.
  uint64_t yyy_mask() const;
  /// The bits that change.
  uint64_t zzz_mask() const;
  /// The swizzled index.
  int64_t operator()(int64_t index) const;
  /// True if no bit changes.
  bool is_identity() const { return bits_ == 0; }
  bool operator==(const Swizzle&) const = default;

 private:
  int bits_ = 0, base_ = 4, shift_ = 3;
};

/// On elements n times larger.
Swizzle upcast(const Swizzle& s, int64_t n);
/// On elements n times smaller.
Swizzle downcast(const Swizzle& s, int64_t n);
/// From elements of old_bits to elements of new_bits.
Swizzle recast_layout(const Swizzle& s, int64_t old_bits, int64_t new_bits);
/// Applies two swizzles of the same shift, one after the other; E1811 if the shifts differ.
Swizzle composition(const Swizzle& a, const Swizzle& b);

/// An address as CuTe prints it: `gmem_ptr[32b](0x7f…)`, `subptr[4b](0x….0)`, `tmem_[32b](0x0020.0000)`, …
struct Pointer {
  /// none: a counting or plain pointer.
  enum class Space : uint8_t {
    none,
    gmem,
    smem,
    rmem,
    tmem
  };
  /// Printed in front.
  Space space = Space::none;
  uint32_t bits = 8;       // element width
  bool sub_byte = false;   // printed as subptr, with a bit index
  uint64_t address = 0;    // bytes; TMEM: lane << 16 | column
  uint32_t bit_index = 0;  // sub-byte position inside the byte at `address`
  bool operator==(const Pointer&) const = default;
  /// Returns the pointer n elements further. TMEM words rotate sub-word positions into the top bits, as CuTe's tmem_ptr
  /// does.
  Pointer advanced(int64_t n) const;
};

/// The prefixes of a layout (Origin).
struct NoOrigin {
  bool operator==(const NoOrigin&) const = default;
};
/// `Sw<…> o offset o layout`: an offset added before the swizzle.
struct Offset {
  IntTuple value = 0;  // elements, or a coordinate
  bool operator==(const Offset&) const = default;
};
/// `Sw<3,4,3> o smem_ptr[16b](unset) o layout`: the swizzle acts on byte addresses of elements of `bits`.
struct SmemFlag {
  uint32_t bits = 8;   // of an element
  int64_t offset = 0;  // elements, from slicing
  bool operator==(const SmemFlag&) const = default;
};
/// `ArithTuple(_0,_0) o layout`: the origin of the coordinates.
struct CoordOrigin {
  IntTuple value;  // the coordinate of the first element
  bool operator==(const CoordOrigin&) const = default;
};
/// `UMMA::DescriptorIterator o layout`: indices count 16-byte units of SMEM descriptors' start address.
struct DescriptorOrigin {
  bool gmma = false;  // GMMA (Hopper); false: UMMA
  bool operator==(const DescriptorOrigin&) const = default;
};
/// The part between swizzle and layout.
using Origin = std::variant<NoOrigin, Offset, SmemFlag, CoordOrigin, Pointer, DescriptorOrigin>;

/// A layout, a swizzled layout or a tensor's view of memory. A plain layout is one without swizzle and
/// origin.
class ComposedLayout {
 public:
  ComposedLayout() = default;
  /// A plain layout.
  ComposedLayout(Layout l) : layout_(std::move(l)) {}  // NOLINT
  /// swizzle o origin o layout.
  ComposedLayout(std::optional<Swizzle> s, Origin o, Layout l);
  /// Nothing: none is printed.
  const std::optional<Swizzle>& swizzle() const { return swizzle_; }
  /// NoOrigin: none is printed.
  const Origin& origin() const { return origin_; }
  /// The last part.
  const Layout& layout() const { return layout_; }
  /// True without swizzle and origin.
  bool is_plain() const { return !swizzle_ && std::holds_alternative<NoOrigin>(origin_); }
  /// Of the layout.
  const IntTuple& shape() const { return layout_.shape(); }
  /// Of the layout.
  size_t rank() const { return layout_.rank(); }
  /// Returns the same swizzle and origin with another layout.
  ComposedLayout with(Layout l) const { return {swizzle_, origin_, std::move(l)}; }

  /// Index in elements (or a coordinate) at a coordinate, with the swizzle applied: the place of the element in memory.
  /// For a swizzled pointer the result is relative to the pointer, whose low address bits take part in the swizzle.
  IntTuple operator()(const IntTuple& coord) const;
  /// The index at a 1-D coordinate; E1804 if the codomain is not the integers.
  int64_t index(int64_t coord) const;
  /// The pointer that a coordinate refers to; E1804 if the layout has no pointer.
  Pointer pointer_at(const IntTuple& coord) const;
  /// The swizzle on element indices (a flagged swizzle acts on bytes and is recast).
  Swizzle element_swizzle() const;
  /// Width of one element in bits, if the origin has it.
  std::optional<uint32_t> element_bits() const;
  bool operator==(const ComposedLayout&) const = default;

 private:
  std::optional<Swizzle> swizzle_;
  Origin origin_;
  Layout layout_;
};

/// Keeps the modes at `_`; the rest of the coordinate moves the origin (a plain layout drops the offset, as in CuTe).
ComposedLayout slice(const IntTuple& coord, const ComposedLayout& l);
/// Sw∘L composed, recast and inverted as in CuTe.
ComposedLayout composition(const Layout& lhs, const Swizzle& rhs);
/// lhs after rhs.
ComposedLayout composition(const ComposedLayout& lhs, const ComposedLayout& rhs);
/// To elements n times larger.
ComposedLayout upcast(const ComposedLayout& l, int64_t n);
/// To elements n times smaller.
ComposedLayout downcast(const ComposedLayout& l, int64_t n);
/// From elements of old_bits to elements of new_bits.
ComposedLayout recast_layout(const ComposedLayout& l, int64_t old_bits, int64_t new_bits);
/// Swizzles are their own inverses.
ComposedLayout right_inverse(const ComposedLayout& l);
/// Of an injective layout.
ComposedLayout left_inverse(const ComposedLayout& l);
/// Converts a flagged swizzle to one on element indices: Sw<3,4,3> o smem_ptr[16b](unset) o L -> Sw<3,3,3> o _0 o L.
ComposedLayout as_position_independent(const ComposedLayout& l);
/// The number of consecutive elements that both have in common, inside the swizzles' unchanged low bits.
Int max_common_vector(const ComposedLayout& a, const ComposedLayout& b);
/// local_tile on a tensor: the tile's origin is moved to the selected tile.
ComposedLayout local_tile(const ComposedLayout& l, const Tiler& tiler, const IntTuple& coord,
                          const IntTuple* projection = nullptr);

}  // namespace drywell::layout
