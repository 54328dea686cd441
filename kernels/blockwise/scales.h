// Software scaling: one f32 factor for each block of granularity_m x granularity_k of A (SFA) and granularity_n x granularity_k
// of B (SFB), as in CUTLASS's blockwise and groupwise GEMMs. Shared code of the Blackwell and the Hopper kernel: shapes, memory
// layout, and the warp that copies a stage's factors to shared memory.
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
  /// Returns the same configuration as a type of the layout library.
  layout::BlockwiseScale layout() const;
};

/// One operand's factors in memory: `rows` x `factors`; the major mode is contiguous.
struct ScaleShape {
  uint64_t rows = 0, factors = 0, row_stride = 0, k_stride = 0;
  uint64_t count() const { return rows * factors; }
};
/// Shape of the factors of an operand of mn x k elements (tile_atom_to_shape_SFA and _SFB).
ScaleShape scale_shape(uint64_t mn, uint64_t k, uint32_t granularity_mn, uint32_t granularity_k, isa::Major major);
/// True if factors may be copied four at a time: if quadruples along memory are whole in the tensor and in a tile's
/// stage.
bool whole_quadruples(const ScaleShape& s, isa::Major major, uint32_t stage_rows, uint32_t stage_factors);
/// Reorders factors with k contiguous to the order in memory.
std::vector<float> scale_image(const std::vector<float>& logical, const ScaleShape& s);

/// One operand's factors in device memory, as a kernel reads them.
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
/// Loads a DeviceScales from a generic address.
ScaleView load_view(isa::KernelBuilder& k, isa::Reg from, int64_t offset);

/// value / divisor, where divisor is a power of two: a shift.
isa::Reg quotient(isa::KernelBuilder& k, isa::Reg value, uint32_t divisor);

/// One warp copies the factors of a tile, stage after stage along k, with cp.async, four bytes per lane (tiles may be partial in
/// M and N) or sixteen; factors outside the tensor become 0.
class StageCopier {
 public:
  /// `first_row` counts factors.
  StageCopier(isa::KernelBuilder& k, const StageScales& s, const ScaleView& view, isa::Reg first_row, isa::Reg lane);
  /// Copies the next stage to shared memory at `to`.
  void copy(isa::Reg to);

 private:
  /// One lane's part of 32 factors: source address and factor along k; both advance with each stage.
  struct Chunk {
    isa::Reg from, factor, row_exists;
  };
  isa::KernelBuilder& k_;
  StageScales s_;
  ScaleView view_;
  uint32_t width_;                       // factors per lane
  isa::Reg lane_bytes_, step_, inside_;  // `inside_`: lanes of the only chunk, if it is partial
  std::vector<Chunk> chunks_;
};

}  // namespace drywell::kernels::blockwise
