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
inline constexpr int kMaxDepth = 24;
inline constexpr size_t kMaxLeaves = 1024;
inline constexpr int kMaxBasisDepth = 6;

/// A leaf. `is_static` marks CuTe's Int<v> (printed `_v`) as opposed to a run-time int (printed `v`); the algebra
/// simplifies static values only. With a basis path it is a scaled basis element of an ArithTuple codomain: value *
/// E<path>, printed innermost mode first (`_64@1`, `_1@1@0` is E<0,1>).
struct Int {
  int64_t value = 0;
  bool is_static = true;
  uint8_t basis_depth = 0;
  std::array<uint8_t, kMaxBasisDepth> basis{};

  constexpr Int() = default;
  constexpr Int(int64_t v, bool fixed = true) : value(v), is_static(fixed) {}  // NOLINT: a number is a leaf
  static constexpr Int dynamic(int64_t v) { return Int(v, false); }
  bool has_basis() const { return basis_depth != 0; }
  bool same_basis(const Int& o) const { return basis_depth == o.basis_depth && basis == o.basis; }
  /// True if the value is the static plain number v (a compile-time constant in CuTe).
  bool is_constant(int64_t v) const { return is_static && !has_basis() && value == v; }
  bool operator==(const Int&) const = default;
};

// Arithmetic with CuTe's static rules (static op static is static, static 0 times anything is static 0).
// Every operation throws InputError E1807 on 64-bit overflow or division by zero, E1804 if the bases do not fit
// together.
Int operator+(Int a, Int b);
Int operator-(Int a, Int b);
Int operator*(Int a, Int b);
Int operator/(Int a, Int b);
Int operator%(Int a, Int b);
Int ceil_div(Int a, Int b);
Int abs(Int a);
Int signum(Int a);
Int min(Int a, Int b);
Int max(Int a, Int b);
/// True if a == b is a compile-time fact in CuTe.
bool known_equal(const Int& a, const Int& b);

/// A leaf, the slice mark `_`, or a tuple of IntTuples.
class IntTuple {
 public:
  IntTuple() = default;
  IntTuple(Int leaf) : leaf_(leaf) {}  // NOLINT
  IntTuple(int64_t v) : leaf_(v) {}    // NOLINT
  IntTuple(int v) : leaf_(v) {}        // NOLINT
  explicit IntTuple(std::vector<IntTuple> modes);
  static IntTuple of(std::initializer_list<IntTuple> modes) { return IntTuple(std::vector<IntTuple>(modes)); }
  static IntTuple underscore();

  bool is_tuple() const { return kind_ == Kind::tuple; }
  bool is_leaf() const { return kind_ == Kind::leaf; }
  bool is_underscore() const { return kind_ == Kind::underscore; }
  /// The number; E1804 for a tuple or `_`.
  const Int& leaf() const;
  /// Modes of a tuple; a leaf has itself as its only mode.
  std::span<const IntTuple> modes() const;
  /// Number of top-level modes; 1 for a leaf.
  size_t rank() const { return is_tuple() ? modes_.size() : 1; }
  /// Mode i; E1810 if out of range.
  const IntTuple& at(size_t i) const;
  const IntTuple& operator[](size_t i) const { return at(i); }
  const IntTuple& back() const;
  bool operator==(const IntTuple& o) const;

 private:
  enum class Kind : uint8_t { leaf, underscore, tuple };
  Kind kind_ = Kind::leaf;
  Int leaf_;
  std::vector<IntTuple> modes_;
};

bool is_constant(const IntTuple& t, int64_t v);
bool has_underscore(const IntTuple& t);
bool is_static(const IntTuple& t);
size_t leaf_count(const IntTuple& t);
int depth(const IntTuple& t);
/// Same nesting.
bool congruent(const IntTuple& a, const IntTuple& b);
/// True if any coordinate into `a` is also one into `b`: the size of `b` equals that of `a` at each terminal of `a`.
bool compatible(const IntTuple& a, const IntTuple& b);
/// True if numbers and nesting are equal, regardless of static marks.
bool same_values(const IntTuple& a, const IntTuple& b);
/// The same tuple with every leaf static, or every leaf dynamic.
IntTuple with_static(const IntTuple& t, bool fixed);

Int product(const IntTuple& t);
inline Int size(const IntTuple& t) { return product(t); }
IntTuple product_each(const IntTuple& t);
/// Products of `t` taken at the leaves of `guide`.
IntTuple product_like(const IntTuple& t, const IntTuple& guide);
IntTuple repeat_like(const IntTuple& t, const IntTuple& x);
/// n copies of x; x itself for n == 1.
IntTuple repeat(size_t n, const IntTuple& x);
IntTuple wrap(const IntTuple& t);
IntTuple unwrap(IntTuple t);
/// Leaves from left to right; `flatten` returns a leaf unchanged, `flatten_to_tuple` wraps it.
IntTuple flatten(const IntTuple& t);
IntTuple flatten_to_tuple(const IntTuple& t);
IntTuple unflatten(const IntTuple& flat, const IntTuple& profile);
/// Adds one mode at the end or the front; with `n`, adds as many `x` as make the rank n (E1804 if it is already
/// larger).
IntTuple append(const IntTuple& t, const IntTuple& x);
IntTuple append(const IntTuple& t, const IntTuple& x, size_t n);
IntTuple prepend(const IntTuple& t, const IntTuple& x);
IntTuple prepend(const IntTuple& t, const IntTuple& x, size_t n);
/// Modes [b, e), always as a tuple.
IntTuple take(const IntTuple& t, size_t b, size_t e);
IntTuple select(const IntTuple& t, std::span<const size_t> modes);
/// Modes [b, e) joined into one.
IntTuple group(const IntTuple& t, size_t b, size_t e);
/// Keeps the parts of `t` paired with `_` (slice) or with any other entry (dice) in `coord`.
IntTuple slice(const IntTuple& coord, const IntTuple& t);
IntTuple dice(const IntTuple& coord, const IntTuple& t);
/// ((A,B),(a,b)) -> ((A,a),(B,b)).
IntTuple zip(const IntTuple& t);
/// Pairs of modes; two leaves give the rank-1 tuple of their pair.
IntTuple zip(const IntTuple& a, const IntTuple& b);

IntTuple ceil_div(const IntTuple& a, const IntTuple& b);
IntTuple shape_div(const IntTuple& a, const IntTuple& b);
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
IntTuple idx2crd(const IntTuple& idx, const IntTuple& shape, const IntTuple& stride);

/// Strides of a compact shape with the leftmost (column-major) or rightmost (row-major) mode fastest; a static 1 gets
/// 0.
IntTuple compact_col_major(const IntTuple& shape, Int current = 1);
IntTuple compact_row_major(const IntTuple& shape, Int current = 1);
/// Compact strides following `order`; dynamic entries of `order` come last, from left to right.
IntTuple compact_order(const IntTuple& shape, const IntTuple& order);

/// Throws InputError; all errors of the layout library use it.
[[noreturn]] void fail(Code code, std::string message, std::string hint = {});

}  // namespace drywell::layout
