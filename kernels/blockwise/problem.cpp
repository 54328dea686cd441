#include "kernels/blockwise/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "drywell/core/bits.h"
#include "drywell/kernels/gemm_output.h"
#include "drywell/sim/numeric/convert.h"

namespace drywell::kernels::blockwise {
namespace {

struct Operand {
  QuantizedMatrix codes;
  std::vector<float> factors;
};

/// Largest finite magnitude of a block divided by the format's largest value; 1 if the block is zero.
std::vector<float> block_factors(const std::vector<float>& values, uint64_t rows, uint64_t k, uint32_t gm, uint32_t gk, float top) {
  const uint64_t across = ceil_div(k, gk);
  std::vector<float> factors(ceil_div(rows, gm) * across, 0.0f);
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t i = 0; i < k; ++i) {
      float& f = factors[r / gm * across + i / gk];
      f = std::max(f, std::fabs(values[r * k + i]));
    }
  }
  for (float& f : factors) f = f == 0 ? 1 : f / top;
  return factors;
}

Operand quantized(const ProblemSpec& s, numeric::Format format, uint64_t rows, uint32_t gm, uint64_t stream) {
  GenerateOptions g = s.generate;
  g.seed = g.seed * 4 + stream;
  const uint64_t k = s.shape.k, across = ceil_div(k, s.scales.k);
  Operand o;
  if (s.codes) {
    o.codes = random_codes(rows, k, {.format = format}, g.seed);
    // Factors between 2^-8 and 2^8 with random fraction bits.
    for (uint64_t i = 0; i < ceil_div(rows, gm) * across; ++i) {
      const uint64_t word = random_word(~g.seed, i);
      o.factors.push_back(std::bit_cast<float>(static_cast<uint32_t>((119 + word % 17) << 23 | (word >> 32 & 0x7FFFFF))));
    }
    return o;
  }
  const std::vector<float> values = generate_floats(rows, k, g);
  o.factors = block_factors(values, rows, k, gm, s.scales.k, numeric::to_float(format, numeric::format_info(format).max_finite));
  o.codes.format = format;
  o.codes.rows = rows;
  o.codes.k = k;
  const numeric::ConvertSpec spec{.dst = format, .src = numeric::Format::f32, .satfinite = true};
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t i = 0; i < k; ++i) {
      const float scaled = values[r * k + i] / o.factors[r / gm * across + i / s.scales.k];
      o.codes.codes.push_back(static_cast<uint16_t>(numeric::convert(spec, std::bit_cast<uint32_t>(scaled))));
    }
  }
  return o;
}

reference::GemmOperand operand(const QuantizedMatrix& q) {
  return {.format = gemm::number_format(q.format), .rows = q.rows, .k = q.k, .codes = q.codes.data()};
}

reference::RowOf dequantized(const QuantizedMatrix& q, const std::vector<float>& factors, uint32_t gm, uint32_t gk) {
  return [&q, &factors, gm, gk](uint64_t row) {
    std::vector<double> out(q.k);
    const uint64_t across = ceil_div(q.k, gk);
    for (uint64_t i = 0; i < q.k; ++i)
      out[i] = reference::number_value(gemm::number_format(q.format), q.codes[row * q.k + i]) * double{factors[row / gm * across + i / gk]};
    return out;
  };
}

}  // namespace

Problem make_problem(const ProblemSpec& s) {
  Problem p;
  p.shape = s.shape;
  Operand a = quantized(s, s.a, s.shape.m, s.scales.m, 0), b = quantized(s, s.b, s.shape.n, s.scales.n, 1);
  p.a = std::move(a.codes);
  p.b = std::move(b.codes);
  p.sfa = std::move(a.factors);
  p.sfb = std::move(b.factors);
  if (!s.reads_c) return p;
  GenerateOptions g = s.generate;
  g.seed = g.seed * 4 + 2;
  for (const float v : generate_floats(s.shape.m, s.shape.n, g)) p.c.push_back(gemm::output_code(v, s.output));
  return p;
}

std::vector<uint32_t> transposed(const std::vector<uint32_t>& d, uint64_t rows, uint64_t columns) {
  std::vector<uint32_t> out(d.size());
  if (d.empty()) return out;
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < columns; ++c) out[c * rows + r] = d[r * columns + c];
  }
  return out;
}

Problem swapped(const Problem& p) {
  return {{p.shape.n, p.shape.m, p.shape.k}, p.b, p.a, p.sfb, p.sfa, transposed(p.c, p.shape.m, p.shape.n)};
}

ScaleConfig swapped(const ScaleConfig& s) { return {s.n, s.m, s.k, s.b_major, s.a_major}; }

void verify(KernelReport& r, const Problem& p, const ScaleConfig& scales, const reference::BlockwiseArithmetic& arithmetic, const Scalars& s,
            isa::TensorType output, const std::vector<uint32_t>& d, unsigned threads) {
  const reference::OutputFormat format = gemm::output_format(output);
  const std::vector<float> sums =
      reference::blockwise_sums(operand(p.a), {p.sfa.data(), scales.m}, operand(p.b), {p.sfb.data(), scales.n}, arithmetic, threads);
  std::vector<uint32_t> want(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    std::optional<float> c;
    if (!p.c.empty()) c = reference::output_value(p.c[i], format);
    want[i] = reference::gemm_output(sums[i], s.alpha, s.beta, c, format);
  }
  gemm::compare_outputs(r, d, want, p.shape.n, isa::element_bits(output) / 8);
}

std::string error_text(const Problem& p, const ScaleConfig& scales, const Scalars& s, isa::TensorType output, const std::vector<uint32_t>& d,
                       unsigned threads) {
  const reference::OutputFormat format = gemm::output_format(output);
  const uint64_t count = std::min<uint64_t>(p.shape.m, 32);
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < count; ++i) rows.push_back(p.shape.m * i / count);
  const auto exact = reference::gemm_float64(dequantized(p.a, p.sfa, scales.m, scales.k), dequantized(p.b, p.sfb, scales.n, scales.k), p.shape.n, rows, threads);
  double error = 0, norm = 0;
  for (uint64_t i = 0; i < count; ++i) {
    for (uint64_t j = 0; j < p.shape.n; ++j) {
      const uint64_t at = rows[i] * p.shape.n + j;
      double want = double{s.alpha} * exact[i * p.shape.n + j];
      if (!p.c.empty()) want += double{s.beta} * reference::output_value(p.c[at], format);
      const double off = reference::output_value(d[at], format) - want;
      error += off * off;
      norm += want * want;
    }
  }
  return fmt::format("{:.3g} relative (Frobenius), against float64 over {} rows", norm == 0 ? 0.0 : std::sqrt(error / norm), count);
}

}  // namespace drywell::kernels::blockwise
