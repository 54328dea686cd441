#include "drywell/isa/layout/composed.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <numeric>

namespace drywell::layout {
namespace {

uint64_t ones(int n) { return (uint64_t{1} << n) - 1; }

int log2_of(int64_t n, const char* op) {
  if (n <= 0 || !std::has_single_bit(static_cast<uint64_t>(n))) {
    fail(Code::E1811, fmt::format("{} of a swizzle needs a power of two, not {}", op, n));
  }
  return std::countr_zero(static_cast<uint64_t>(n));
}

int64_t offset_of(const IntTuple& t) {
  if (!t.is_leaf() || t.leaf().has_basis()) fail(Code::E1804, "a coordinate cannot be added to an address");
  return t.leaf().value;
}

}  // namespace

Swizzle::Swizzle(int bits, int base, int shift) : bits_(bits), base_(base), shift_(shift) {
  const bool ok = bits >= 0 && base >= 0 && shift > -62 && shift < 62 && std::abs(shift) >= bits &&
                  bits < 62 && base < 62 && bits + base + std::abs(shift) <= 62;
  if (!ok) {
    fail(Code::E1811, fmt::format("Swizzle<{},{},{}> is not valid", bits, base, shift),
         "0 <= B <= |S| and B + M + |S| <= 62 are needed");
  }
}

Swizzle Swizzle::of_masks(uint64_t y, uint64_t z) {
  const int n = std::popcount(y);
  if (n != std::popcount(z)) {
    fail(Code::E1811, "no Swizzle<B,M,S> expresses this function: the two bit fields differ in width");
  }
  if (n == 0) return Swizzle(0, 0, 0);
  const int low_y = std::countr_zero(y), low_z = std::countr_zero(z);
  if ((y >> low_y) != ones(n) || (z >> low_z) != ones(n)) {
    fail(Code::E1811, "no Swizzle<B,M,S> expresses this function: a bit field is not contiguous");
  }
  return Swizzle(n, std::min(low_y, low_z), low_y - low_z);
}

uint64_t Swizzle::yyy_mask() const { return ones(bits_) << (base_ + std::max(0, shift_)); }
uint64_t Swizzle::zzz_mask() const { return ones(bits_) << (base_ - std::min(0, shift_)); }

int64_t Swizzle::operator()(int64_t index) const {
  const auto u = static_cast<uint64_t>(index);
  const uint64_t y = u & yyy_mask();
  return static_cast<int64_t>(u ^ (shift_ >= 0 ? y >> shift_ : y << -shift_));
}

Swizzle upcast(const Swizzle& s, int64_t n) {
  const int base = s.base() - log2_of(n, "upcast");
  return base >= 0 ? Swizzle(s.bits(), base, s.shift()) : Swizzle(std::max(s.bits() + base, 0), 0, s.shift());
}

Swizzle downcast(const Swizzle& s, int64_t n) {
  return Swizzle(s.bits(), s.base() + log2_of(n, "downcast"), s.shift());
}

Swizzle recast_layout(const Swizzle& s, int64_t old_bits, int64_t new_bits) {
  if (old_bits <= 0 || new_bits <= 0) fail(Code::E1803, "element widths must be positive");
  const int64_t g = std::gcd(old_bits, new_bits);
  Swizzle r = s;
  if (new_bits / g != 1) r = upcast(r, new_bits / g);
  if (old_bits / g != 1) r = downcast(r, old_bits / g);
  return r;
}

Swizzle composition(const Swizzle& a, const Swizzle& b) {
  if (a.shift() != b.shift()) fail(Code::E1811, "only swizzles of the same shift can be merged");
  return Swizzle::of_masks(a.yyy_mask() ^ b.yyy_mask(), a.zzz_mask() ^ b.zzz_mask());
}

Pointer Pointer::advanced(int64_t n) const {
  Pointer p = *this;
  if (space == Space::tmem) {
    int shift = 0;
    for (uint32_t b = bits; b != 0 && b < 32; b *= 2) ++shift;
    p.address =
        static_cast<uint32_t>(static_cast<uint32_t>(address) + std::rotr(static_cast<uint32_t>(n), shift));
    return p;
  }
  const Int total = Int(n) * Int(bits) + Int(bit_index);
  const int64_t bytes = total.value >> 3;
  p.address = address + static_cast<uint64_t>(bytes);
  p.bit_index = static_cast<uint32_t>(total.value & 7);
  return p;
}

ComposedLayout::ComposedLayout(std::optional<Swizzle> s, Origin o, Layout l)
    : swizzle_(s), origin_(std::move(o)), layout_(std::move(l)) {
  if (swizzle_ && std::holds_alternative<NoOrigin>(origin_)) origin_ = Offset{};
  const bool coords =
      std::holds_alternative<CoordOrigin>(origin_) || std::holds_alternative<DescriptorOrigin>(origin_);
  if (swizzle_ && coords) fail(Code::E1804, "a swizzle needs integer indices");
}

std::optional<uint32_t> ComposedLayout::element_bits() const {
  if (const auto* f = std::get_if<SmemFlag>(&origin_)) return f->bits;
  if (const auto* p = std::get_if<Pointer>(&origin_)) return p->bits;
  return std::nullopt;
}

Swizzle ComposedLayout::element_swizzle() const {
  if (!swizzle_) return Swizzle();
  const auto bits = element_bits();
  return bits ? recast_layout(*swizzle_, 8, *bits) : *swizzle_;
}

IntTuple ComposedLayout::operator()(const IntTuple& coord) const {
  const IntTuple i = layout_(coord);
  if (const auto* o = std::get_if<Offset>(&origin_)) {
    const IntTuple sum = arith_add(o->value, i);
    return swizzle_ ? IntTuple(Int((*swizzle_)(offset_of(sum)), is_static(sum))) : sum;
  }
  if (const auto* c = std::get_if<CoordOrigin>(&origin_)) return arith_add(c->value, i);
  if (const auto* f = std::get_if<SmemFlag>(&origin_)) {
    const Int sum = Int(f->offset) + Int(offset_of(i));
    return swizzle_ ? element_swizzle()(sum.value) : sum.value;
  }
  if (const auto* p = std::get_if<Pointer>(&origin_); p && swizzle_) {
    // The pointer's bits take part in the swizzle: swizzle element addresses, then make the result relative
    // again.
    const int64_t base = static_cast<int64_t>(p->address * 8 + p->bit_index) / p->bits;
    const Swizzle sw = element_swizzle();
    return sw((Int(base) + Int(offset_of(i))).value) - base;
  }
  return i;
}

int64_t ComposedLayout::index(int64_t coord) const { return offset_of((*this)(Int(coord))); }

Pointer ComposedLayout::pointer_at(const IntTuple& coord) const {
  const auto* p = std::get_if<Pointer>(&origin_);
  if (!p) fail(Code::E1804, "this layout has no pointer in front of it");
  return p->advanced(offset_of((*this)(coord)));
}

namespace {

/// The origin moved by an offset in the layout's codomain.
Origin moved(const Origin& origin, const IntTuple& by) {
  if (const auto* o = std::get_if<Offset>(&origin)) return Offset{arith_add(o->value, by)};
  if (const auto* c = std::get_if<CoordOrigin>(&origin)) return CoordOrigin{arith_add(c->value, by)};
  if (const auto* f = std::get_if<SmemFlag>(&origin)) {
    return SmemFlag{f->bits, (Int(f->offset) + Int(offset_of(by))).value};
  }
  if (const auto* p = std::get_if<Pointer>(&origin)) return p->advanced(offset_of(by));
  return origin;
}

}  // namespace

ComposedLayout slice(const IntTuple& coord, const ComposedLayout& l) {
  const Layout rest = slice(coord, l.layout());
  return {l.swizzle(), moved(l.origin(), l.layout()(coord)), rest};
}

ComposedLayout composition(const Layout& lhs, const Swizzle& rhs) {
  const auto through = [&](uint64_t mask) {
    return static_cast<uint64_t>(offset_of(lhs(Int(static_cast<int64_t>(mask)))));
  };
  const Swizzle s = Swizzle::of_masks(through(rhs.yyy_mask()), through(rhs.zzz_mask()));
  if (s.is_identity()) return lhs;
  return {s, Offset{}, lhs};
}

ComposedLayout composition(const ComposedLayout& lhs, const ComposedLayout& rhs) {
  if (rhs.is_plain()) return lhs.with(composition(lhs.layout(), rhs.layout()));
  const auto* offset = std::get_if<Offset>(&rhs.origin());
  if (!offset)
    fail(Code::E1804, "the right side of a composition must be a layout without pointer or coordinates");
  if (!is_constant(with_static(offset->value, true), 0)) {
    fail(Code::E1804, "the right side of a composition must have offset 0");
  }
  if (!lhs.is_plain()) fail(Code::E1804, "a swizzle on both sides of a composition is not a swizzled layout");
  if (!rhs.swizzle()) return composition(lhs.layout(), rhs.layout());
  const ComposedLayout outer = composition(lhs.layout(), *rhs.swizzle());
  return outer.with(composition(outer.layout(), rhs.layout()));
}

namespace {

uint32_t element_width(Int bits) {
  if (bits.value <= 0 || bits.value > (1 << 24))
    fail(Code::E1803, fmt::format("elements of {} bits", bits.value));
  return static_cast<uint32_t>(bits.value);
}

template <class Cast>
ComposedLayout cast_all(const ComposedLayout& l, uint32_t flag_bits, Cast cast) {
  // A flagged swizzle and a pointer's swizzle act on bytes; a cast of the elements does not change them.
  if (const auto* f = std::get_if<SmemFlag>(&l.origin())) {
    if (f->offset != 0) fail(Code::E1804, "recast of a layout sliced away from its base is not defined");
    return {l.swizzle(), SmemFlag{flag_bits, 0}, cast(l.layout())};
  }
  if (const auto* p = std::get_if<Pointer>(&l.origin())) {
    Pointer q = *p;
    q.bits = flag_bits;
    q.sub_byte = flag_bits < 8 && q.space != Pointer::Space::tmem;
    return {l.swizzle(), q, cast(l.layout())};
  }
  if (const auto* o = std::get_if<Offset>(&l.origin())) {
    if (offset_of(o->value) != 0) fail(Code::E1804, "recast of a composed layout with an offset is not defined");
  }
  std::optional<Swizzle> s;
  if (l.swizzle()) s = cast(*l.swizzle());
  return {s, l.origin(), cast(l.layout())};
}

}  // namespace

ComposedLayout upcast(const ComposedLayout& l, int64_t n) {
  const Int bits = l.element_bits() ? Int(*l.element_bits()) * Int(n) : Int(1);
  return cast_all(l, element_width(bits), [&](const auto& x) { return upcast(x, n); });
}

ComposedLayout downcast(const ComposedLayout& l, int64_t n) {
  const uint32_t bits = l.element_bits().value_or(1);
  if (l.element_bits() && n > 0 && bits % n != 0) {
    fail(Code::E1805, fmt::format("{}-bit elements do not split into {} equal parts", bits, n));
  }
  if (n <= 0) fail(Code::E1803, fmt::format("downcast by {} is not defined", n));
  return cast_all(l, l.element_bits() ? element_width(bits / n) : 1,
                  [&](const auto& x) { return downcast(x, n); });
}

ComposedLayout recast_layout(const ComposedLayout& l, int64_t old_bits, int64_t new_bits) {
  return cast_all(l, element_width(new_bits),
                  [&](const auto& x) { return recast_layout(x, old_bits, new_bits); });
}

namespace {

template <class Inverse>
ComposedLayout inverse_of(const ComposedLayout& l, Inverse inverse) {
  if (l.is_plain()) return inverse(l.layout());
  const ComposedLayout e = as_position_independent(l);
  const auto* offset = std::get_if<Offset>(&e.origin());
  if (!offset || offset_of(offset->value) != 0)
    fail(Code::E1804, "only a swizzled layout of offset 0 can be inverted");
  const Layout inner = inverse(e.layout());
  return e.swizzle() ? composition(inner, *e.swizzle()) : ComposedLayout(inner);
}

}  // namespace

ComposedLayout right_inverse(const ComposedLayout& l) {
  return inverse_of(l, [](const Layout& x) { return right_inverse(x); });
}

ComposedLayout left_inverse(const ComposedLayout& l) {
  return inverse_of(l, [](const Layout& x) { return left_inverse(x); });
}

ComposedLayout as_position_independent(const ComposedLayout& l) {
  const auto* f = std::get_if<SmemFlag>(&l.origin());
  if (!f) return l;
  const Swizzle s = l.element_swizzle();
  if (s.is_identity() && f->offset == 0) return l.layout();
  return {s, Offset{Int(f->offset)}, l.layout()};
}

Int max_common_vector(const ComposedLayout& a, const ComposedLayout& b) {
  const Int v = max_common_vector(a.layout(), b.layout());
  const auto limit = [](Int n, const ComposedLayout& l) {
    return l.swizzle() ? min(n, Int(int64_t{1} << l.element_swizzle().base())) : n;
  };
  if (a.swizzle() && b.swizzle() && a.element_swizzle() == b.element_swizzle()) return v;
  return limit(limit(v, a), b);
}

ComposedLayout local_tile(const ComposedLayout& l, const Tiler& tiler, const IntTuple& coord,
                          const IntTuple* projection) {
  const LocalTile t = local_tile(l.layout(), tiler, coord, projection);
  return {l.swizzle(), moved(l.origin(), t.offset), t.layout};
}

}  // namespace drywell::layout
