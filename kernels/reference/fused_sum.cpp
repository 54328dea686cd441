#include "kernels/reference/fused_sum.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/reference/number.h"

namespace drywell::kernels::reference {
namespace {

constexpr int kWindowBits = 25;
constexpr int kWindowFloor = -133;

}  // namespace

float fused_dot_bf16(std::span<const uint16_t> a, std::span<const uint16_t> b, float c) {
  SpecialSum special;
  special.add(c);
  std::vector<Number> terms;
  for (size_t k = 0; k < a.size(); ++k) {
    const Number x = take_apart(kBfloat16, a[k]), y = take_apart(kBfloat16, b[k]);
    special.add_product(x, y);
    // Zero products do not take part in the window.
    if (x.kind != NumberClass::finite || y.kind != NumberClass::finite) continue;
    terms.push_back({NumberClass::finite, x.negative != y.negative, x.significand * y.significand,
                     x.lsb + y.lsb, x.raw + y.raw});
  }
  if (special.decided()) return special.result();
  if (const Number start = take_apart(kFloat32, std::bit_cast<uint32_t>(c));
      start.kind == NumberClass::finite)
    terms.push_back(start);

  int top = kWindowFloor;
  for (const Number& t : terms) top = std::max(top, t.raw);
  const int quantum = top - kWindowBits;
  int64_t sum = 0;
  for (const Number& t : terms) {
    const int shift = t.lsb - quantum;
    const int64_t significand = t.significand;
    const int64_t aligned = shift >= 0 ? significand << shift : shift <= -63 ? 0
                                                                             : significand >> -shift;
    sum += t.negative ? -aligned : aligned;
  }
  return round_toward_zero(sum, quantum);
}

}  // namespace drywell::kernels::reference
