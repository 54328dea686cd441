// The kinds of payload of a decoded operation.
#pragma once

#include <cstdint>

namespace drywell::sim {

/// One for each payload type; the type has it as kKind.
enum class PayloadKind : uint8_t {
  none,
  unsupported,
  // control
  branch,
  indexed_branch,
  call,
  set_registers,
  barrier,
  // registers
  special_register,
  packing,
  address_window,
  paired_predicate,
  shuffle,
  vote,
  carry,
  dot_product,
  scalar_video,
  video_product,
  vector_video,
  truth_table,
  byte_permutation,
  set_predicate,
  comparison,
  select_by_sign,
  in_space,
  rank_of_address,
  rounding,
  half,
  conversion,
  narrow_conversion,
  saturating_pack,
  // memory
  access,
  map_prefetch,
  cache_policy,
  atomic,
  matrix_rows,
  mbarrier,
  group_wait,
  // asynchronous copies
  async_copy,
  async_copy_arrive,
  async_store,
  bulk_copy,
  tensor_copy,
  tensor_map_edit,
  tensor_map_copy,
  try_cancel,
  first_cta,
  // tensor cores
  mma_float,
  mma_kind,
  mma_quads,
  mma_integer,
  mma_bits,
  mma_double,
  wmma_access,
  wmma_product,
  wgmma,
  umma,
  tmem_allocation,
  tmem_commit,
  tmem_access,
  tmem_copy,
  tmem_shift,
};

}  // namespace drywell::sim
