// The families of the suite, one per file.
#pragma once

#include <vector>

#include "conformance/programs/lanes.h"

namespace drywell::kernels::conformance {

void add_integer(std::vector<ProgramSpec>& out);
void add_logic(std::vector<ProgramSpec>& out);
void add_float(std::vector<ProgramSpec>& out);
void add_comparison(std::vector<ProgramSpec>& out);
void add_carry(std::vector<ProgramSpec>& out);
void add_bits(std::vector<ProgramSpec>& out);
void add_video(std::vector<ProgramSpec>& out);
void add_sign(std::vector<ProgramSpec>& out);
void add_mixed(std::vector<ProgramSpec>& out);
void add_approx(std::vector<ProgramSpec>& out);
void add_approx_half(std::vector<ProgramSpec>& out);
void add_cvt(std::vector<ProgramSpec>& out);
void add_cvt_pairs(std::vector<ProgramSpec>& out);
void add_warp(std::vector<ProgramSpec>& out);
void add_matrix(std::vector<ProgramSpec>& out);
void add_mma_sync(std::vector<ProgramSpec>& out);
void add_mma_sp(std::vector<ProgramSpec>& out);
void add_mma_kind(std::vector<ProgramSpec>& out);
void add_wmma(std::vector<ProgramSpec>& out);
void add_wgmma(std::vector<ProgramSpec>& out);
void add_memory(std::vector<ProgramSpec>& out);
void add_mbarrier(std::vector<ProgramSpec>& out);
void add_bulk(std::vector<ProgramSpec>& out);
void add_cluster(std::vector<ProgramSpec>& out);
void add_control(std::vector<ProgramSpec>& out);
void add_named_barrier(std::vector<ProgramSpec>& out);
void add_flow(std::vector<ProgramSpec>& out);
void add_space(std::vector<ProgramSpec>& out);
void add_tma_modes(std::vector<ProgramSpec>& out);
void add_tma(std::vector<ProgramSpec>& out);
void add_tensor(std::vector<ProgramSpec>& out);
void add_tensor_alloc(std::vector<ProgramSpec>& out);
void add_aborts(std::vector<ProgramSpec>& out);

}  // namespace drywell::kernels::conformance
