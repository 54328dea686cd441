// Scale factors of block-scaled products: whether different products use different factors.
#pragma once

#include "sim/state/async_op.h"

namespace drywell::sim::check {

/// The latest product of a CTA, until scale factors are written.
class ScaleUse {
 public:
  /// One factor covers at least the K of one product: the next product of the same accumulator has its own factors, unless their author
  /// let one factor cover more. True: `u` uses those of the product before although both of its operands differ.
  bool repeats(const Umma& u) {
    const bool same = valid_ && u.accumulate && u.d == last_.d && u.sfa == last_.sfa && u.sfb == last_.sfb && ids_of(u) == ids_of(last_);
    const bool again = same && u.a != last_.a && u.b != last_.b;
    valid_ = true;
    last_ = u;
    return again;
  }
  /// An operation other than a product has written tensor memory.
  void forget() { valid_ = false; }

 private:
  // Bytes `id` and on of each word (PTX ISA 9.7.16.4.2): A's in bits 29..30 of the instruction descriptor, B's in 4..5.
  static uint32_t ids_of(const Umma& u) { return u.idesc & (3u << 29 | 3u << 4); }

  bool valid_ = false;
  Umma last_;
};

}  // namespace drywell::sim::check
