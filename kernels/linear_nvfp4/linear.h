// TransformerEngine's NVFP4 linear layer on one simulated device, and on several under tensor and sequence parallelism: the
// quantization of each tensor, the order of launches, and the three GEMMs. All tensors stay on the devices between launches.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/gemm/plan.h"
#include "kernels/nvfp4/nvfp4.h"

namespace drywell::kernels::nvfp4 {

/// Distribution of the layer over ranks.
enum class Parallel : uint8_t {
  none,
  column,  // weights by rows: x arrives in shards of tokens and is gathered, dx is reduced and scattered
  row,     // weights by columns: dy arrives in shards of tokens and is gathered, y is reduced and scattered
};

struct LinearOptions {
  uint64_t tokens = 1024, in_features = 768, out_features = 2048;
  bool rht = true, stochastic = true, square_weights = true;  // options of the recipe
  bool te_scale_order = false, approximate_reciprocal = false;
  uint64_t seed = 0, offset = 0;  // random state of the gradients' rounding
  Parallel parallel = Parallel::none;
  uint64_t ranks = 1;
  /// All-reduce the amax of every tensor that is split, not only of the gathered one: the ranks' results are then parts
  /// of the single device's result.
  bool reduce_every_amax = true;
  uint32_t cta_group = 1, bn = 128;  // of the GEMMs

  /// Shape of each rank's part of x, w and dy.
  struct Shape {
    uint64_t rows, columns;
  };
  Shape local_x() const;
  Shape local_w() const;
  Shape local_dy() const;
};

/// Throws InputError E2110.
void check_linear(const LinearOptions& o);
gemm::GemmConfig linear_gemm_config(const LinearOptions& o);

struct LaunchRecord {
  std::string name;
  sim::LaunchConfig launch;
  uint64_t cycles = 0, warp_instructions = 0;
  size_t number = 0;  // among the launches of all ranks
  std::shared_ptr<const sim::TimingReport> timing;
};

/// A quantized tensor read from the device, scales without padding.
struct HostNvfp4 {
  std::vector<uint8_t> codes, scales;
};

/// Tensors of one rank after the run.
struct LinearRankResult {
  HostNvfp4 x_row, x_column, w_row, w_column, dy_row, dy_column;  // as the GEMMs read them: split tensors are gathered
  std::vector<uint16_t> y, dx, dw;                                // y and dx are partial sums if the layer is split along the summed dimension
};

struct LinearRun {
  sim::RunResult run;                          // of all launches together; the run ends at the first fault
  std::vector<std::vector<LaunchRecord>> log;  // by rank
  std::vector<LinearRankResult> ranks;
};

/// Runs the layer. x, w, dy: one bf16 tensor per rank. `machines`: one per rank.
LinearRun run_linear(std::span<const std::unique_ptr<Accelerator>> machines, const LinearOptions& o, std::span<const std::vector<uint16_t>> x,
                     std::span<const std::vector<uint16_t>> w, std::span<const std::vector<uint16_t>> dy, const sim::RunOptions& run);

}  // namespace drywell::kernels::nvfp4
