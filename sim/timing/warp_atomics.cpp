#include "sim/timing/warp_atomics.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Operand;
using isa::Slot;

bool is_same(const LanesApart& lanes, const Operand& o) { return o.kind == Operand::Kind::imm || (o.kind == Operand::Kind::reg && lanes.varies[o.index] == 0); }

bool has_same_address(const Place& p, const LanesApart& lanes) { return p.base == Operand::Base::symbol || (p.base == Operand::Base::reg && lanes.varies[p.index] == 0); }

// Exchanges, and counters that wrap around, are by lane.
bool can_join(Mod op) { return op == Mod::add || op == Mod::min || op == Mod::max || op == Mod::and_ || op == Mod::or_ || op == Mod::xor_; }

// REDUX joins words. Of a sum of 64 bits ptxas multiplies the value, if it is the same for all lanes, by their count.
bool joins(const isa::Function& f, const isa::Instruction& i, const LanesApart& lanes) {
  const Mod type = i.mod(Slot::type);
  if (isa::is_float_type(type) || !can_join(i.mod(Slot::op))) return false;
  return isa::type_bits(type) == 32 || (i.has(Mod::add) && isa::type_bits(type) == 64 && is_same(lanes, f.operands(i).back()));
}

}  // namespace

bool is_one_for_the_warp(const isa::Function& f, const isa::Instruction& i, const Places& places, const LanesApart& lanes) {
  const isa::MemoryRole role = isa::spec(i.op).memory;
  const bool atomic = role == isa::MemoryRole::atomic || role == isa::MemoryRole::reduction;
  return atomic && i.has(Mod::global) && i.mod(Slot::vec) == Mod::none && joins(f, i, lanes) && has_same_address(places.of(i), lanes);
}

}  // namespace drywell::sim
