#include "kernels/gemm/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drywell/kernels/gemm_output.h"
#include "drywell/kernels/reference_gemm.h"

namespace drywell::kernels::gemm {

namespace {

// Returns at most 64 rows, evenly spread.
std::vector<uint64_t> sampled_rows(uint64_t m) {
  const uint64_t count = std::min<uint64_t>(m, 64);
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < count; ++i) rows.push_back(m * i / count);
  return rows;
}

/// Returns the error over the sampled rows, against alpha * exact + beta * C.
std::string error_text(const GemmPlan& p, const GemmProblem& x, const std::vector<uint32_t>& d,
                       const std::vector<uint64_t>& rows, const std::vector<double>& exact, double alpha) {
  const reference::OutputFormat format = output_format(p.config.output);
  double worst = 0, error = 0, norm = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (uint64_t j = 0; j < x.n; ++j) {
      const uint64_t at = rows[i] * x.n + j;
      double want = alpha * exact[i * x.n + j];
      if (!x.c.empty()) want += double{x.beta} * reference::output_value(x.c[at], format);
      const double off = reference::output_value(d[at], format) - want;
      worst = std::max(worst, std::fabs(off));
      error += off * off;
      norm += want * want;
    }
  }
  return fmt::format("{:.3g} relative (Frobenius), {:.3g} at most", norm == 0 ? 0 : std::sqrt(error / norm),
                     worst);
}

void add_error_notes(KernelReport& r, const GemmPlan& p, const GemmProblem& x, const std::vector<uint32_t>& d,
                     unsigned threads) {
  using reference::float64_rows;
  const std::vector<uint64_t> rows = sampled_rows(x.m);
  const auto exact = reference::gemm_float64(float64_rows(reference_operand(x.a)),
                                             float64_rows(reference_operand(x.b)), x.n, rows, threads);
  r.notes.emplace_back("error",
                       fmt::format("{}, against float64 over {} rows",
                                   error_text(p, x, d, rows, exact, double{x.total_alpha()}), rows.size()));
  if (x.a_values.empty() || x.b_values.empty()) return;
  const auto ideal = reference::gemm_float64(float64_rows(x.a_values, x.k), float64_rows(x.b_values, x.k),
                                             x.n, rows, threads);
  r.notes.emplace_back("quantization",
                       error_text(p, x, d, rows, ideal, double{x.alpha}) + ", against the values before it");
}

}  // namespace

void verify(KernelReport& r, const GemmPlan& p, const GemmProblem& x, const std::vector<uint32_t>& d,
            unsigned threads) {
  const reference::OutputFormat format = output_format(p.config.output);
  const reference::GemmArithmetic arithmetic{p.mma_k, isa::is_packed_fp4(p.config.kind)};
  const std::vector<float> acc =
      reference::gemm_accumulators(reference_operand(x.a), reference_operand(x.b), arithmetic, threads);
  std::vector<uint32_t> want(acc.size());
  for (size_t i = 0; i < acc.size(); ++i) {
    std::optional<float> c;
    if (!x.c.empty()) c = reference::output_value(x.c[i], format);
    want[i] = reference::gemm_output(acc[i], x.total_alpha(), x.beta, c, format);
  }
  compare_outputs(r, d, want, x.n, p.output_bytes());
  add_error_notes(r, p, x, d, threads);
}

}  // namespace drywell::kernels::gemm
