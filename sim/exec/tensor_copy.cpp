// Semantics of table/tensor_copy.inc, the issue side: operands are captured here, the engine executes the copy.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "drywell/isa/opcode.h"
#include "drywell/isa/tensor_tile.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"
#include "sim/exec/operands.h"
#include "sim/state/payload/tensor_copy.h"

namespace drywell::sim {
namespace {

// Slots from payload::TensorCopy::first_slot.
enum Place : size_t {
  kMap = 0,
  kShared = kAddressSlots,
  kMbar = 2 * kAddressSlots,
  kMask = 3 * kAddressSlots,
  kCoordinates = kMask + 1
};

// Map, coordinates and offsets: the operands of every form.
Effect capture(Warp& w, const payload::TensorCopy& x, uint32_t lane, TensorCopy& t) {
  const Src* s = slots_at(w, x.first_slot);
  t.mode = x.mode;
  t.rank = x.rank;
  t.cta_group = x.cta_group;
  t.map_address = slot_address(w, s + kMap, lane);
  const Gmem::Allocation* hint = nullptr;
  const uint8_t* map = resolve(w, x.map_space, t.map_address, t.map.size(), lane, hint);
  if (map == nullptr) return access_fault(w, x.map_space, t.map_address, t.map.size(), lane, false);
  if (t.map_address % isa::kTensorMapAlignment != 0)
    return fault(w, Code::F3301, fmt::format("tensor map at {:#x} is not 64-byte aligned", t.map_address));
  if (is_shared_generic(t.map_address))
    return fault(w, Code::F3301, "a tensor map in shared memory can be edited, but not used by a copy");
  std::memcpy(t.map.data(), map, t.map.size());
  for (uint32_t k = 0; k < x.coordinates; ++k)
    t.coord[k] = static_cast<int32_t>(lanes<uint32_t>(w, s[kCoordinates + k])[lane]);
  for (uint32_t k = 0; k < x.offsets; ++k)
    t.offset[k] = static_cast<uint16_t>(lanes<uint32_t>(w, s[kCoordinates + x.coordinates + k])[lane]);
  return Effect::next;
}

template <class F>
Effect for_copies(Warp& w, const payload::TensorCopy& x, LaneMask mask, F issue_one) {
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    TensorCopy t;
    result = capture(w, x, lane, t);
    if (result != Effect::fault) result = issue_one(t, lane);
  });
  return result;
}

Effect load(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::TensorCopy>();
  return for_copies(w, x, mask, [&](TensorCopy& t, uint32_t lane) {
    const Src* s = slots_at(w, x.first_slot);
    t.smem = slot_shared_address(w, s + kShared, lane, x.cluster_space);
    t.mbar = slot_shared_address(w, s + kMbar, lane, x.cluster_space);
    if (x.multicast) {
      t.multicast = static_cast<uint16_t>(lanes<uint32_t>(w, s[kMask])[lane]);
      if (t.multicast == 0) return fault(w, Code::F3503, "multicast copy to no CTA at all");
    }
    issue(w, lane, t);
    return Effect::next;
  });
}

bool same_operands(const TensorCopy& a, const TensorCopy& b) {
  return a.smem == b.smem && a.map_address == b.map_address && a.coord == b.coord && a.offset == b.offset;
}

// Lanes with the same operands make one store, the first lane's: an H200 moves the bytes once (docs/facts/timing.md §8). A reduction has
// an effect for each lane.
template <TensorCopy::Direction Direction>
Effect store(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::TensorCopy>();
  std::vector<TensorCopy> issued;
  return for_copies(w, x, mask, [&](TensorCopy& t, uint32_t lane) {
    t.direction = Direction;
    t.reduce_op = x.reduce_op;
    t.smem = slot_shared_address(w, slots_at(w, x.first_slot) + kShared, lane, false);
    if (Direction == TensorCopy::Direction::store) {
      if (std::any_of(issued.begin(), issued.end(), [&](const TensorCopy& i) { return same_operands(i, t); })) return Effect::next;
      issued.push_back(t);
    }
    t.group = join_group(w.bulk_groups, lane);
    issue(w, lane, t);
    return Effect::next;
  });
}

// A hint: the timed driver models the caches, but a request that faults as a copy faults here too.
Effect prefetch(Warp& w, const DecodedOp& op, LaneMask mask) {
  return for_copies(w, op.as<payload::TensorCopy>(), mask, [&](const TensorCopy& t, uint32_t) {
    isa::TensorMap map;
    map.bytes = t.map;
    Diagnostics problems;
    const isa::TensorMapFields f = isa::decode(map, problems);
    if (problems.has_errors())
      return fault(w, Code::F3302, fmt::format("the 128 bytes at {:#x} are not a tensor map: {}", t.map_address, problems.to_string()));
    if (f.rank != t.rank)
      return fault(w, Code::F3303,
                   fmt::format("a {}-dimensional prefetch through a tensor map of rank {}", t.rank, f.rank));
    isa::check_request(f, {t.mode, isa::TensorAccess::load, t.coord, t.offset}, problems);
    return problems.has_errors() ? fault(w, Code::F3304, problems.to_string()) : Effect::next;
  });
}

// Row positions of the operands; -1: the form does not have the operand.
struct Positions {
  int tensor, shared = -1, mbar = -1, offsets = -1, mask = -1;
};

payload::TensorCopy& bind_tensor(Decoder& d, DecodedOp& op, const Positions& at) {
  const auto operand = [&](int position) {
    return position < 0 ? nullptr : d.operand(static_cast<size_t>(position));
  };
  const auto push = [&](const isa::Operand* o) {
    o != nullptr ? push_address(d, *o) : push_nothing(d, kAddressSlots);
  };
  const auto parts = d.elements(*operand(at.tensor));
  const isa::Operand* offsets = operand(at.offsets);
  auto& x = op.emplace<payload::TensorCopy>({.first_slot = d.next_slot()});
  push(&parts[0]);
  push(operand(at.shared));
  push(operand(at.mbar));
  d.push_slot(operand(at.mask) != nullptr ? d.source(*operand(at.mask), 16) : Src{});
  for (const isa::Operand& e : d.elements(parts[1])) d.push_slot(d.source(e, 32));
  if (offsets != nullptr) {
    for (const isa::Operand& e : d.elements(*offsets)) d.push_slot(d.source(e, 16));
  }
  x.rank = static_cast<unsigned>(d.mod(isa::Slot::dim)) - static_cast<unsigned>(isa::Mod::_1d) + 1;
  x.cluster_space = d.has(isa::Mod::shared_cluster);
  x.multicast = operand(at.mask) != nullptr;
  x.cta_group = d.has(isa::Mod::cta_group_1) ? 1 : d.has(isa::Mod::cta_group_2) ? 2
                                                                                : 0;
  x.offsets = offsets != nullptr ? offsets->count : 0;
  x.coordinates = parts[1].count;
  if (const isa::Mod mode = d.mod(isa::Slot::tile_mode); mode != isa::Mod::none) x.mode = mode;
  if (parts[0].base == isa::Operand::Base::symbol) x.map_space = space_of(d.symbol_space(parts[0].index));
  return x;
}

}  // namespace

template <>
ExecFn bind<isa::row::cp_async_bulk_tensor_load>(Decoder& d, DecodedOp& op) {
  bind_tensor(d, op, {.tensor = 1, .shared = 0, .mbar = 2, .offsets = 3, .mask = 4});
  return load;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_tensor_store>(Decoder& d, DecodedOp& op) {
  bind_tensor(d, op, {.tensor = 0, .shared = 1});
  return store<TensorCopy::Direction::store>;
}
template <>
ExecFn bind<isa::row::cp_reduce_async_bulk_tensor>(Decoder& d, DecodedOp& op) {
  bind_tensor(d, op, {.tensor = 0, .shared = 1}).reduce_op = d.mod(isa::Slot::op);
  d.program().ordered_across_ctas = true;  // the element type of the map may be floating-point
  return store<TensorCopy::Direction::reduce>;
}
template <>
ExecFn bind<isa::row::cp_async_bulk_prefetch_tensor>(Decoder& d, DecodedOp& op) {
  bind_tensor(d, op, {.tensor = 0, .offsets = 1});
  return prefetch;
}

}  // namespace drywell::sim
