// Laws of the algebra, checked as functions on random layouts, with a slow evaluator that shares no code with
// it.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "drywell/core/error.h"
#include "drywell/isa/layout/checks.h"
#include "drywell/isa/layout/expression.h"

namespace drywell::layout {
namespace {

/// Index of a 1-D coordinate straight from the definition: peel the leftmost leaf, multiply, add.
int64_t slow_index(const IntTuple& shape, const IntTuple& stride, int64_t c) {
  if (!shape.is_tuple()) return c * stride.leaf().value;
  int64_t sum = 0;
  for (size_t i = 0; i < shape.rank(); ++i) {
    const int64_t extent = product(shape[i]).value;
    const bool last = i + 1 == shape.rank();
    sum += slow_index(shape[i], stride[i], last ? c : c % extent);
    c /= extent;
  }
  return sum;
}

int64_t slow(const Layout& l, int64_t c) { return slow_index(l.shape(), l.stride(), c); }

class RandomLayouts {
 public:
  explicit RandomLayouts(uint32_t seed) : random_(seed) {}
  int64_t pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random_); }

  IntTuple shape(int levels, bool powers) {
    if (levels == 0 || pick(0, 2) == 0) return powers ? int64_t{1} << pick(0, 3) : pick(1, 6);
    std::vector<IntTuple> modes(static_cast<size_t>(pick(1, 3)));
    for (IntTuple& m : modes) m = shape(levels - 1, powers);
    return IntTuple(std::move(modes));
  }

  /// Strides in a random order of the modes; `gaps` leaves holes, `zeros` broadcasts some modes.
  Layout layout(bool powers = true, bool gaps = true, bool zeros = false) {
    const IntTuple s = shape(2, powers);
    const IntTuple flat = flatten_to_tuple(s);
    std::vector<size_t> order(flat.rank());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<IntTuple> strides(order.size());
    int64_t next = 1;
    for (size_t i : order) {
      if (zeros && pick(0, 3) == 0) continue;
      strides[i] = next;
      next *= flat[i].leaf().value * (gaps && pick(0, 3) == 0 ? 2 : 1);
    }
    const IntTuple d(std::move(strides));
    return Layout(s, s.is_tuple() ? unflatten(d, s) : d[0]);
  }

 private:
  std::mt19937 random_;
};

constexpr int kRounds = 100;

TEST(LayoutLaws, EvaluationIsTheDefinition) {
  RandomLayouts random(1);
  for (int round = 0; round < kRounds; ++round) {
    const Layout l = random.layout(false, true, true);
    const std::vector<int64_t> all = all_indices(l);
    for (int64_t c = 0; c < size(l).value; ++c) {
      ASSERT_EQ(l.index(c), slow(l, c)) << to_string(l);
      ASSERT_EQ(all[static_cast<size_t>(c)], slow(l, c)) << to_string(l);
      const IntTuple coord = idx2crd(Int(c), l.shape());
      ASSERT_EQ(l(coord).leaf().value, slow(l, c)) << to_string(l) << to_string(coord);
      ASSERT_EQ(crd2idx(coord, l.shape()).leaf().value, c);
    }
  }
}

TEST(LayoutLaws, CoalesceAndFilterKeepTheFunction) {
  RandomLayouts random(2);
  for (int round = 0; round < kRounds; ++round) {
    const Layout l = random.layout(false, true, true);
    const Layout c = coalesce(l);
    ASSERT_EQ(size(c).value, size(l).value);
    ASSERT_LE(depth(c), 1);
    for (int64_t i = 0; i < size(l).value; ++i) ASSERT_EQ(slow(c, i), slow(l, i)) << to_string(l);
    std::set<int64_t> before, after;
    const Layout f = filter(l);
    for (int64_t i = 0; i < size(l).value; ++i) before.insert(slow(l, i));
    for (int64_t i = 0; i < size(f).value; ++i) after.insert(slow(f, i));
    ASSERT_EQ(before, after) << to_string(l);
    ASSERT_EQ(before.size(), static_cast<size_t>(size(f).value)) << to_string(l);
    ASSERT_EQ(size(nullspace(l)).value * size(f).value, size(l).value) << to_string(l);
  }
}

TEST(LayoutLaws, CompositionIsFunctionCompositionOrAnError) {
  RandomLayouts random(3);
  int composed = 0;
  for (int round = 0; round < 4 * kRounds; ++round) {
    const Layout a = random.layout(), b = random.layout(true, true, true);
    if (cosize(b).value > size(a).value) continue;
    try {
      const Layout r = composition(a, b);
      ASSERT_TRUE(compatible(b.shape(), r.shape())) << to_string(a) << " o " << to_string(b);
      for (int64_t i = 0; i < size(b).value; ++i) {
        ASSERT_EQ(slow(r, i), slow(a, slow(b, i))) << to_string(a) << " o " << to_string(b);
      }
      ++composed;
    } catch (const InputError& e) {
      ASSERT_EQ(e.code(), Code::E1805);
    }
  }
  EXPECT_GT(composed, 50);
}

TEST(LayoutLaws, CompositionIsAssociative) {
  RandomLayouts random(4);
  int compared = 0;
  for (int round = 0; round < 16 * kRounds; ++round) {
    const Layout a = random.layout(), b = random.layout(), c = random.layout();
    if (cosize(b).value > size(a).value || cosize(c).value > size(b).value) continue;
    try {
      const Layout left = composition(composition(a, b), c);
      const Layout right = composition(a, composition(b, c));
      ASSERT_TRUE(check_equal(left, right).ok)
          << to_string(a) << " o " << to_string(b) << " o " << to_string(c);
      ++compared;
    } catch (const InputError&) {
      continue;  // not composable in CuTe's notation
    }
  }
  EXPECT_GT(compared, 50);
}

TEST(LayoutLaws, ComplementIsDisjointOrderedAndCovers) {
  RandomLayouts random(5);
  for (int round = 0; round < kRounds; ++round) {
    const Layout l = random.layout();
    const int64_t target = int64_t{1} << random.pick(0, 10);
    const Layout rest = complement(l, target);
    EXPECT_GE(cosize(make_layout(std::array<Layout, 2>{l, rest})).value, target) << to_string(l);
    std::set<int64_t> reached;
    for (int64_t i = 0; i < size(l).value; ++i) reached.insert(slow(l, i));
    for (int64_t i = 1; i < size(rest).value; ++i) {
      ASSERT_LT(slow(rest, i - 1), slow(rest, i)) << to_string(l);
      ASSERT_FALSE(reached.count(slow(rest, i))) << to_string(l) << " " << to_string(rest);
    }
    ASSERT_TRUE(check_injective(make_layout(std::array<Layout, 2>{l, rest})).ok) << to_string(l);
  }
}

TEST(LayoutLaws, InversesUndoTheLayout) {
  RandomLayouts random(6);
  for (int round = 0; round < kRounds; ++round) {
    const Layout l = random.layout();
    const Layout right = right_inverse(l);
    for (int64_t i = 0; i < size(right).value; ++i) ASSERT_EQ(slow(l, slow(right, i)), i) << to_string(l);
    const Layout left = left_inverse(l);
    for (int64_t i = 0; i < size(l).value; ++i) ASSERT_EQ(slow(left, slow(l, i)), i) << to_string(l);
    const Layout compact = random.layout(true, false);
    ASSERT_EQ(size(right_inverse(compact)).value, size(compact).value) << to_string(compact);
  }
}

TEST(LayoutLaws, DivideRearrangesAndProductRepeats) {
  RandomLayouts random(7);
  int divided = 0;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const Layout l = random.layout(true, false);
    const Layout tiler(Int(int64_t{1} << random.pick(0, 3)), Int(int64_t{1} << random.pick(0, 2)));
    try {
      const Layout d = logical_divide(l, tiler);
      ASSERT_EQ(d.rank(), 2u);
      // Mode 0 is the tile.
      for (int64_t i = 0; i < size(tiler).value && slow(tiler, i) < size(l).value; ++i) {
        ASSERT_EQ(slow(d.mode(0), i), slow(l, slow(tiler, i))) << to_string(l) << " / " << to_string(tiler);
      }
      if (cosize(tiler).value <= size(l).value) {
        std::multiset<int64_t> before, after;
        for (int64_t i = 0; i < size(l).value; ++i) before.insert(slow(l, i));
        for (int64_t i = 0; i < size(d).value; ++i) after.insert(slow(d, i));
        ASSERT_EQ(before, after) << to_string(l) << " / " << to_string(tiler);
        ++divided;
      }
      const Layout p = logical_product(l, tiler);
      ASSERT_EQ(p.mode(0), l);
      ASSERT_TRUE(check_injective(p).ok) << to_string(p);
    } catch (const InputError& e) {
      ASSERT_EQ(e.code(), Code::E1805);
    }
  }
  EXPECT_GT(divided, 50);
}

TEST(LayoutLaws, DividesDifferOnlyInGrouping) {
  RandomLayouts random(8);
  for (int round = 0; round < kRounds; ++round) {
    const Layout l(IntTuple::of({int64_t{1} << random.pick(2, 5), int64_t{1} << random.pick(2, 5)}));
    const Tiler tiler(IntTuple::of({int64_t{1} << random.pick(0, 2), int64_t{1} << random.pick(0, 2)}));
    const Layout zipped = zipped_divide(l, tiler);
    for (const Layout& other : {tiled_divide(l, tiler), flat_divide(l, tiler)}) {
      ASSERT_TRUE(check_equal(zipped, other).ok) << to_string(l);
    }
  }
}

TEST(LayoutLaws, RandomLayoutsReadBackAsPrinted) {
  RandomLayouts random(9);
  for (int round = 0; round < kRounds; ++round) {
    Layout l = random.layout(false, true, true);
    ASSERT_EQ(parse_layout(to_string(l)), l);
    ASSERT_EQ(parse_layout(to_string(l, Marks::plain)), l);
    l = Layout(with_static(l.shape(), random.pick(0, 1) == 0),
               with_static(l.stride(), random.pick(0, 1) == 0));
    ASSERT_EQ(parse_layout(to_string(l), Reading::cute), l);
    const ComposedLayout swizzled(Swizzle(static_cast<int>(random.pick(0, 3)), 4, 3), SmemFlag{16, 0}, l);
    const Evaluation e = evaluate(to_string(swizzled), Reading::cute);
    ASSERT_EQ(e.layout(), swizzled);
  }
}

TEST(SwizzleLaws, IsItsOwnInverseAndMatchesTheBitDefinition) {
  for (int bits = 0; bits <= 3; ++bits) {
    for (int base = 0; base <= 5; ++base) {
      for (int shift : {-4, -3, 3, 5}) {
        const Swizzle s(bits, base, shift);
        for (int64_t i = 0; i < 4096; ++i) {
          int64_t expected = i;
          for (int b = 0; b < bits; ++b) {
            const int y = base + b + std::max(shift, 0), z = base + b - std::min(shift, 0);
            if (i >> y & 1) expected ^= int64_t{1} << z;
          }
          ASSERT_EQ(s(i), expected);
          ASSERT_EQ(s(s(i)), i);
        }
      }
    }
  }
}

// CUTLASS's 128-byte swizzle: 16-byte chunk c of row r is at chunk c ^ (r % 8) (PTX ISA, shared memory
// swizzling).
TEST(SwizzleLaws, FlaggedSwizzleActsOnBytes) {
  for (uint32_t bits : {4u, 8u, 16u, 32u}) {
    const int64_t row = 1024 / bits, chunk = 128 / bits;
    const ComposedLayout l(Swizzle(3, 4, 3), SmemFlag{bits, 0}, Layout(IntTuple::of({row, 8})));
    for (int64_t r = 0; r < 8; ++r) {
      for (int64_t c = 0; c < row; ++c) {
        EXPECT_EQ(l(IntTuple::of({c, r})).leaf().value, r * row + ((c / chunk) ^ r) * chunk + c % chunk);
      }
    }
    EXPECT_TRUE(check_bijective(l).ok);
    EXPECT_TRUE(check_equal(l, as_position_independent(l)).ok);
  }
}

}  // namespace
}  // namespace drywell::layout
