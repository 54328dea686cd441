#include "drywell/kernels/reference_gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "drywell/core/parallel.h"
#include "kernels/reference/formats.h"
#include "kernels/reference/gemm_operand.h"

namespace drywell::kernels::reference {
namespace {

// docs/facts/numerics.md §3.2: bits of the alignment window, and the lowest exponent of the window.
constexpr int kAlignedFloor = -133;
constexpr int kGroupedWindow = 35, kGroupedFloor = -139;

/// The accumulator as a term: its significand shifted left by window - 23, and its exponent.
struct Accumulator {
  int64_t magnitude;
  int exponent;
  bool negative;
};
inline Accumulator accumulator_term(float c, int window) {
  const uint32_t bits = std::bit_cast<uint32_t>(c), field = bits >> 23 & 0xFF, fraction = bits & 0x7FFFFF;
  if ((bits & 0x7FFFFFFF) == 0) return {0, kZeroExponent, false};
  const int64_t significand = field == 0 ? fraction : fraction | 0x800000;
  // Bits that a window below 23 cuts off would not survive the alignment.
  const int64_t magnitude = window >= 23 ? significand << (window - 23) : significand >> (23 - window);
  return {magnitude, static_cast<int>(std::max(field, 1u)) - 127, bits >> 31 != 0};
}
inline int64_t aligned_accumulator(const Accumulator& c, int top) {
  const int64_t kept = c.magnitude >> std::min(top - c.exponent, 63);
  return c.negative ? -kept : kept;
}

/// Computes one instruction with a NaN or an infinity among its operands, for one element.
float special_step(const PreparedOperand& a, const PreparedOperand& b, uint64_t i, uint64_t j, uint64_t first,
                   uint32_t k, float c) {
  SpecialSum sum;
  sum.add(c);
  for (uint64_t at = first; at < first + k; ++at) {
    sum.add_product(a.element(i, at), b.element(j, at));
    if (a.scale(i, at).is_special() || b.scale(j, at).is_special()) sum.add_nan();
  }
  return sum.result();
}

/// A rectangle of accumulators, row i at values + i * stride.
struct Tile {
  uint64_t row, rows, column, columns;
  float* values;
  uint64_t stride;
};

// The bounds of the loops below are not constants, so that the compiler vectorises the loops instead of unrolling them.

/// Steps 2 to 5 with each product as its own term. Products of significands are exact in float (22 bits at
/// most), and so is their scaling by a power of two: the conversion to an integer is the truncation to the
/// window.
float aligned_step(const float* sa, const int32_t* ea, const float* sb, const int32_t* eb, uint32_t k,
                   int fractions, const GemmArithmetic& arithmetic, float start) {
  const Accumulator c = accumulator_term(start, arithmetic.window);
  int top = std::max(kAlignedFloor, c.exponent);
  for (uint32_t i = 0; i < k; ++i) top = std::max(top, ea[i] + eb[i]);
  const int bias = arithmetic.window - fractions + 127 - top;
  const auto term = [&](uint32_t i) {
    const int32_t exponent = std::max(bias + ea[i] + eb[i], 0);
    return static_cast<int32_t>(sa[i] * sb[i] * std::bit_cast<float>(exponent << 23));
  };
  int32_t low = 0, high = 0;  // at most sixteen terms below 2^27 each
  for (uint32_t i = 0; i < k / 2; ++i) {
    low += term(i);
    high += term(i + k / 2);
  }
  return round_toward_zero(aligned_accumulator(c, top) + low + high, top - arithmetic.window, arithmetic.significant);
}

int32_t exact_dot(const int16_t* x, const int16_t* y, uint32_t count) {
  int32_t dot = 0;
  for (uint32_t i = 0; i < count; ++i) dot += x[i] * y[i];
  return dot;
}

/// Steps 2 to 5 with groups of `group` products: a term is their exact sum, counted in quarters, times the
/// scales.
float grouped_step(const GroupedOperand& a, uint64_t at_a, const GroupedOperand& b, uint64_t at_b,
                   uint32_t group, int scale_fraction, float start) {
  const Accumulator c = accumulator_term(start, kGroupedWindow);
  int top = std::max(kGroupedFloor, c.exponent);
  int64_t term[4];
  int exponent[4];
  for (uint32_t g = 0; g < 4; ++g) {
    const uint64_t ga = at_a / group + g, gb = at_b / group + g;
    const int32_t dot =
        exact_dot(a.twice.data() + at_a + group * g, b.twice.data() + at_b + group * g, group);
    // A group of only zero products is not a term; a group whose products cancel is one (docs/facts/numerics.md §3.4 G).
    const bool present = (a.nonzero[ga] & b.nonzero[gb]) != 0 && a.scale[ga] != 0 && b.scale[gb] != 0;
    exponent[g] = present ? a.exponent[ga] + b.exponent[gb] : kZeroExponent;
    term[g] = present ? int64_t{dot} * (a.scale[ga] * b.scale[gb]) : 0;
    top = std::max(top, exponent[g]);
  }
  const int widen = kGroupedWindow - 2 - 2 * scale_fraction;
  int64_t sum = aligned_accumulator(c, top);
  for (uint32_t g = 0; g < 4; ++g) {
    const int64_t kept = (std::abs(term[g]) << widen) >> std::min(top - exponent[g], 63);
    sum += term[g] < 0 ? -kept : kept;
  }
  return round_toward_zero(sum, top - kGroupedWindow);
}

class Product {
 public:
  Product(const GemmOperand& a, const GemmOperand& b, const GemmArithmetic& arithmetic)
      : arithmetic_(arithmetic), a_(prepare(a, arithmetic)), b_(prepare(b, arithmetic)) {}

  // K is the outer loop, so that one step of a tile's operands stays in the first-level cache.
  void compute(const Tile& t) const {
    for (uint64_t step = 0; step < a_.steps; ++step) {
      for (uint64_t i = t.row; i < t.row + t.rows; ++i) {
        float* row = t.values + i * t.stride;
        for (uint64_t j = t.column; j < t.column + t.columns; ++j) row[j] = element(i, j, step, row[j]);
      }
    }
  }

 private:
  float element(uint64_t i, uint64_t j, uint64_t step, float c) const {
    const uint32_t k = arithmetic_.k;
    if ((a_.special[i * a_.steps + step] | b_.special[j * b_.steps + step]) != 0 || !std::isfinite(c)) {
      return special_step(a_, b_, i, j, step * k, k, c);
    }
    const uint64_t x = i * a_.padded_k + step * k, y = j * b_.padded_k + step * k;
    if (arithmetic_.grouped) {
      const auto fraction = static_cast<int>(fraction_bits(a_.source->scale_format));
      return grouped_step(a_.grouped, x, b_.grouped, y, k / 4, fraction, c);
    }
    const auto fractions =
        static_cast<int>(fraction_bits(a_.source->format) + fraction_bits(b_.source->format));
    return aligned_step(&a_.aligned.significand[x], &a_.aligned.exponent[x], &b_.aligned.significand[y],
                        &b_.aligned.exponent[y], k, fractions, arithmetic_, c);
  }

  GemmArithmetic arithmetic_;
  PreparedOperand a_, b_;
};

std::vector<double> dequantized_row(const GemmOperand& o, uint64_t row) {
  std::vector<double> out(o.k);
  const uint64_t per_row = o.block == 0 ? 0 : (o.k + o.block - 1) / o.block;
  for (uint64_t k = 0; k < o.k; ++k) {
    out[k] = number_value(o.format, o.codes[row * o.k + k]);
    if (o.block != 0) out[k] *= number_value(o.scale_format, o.scales[row * per_row + k / o.block]);
  }
  return out;
}

float canonical(float v) { return std::isnan(v) ? kNan : v; }

}  // namespace

std::vector<float> gemm_accumulators(const GemmOperand& a, const GemmOperand& b,
                                     const GemmArithmetic& arithmetic, unsigned threads,
                                     std::vector<float> start) {
  constexpr uint64_t kRows = 16, kColumns = 64;
  const Product product(a, b, arithmetic);
  std::vector<float> out = std::move(start);
  out.resize(a.rows * b.rows, 0.0f);
  parallel_for((a.rows + kRows - 1) / kRows, threads, [&](uint64_t first, uint64_t end) {
    for (uint64_t block = first; block < end; ++block) {
      const uint64_t row = block * kRows, rows = std::min(kRows, a.rows - row);
      for (uint64_t column = 0; column < b.rows; column += kColumns) {
        product.compute({row, rows, column, std::min(kColumns, b.rows - column), out.data(), b.rows});
      }
    }
  });
  return out;
}

RowOf float64_rows(const GemmOperand& operand) {
  return [operand](uint64_t row) { return dequantized_row(operand, row); };
}

RowOf float64_rows(std::span<const float> values, uint64_t k) {
  return [values, k](uint64_t row) {
    const auto r = values.subspan(row * k, k);
    return std::vector<double>(r.begin(), r.end());
  };
}

std::vector<double> gemm_float64(const RowOf& a, const RowOf& b, uint64_t columns,
                                 std::span<const uint64_t> rows, unsigned threads) {
  std::vector<std::vector<double>> left;
  for (const uint64_t r : rows) left.push_back(a(r));
  std::vector<double> out(rows.size() * columns);
  parallel_for(columns, threads, [&](uint64_t first, uint64_t end) {
    for (uint64_t j = first; j < end; ++j) {
      const std::vector<double> right = b(j);
      for (size_t i = 0; i < left.size(); ++i) {
        double sum = 0;
        for (size_t k = 0; k < right.size(); ++k) sum += left[i][k] * right[k];
        out[i * columns + j] = sum;
      }
    }
  });
  return out;
}

uint32_t gemm_output(float accumulator, float alpha, float beta, std::optional<float> c,
                     OutputFormat format) {
  float v = canonical(alpha * accumulator);
  if (c.has_value()) v = canonical(std::fma(beta, *c, v));
  switch (format) {
    case OutputFormat::bf16: return float_to_bf16(v);
    case OutputFormat::f16: return float_to_f16(v);
    case OutputFormat::f32: break;
  }
  return std::bit_cast<uint32_t>(v);
}

float output_value(uint32_t code, OutputFormat format) {
  switch (format) {
    case OutputFormat::bf16: return bf16_to_float(static_cast<uint16_t>(code));
    case OutputFormat::f16:
      return static_cast<float>(number_value(NumberFormat::f16, static_cast<uint16_t>(code)));
    case OutputFormat::f32: break;
  }
  return std::bit_cast<float>(code);
}

}  // namespace drywell::kernels::reference
