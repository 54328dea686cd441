// Integers and nested tuples of integers, the shapes, strides and coordinates of CuTe's layout algebra at run time.
// Semantics follow NVIDIA/cutlass include/cute/{int_tuple,stride}.hpp and
// numeric/{integral_constant,arithmetic_tuple}.hpp. Const calls and free functions may run at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "drywell/core/code.h"

namespace drywell::layout {

/// Nesting and size limits, so that hostile input causes an error, not a crash or a hang.
inline constexpr int kMaxDepth = 24;        // tuples in tuples
inline constexpr size_t kMaxLeaves = 1024;  // of one tuple
inline constexpr int kMaxBasisDepth = 6;    // components of a basis path

/// A leaf. `is_static` marks CuTe's Int<v> (printed `_v`) as opposed to a run-time int (printed `v`); the algebra
/// simplifies static values only. With a basis path it is a scaled basis element of an ArithTuple codomain: value *
/// E<path>, printed innermost mode first (`_64@1`, `_1@1@0` is E<0,1>).
struct Int {
  int64_t value = 0;                            // the number; of a basis element its scale
  bool is_static = true;                        // a compile-time constant in CuTe
  uint8_t basis_depth = 0;                      // components of `basis`; 0: a plain number
  std::array<uint8_t, kMaxBasisDepth> basis{};  // outermost mode first

  /// Static 0.
  constexpr Int() = default;
  /// A plain number; `fixed`: static.
  constexpr Int(int64_t v, bool fixed = true) : value(v), is_static(fixed) {}  // NOLINT: a number is a leaf
  /// A plain run-time number.
  static constexpr Int dynamic(int64_t v) { return Int(v, false); }
  /// True for a scaled basis element.
  bool has_basis() const { return basis_depth != 0; }
  /// True if both are plain, or have one basis path.
  bool same_basis(const Int& o) const { return basis_depth == o.basis_depth && basis == o.basis; }
  /// True if the value is the static plain number v (a compile-time constant in CuTe).
  bool is_constant(int64_t v) const { return is_static && !has_basis() && value == v; }
  bool operator==(const Int&) const = default;
};

// Arithmetic with CuTe's static rules (static op static is static, static 0 times anything is static 0).
// Every operation throws InputError E1807 on 64-bit overflow or division by zero, E1804 if the bases do not fit
// together.
/// Of elements with one basis path: the sum of the scales.
Int operator+(Int a, Int b);
/// As the sum.
Int operator-(Int a, Int b);
/// At most one factor may have a basis.
Int operator*(Int a, Int b);
/// Rounds toward zero.
Int operator/(Int a, Int b);
/// The remainder has the sign of `a`.
Int operator%(Int a, Int b);
/// (a + b - 1) / b.
Int ceil_div(Int a, Int b);
/// The magnitude.
Int abs(Int a);
/// -1, 0 or 1.
Int signum(Int a);
/// The smaller.
Int min(Int a, Int b);
/// The larger.
Int max(Int a, Int b);
/// True if a == b is a compile-time fact in CuTe.
bool known_equal(const Int& a, const Int& b);

/// A leaf, the slice mark `_`, or a tuple of IntTuples.
class IntTuple {
 public:
  /// The leaf _0.
  IntTuple() = default;
  /// A leaf.
  IntTuple(Int leaf) : leaf_(leaf) {}  // NOLINT
  /// A static leaf.
  IntTuple(int64_t v) : leaf_(v) {}  // NOLINT
  /// A static leaf.
  IntTuple(int v) : leaf_(v) {}  // NOLINT
  /// A tuple of these modes, also of one or none. Throws E1808 beyond kMaxDepth or kMaxLeaves.
  explicit IntTuple(std::vector<IntTuple> modes);
  /// The same with the modes in braces.
  static IntTuple of(std::initializer_list<IntTuple> modes) { return IntTuple(std::vector<IntTuple>(modes)); }
  /// `_`.
  static IntTuple underscore();

  /// True for a tuple.
  bool is_tuple() const { return kind_ == Kind::tuple; }
  /// True for a number.
  bool is_leaf() const { return kind_ == Kind::leaf; }
  /// True for `_`.
  bool is_underscore() const { return kind_ == Kind::underscore; }
  /// The number; E1804 for a tuple or `_`.
  const Int& leaf() const;
  /// Modes of a tuple; a leaf has itself as its only mode.
  std::span<const IntTuple> modes() const;
  /// Number of top-level modes; 1 for a leaf.
  size_t rank() const { return is_tuple() ? modes_.size() : 1; }
  /// Mode i; E1810 if out of range.
  const IntTuple& at(size_t i) const;
  /// at(i).
  const IntTuple& operator[](size_t i) const { return at(i); }
  /// The last mode; E1810 if there is none.
  const IntTuple& back() const;
  /// True if nesting, numbers, static marks and bases are equal.
  bool operator==(const IntTuple& o) const;

 private:
  enum class Kind : uint8_t {
    leaf,
    underscore,
    tuple
  };
  Kind kind_ = Kind::leaf;
  Int leaf_;
  std::vector<IntTuple> modes_;
};

/// True for the static leaf v.
bool is_constant(const IntTuple& t, int64_t v);
/// True if some part is `_`.
bool has_underscore(const IntTuple& t);
/// True if every leaf is static.
bool is_static(const IntTuple& t);
/// Numbers and `_` in all modes.
size_t leaf_count(const IntTuple& t);
/// 0 for a leaf, else one more than the deepest mode.
int depth(const IntTuple& t);
/// Same nesting.
bool congruent(const IntTuple& a, const IntTuple& b);
/// True if any coordinate into `a` is also one into `b`: the size of `b` equals that of `a` at each terminal of `a`.
bool compatible(const IntTuple& a, const IntTuple& b);
/// True if numbers and nesting are equal, regardless of static marks.
bool same_values(const IntTuple& a, const IntTuple& b);
/// The same tuple with every leaf static, or every leaf dynamic.
IntTuple with_static(const IntTuple& t, bool fixed);

/// Of all leaves; 1 for an empty tuple.
Int product(const IntTuple& t);
/// The number of coordinates of a shape.
inline Int size(const IntTuple& t) { return product(t); }
/// The product of each mode.
IntTuple product_each(const IntTuple& t);
/// Products of `t` taken at the leaves of `guide`.
IntTuple product_like(const IntTuple& t, const IntTuple& guide);
/// `t` with each leaf replaced by `x`.
IntTuple repeat_like(const IntTuple& t, const IntTuple& x);
/// n copies of x; x itself for n == 1.
IntTuple repeat(size_t n, const IntTuple& x);
/// A leaf as a tuple of one mode; a tuple as it is.
IntTuple wrap(const IntTuple& t);
/// The only mode of a tuple of rank 1, again and again; anything else as it is.
IntTuple unwrap(IntTuple t);
/// Leaves from left to right; `flatten` returns a leaf unchanged, `flatten_to_tuple` wraps it.
IntTuple flatten(const IntTuple& t);
/// The leaves as a tuple.
IntTuple flatten_to_tuple(const IntTuple& t);
/// The modes of a flat tuple in the nesting of `profile`; E1804 if their numbers differ.
IntTuple unflatten(const IntTuple& flat, const IntTuple& profile);
/// Adds one mode at the end or the front; with `n`, adds as many `x` as make the rank n (E1804 if it is already
/// larger).
IntTuple append(const IntTuple& t, const IntTuple& x);
/// At the end, up to rank n.
IntTuple append(const IntTuple& t, const IntTuple& x, size_t n);
/// One at the front.
IntTuple prepend(const IntTuple& t, const IntTuple& x);
/// At the front, up to rank n.
IntTuple prepend(const IntTuple& t, const IntTuple& x, size_t n);
/// Modes [b, e), always as a tuple.
IntTuple take(const IntTuple& t, size_t b, size_t e);
/// These modes in this order; E1810 if one is out of range.
IntTuple select(const IntTuple& t, std::span<const size_t> modes);
/// Modes [b, e) joined into one.
IntTuple group(const IntTuple& t, size_t b, size_t e);
/// Keeps the parts of `t` paired with `_` (slice) or with any other entry (dice) in `coord`.
IntTuple slice(const IntTuple& coord, const IntTuple& t);
/// The parts paired with anything but `_`.
IntTuple dice(const IntTuple& coord, const IntTuple& t);
/// ((A,B),(a,b)) -> ((A,a),(B,b)).
IntTuple zip(const IntTuple& t);
/// Pairs of modes; two leaves give the rank-1 tuple of their pair.
IntTuple zip(const IntTuple& a, const IntTuple& b);

/// Mode by mode; a leaf `b` divides the modes from the left until it is used up.
IntTuple ceil_div(const IntTuple& a, const IntTuple& b);
/// CuTe's shape_div: exact where static, E1805 where a static division has a remainder.
IntTuple shape_div(const IntTuple& a, const IntTuple& b);
/// The smallest multiple of `b` that is not below `a`, mode by mode.
IntTuple round_up(const IntTuple& a, const IntTuple& b);
/// True if the shape `b` divides `a` without remainder.
bool evenly_divides(const IntTuple& a, const IntTuple& b);
/// Leaves of `b` paired with a static 0 of `a` become 1.
IntTuple filter_zeros(const IntTuple& a, const IntTuple& b);
/// Merges adjacent static and adjacent dynamic modes of a shape.
IntTuple coalesce_shape(const IntTuple& shape);

/// Unit basis elements in the profile of `shape`.
IntTuple make_basis_like(const IntTuple& shape);
/// A scaled basis leaf as its tuple: `_4@1` -> (_0,_4).
IntTuple as_arithmetic_tuple(const IntTuple& t);
/// Sum of two codomain values: integers, or arithmetic tuples padded with zeros.
IntTuple arith_add(const IntTuple& a, const IntTuple& b);

/// Index of a coordinate within shape:stride (CuTe crd2idx). `_` in the coordinate counts as 0.
IntTuple crd2idx(const IntTuple& coord, const IntTuple& shape, const IntTuple& stride);
/// Colexicographic index of a coordinate within a shape.
IntTuple crd2idx(const IntTuple& coord, const IntTuple& shape);
/// Coordinate of an index within a shape (the last mode is not reduced), or within a compact shape:stride.
IntTuple idx2crd(const IntTuple& idx, const IntTuple& shape);
/// Within shape:stride, which is compact.
IntTuple idx2crd(const IntTuple& idx, const IntTuple& shape, const IntTuple& stride);

/// Strides of a compact shape with the leftmost (column-major) or rightmost (row-major) mode fastest; a static 1 gets
/// 0.
IntTuple compact_col_major(const IntTuple& shape, Int current = 1);
/// The rightmost mode fastest.
IntTuple compact_row_major(const IntTuple& shape, Int current = 1);
/// Compact strides following `order`; dynamic entries of `order` come last, from left to right.
IntTuple compact_order(const IntTuple& shape, const IntTuple& order);

/// Throws InputError; all errors of the layout library use it.
[[noreturn]] void fail(Code code, std::string message, std::string hint = {});

}  // namespace drywell::layout
