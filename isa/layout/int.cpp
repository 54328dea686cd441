// Leaf arithmetic: 64-bit, overflow-checked, with CuTe's static rules.
#include <fmt/format.h>

#include "drywell/core/error.h"
#include "drywell/isa/layout/int_tuple.h"

namespace drywell::layout {
namespace {

[[noreturn]] void overflow(const char* op, int64_t a, int64_t b) {
  fail(Code::E1807, fmt::format("{} {} {} does not fit in 64 bits", a, op, b));
}

Int leaf_of(int64_t v, bool fixed) { return Int(v, fixed); }

/// `v` carrying the basis of `like`.
Int with_basis(Int v, const Int& like) {
  v.basis_depth = like.basis_depth;
  v.basis = like.basis;
  return v;
}

void require_plain(const Int& a, const Int& b, const char* op) {
  if (a.has_basis() || b.has_basis()) {
    fail(Code::E1804, fmt::format("'{}' is not defined on scaled basis elements", op));
  }
}

void require_divisor(const Int& b) {
  if (b.value == 0) fail(Code::E1807, "division by zero", "a shape or stride of 0 cannot be divided by");
}

}  // namespace

void fail(Code code, std::string message, std::string hint) {
  throw InputError(code, std::move(message), std::move(hint));
}

Int operator+(Int a, Int b) {
  if (a.has_basis() != b.has_basis() || !a.same_basis(b)) {
    fail(Code::E1804, "cannot add integers of different bases to one integer");
  }
  int64_t r = 0;
  if (__builtin_add_overflow(a.value, b.value, &r)) overflow("+", a.value, b.value);
  return with_basis(leaf_of(r, a.is_static && b.is_static), a);
}

Int operator-(Int a, Int b) {
  require_plain(a, b, "-");
  int64_t r = 0;
  if (__builtin_sub_overflow(a.value, b.value, &r)) overflow("-", a.value, b.value);
  return leaf_of(r, a.is_static && b.is_static);
}

Int operator*(Int a, Int b) {
  if (a.has_basis() && b.has_basis()) fail(Code::E1804, "cannot multiply two scaled basis elements");
  int64_t r = 0;
  if (__builtin_mul_overflow(a.value, b.value, &r)) overflow("*", a.value, b.value);
  const bool zero = (a.is_static && a.value == 0) || (b.is_static && b.value == 0);
  return with_basis(leaf_of(r, zero || (a.is_static && b.is_static)), a.has_basis() ? a : b);
}

Int operator/(Int a, Int b) {
  if (b.has_basis()) fail(Code::E1804, "cannot divide by a scaled basis element");
  require_divisor(b);
  if (a.value == INT64_MIN && b.value == -1) overflow("/", a.value, b.value);
  const bool zero = a.is_static && a.value == 0;
  return with_basis(leaf_of(a.value / b.value, zero || (a.is_static && b.is_static)), a);
}

Int operator%(Int a, Int b) {
  require_plain(a, b, "%");
  require_divisor(b);
  const bool unit = b.is_static && (b.value == 1 || b.value == -1);
  const bool zero = a.is_static && a.value == 0;
  const int64_t r = b.value == -1 ? 0 : a.value % b.value;
  return leaf_of(r, unit || zero || (a.is_static && b.is_static));
}

Int ceil_div(Int a, Int b) {
  if (b.has_basis()) fail(Code::E1804, "cannot divide by a scaled basis element");
  Int plain = a;
  plain.basis_depth = 0;
  plain.basis = {};
  return with_basis((plain + b - Int(1)) / b, a);
}

Int abs(Int a) {
  if (a.value == INT64_MIN) overflow("-", 0, a.value);
  a.value = a.value < 0 ? -a.value : a.value;
  return a;
}

Int signum(Int a) {
  require_plain(a, a, "signum");
  return leaf_of((a.value > 0) - (a.value < 0), a.is_static);
}

Int min(Int a, Int b) {
  require_plain(a, b, "min");
  return leaf_of(a.value < b.value ? a.value : b.value, a.is_static && b.is_static);
}

Int max(Int a, Int b) {
  require_plain(a, b, "max");
  return leaf_of(a.value > b.value ? a.value : b.value, a.is_static && b.is_static);
}

bool known_equal(const Int& a, const Int& b) {
  return a.is_static && b.is_static && a.same_basis(b) && a.value == b.value;
}

}  // namespace drywell::layout
