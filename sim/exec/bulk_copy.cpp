// Semantics of table/bulk_copy.inc, the issue side: operands are captured, the engine does the rest.
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"

namespace drywell::sim {
namespace {

// Program::slots from op.vec: map base and offset, shared base and offset, mbarrier base and offset, multicast mask,
// coordinates, im2col offsets.
uint64_t slot_address(const Warp& w, Src base, Src offset, bool wide, uint32_t lane) {
  return lane_value(w, base, lane, wide) + lane_value(w, offset, lane, true);
}

// op.extra: bits 0..2 rank, bit 3 map address wide, bit 4 shared wide, bit 5 mbar wide, bit 6 dst is shared::cluster,
// bit 7 has mask, bits 8..9 cta_group, bits 10..11 offsets count; op.target: tile mode; op.imm: map space.
Effect tensor_issue(Warp& w, const DecodedOp& op, LaneMask mask, TensorCopy::Direction direction) {
  const Src* s = &w.cta->cluster->launch->program->slots[op.vec];
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    TensorCopy t;
    t.direction = direction;
    t.mode = static_cast<isa::Mod>(op.target);
    t.reduce_op = static_cast<isa::Mod>(op.dst);
    t.rank = op.extra & 7;
    t.map_address = slot_address(w, s[0], s[1], (op.extra >> 3) & 1, lane);
    const Gmem::Allocation* hint = nullptr;
    const uint8_t* map = resolve(w, static_cast<Space>(op.imm), t.map_address, t.map.size(), lane, hint);
    if (map == nullptr || t.map_address % 64 != 0) {
      result = map == nullptr ? access_fault(w, static_cast<Space>(op.imm), t.map_address, t.map.size(), lane, false)
                              : fault(w, "F3301", fmt::format("tensor map at {:#x} is not 64-byte aligned", t.map_address));
      return;
    }
    std::memcpy(t.map.data(), map, t.map.size());
    const uint64_t shared = slot_address(w, s[2], s[3], (op.extra >> 4) & 1, lane);
    t.smem = shared_address(w, shared, (op.extra >> 6 & 1) != 0 || is_shared_generic(shared));
    const uint32_t count = op.count;
    for (uint32_t k = 0; k < count; ++k) t.coord[k] = static_cast<int32_t>(lanes<uint32_t>(w, s[7 + k])[lane]);
    for (uint32_t k = 0; k < ((op.extra >> 10) & 3); ++k) t.offset[k] = static_cast<uint16_t>(lanes<uint32_t>(w, s[7 + count + k])[lane]);
    t.cta_group = static_cast<uint8_t>((op.extra >> 8) & 3);
    if (direction == TensorCopy::Direction::load) {
      const uint64_t mbar = slot_address(w, s[4], s[5], (op.extra >> 5) & 1, lane);
      t.mbar = shared_address(w, mbar, (op.extra >> 6 & 1) != 0 || is_shared_generic(mbar));
      if ((op.extra >> 7) & 1) t.multicast = static_cast<uint16_t>(lanes<uint32_t>(w, s[6])[lane]);
    } else {
      t.group = join_group(w.bulk_groups, lane);
    }
    issue(w, lane, t);
  });
  return result;
}
Effect tensor_load(Warp& w, const DecodedOp& op, LaneMask mask) { return tensor_issue(w, op, mask, TensorCopy::Direction::load); }
Effect tensor_store(Warp& w, const DecodedOp& op, LaneMask mask) { return tensor_issue(w, op, mask, TensorCopy::Direction::store); }

void bind_tensor(Decoder& d, DecodedOp& op, const isa::Operand& tensor, const isa::Operand& shared, const isa::Operand* mbar,
                 const isa::Operand* offsets, const isa::Operand* mask) {
  const auto parts = d.elements(tensor);
  const auto push_address = [&](const isa::Operand& o, uint32_t wide_bit) {
    const Decoder::Address a = d.address(o);
    d.push_slot(a.base);
    d.push_slot(d.constant(static_cast<uint64_t>(a.offset), 64));
    op.extra |= uint32_t{a.wide} << wide_bit;
  };
  op.vec = static_cast<uint32_t>(d.program().slots.size());
  op.extra = 0;
  push_address(parts[0], 3);
  push_address(shared, 4);
  if (mbar != nullptr) {
    push_address(*mbar, 5);
  } else {
    d.push_slot({});
    d.push_slot({});
  }
  d.push_slot(mask != nullptr ? d.source(*mask, 16) : Src{});
  op.count = static_cast<uint8_t>(parts[1].count);
  for (const isa::Operand& e : d.elements(parts[1])) d.push_slot(d.source(e, 32));
  const isa::Operand* off = offsets != nullptr ? offsets : parts.size() > 2 ? &parts[2] : nullptr;
  if (off != nullptr) {
    for (const isa::Operand& e : d.elements(*off)) d.push_slot(d.source(e, 16));
    op.extra |= uint32_t{off->count} << 10;
  }
  const unsigned rank = static_cast<unsigned>(d.mod(isa::Slot::dim)) - static_cast<unsigned>(isa::Mod::_1d) + 1;
  op.extra |= rank;
  op.extra |= uint32_t{d.has(isa::Mod::shared_cluster)} << 6;
  op.extra |= uint32_t{mask != nullptr} << 7;
  op.extra |= (d.has(isa::Mod::cta_group_1) ? 1u : d.has(isa::Mod::cta_group_2) ? 2u : 0u) << 8;
  const isa::Mod mode = d.mod(isa::Slot::tile_mode);
  op.target = static_cast<uint32_t>(mode == isa::Mod::none ? isa::Mod::tile : mode);
  op.imm = static_cast<uint64_t>(parts[0].base == isa::Operand::Base::symbol ? space_of(d.symbol_space(parts[0].index)) : Space::generic);
}

Effect commit_group(Warp& w, const DecodedOp&, LaneMask mask) {
  for_lanes(mask, [&](uint32_t lane) {
    ThreadGroups& t = groups_of(w.bulk_groups, lane);
    if (t.groups.empty() || t.groups.back().serial != t.open_serial) t.groups.push_back({t.open_serial, 0, 0});
    ++t.open_serial;
  });
  return Effect::next;
}

// Groups complete in order; a group is pending until its last operation has been read (.read) or written.
Effect wait_group(Warp& w, const DecodedOp& op, LaneMask mask) {
  const bool read = op.extra != 0;
  bool satisfied = true;
  for_lanes(mask, [&](uint32_t lane) {
    ThreadGroups& t = groups_of(w.bulk_groups, lane);
    uint64_t pending = 0;
    bool open = false;
    for (const ThreadGroups::Group& g : t.groups) {
      if (g.serial >= t.open_serial) break;
      open = open || (read ? g.reads : g.writes) != 0;
      if (open) ++pending;
    }
    satisfied = satisfied && pending <= op.imm;
    while (!t.groups.empty() && t.groups.front().serial < t.open_serial && t.groups.front().writes == 0) t.groups.erase(t.groups.begin());
  });
  return satisfied ? Effect::next : block(w, BlockReason::bulk_group, static_cast<uint32_t>(op.imm));
}

}  // namespace

template <> ExecFn bind<isa::Opcode::cp_async_bulk_tensor_load>(Decoder& d, DecodedOp& op) {
  bind_tensor(d, op, *d.operand(1), *d.operand(0), d.operand(2), d.operand(3), d.operand(4));
  return tensor_load;
}
template <> ExecFn bind<isa::Opcode::cp_async_bulk_tensor_store>(Decoder& d, DecodedOp& op) {
  bind_tensor(d, op, *d.operand(0), *d.operand(1), nullptr, nullptr, nullptr);
  return tensor_store;
}
template <> ExecFn bind<isa::Opcode::cp_async_bulk_commit_group>(Decoder&, DecodedOp&) { return commit_group; }
template <> ExecFn bind<isa::Opcode::cp_async_bulk_wait_group>(Decoder& d, DecodedOp& op) {
  op.imm = static_cast<uint64_t>(d.operand(0)->value);
  op.extra = d.has(isa::Mod::read) ? 1 : 0;
  return wait_group;
}

}  // namespace drywell::sim
