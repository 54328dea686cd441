// Software scaling: one f32 factor for each block of granularity_m x granularity_k of A (SFA) and granularity_n x granularity_k
// of B (SFB), as CUTLASS's blockwise and groupwise GEMMs have it. What the Blackwell and the Hopper kernel share: shapes, memory
// layout, and the warp that brings a stage's factors to shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/builder.h"
#include "drywell/isa/layout/scale_factor.h"
#include "drywell/isa/smem_descriptor.h"

namespace drywell::kernels::blockwise {

struct ScaleConfig {
  uint32_t m = 0, n = 0, k = 128;  // granularities; m = 0: no software scaling
  isa::Major a_major = isa::Major::mn, b_major = isa::Major::mn;
  bool present() const { return m != 0; }
  /// The same as the layout library names it.
  layout::BlockwiseScale layout() const;
};

/// One operand's factors in memory: `rows` x `factors`, the mode that is major contiguous.
struct ScaleShape {
  uint64_t rows = 0, factors = 0, row_stride = 0, k_stride = 0;
  uint64_t count() const { return rows * factors; }
};
/// Of an operand of mn x k elements (tile_atom_to_shape_SFA and _SFB).
ScaleShape scale_shape(uint64_t mn, uint64_t k, uint32_t granularity_mn, uint32_t granularity_k, isa::Major major);
/// Whether factors may be copied four at a time: of the tensor, along memory, and of a tile's stage.
bool whole_quadruples(const ScaleShape& s, isa::Major major, uint32_t stage_rows, uint32_t stage_factors);
/// Factors with k contiguous to the order they have in memory.
std::vector<float> scale_image(const std::vector<float>& logical, const ScaleShape& s);

/// What a kernel reads about one operand's factors, in device memory.
struct DeviceScales {
  uint64_t at = 0;
  uint32_t rows = 0, factors = 0, row_stride = 0, k_stride = 0;
};
static_assert(sizeof(DeviceScales) == 24);

/// The factors of one stage and one operand in shared memory: `rows` x `factors` floats (smem_atom_layoutSFA and _SFB).
struct StageScales {
  uint32_t rows = 1, factors = 1;
  isa::Major major = isa::Major::mn;
  bool wide = false;  // four at a time: quadruples along memory are whole, in every tile and at the tensor's edge
  uint32_t count() const { return rows * factors; }
  uint32_t bytes() const { return 4 * count(); }
  uint32_t row_stride() const { return major == isa::Major::mn ? 1 : factors; }
  uint32_t k_stride() const { return major == isa::Major::mn ? rows : 1; }
};

/// A tile's view of an operand's factors, in registers.
struct ScaleView {
  isa::Reg at, rows, factors, row_stride, k_stride;
};
/// Reads a DeviceScales at a generic address.
ScaleView load_view(isa::KernelBuilder& k, isa::Reg from, int64_t offset);

/// value / divisor, a power of two: a shift.
isa::Reg quotient(isa::KernelBuilder& k, isa::Reg value, uint32_t divisor);

/// One warp copies the factors of a tile, stage after stage along k, with cp.async, four bytes a lane (tiles may be partial in M
/// and N) or sixteen; what lies outside becomes 0.
class StageCopier {
 public:
  /// `first_row` counts factors.
  StageCopier(isa::KernelBuilder& k, const StageScales& s, const ScaleView& view, isa::Reg first_row, isa::Reg lane);
  /// The next stage, to shared memory.
  void copy(isa::Reg to);

 private:
  /// What a lane copies of 32 factors: where from, which factor along k; both move on with each stage.
  struct Chunk {
    isa::Reg from, factor, row_exists;
  };
  isa::KernelBuilder& k_;
  StageScales s_;
  ScaleView view_;
  uint32_t width_;                       // factors of a lane
  isa::Reg lane_bytes_, step_, inside_;  // `inside_`: lanes of the only chunk, if it is not whole
  std::vector<Chunk> chunks_;
};

}  // namespace drywell::kernels::blockwise
