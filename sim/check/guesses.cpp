#include "sim/check/guesses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "drywell/isa/opcode.h"
#include "drywell/isa/spec.h"
#include "sim/check/address_forms.h"
#include "sim/check/local_accesses.h"
#include "sim/check/value_flow.h"
#include "sim/exec/closed_waits.h"
#include "sim/state/payload/call.h"
#include "sim/state/payload/memory.h"

namespace drywell::sim::check {
namespace {

using isa::MemoryRole;
using isa::Operand;

constexpr size_t kMostVisits = 100'000;  // of all loads together

bool is_rmw(MemoryRole r) { return r == MemoryRole::atomic || r == MemoryRole::reduction; }

/// An instruction that takes values to an atomic: itself, or the store of an argument of a function that is one.
struct Check {
  size_t pc = 0;
  std::optional<uint32_t> expected;  // the register that a compare-and-swap compares with what is there
  AddressForm place{};
  uint32_t bytes = 0;
};
using Checks = std::vector<Check>;  // in order

uint32_t bytes_of(const isa::Instruction& i) {
  const isa::Mod vec = i.mod(isa::Slot::vec);
  const uint32_t elements = vec == isa::Mod::v2 ? 2 : vec == isa::Mod::v4 ? 4
                                                  : vec == isa::Mod::v8   ? 8
                                                                          : 1;
  return elements * isa::type_bits(i.mod(isa::Slot::type)) / 8;
}

/// The atomics of a program, by place. `nvcc -G` has a function for each kind of atomic: a call of one is an atomic at the address that it is given.
class Atomics {
 public:
  Atomics(const Program& p, const AddressForms& forms) : p_(p), forms_(forms) {
    for (size_t pc = 0; pc < p.code.size(); ++pc) {
      const DecodedOp& op = p.code[pc];
      if (is_rmw(isa::spec(op.opcode).memory)) add_atomic(pc);
      if (op.flow == isa::Flow::call) calls_.push_back(pc);
      if (isa::spec(op.opcode).memory == MemoryRole::store && names_param(p, op)) note_argument(pc);
    }
    for (size_t depth = 0; depth < 3 && !wrappers_.empty(); ++depth) add_calls();
    for (auto& [function, checks] : all_) std::sort(checks.begin(), checks.end(), [](const Check& a, const Check& b) { return a.pc < b.pc; });
  }
  /// Those at the same roots, or at these and one more, whatever their offset.
  Checks near(const AddressForm& place) const {
    Checks near;
    const auto all = all_.find(place.function);
    if (all == all_.end()) return near;
    std::copy_if(all->second.begin(), all->second.end(), std::back_inserter(near), [&](const Check& c) {
      return c.place.terms.size() <= place.terms.size() + 1 && std::includes(c.place.terms.begin(), c.place.terms.end(), place.terms.begin(), place.terms.end());
    });
    return near;
  }

 private:
  /// A function that is an atomic: its parameters with the address and with what a swap expects.
  struct Wrapper {
    uint32_t address = 0, bytes = 0;
    std::optional<uint32_t> expected;
  };
  struct Argument {
    size_t pc = 0;       // of the store
    uint32_t index = 0;  // of the register
  };

  uint32_t frame_offset(const DecodedOp& op, uint32_t index) const { return p_.functions[op.function].reg_offset[index]; }
  void add(const Check& c) { all_[c.place.function].push_back(c); }
  void add_atomic(size_t pc) {
    const auto place = forms_.of(pc);
    if (!place.has_value()) return;
    const DecodedOp& op = p_.code[pc];
    const isa::InstructionRef i{*p_.module, p_.function_of(op), p_.instruction(op)};
    const Operand* const b = i.mod(isa::Slot::op) == isa::Mod::cas ? i.operand("b") : nullptr;
    const bool compares = b != nullptr && b->kind == Operand::Kind::reg;
    const uint32_t bytes = bytes_of(i.instr);
    add({pc, compares ? std::optional(frame_offset(op, b->index)) : std::nullopt, *place, bytes});
    note_wrapper(op.function, *place, {0, bytes, compares ? forms_.parameter(forms_.of_register(op.function, b->index, 0)) : std::nullopt});
  }
  void note_wrapper(uint32_t function, const AddressForm& place, Wrapper w) {
    const auto address = forms_.parameter(place);
    if (function == 0 || !address.has_value()) return;
    w.address = *address;
    wrappers_.emplace(function, w);
  }
  void note_argument(size_t pc) {
    const DecodedOp& op = p_.code[pc];
    const auto place = forms_.of(pc);
    const auto symbol = place.has_value() ? place->variable() : std::nullopt;
    const isa::InstructionRef i{*p_.module, p_.function_of(op), p_.instruction(op)};
    const Operand* const b = i.operand("b");
    if (symbol.has_value() && b != nullptr && b->kind == Operand::Kind::reg) arguments_[{op.function, *symbol}] = {pc, b->index};
  }
  void add_calls() {
    std::vector<size_t> open;
    for (const size_t pc : calls_)
      if (!add_call(pc)) open.push_back(pc);
    calls_ = std::move(open);
  }
  bool add_call(size_t pc) {
    const DecodedOp& op = p_.code[pc];
    const auto wrapper = wrappers_.find(p_.calls[op.as<payload::Call>().site].callee);
    if (wrapper == wrappers_.end()) return false;
    const Wrapper w = wrapper->second;
    const std::vector<const Argument*> arguments = arguments_of(op);
    if (w.address >= arguments.size() || arguments[w.address] == nullptr) return false;
    const AddressForm place = forms_.of_register(op.function, arguments[w.address]->index, 0);
    std::optional<uint32_t> expected;
    for (uint32_t k = 0; k < arguments.size(); ++k) {
      if (k == w.address || arguments[k] == nullptr) continue;
      const bool compares = w.expected == k;
      add({arguments[k]->pc, compares ? std::optional(frame_offset(op, arguments[k]->index)) : std::nullopt, place, w.bytes});
      if (compares) expected = forms_.parameter(forms_.of_register(op.function, arguments[k]->index, 0));
    }
    note_wrapper(op.function, place, {0, w.bytes, expected});
    return true;
  }
  /// Of each parameter the store that gave it its value; nullptr: not known.
  std::vector<const Argument*> arguments_of(const DecodedOp& op) const {
    const isa::Function& f = p_.function_of(op);
    const isa::InstructionRef i{*p_.module, f, p_.instruction(op)};
    std::vector<const Argument*> all;
    const Operand* const list = i.operand("args");
    if (list == nullptr) return all;
    for (const Operand& o : f.elements(*list)) {
      const isa::SymbolRef* const s = o.kind == Operand::Kind::symbol ? &f.symbols[o.index] : nullptr;
      const auto found = s == nullptr ? arguments_.end() : arguments_.find({op.function, AddressForms::number(*s)});
      all.push_back(found == arguments_.end() ? nullptr : &found->second);
    }
    return all;
  }

  const Program& p_;
  const AddressForms& forms_;
  std::map<uint32_t, Checks> all_;                               // by function
  std::map<uint32_t, Wrapper> wrappers_;                         // by function
  std::map<std::pair<uint32_t, uint32_t>, Argument> arguments_;  // by function and variable of a call
  std::vector<size_t> calls_;                                    // that are no atomics so far
};

class Judge {
 public:
  Judge(const Program& p, AddressForms& forms, const Atomics& atomics) : p_(p), predicates_(p), forms_(forms), atomics_(atomics) {}

  /// Each word that it loads is one.
  bool guesses(size_t load) {
    const auto place = forms_.of(load);
    const Checks near = place.has_value() ? atomics_.near(*place) : Checks{};
    if (near.empty() || near.back().pc < load) return false;
    const payload::Access* const x = p_.code[load].get_if<payload::Access>();
    const Program::RegUse& use = p_.reg_use[load];
    if (x == nullptr || use.writes != x->count) return false;
    for (uint32_t k = 0; k < x->count; ++k) {
      const Checks checks = checks_of(load, *place, near, k * int64_t{x->element}, x->element);
      if (checks.empty() || !guesses(load, p_.reg_lists[use.first + use.reads + k], checks, place->terms.size())) return false;
    }
    return true;
  }

 private:
  /// Those that cover `bytes` bytes from `offset` on, counted from what is loaded.
  Checks checks_of(size_t load, const AddressForm& place, const Checks& near, int64_t offset, uint32_t bytes) {
    Checks all;
    std::copy_if(near.begin(), near.end(), std::back_inserter(all), [&](const Check& c) {
      if (c.pc < load || c.bytes < bytes) return false;
      const std::set<int64_t> distances = distances_of(load, place, c);
      return std::any_of(distances.begin(), distances.end(), [&](int64_t d) { return d <= offset && offset + bytes <= d + c.bytes; });
    });
    return all;
  }
  /// From what is loaded to what the atomic changes, and not only to an address that is written in the same way.
  std::set<int64_t> distances_of(size_t load, const AddressForm& place, const Check& c) {
    const auto one = forms_.unfollowed(load), other = forms_.unfollowed(c.pc);
    const bool same = one.has_value() && other.has_value() && one->terms == other->terms;
    const std::set<int64_t> near = same ? forms_.distances(*one, load, *other, c.pc) : std::set<int64_t>{};
    if (!near.empty() || !forms_.holds_at(place, load) || !forms_.holds_at(c.place, c.pc)) return near;
    return forms_.distances(place, load, c.place, c.pc);
  }
  /// `roots`: of the load's address.
  bool guesses(size_t load, uint32_t reg, const Checks& checks, size_t roots) {
    bool checked = false, used = false;
    ValueFlow flow(p_, predicates_, budget_);
    for (const Check& c : checks) flow.end_at(c.pc);
    const auto taken = [&](size_t pc, ValueFlow::Use) {
      const auto here = std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.pc == pc; });
      const ValueFlow::Values& values = flow.values_at(pc);
      checked = here != checks.end() && here->expected.has_value() && values.contains({false, *here->expected});
      if (checked || follow_local(flow, pc)) return checked;
      used = used || (here != checks.end() ? takes(pc, values, chosen_by(*here, roots)) : takes(pc, values, {}) && !computes(pc));
      return false;
    };
    const auto end = flow.follow(load + 1, {{false, reg}}, taken);
    return checked || (end == ValueFlow::End::exhausted && !used);
  }
  /// A compare-and-swap of one of several slots that were loaded, with a value that is none of theirs: which slot may depend on them, for the swap fails where it
  /// finds another value. Returns the register with its address.
  std::optional<uint32_t> chosen_by(const Check& c, size_t roots) const {
    if (!c.expected.has_value() || c.place.terms.size() == roots) return std::nullopt;
    const auto address = forms_.unfollowed(c.pc);
    return address.has_value() ? std::optional(address->terms.front().first.index) : std::nullopt;
  }
  /// Slots that are kept in local memory, and indexed there: what is loaded at the same variable, or the same address and an index, is followed. False: it is no store to local memory.
  bool follow_local(ValueFlow& flow, size_t pc) {
    const auto place = is_local(pc, MemoryRole::store) ? forms_.of(pc) : std::nullopt;
    if (!place.has_value() || !takes(pc, flow.values_at(pc), {})) return false;
    for (size_t load = 0; load < p_.code.size(); ++load) {
      const auto from = p_.code[load].function == place->function && is_local(load, MemoryRole::load) ? forms_.of(load) : std::nullopt;
      if (!from.has_value() || !std::includes(from->terms.begin(), from->terms.end(), place->terms.begin(), place->terms.end())) continue;
      const Program::RegUse& use = p_.reg_use[load];
      for (uint32_t k = 0; k < use.writes; ++k) flow.reach(load + 1, {{false, p_.reg_lists[use.first + use.reads + k]}});
    }
    return true;
  }
  bool is_local(size_t pc, MemoryRole role) const {
    const DecodedOp& op = p_.code[pc];
    return isa::spec(op.opcode).memory == role && p_.instruction(op).mod(isa::Slot::space) == isa::Mod::local;
  }
  /// As an operand, and not as its guard.
  bool takes(size_t pc, const ValueFlow::Values& values, std::optional<uint32_t> but) const {
    const Program::RegUse& use = p_.reg_use[pc];
    const uint32_t* const at = p_.reg_lists.data() + use.first;
    if (std::any_of(at, at + use.reads, [&](uint32_t v) { return v != but && values.contains({false, v}); })) return true;
    const PredicateUse::Range preds = predicates_.of(pc);
    const uint16_t first = p_.code[pc].guard.index != 0 ? 1 : 0;
    return std::any_of(preds.at + first, preds.at + preds.reads, [&](uint32_t v) { return values.contains({true, v}); });
  }
  /// It makes registers and predicates of registers and predicates.
  bool computes(size_t pc) const {
    const DecodedOp& op = p_.code[pc];
    return op.flow == isa::Flow::next && op.sync == isa::SyncRole::none && isa::spec(op.opcode).memory == MemoryRole::none;
  }

  const Program& p_;
  PredicateUse predicates_;
  AddressForms& forms_;
  const Atomics& atomics_;
  size_t budget_ = kMostVisits;
};

// A loop that ends when an ordinary load brings another value waits for another thread: that is an order, which such a load does not give.
void leave_out_waits(const Program& p, std::vector<uint8_t>& all) {
  if (std::find(all.begin(), all.end(), 1) == all.end()) return;
  for (const ClosedWait& loop : closed_waits_by_any_load(p))
    for (const uint32_t pc : loop.loads) all[pc] = 0;
}

}  // namespace

std::vector<uint8_t> guesses(const Program& p) {
  std::vector<uint8_t> all(p.code.size(), 0);
  const auto has = [&](auto role) { return std::any_of(p.code.begin(), p.code.end(), [&](const DecodedOp& op) { return role(isa::spec(op.opcode).memory); }); };
  if (!has(is_rmw)) return all;
  AddressForms forms(p);
  const Atomics atomics(p, forms);
  Judge judge(p, forms, atomics);
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    if (isa::spec(p.code[pc].opcode).memory == MemoryRole::load && !names_param(p, p.code[pc])) all[pc] = judge.guesses(pc) ? 1 : 0;
  }
  leave_out_waits(p, all);
  return all;
}

}  // namespace drywell::sim::check
