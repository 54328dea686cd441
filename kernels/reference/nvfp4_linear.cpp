#include "kernels/reference/nvfp4_linear.h"

#include <algorithm>
#include <optional>

#include "drywell/kernels/reference_gemm.h"
#include "kernels/reference/rht_nvfp4.h"

namespace drywell::kernels::reference {
namespace {

Nvfp4Scaling scaling_of(const LinearRecipe& r) { return {.order = r.order, .approximate_reciprocal = r.approximate_reciprocal}; }

RhtNvfp4Options rht_options(const Bf16View& x, const LinearRecipe& r) {
  RhtNvfp4Options o;
  o.m = x.rows;
  o.n = x.columns;
  o.scale_order = r.order;
  o.approximate_reciprocal = r.approximate_reciprocal;
  o.threads = r.threads;
  return o;
}

/// Returns the codes, one per entry, as the GEMM reference takes them.
std::vector<uint16_t> unpacked(const Nvfp4Tensor& t) {
  std::vector<uint16_t> out;
  out.reserve(2 * t.codes.size());
  for (const uint8_t pair : t.codes) {
    out.push_back(pair & 0xF);
    out.push_back(pair >> 4);
  }
  return out;
}

GemmOperand operand(const Nvfp4Tensor& t, const std::vector<uint16_t>& codes) {
  return {.format = NumberFormat::e2m1,
          .rows = t.rows,
          .k = t.k,
          .codes = codes.data(),
          .block = 16,
          .scale_format = NumberFormat::ue4m3,
          .scales = t.scales.data()};
}

void append(std::vector<uint8_t>& to, const std::vector<uint8_t>& from, uint64_t row, uint64_t width) {
  const auto first = from.begin() + static_cast<ptrdiff_t>(row * width);
  to.insert(to.end(), first, first + static_cast<ptrdiff_t>(width));
}

}  // namespace

ActivationAmax activation_amax(const Bf16View& x, const LinearRecipe& r) {
  const float plain = bf16_amax(x.values);
  return {plain, r.rht ? rht_amax(x.values, rht_options(x, r)) : plain};
}

Nvfp4Pair quantize_activation(const Bf16View& x, const LinearRecipe& r, bool gradient, const ActivationAmax& amax) {
  const Rounding rounding = gradient && r.stochastic ? Rounding::stochastic : Rounding::nearest_even;
  Nvfp4QuantizeOptions o{.scaling = scaling_of(r), .rounding = rounding, .columnwise = !r.rht, .seed = r.seed, .offset = r.offset};
  Nvfp4Pair p = quantize_nvfp4(x.values, x.rows, x.columns, o, amax.rowwise, amax.columnwise);
  if (!r.rht) return p;
  RhtNvfp4Options rht = rht_options(x, r);
  rht.rounding = rounding;
  rht.amax = amax.columnwise;
  rht.seed = r.seed;
  rht.offset = r.offset + kRngElements;
  RhtNvfp4Result t = rht_nvfp4(x.values, rht);
  p.column = {x.columns, x.rows, std::move(t.codes), std::move(t.scales), amax.columnwise};
  return p;
}

Nvfp4Pair quantize_weight(const Bf16View& w, const LinearRecipe& r, float amax) {
  return quantize_nvfp4(w.values, w.rows, w.columns, {.scaling = scaling_of(r), .columnwise = true, .square_blocks = r.square_weights}, amax, amax);
}

Nvfp4Tensor gather_rows(std::span<const Nvfp4Tensor> shards) {
  Nvfp4Tensor all = shards[0];
  for (const Nvfp4Tensor& s : shards.subspan(1)) {
    all.rows += s.rows;
    all.codes.insert(all.codes.end(), s.codes.begin(), s.codes.end());
    all.scales.insert(all.scales.end(), s.scales.begin(), s.scales.end());
  }
  return all;
}

Nvfp4Tensor gather_columns(std::span<const Nvfp4Tensor> shards) {
  Nvfp4Tensor all{.rows = shards[0].rows, .amax = shards[0].amax};
  for (const Nvfp4Tensor& s : shards) all.k += s.k;
  for (uint64_t row = 0; row < all.rows; ++row) {
    for (const Nvfp4Tensor& s : shards) {
      append(all.codes, s.codes, row, s.k / 2);
      append(all.scales, s.scales, row, s.k / 16);
    }
  }
  return all;
}

std::vector<uint16_t> nvfp4_gemm(const Nvfp4Tensor& a, const Nvfp4Tensor& b, unsigned threads) {
  const std::vector<uint16_t> left = unpacked(a), right = unpacked(b);
  const std::vector<float> acc = gemm_accumulators(operand(a, left), operand(b, right), {.k = 64, .grouped = true}, threads);
  const float alpha = a.amax * b.amax * (1.0f / (2688.0f * 2688.0f));
  std::vector<uint16_t> out;
  out.reserve(acc.size());
  for (const float v : acc) out.push_back(static_cast<uint16_t>(gemm_output(v, alpha, 0, std::nullopt, OutputFormat::bf16)));
  return out;
}

LinearResult linear_nvfp4(const Bf16View& x, const Bf16View& w, const Bf16View& dy, const LinearRecipe& r) {
  LinearResult l;
  l.x = quantize_activation(x, r, false, activation_amax(x, r));
  l.w = quantize_weight(w, r, bf16_amax(w.values));
  l.dy = quantize_activation(dy, r, true, activation_amax(dy, r));
  l.y = nvfp4_gemm(l.x.row, l.w.row, r.threads);
  l.dx = nvfp4_gemm(l.dy.row, l.w.column, r.threads);
  l.dw = nvfp4_gemm(l.dy.column, l.x.column, r.threads);
  return l;
}

}  // namespace drywell::kernels::reference
