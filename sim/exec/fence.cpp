// Semantics of table/fence.inc.
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"
#include "sim/exec/tensormap.h"

namespace drywell::sim {
namespace {

// Memory is sequentially consistent here; only the checkers use fences, which they receive as instructions.
Effect fence(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

// The only fence with an address operand: a tensor map in global memory. An address outside of memory is no fault: on an
// H200, CUTLASS's grouped GEMMs (examples 57, 68, 69) fence a null map in one warpgroup and pass (docs/deviations.md).
Effect acquire_tensormap(Warp& w, const DecodedOp& op, LaneMask mask) {
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::next) check_tensormap_alignment(w, lane_address(w, op, lane), result);
  });
  return result;
}

}  // namespace

template <>
ExecFn bind<isa::row::fence>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::fence_mbarrier_init>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::fence_proxy_async>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::fence_sync_restrict>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::fence_proxy_async_generic>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::fence_proxy_tensormap_release>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::fence_proxy_alias>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::membar>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::membar_proxy_alias>(Decoder&, DecodedOp&) {
  return fence;
}
template <>
ExecFn bind<isa::row::fence_proxy_tensormap_acquire>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  return acquire_tensormap;
}

}  // namespace drywell::sim
