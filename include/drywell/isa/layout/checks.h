// Properties of a layout as a function, each answered with a counterexample. All functions may be called at the same
// time.
#pragma once

#include <string>

#include "drywell/isa/layout/composed.h"

namespace drywell::layout {

/// `detail` is the reason in one line, with coordinates and indices.
struct CheckResult {
  bool ok = false;     // the property holds
  std::string detail;  // why, or why not
};

/// Smallest and largest index of a layout into the integers (swizzle applied).
struct IndexRange {
  int64_t low = 0, high = -1;  // high < low: the layout is empty
};
/// The least and the greatest index of a layout's elements.
IndexRange index_range(const ComposedLayout& l);

// All checks use coordinates 0 … size-1. A check that must visit every element throws E1808 above 2^26 elements or if
// the indices spread over more than 2^31 places, and E1804 if the codomain is not the one it needs.

/// No two coordinates map to one index (or to one coordinate, for ArithTuple strides).
CheckResult check_injective(const ComposedLayout& l);
/// Onto [0,size), one to one.
CheckResult check_bijective(const ComposedLayout& l);
/// The indices have no holes between the smallest and the largest.
CheckResult check_contiguous(const ComposedLayout& l);
/// All indices in [0,n).
CheckResult check_in_bounds(const ComposedLayout& l, int64_t n);
/// The same size and the same index (or pointer-relative index) at each 1-D coordinate.
CheckResult check_equal(const ComposedLayout& a, const ComposedLayout& b);

/// The index of every element in 1-D coordinate order; E1808 above `limit` elements.
std::vector<int64_t> all_indices(const ComposedLayout& l, int64_t limit = int64_t{1} << 22);

}  // namespace drywell::layout
