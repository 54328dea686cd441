// Semantics of table/tensormap.inc.
#include "sim/exec/tensormap.h"

#include <fmt/format.h>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "drywell/isa/tensor_map.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"
#include "sim/exec/operands.h"
#include "sim/state/payload/tensormap.h"

namespace drywell::sim {

bool check_tensormap_alignment(Warp& w, uint64_t address, Effect& result) {
  if (is_aligned(address, isa::kTensorMapAlignment)) return true;
  result = fault(w, Code::F3301, fmt::format("tensor map at {:#x} is not 64-byte aligned", address));
  return false;
}

uint8_t* tensormap_bytes(Warp& w, Space space, uint64_t address, uint32_t lane, Effect& result) {
  if (!check_tensormap_alignment(w, address, result)) return nullptr;
  const Gmem::Allocation* hint = nullptr;
  uint8_t* at = resolve(w, space, address, isa::kTensorMapBytes, lane, hint);
  if (at == nullptr) {
    result = fault(w, Code::F3001,
                   fmt::format("lane {}: the {} bytes of a tensor map at {:#x} are outside memory", lane,
                               isa::kTensorMapBytes, address));
  }
  return at;
}

namespace {

// src[1]: value.
template <bool Wide>
Effect replace(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::TensorMapEdit>();
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result != Effect::next) return;
    uint8_t* at = tensormap_bytes(w, x.space, lane_address(w, op, lane), lane, result);
    if (at == nullptr) return;
    isa::TensorMap map;
    std::memcpy(map.bytes.data(), at, map.bytes.size());
    isa::replace_field(map, x.field, x.ordinal,
                       lane_value(w, op.src[1], lane, Wide) << x.shift);
    std::memcpy(at, map.bytes.data(), map.bytes.size());
  });
  return result;
}

// The whole warp executes one copy.
Effect copy_and_fence(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  const Src* s = slots_at(w, op.as<payload::TensorMapCopy>().first_slot);
  Effect result = Effect::next;
  const uint8_t* from =
      tensormap_bytes(w, Space::shared_cta, slot_address(w, s + kAddressSlots, lane), lane, result);
  if (from == nullptr) return result;
  uint8_t* to = tensormap_bytes(w, Space::global, slot_address(w, s, lane), lane, result);
  if (to != nullptr) std::memcpy(to, from, isa::kTensorMapBytes);
  return result;
}

isa::TensorMapField field_of(isa::Mod m) {
  using isa::Mod;
  using isa::TensorMapField;
  switch (m) {
    case Mod::rank: return TensorMapField::rank;
    case Mod::box_dim: return TensorMapField::box_dim;
    case Mod::global_dim: return TensorMapField::global_dim;
    case Mod::global_stride: return TensorMapField::global_stride;
    case Mod::element_stride: return TensorMapField::element_stride;
    case Mod::elemtype: return TensorMapField::elemtype;
    case Mod::interleave_layout: return TensorMapField::interleave_layout;
    case Mod::swizzle_mode: return TensorMapField::swizzle_mode;
    case Mod::swizzle_atomicity: return TensorMapField::swizzle_atomicity;
    case Mod::fill_mode: return TensorMapField::fill_mode;
    default: return TensorMapField::global_address;
  }
}

ExecFn bind_replace(Decoder& d, DecodedOp& op, const isa::Operand& value, const isa::Operand* ordinal) {
  const isa::TensorMapField field = field_of(d.mod(isa::Slot::field));
  d.set_address(op, *d.operand(0));
  auto& x = op.emplace<payload::TensorMapEdit>({.space = d.access_space(*d.operand(0)), .field = field});
  x.ordinal = ordinal != nullptr ? static_cast<uint32_t>(ordinal->value) : 0;
  op.src[1] = d.source(value, isa::type_bits(d.mod(isa::Slot::type)));
  // Strides are in bytes since PTX 8.5, in units of 16 bytes before (docs/facts/tma-mbarrier.md §2.1).
  const bool in_units =
      field == isa::TensorMapField::global_stride && d.module().version < isa::PtxVersion{8, 5};
  x.shift = in_units ? 4 : 0;
  // PTX's syntax allows a fifth stride, but the map has no field for it.
  if (field == isa::TensorMapField::global_stride && x.ordinal > 3)
    throw Unsupported("tensormap.replace of global_stride 4");
  if (field == isa::TensorMapField::swizzle_mode && value.value > 3) throw Unsupported("the 96-byte swizzle of tensor maps (sm_103a)");
  return d.has(isa::Mod::b64) ? replace<true> : replace<false>;
}

}  // namespace

template <>
ExecFn bind<isa::row::tensormap_replace>(Decoder& d, DecodedOp& op) {
  return bind_replace(d, op, *d.operand(1), nullptr);
}
template <>
ExecFn bind<isa::row::tensormap_replace_dim>(Decoder& d, DecodedOp& op) {
  return bind_replace(d, op, *d.operand(2), d.operand(1));
}
template <>
ExecFn bind<isa::row::tensormap_replace_mode>(Decoder& d, DecodedOp& op) {
  return bind_replace(d, op, *d.operand(1), nullptr);
}
template <>
ExecFn bind<isa::row::tensormap_cp_fenceproxy>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::TensorMapCopy>({.first_slot = d.next_slot()});
  push_address(d, *d.operand(0));
  push_address(d, *d.operand(1));
  return copy_and_fence;
}

}  // namespace drywell::sim
