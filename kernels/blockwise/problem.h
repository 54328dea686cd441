// Operands of a software-scaled GEMM: 8-bit elements and f32 factors, made from values or at random; the comparison with the
// reference. Used by the Blackwell and the Hopper kernel.
#pragma once

#include <string>
#include <vector>

#include "drywell/isa/tensor_map.h"
#include "drywell/kernels/quantize.h"
#include "drywell/launch/generate.h"
#include "drywell/launch/kernel.h"
#include "kernels/blockwise/scales.h"
#include "kernels/reference/gemm_blockwise.h"

namespace drywell::kernels::blockwise {

struct Shape {
  uint64_t m = 0, n = 0, k = 0;
};

struct ProblemSpec {
  Shape shape;
  numeric::Format a = numeric::Format::e4m3, b = numeric::Format::e4m3;
  ScaleConfig scales;
  isa::TensorType output = isa::TensorType::bf16;
  bool reads_c = false;
  bool codes = false;  // random codes and factors, which no data would give
  GenerateOptions generate;
};

struct Problem {
  Shape shape;
  QuantizedMatrix a, b;         // codes: m x k and n x k
  std::vector<float> sfa, sfb;  // k contiguous
  std::vector<uint32_t> c;      // codes of the output type, m x n
};

Problem make_problem(const ProblemSpec& spec);
/// B^T A^T: the same problem with the roles of A and B exchanged, C and D transposed.
Problem swapped(const Problem& p);
ScaleConfig swapped(const ScaleConfig& s);
std::vector<uint32_t> transposed(const std::vector<uint32_t>& d, uint64_t rows, uint64_t columns);

struct Scalars {
  float alpha = 1, beta = 0;
};
/// Compares every value bit for bit; messages contain the problem's `name`.
void verify(KernelReport& r, const Problem& p, const ScaleConfig& scales, const reference::BlockwiseArithmetic& arithmetic, const Scalars& s,
            isa::TensorType output, const std::vector<uint32_t>& d, unsigned threads);
/// Returns "… relative (Frobenius)": the error against alpha A B^T + beta C in float64 over some rows.
std::string error_text(const Problem& p, const ScaleConfig& scales, const Scalars& s, isa::TensorType output, const std::vector<uint32_t>& d,
                       unsigned threads);

}  // namespace drywell::kernels::blockwise
