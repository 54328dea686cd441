// The kernels around the three GEMMs of TransformerEngine's NVFP4 linear layer, as the article "NVFP4 training in
// TransformerEngine" describes them: amaxes, quantization, scale-factor layout, and the kernels of tensor parallelism.
//
// Each launch takes tensors that are on the device already, so that a layer's kernels run one after the other there.
#pragma once

#include <cstdint>

#include "drywell/launch/accelerator.h"
#include "drywell/launch/kernel.h"
#include "kernels/nvfp4/arithmetic.h"

namespace drywell::kernels::nvfp4 {

/// rows x columns bf16, row-major.
struct Bf16Matrix {
  GmemAddr at{};
  uint64_t rows = 0, columns = 0;
  uint64_t bytes() const { return 2 * rows * columns; }
};

/// rows x k e2m1 codes, two per byte along k, and their block scales: TransformerEngine's form of one orientation. A
/// column-wise one is the row-major transpose.
struct Nvfp4Matrix {
  GmemAddr codes{}, scales{}, amax{};
  uint64_t rows = 0, k = 0;
  uint64_t code_bytes() const { return rows * k / 2; }
  uint64_t scales_per_row() const { return k / kBlockSize; }
  /// Bytes from one row of scales to the next: "padded to be divisible by 4 along the quantization dim".
  uint64_t scale_pitch() const { return (scales_per_row() + 3) / 4 * 4; }
  /// "and 128 along the non-quant mode".
  uint64_t padded_rows() const { return (rows + 127) / 128 * 128; }
  uint64_t scale_bytes() const { return padded_rows() * scale_pitch(); }
};

// ---- amax

/// Writes max |x| to an f32 in memory that holds 0 (or an earlier maximum), NaN ignored. Columns are a multiple of 8.
isa::Module build_amax(isa::Target target);
sim::LaunchConfig amax_launch(const Bf16Matrix& x, uint32_t sm_count);
sim::RunResult launch_amax(Accelerator& device, const Bf16Matrix& x, GmemAddr amax, const sim::RunOptions& run);

struct RhtAmaxOptions {
  bool identity = true, transformed = true;  // the maxima to compute
};
/// HadamardAmaxTmaKernel: max |x| and max |x' rounded to bf16|, x' the random Hadamard transform of runs of 16 rows.
isa::Module build_rht_amax(const RhtAmaxOptions& o, isa::Target target);
sim::LaunchConfig rht_amax_launch(const Bf16Matrix& x);
/// Rows are a multiple of 16, columns of 8.
sim::RunResult launch_rht_amax(Accelerator& device, const Bf16Matrix& x, const RhtAmaxOptions& o, uint16_t signs, GmemAddr identity,
                               GmemAddr transformed, const sim::RunOptions& run);

// ---- quantization

struct QuantizeOptions {
  Arithmetic arithmetic;
  bool rowwise = true, columnwise = false;
  bool square_blocks = false;  // one scale for 16 x 16 values (weights), else for 16 along the quantized dimension
};
/// quantize_transpose_nvfp4 and quantize_transpose_nvfp4_2D_kernel.
isa::Module build_quantize(const QuantizeOptions& o, isa::Target target);
/// Rows (columnwise) and columns (rowwise) are multiples of 32: TMA's strides. Throws InputError E2110.
void check_quantize(const QuantizeOptions& o, uint64_t rows, uint64_t columns);
sim::LaunchConfig quantize_launch(uint64_t rows, uint64_t columns);
/// `row` and `column`: destinations of the results and the amax of each; `rng`: [seed, offset], or null.
sim::RunResult launch_quantize(Accelerator& device, const Bf16Matrix& x, const QuantizeOptions& o, const Nvfp4Matrix& row, const Nvfp4Matrix& column,
                               GmemAddr rng, const sim::RunOptions& run);

// ---- scale factors

/// Converts scales in rows of `pitch` bytes to atoms of 128 rows x 4 factors (docs/facts/tcgen05.md §6.2); factors outside
/// the matrix are zero.
isa::Module build_swizzle_sf(isa::Target target);
sim::LaunchConfig swizzle_sf_launch(uint64_t rows, uint64_t columns);
uint64_t swizzled_sf_bytes(uint64_t rows, uint64_t columns);
sim::RunResult launch_swizzle_sf(Accelerator& device, GmemAddr in, uint64_t rows, uint64_t columns, uint64_t pitch, GmemAddr out,
                                 const sim::RunOptions& run);

/// Writes the GEMM's factor of its accumulators, ((amax_a * amax_b) * 1/2688^2), to `out`.
isa::Module build_alpha(isa::Target target);
sim::RunResult launch_alpha(Accelerator& device, GmemAddr amax_a, GmemAddr amax_b, GmemAddr out, const sim::RunOptions& run);

// ---- tensor parallelism

/// Copies [shards, rows, width] bytes to [rows, shards * width]: the columnwise shards of an all-gather next to each
/// other. With one shard it removes or adds padding: bytes outside the input are zero.
struct ShardCopy {
  uint64_t shards = 1, rows = 0, width = 0;  // of the input, bytes
  uint64_t in_pitch = 0, in_shard = 0;       // bytes from row to row, from shard to shard
  uint64_t out_rows = 0, out_width = 0, out_pitch = 0;
};
isa::Module build_interleave_shards(uint32_t unit, isa::Target target);
/// Returns the widest access, 1, 4 or 16 bytes, that divides every size of the copy.
uint32_t shard_copy_unit(const ShardCopy& c);
sim::LaunchConfig interleave_shards_launch(const ShardCopy& c);
sim::RunResult launch_interleave_shards(Accelerator& device, const ShardCopy& c, GmemAddr in, GmemAddr out, const sim::RunOptions& run);

}  // namespace drywell::kernels::nvfp4

namespace drywell::kernels {
Kernel amax_kernel();
Kernel rht_amax_kernel();
Kernel quantize_nvfp4_kernel();
Kernel quantize_nvfp4_2d_kernel();
Kernel swizzle_sf_kernel();
Kernel interleave_shards_kernel();
Kernel linear_nvfp4_kernel();
}  // namespace drywell::kernels
