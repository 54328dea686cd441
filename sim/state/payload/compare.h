// Payloads of comparisons and of selections by a comparison.
#pragma once

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// Combination of a comparison's result with the predicate operand.
enum class Combine : uint8_t {
  none,
  and_,
  or_,
  xor_
};

/// setp of 32- and 64-bit types.
struct SetPredicate {
  static constexpr PayloadKind kKind = PayloadKind::set_predicate;
  Combine combine = Combine::none;
  bool ftz = false;
  bool has_inverse = false;  // p|q: the instruction has a q
  uint32_t inverse = 0;      // predicate that receives the negated comparison
};

/// set, and setp of halves.
struct Comparison {
  static constexpr PayloadKind kKind = PayloadKind::comparison;
  uint32_t accepted = 0;  // set of relations
  Combine combine = Combine::none;
  bool ftz = false;
  uint32_t high = 0;       // predicate of the upper halves
  uint32_t true_word = 0;  // set: a true comparison in the destination's type
};

struct SelectBySign {
  static constexpr PayloadKind kKind = PayloadKind::select_by_sign;
  bool ftz = false;
};

struct InSpace {
  static constexpr PayloadKind kKind = PayloadKind::in_space;
  uint32_t high = 0;  // high word of the space's generic addresses; 0: global memory
};

}  // namespace drywell::sim::payload
