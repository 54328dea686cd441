// Host reference of D = A * B^T as tcgen05.mma computes it: exact integers, instruction by instruction along K
// (docs/facts/numerics.md §3.1, §3.2). Independent of sim/ and isa/ on purpose, like formats.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace drywell::kernels::reference {

/// Formats of operands and scales, as the reference knows them.
enum class NumberFormat : uint8_t {
  e2m1,
  e2m3,
  e3m2,
  e4m3,
  e5m2,
  f16,
  bf16,
  ue4m3,
  ue8m0
};

/// Returns the exact value; NaN for codes without a value.
double number_value(NumberFormat format, uint16_t code);

/// rows x k codes, one per entry, k contiguous, with one scale for every `block` of them along k.
struct GemmOperand {
  NumberFormat format = NumberFormat::bf16;         // of the codes
  uint64_t rows = 0, k = 0;                         // extents, in elements
  const uint16_t* codes = nullptr;                  // rows x k
  uint32_t block = 0;                               // 0: no scales
  NumberFormat scale_format = NumberFormat::ue8m0;  // of the scales
  const uint8_t* scales = nullptr;                  // rows x ceil(k / block)
};

/// Arithmetic of one instruction's sum.
struct GemmArithmetic {
  uint32_t k = 16;       // elements of K per instruction
  bool grouped = false;  // the mxf4 family: sixteen products are summed exactly before they are aligned
  int window = 25;       // bits of the alignment window, when not grouped
  int significant = 24;  // bits of the result
};
/// wgmma on e4m3 and e5m2: docs/facts/numerics.md §3.2, sm_90.
inline constexpr GemmArithmetic kHopperFp8{.k = 32, .window = 13, .significant = 14};

/// Returns a.rows x b.rows accumulators after all of K, starting from `start` (empty: from zero): every instruction is
/// one fused sum of its products and the accumulator. Elements past the end of K count as zero.
std::vector<float> gemm_accumulators(const GemmOperand& a, const GemmOperand& b,
                                     const GemmArithmetic& arithmetic, unsigned threads = 0,
                                     std::vector<float> start = {});

/// Returns a row of an operand as float64.
using RowOf = std::function<std::vector<double>(uint64_t row)>;
/// Rows of an operand: its elements times their scales.
RowOf float64_rows(const GemmOperand& operand);
/// Rows of a rows x k float array.
RowOf float64_rows(std::span<const float> values, uint64_t k);

/// Returns the products in float64 for the given rows of A: rows.size() x columns.
std::vector<double> gemm_float64(const RowOf& a, const RowOf& b, uint64_t columns,
                                 std::span<const uint64_t> rows, unsigned threads = 0);

/// Formats of the result.
enum class OutputFormat : uint8_t {
  bf16,
  f16,
  f32
};

/// Computes the epilogue of an accumulator in f32: fl(alpha * x), with C fma(beta, c, fl(alpha * x)); then rounds to
/// nearest even. Returns the code.
uint32_t gemm_output(float accumulator, float alpha, float beta, std::optional<float> c, OutputFormat format);
/// The value of a result's code.
float output_value(uint32_t code, OutputFormat format);

}  // namespace drywell::kernels::reference
