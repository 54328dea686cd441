#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {

std::vector<ProgramSpec> suite() {
  std::vector<ProgramSpec> all;
  add_integer(all);
  add_logic(all);
  add_float(all);
  add_comparison(all);
  add_carry(all);
  add_bits(all);
  add_video(all);
  add_sign(all);
  add_mixed(all);
  add_approx(all);
  add_approx_half(all);
  add_cvt(all);
  add_cvt_pairs(all);
  add_warp(all);
  add_matrix(all);
  add_mma_sync(all);
  add_mma_sp(all);
  add_mma_kind(all);
  add_wmma(all);
  add_wgmma(all);
  add_memory(all);
  add_mbarrier(all);
  add_bulk(all);
  add_cluster(all);
  add_control(all);
  add_named_barrier(all);
  add_flow(all);
  add_space(all);
  add_tma_modes(all);
  add_tma(all);
  add_tensor(all);
  add_tensor_alloc(all);
  add_aborts(all);  // last: a GPU may not accept launches afterwards
  return all;
}

}  // namespace drywell::kernels::conformance
