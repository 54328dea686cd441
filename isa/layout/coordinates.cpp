// Coordinates and indices, arithmetic tuples, compact strides.
#include <fmt/format.h>

#include "drywell/isa/layout/int_tuple.h"

namespace drywell::layout {
namespace {

IntTuple basis_like(const IntTuple& shape, Int path) {
  if (!shape.is_tuple()) return path;
  if (path.basis_depth >= kMaxBasisDepth || shape.rank() > 256) {
    fail(Code::E1808,
         fmt::format("a coordinate basis deeper than {} levels or wider than 256 modes", kMaxBasisDepth));
  }
  std::vector<IntTuple> out;
  for (size_t i = 0; i < shape.rank(); ++i) {
    Int sub = path;
    sub.basis[sub.basis_depth++] = static_cast<uint8_t>(i);
    out.push_back(basis_like(shape[i], sub));
  }
  return IntTuple(std::move(out));
}

/// crd2idx of an integer coordinate within a tuple: divide and take the remainder mode by mode.
IntTuple index_of_integer(Int coord, const IntTuple& shape, const IntTuple& stride) {
  IntTuple sum = 0;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (i + 1 == shape.rank()) return arith_add(sum, crd2idx(coord, shape[i], stride[i]));
    if (coord.is_constant(0)) {
      sum = arith_add(sum, crd2idx(Int(0), shape[i], stride[i]));
      continue;
    }
    const Int extent = product(shape[i]);
    sum = arith_add(sum, crd2idx(coord % extent, shape[i], stride[i]));
    coord = coord / extent;
  }
  return sum;
}

struct Compact {
  IntTuple stride;
  Int current;
};

Compact compact(const IntTuple& shape, Int current, bool left) {
  if (!shape.is_tuple()) {
    if (shape.leaf().is_constant(1)) return {0, current};
    return {current, current * shape.leaf()};
  }
  std::vector<IntTuple> out(shape.rank());
  for (size_t k = 0; k < shape.rank(); ++k) {
    const size_t i = left ? k : shape.rank() - 1 - k;
    Compact sub = compact(shape[i], current, left);
    out[i] = std::move(sub.stride);
    current = sub.current;
  }
  return {IntTuple(std::move(out)), current};
}

IntTuple order_strides(const IntTuple& shape, const IntTuple& order, std::span<const IntTuple> ref_shape,
                       std::span<const IntTuple> ref_order) {
  if (order.is_tuple()) {
    if (shape.rank() != order.rank() || !shape.is_tuple()) {
      fail(Code::E1804, fmt::format("the order has rank {}, the shape {}", order.rank(), shape.rank()));
    }
    std::vector<IntTuple> out;
    for (size_t i = 0; i < shape.rank(); ++i) {
      out.push_back(order_strides(shape[i], order[i], ref_shape, ref_order));
    }
    return IntTuple(std::move(out));
  }
  Int start = 1;
  for (size_t i = 0; i < ref_shape.size(); ++i) {
    if (ref_order[i].leaf().value < order.leaf().value) start = start * ref_shape[i].leaf();
  }
  return compact_col_major(shape, start);
}

}  // namespace

IntTuple make_basis_like(const IntTuple& shape) { return basis_like(shape, 1); }

IntTuple as_arithmetic_tuple(const IntTuple& t) {
  if (t.is_tuple()) {
    std::vector<IntTuple> out;
    for (const IntTuple& m : t.modes()) out.push_back(as_arithmetic_tuple(m));
    return IntTuple(std::move(out));
  }
  if (!t.is_leaf() || !t.leaf().has_basis()) return t;
  IntTuple inner = Int(t.leaf().value, t.leaf().is_static);
  for (int level = t.leaf().basis_depth; level-- > 0;) {
    std::vector<IntTuple> out(t.leaf().basis[level], IntTuple(0));
    out.push_back(std::move(inner));
    inner = IntTuple(std::move(out));
  }
  return inner;
}

IntTuple arith_add(const IntTuple& a, const IntTuple& b) {
  const bool plain_a = a.is_leaf() && !a.leaf().has_basis();
  const bool plain_b = b.is_leaf() && !b.leaf().has_basis();
  if (plain_a && plain_b) return a.leaf() + b.leaf();
  if (plain_a || plain_b) {
    if ((plain_a ? a : b).leaf().value != 0) {
      fail(Code::E1804, "cannot add an integer to a coordinate of an ArithTuple",
           "strides of one layout must all be integers or all be scaled basis elements");
    }
    return plain_a ? b : a;
  }
  const IntTuple x = as_arithmetic_tuple(a);
  const IntTuple y = as_arithmetic_tuple(b);
  std::vector<IntTuple> out;
  for (size_t i = 0; i < std::max(x.rank(), y.rank()); ++i) {
    out.push_back(arith_add(i < x.rank() ? x[i] : IntTuple(0), i < y.rank() ? y[i] : IntTuple(0)));
  }
  return IntTuple(std::move(out));
}

IntTuple crd2idx(const IntTuple& coord, const IntTuple& shape, const IntTuple& stride) {
  if (coord.is_underscore()) return crd2idx(Int(0), shape, stride);
  if (!coord.is_tuple()) {
    if (shape.is_tuple()) return index_of_integer(coord.leaf(), shape, stride);
    return coord.leaf() * stride.leaf();
  }
  if (!shape.is_tuple() || coord.rank() != shape.rank()) {
    fail(Code::E1804,
         fmt::format("a coordinate of rank {} does not fit a mode of rank {}", coord.rank(), shape.rank()));
  }
  IntTuple sum = 0;
  for (size_t i = 0; i < coord.rank(); ++i) {
    IntTuple part = crd2idx(coord[i], shape[i], stride[i]);
    sum = i == 0 ? std::move(part) : arith_add(sum, part);
  }
  return sum;
}

IntTuple crd2idx(const IntTuple& coord, const IntTuple& shape) {
  if (!coord.is_tuple()) return coord;
  if (!shape.is_tuple() || coord.rank() != shape.rank()) {
    fail(Code::E1804,
         fmt::format("a coordinate of rank {} does not fit a shape of rank {}", coord.rank(), shape.rank()));
  }
  const IntTuple flat_coord = flatten(coord);
  const IntTuple flat_shape = flatten(product_like(shape, coord));
  Int index = flat_coord.back().leaf();
  for (size_t i = flat_coord.rank() - 1; i-- > 0;) {
    index = flat_coord[i].leaf() + flat_shape[i].leaf() * index;
  }
  return index;
}

IntTuple idx2crd(const IntTuple& idx, const IntTuple& shape) {
  if (idx.is_tuple()) {
    if (!shape.is_tuple() || idx.rank() != shape.rank()) {
      fail(Code::E1804,
           fmt::format("an index of rank {} does not fit a shape of rank {}", idx.rank(), shape.rank()));
    }
    std::vector<IntTuple> out;
    for (size_t i = 0; i < idx.rank(); ++i) out.push_back(idx2crd(idx[i], shape[i]));
    return IntTuple(std::move(out));
  }
  if (!shape.is_tuple()) return idx;
  Int rest = idx.leaf();
  std::vector<IntTuple> out;
  for (size_t i = 0; i < shape.rank(); ++i) {
    const Int extent = product(shape[i]);
    const bool last = i + 1 == shape.rank();
    out.push_back(idx2crd(last ? rest : rest % extent, shape[i]));
    if (!last) rest = rest / extent;
  }
  return IntTuple(std::move(out));
}

IntTuple idx2crd(const IntTuple& idx, const IntTuple& shape, const IntTuple& stride) {
  if (!shape.is_tuple()) {
    if (shape.leaf().is_constant(1)) return 0;
    return idx.leaf() / stride.leaf() % shape.leaf();
  }
  const IntTuple d = stride.is_tuple() ? stride : compact_col_major(shape, stride.leaf());
  if (idx.is_tuple() && idx.rank() != shape.rank()) fail(Code::E1804, "the index does not fit the shape");
  std::vector<IntTuple> out;
  for (size_t i = 0; i < shape.rank(); ++i)
    out.push_back(idx2crd(idx.is_tuple() ? idx[i] : idx, shape[i], d.at(i)));
  return IntTuple(std::move(out));
}

IntTuple compact_col_major(const IntTuple& shape, Int current) {
  return compact(shape, current, true).stride;
}
IntTuple compact_row_major(const IntTuple& shape, Int current) {
  return compact(shape, current, false).stride;
}

IntTuple compact_order(const IntTuple& shape, const IntTuple& order) {
  const IntTuple ref_shape = flatten_to_tuple(product_like(shape, order));
  const IntTuple flat_order = flatten_to_tuple(order);
  int64_t largest = 0;
  for (const IntTuple& o : flat_order.modes()) {
    if (o.leaf().is_static) largest = std::max(largest, o.leaf().value);
  }
  std::vector<IntTuple> ref_order;
  for (size_t i = 0; i < flat_order.rank(); ++i) {
    const Int o = flat_order[i].leaf();
    ref_order.push_back(o.is_static ? o : Int(largest) + Int(1 + static_cast<int64_t>(i)));
  }
  const IntTuple ref(std::move(ref_order));
  return order_strides(shape, order.is_tuple() ? unflatten(ref, order) : ref[0], ref_shape.modes(),
                       ref.modes());
}

}  // namespace drywell::layout
