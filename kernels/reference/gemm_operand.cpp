#include "kernels/reference/gemm_operand.h"

#include <cmath>
#include <limits>

namespace drywell::kernels::reference {
namespace {

// docs/facts/numerics.md §1.
NumberLayout layout_of(NumberFormat f) {
  switch (f) {
    case NumberFormat::e2m1: return {2, 1, 1, true, Specials::none};
    case NumberFormat::e2m3: return {2, 3, 1, true, Specials::none};
    case NumberFormat::e3m2: return {3, 2, 3, true, Specials::none};
    case NumberFormat::e4m3: return {4, 3, 7, true, Specials::all_ones};
    case NumberFormat::e5m2: return {5, 2, 15, true, Specials::ieee};
    case NumberFormat::f16: return {5, 10, 15, true, Specials::ieee};
    case NumberFormat::bf16: return kBfloat16;
    case NumberFormat::ue4m3: return {4, 3, 7, false, Specials::all_ones};
    case NumberFormat::ue8m0: return {8, 0, 127, false, Specials::all_ones};
  }
  return {};
}

void prepare_aligned(PreparedOperand& p, const GemmArithmetic& arithmetic) {
  const GemmOperand& o = *p.source;
  p.aligned.significand.assign(o.rows * p.padded_k, 0);
  p.aligned.exponent.assign(o.rows * p.padded_k, kZeroExponent);
  for (uint64_t r = 0; r < o.rows; ++r) {
    for (uint64_t k = 0; k < o.k; ++k) {
      const Number n = p.element(r, k), s = p.scale(r, k);
      if (n.is_special() || s.is_special()) p.special[r * p.steps + k / arithmetic.k] = 1;
      if (n.kind != NumberClass::finite) continue;
      const auto significand = static_cast<float>(n.significand);
      p.aligned.significand[r * p.padded_k + k] = n.negative ? -significand : significand;
      p.aligned.exponent[r * p.padded_k + k] = n.raw + s.raw;
    }
  }
}

void prepare_grouped(PreparedOperand& p, const GemmArithmetic& arithmetic) {
  const GemmOperand& o = *p.source;
  const uint64_t groups = p.padded_k / 16;
  p.grouped.twice.assign(o.rows * p.padded_k, 0);
  p.grouped.nonzero.assign(o.rows * groups, 0);
  p.grouped.scale.assign(o.rows * groups, 0);
  p.grouped.exponent.assign(o.rows * groups, kZeroExponent);
  for (uint64_t r = 0; r < o.rows; ++r) {
    for (uint64_t k = 0; k < o.k; ++k) {
      const uint64_t group = r * groups + k / 16;
      const Number n = p.element(r, k), s = p.scale(r, k);
      const auto twice = static_cast<int16_t>(n.significand << (n.lsb + 1));
      p.grouped.twice[r * p.padded_k + k] = n.negative ? static_cast<int16_t>(-twice) : twice;
      if (twice != 0)
        p.grouped.nonzero[group] = static_cast<uint16_t>(p.grouped.nonzero[group] | 1u << k % 16);
      if (s.is_special()) p.special[r * p.steps + k / arithmetic.k] = 1;
      if (s.kind != NumberClass::finite) continue;
      p.grouped.scale[group] = static_cast<int32_t>(s.significand);
      p.grouped.exponent[group] = s.raw;
    }
  }
}

}  // namespace

Number number_of(NumberFormat format, uint32_t code) {
  if (format != NumberFormat::ue8m0) return take_apart(layout_of(format), code);
  // No fraction and no zero: 2^(code - 127).
  Number n;
  n.kind = (code & 0xFF) == 0xFF ? NumberClass::nan : NumberClass::finite;
  n.significand = 1;
  n.raw = n.lsb = static_cast<int>(code & 0xFF) - 127;
  return n;
}

unsigned fraction_bits(NumberFormat format) { return layout_of(format).fraction_bits; }

double number_value(NumberFormat format, uint16_t code) {
  const Number n = number_of(format, code);
  if (n.kind == NumberClass::nan) return std::numeric_limits<double>::quiet_NaN();
  const double v = n.kind == NumberClass::infinite ? std::numeric_limits<double>::infinity()
                                                   : std::ldexp(static_cast<double>(n.significand), n.lsb);
  return n.negative ? -v : v;
}

Number PreparedOperand::element(uint64_t row, uint64_t k) const {
  if (k >= source->k) return {};
  return number_of(source->format, source->codes[row * source->k + k]);
}

Number PreparedOperand::scale(uint64_t row, uint64_t k) const {
  if (source->block == 0 || k >= source->k) return {NumberClass::finite, false, 1, 0, 0};
  const uint64_t per_row = (source->k + source->block - 1) / source->block;
  return number_of(source->scale_format, source->scales[row * per_row + k / source->block]);
}

PreparedOperand prepare(const GemmOperand& operand, const GemmArithmetic& arithmetic) {
  PreparedOperand p;
  p.source = &operand;
  p.steps = (operand.k + arithmetic.k - 1) / arithmetic.k;
  p.padded_k = p.steps * arithmetic.k;
  p.special.assign(operand.rows * p.steps, 0);
  if (arithmetic.grouped) {
    prepare_grouped(p, arithmetic);
  } else {
    prepare_aligned(p, arithmetic);
  }
  return p;
}

}  // namespace drywell::kernels::reference
