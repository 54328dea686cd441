#include "sim/exec/thread_stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"

namespace drywell::sim {
namespace {

constexpr int64_t kDefaultAlignment = 8;

uint64_t own_value(const Warp& w, Src s, bool wide, uint32_t lane) { return wide ? lanes<uint64_t>(w, s)[lane] : lanes<uint32_t>(w, s)[lane]; }

void set_value(Warp& w, const DecodedOp& op, uint32_t lane, uint64_t value) {
  uint8_t* at = w.bank[0] + op.dst;
  std::memcpy(at + (op.wide ? 8 : 4) * size_t{lane}, &value, op.wide ? 8 : 4);
}

ThreadStack& stack_of(Warp& w, uint32_t lane) {
  if (w.stacks.empty()) w.stacks.resize(kWarpSize);
  return w.stacks[lane];
}

/// What is left of a thread's local memory for alloca.
uint64_t most_taken(const Warp& w) {
  const CallFrame& f = w.frames[w.frame];
  return kMaxLocalBytes - std::min(kMaxLocalBytes, f.local_end + f.depth * kCallBytes);
}

void cut(ThreadStack& s, size_t size) {
  s.bytes.resize(size);
  while (!s.taken.empty() && s.taken.back().before >= size) s.taken.pop_back();
}

// src[0]: bytes. op.imm: alignment.
Effect take(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint64_t most = most_taken(w);
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    ThreadStack& s = stack_of(w, lane);
    const uint64_t at = round_up(kStackBase + s.bytes.size(), op.imm) - kStackBase, bytes = own_value(w, op.src[0], op.wide, lane);
    if (at > most || bytes > most - at) {
      result = fault(w, Code::F3005, fmt::format("lane {}: stack overflow: alloca of {} bytes beside {}; the thread has {}", lane, bytes, at, most));
      return;
    }
    s.taken.push_back({w.frames[w.frame].depth, static_cast<uint32_t>(s.bytes.size())});
    s.bytes.resize(at);
    s.bytes.resize(at + bytes, 0xFF);
    set_value(w, op, lane, kStackBase + at);
  });
  return result;
}

Effect save(Warp& w, const DecodedOp& op, LaneMask mask) {
  for_lanes(mask, [&](uint32_t lane) { set_value(w, op, lane, kStackBase + (w.stacks.empty() ? 0 : w.stacks[lane].bytes.size())); });
  return Effect::next;
}

Effect restore(Warp& w, const DecodedOp& op, LaneMask mask) {
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t to = own_value(w, op.src[0], op.wide, lane);
    ThreadStack& s = stack_of(w, lane);
    if (to < kStackBase || to - kStackBase > s.bytes.size()) {
      result = fault(w, Code::F3009, fmt::format("lane {}: stackrestore of {:#x}, which no stacksave gave, or which a stackrestore before has freed", lane, to));
      return;
    }
    cut(s, to - kStackBase);
  });
  return result;
}

unsigned width_of(const Decoder& d) { return isa::type_bits(d.mod(isa::Slot::type)); }

}  // namespace

uint8_t* stack_pointer(Warp& w, uint32_t lane, uint64_t address, uint64_t bytes) {
  if (w.stacks.empty()) return nullptr;
  std::vector<uint8_t>& memory = w.stacks[lane].bytes;
  const uint64_t at = address - kStackBase;
  return at <= memory.size() && bytes <= memory.size() - at ? memory.data() + at : nullptr;
}

uint64_t deepest_stack(const Warp& w) {
  uint64_t deepest = 0;
  for (const ThreadStack& s : w.stacks) deepest = std::max<uint64_t>(deepest, s.bytes.size());
  return deepest;
}

void free_stack(Warp& w, LaneMask mask) {
  if (w.stacks.empty()) return;
  const uint32_t depth = w.frames[w.frame].depth;
  for_lanes(mask, [&](uint32_t lane) {
    ThreadStack& s = w.stacks[lane];
    while (!s.taken.empty() && s.taken.back().depth >= depth) cut(s, s.taken.back().before);
  });
}

template <>
ExecFn bind<isa::row::alloca>(Decoder& d, DecodedOp& op) {
  op.wide = width_of(d) == 64;
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), width_of(d));
  op.imm = static_cast<uint64_t>(d.operand(2) != nullptr ? d.operand(2)->value : kDefaultAlignment);
  return take;
}
template <>
ExecFn bind<isa::row::stacksave>(Decoder& d, DecodedOp& op) {
  op.wide = width_of(d) == 64;
  op.dst = d.dest(*d.operand(0));
  return save;
}
template <>
ExecFn bind<isa::row::stackrestore>(Decoder& d, DecodedOp& op) {
  op.wide = width_of(d) == 64;
  op.src[0] = d.source(*d.operand(0), width_of(d));
  return restore;
}

}  // namespace drywell::sim
