#include "sim/check/guesses.h"

#include <algorithm>
#include <map>
#include <optional>

#include "drywell/isa/opcode.h"
#include "drywell/isa/spec.h"
#include "sim/check/local_accesses.h"
#include "sim/check/product_registers.h"
#include "sim/check/value_flow.h"
#include "sim/state/payload/call.h"

namespace drywell::sim::check {
namespace {

using isa::MemoryRole;
using isa::Operand;

constexpr size_t kMostVisits = 100'000;  // of all loads together
constexpr size_t kManyDefinitions = ~size_t{0};

bool is_rmw(MemoryRole r) { return r == MemoryRole::atomic || r == MemoryRole::reduction; }

/// What an address is made of: a variable, or a register that is no copy of another, and an offset.
struct Place {
  uint32_t function = 0;
  bool variable = false;
  uint32_t base = 0;
  int64_t offset = 0;
  auto operator<=>(const Place&) const = default;
};

class Places {
 public:
  explicit Places(const Program& p) : p_(p) {
    for (size_t pc = 0; pc < p.code.size(); ++pc) note_results(pc);
  }

  std::optional<Place> of(size_t pc) const {
    const DecodedOp& op = p_.code[pc];
    const isa::Function& f = p_.function_of(op);
    if (op.instr >= f.body.size()) return std::nullopt;
    for (const Operand& o : f.operands(p_.instruction(op))) {
      if (o.kind != Operand::Kind::addr) continue;
      if (o.base == Operand::Base::reg) return of_register(op.function, o.index, o.value);
      if (o.base == Operand::Base::symbol) return variable(op.function, o.index, o.value);
    }
    return std::nullopt;
  }
  /// Follows copies (conversions of addresses, too) and sums with constants of registers that have one definition.
  Place of_register(uint32_t function, uint32_t index, int64_t offset) const {
    uint32_t reg = p_.functions[function].reg_offset[index];
    for (size_t steps = 0; steps < 16; ++steps) {
      const auto def = definition(function, reg);
      if (!def.has_value()) break;
      if (const auto addend = constant_addend(*def)) {
        offset += *addend;
        reg = p_.reg_lists[p_.reg_use[*def].first];
        continue;
      }
      const auto copy = copy_of(p_, *def);
      if (!copy.has_value()) break;
      if (copy->from == copy->to) return of_variable(function, *def, offset).value_or(Place{function, false, reg, offset});
      reg = copy->from;
    }
    return {function, false, reg, offset};
  }
  /// The parameter of its function that the place's register was loaded from.
  std::optional<uint32_t> parameter(const Place& place) const {
    const auto def = place.variable || place.offset != 0 ? std::nullopt : definition(place.function, place.base);
    if (!def.has_value() || isa::spec(p_.code[*def].opcode).memory != MemoryRole::load || !names_param(p_, p_.code[*def])) return std::nullopt;
    const auto from = of(*def);
    const bool param = from.has_value() && from->variable && from->base >> 24 == static_cast<uint32_t>(isa::SymbolRef::Kind::param) && from->offset == 0;
    return param ? std::optional(from->base & 0xFFFFFF) : std::nullopt;
  }

 private:
  void note_results(size_t pc) {
    const Program::RegUse& use = p_.reg_use[pc];
    for (uint32_t i = 0; i < use.writes; ++i) {
      const auto [at, first] = definitions_.emplace(std::pair(p_.code[pc].function, p_.reg_lists[use.first + use.reads + i]), pc);
      if (!first) at->second = kManyDefinitions;
    }
  }
  std::optional<size_t> definition(uint32_t function, uint32_t reg) const {
    const auto def = definitions_.find({function, reg});
    return def == definitions_.end() || def->second == kManyDefinitions ? std::nullopt : std::optional(def->second);
  }
  /// Of a sum of a register and a constant.
  std::optional<int64_t> constant_addend(size_t pc) const {
    const DecodedOp& op = p_.code[pc];
    if (isa::spec(op.opcode).fold != isa::Fold::sum || p_.reg_use[pc].reads != 1) return std::nullopt;
    for (const Operand& o : p_.function_of(op).operands(p_.instruction(op)))
      if (o.kind == Operand::Kind::imm) return o.value;
    return std::nullopt;
  }
  std::optional<Place> variable(uint32_t function, uint32_t symbol, int64_t offset) const {
    const isa::SymbolRef& s = p_.functions[function].function->symbols[symbol];
    return Place{function, true, static_cast<uint32_t>(s.kind) << 24 | s.index, offset};
  }
  std::optional<Place> of_variable(uint32_t function, size_t mov, int64_t offset) const {
    const isa::Function& f = *p_.functions[function].function;
    for (const Operand& o : f.operands(p_.instruction(p_.code[mov])))
      if (o.kind == Operand::Kind::symbol) return variable(function, o.index, offset + o.value);
    return std::nullopt;
  }

  const Program& p_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> definitions_;  // by function and register: the only instruction that writes it
};

/// An instruction that takes values to an atomic: itself, or the store of an argument of a function that is one.
struct Check {
  size_t pc = 0;
  std::optional<uint32_t> expected;  // the register that a compare-and-swap compares with what is there
};
using Checks = std::vector<Check>;  // in order

/// The atomics of a program, by place. `nvcc -G` has a function for each kind of atomic: a call of one is an atomic at the address that it is given.
class Atomics {
 public:
  explicit Atomics(const Program& p) : p_(p), places_(p) {
    for (size_t pc = 0; pc < p.code.size(); ++pc) {
      const DecodedOp& op = p.code[pc];
      if (is_rmw(isa::spec(op.opcode).memory)) add_atomic(pc);
      if (op.flow == isa::Flow::call) calls_.push_back(pc);
      if (isa::spec(op.opcode).memory == MemoryRole::store && names_param(p, op)) note_argument(pc);
    }
    for (size_t depth = 0; depth < 3 && !wrappers_.empty(); ++depth) add_calls();
    for (auto& [place, checks] : all_) std::sort(checks.begin(), checks.end(), [](const Check& a, const Check& b) { return a.pc < b.pc; });
  }
  /// nullptr: there is none.
  const Checks* at(const Place& place) const {
    const auto found = all_.find(place);
    return found == all_.end() ? nullptr : &found->second;
  }
  const Places& places() const { return places_; }

 private:
  /// A function that is an atomic: its parameters with the address and with what a swap expects.
  struct Wrapper {
    uint32_t address = 0;
    std::optional<uint32_t> expected;
  };
  struct Argument {
    size_t pc = 0;       // of the store
    uint32_t index = 0;  // of the register
  };

  void add_atomic(size_t pc) {
    const auto place = places_.of(pc);
    if (!place.has_value()) return;
    const DecodedOp& op = p_.code[pc];
    const isa::InstructionRef i{*p_.module, p_.function_of(op), p_.instruction(op)};
    const Operand* const b = i.mod(isa::Slot::op) == isa::Mod::cas ? i.operand("b") : nullptr;
    const bool compares = b != nullptr && b->kind == Operand::Kind::reg;
    all_[*place].push_back({pc, compares ? std::optional(p_.functions[op.function].reg_offset[b->index]) : std::nullopt});
    note_wrapper(op.function, *place, compares ? places_.parameter(places_.of_register(op.function, b->index, 0)) : std::nullopt);
  }
  void note_wrapper(uint32_t function, const Place& place, std::optional<uint32_t> expected) {
    if (const auto address = places_.parameter(place); function != 0 && address.has_value()) wrappers_.emplace(function, Wrapper{*address, expected});
  }
  void note_argument(size_t pc) {
    const DecodedOp& op = p_.code[pc];
    const auto place = places_.of(pc);
    const isa::InstructionRef i{*p_.module, p_.function_of(op), p_.instruction(op)};
    const Operand* const b = i.operand("b");
    if (place.has_value() && place->variable && place->offset == 0 && b != nullptr && b->kind == Operand::Kind::reg) arguments_[*place] = {pc, b->index};
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
    const Place place = places_.of_register(op.function, arguments[w.address]->index, 0);
    std::optional<uint32_t> expected;
    for (uint32_t k = 0; k < arguments.size(); ++k) {
      if (k == w.address || arguments[k] == nullptr) continue;
      const bool compares = w.expected == k;
      all_[place].push_back({arguments[k]->pc, compares ? std::optional(p_.functions[op.function].reg_offset[arguments[k]->index]) : std::nullopt});
      if (compares) expected = places_.parameter(places_.of_register(op.function, arguments[k]->index, 0));
    }
    note_wrapper(op.function, place, expected);
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
      const auto found = s == nullptr ? arguments_.end() : arguments_.find({op.function, true, static_cast<uint32_t>(s->kind) << 24 | s->index, 0});
      all.push_back(found == arguments_.end() ? nullptr : &found->second);
    }
    return all;
  }

  const Program& p_;
  Places places_;
  std::map<Place, Checks> all_;
  std::map<uint32_t, Wrapper> wrappers_;  // by function
  std::map<Place, Argument> arguments_;   // by the variable of a call
  std::vector<size_t> calls_;             // that are no atomics so far
};

class Judge {
 public:
  Judge(const Program& p, const Atomics& atomics) : p_(p), predicates_(p), atomics_(atomics) {}

  bool guesses(size_t load, const Place& place) {
    const Checks* const checks = atomics_.at(place);
    if (checks == nullptr || checks->back().pc < load) return false;
    bool checked = false, used = false;
    ValueFlow flow(p_, predicates_, budget_);
    for (const Check& c : *checks) flow.end_at(c.pc);
    const auto taken = [&](size_t pc, ValueFlow::Use) {
      const auto here = std::find_if(checks->begin(), checks->end(), [&](const Check& c) { return c.pc == pc; });
      const ValueFlow::Values& values = flow.values_at(pc);
      checked = here != checks->end() && here->expected.has_value() && values.contains({false, *here->expected});
      used = used || (takes(pc, values) && (here != checks->end() || !computes(pc)));
      return checked;
    };
    const auto end = flow.follow(load + 1, results(load), taken);
    return checked || (end == ValueFlow::End::exhausted && !used);
  }

 private:
  ValueFlow::Values results(size_t pc) const {
    ValueFlow::Values all;
    const Program::RegUse& use = p_.reg_use[pc];
    for (uint32_t i = 0; i < use.writes; ++i) all.emplace(false, p_.reg_lists[use.first + use.reads + i]);
    return all;
  }
  /// As an operand, and not as its guard.
  bool takes(size_t pc, const ValueFlow::Values& values) const {
    const Program::RegUse& use = p_.reg_use[pc];
    const uint32_t* const at = p_.reg_lists.data() + use.first;
    if (std::any_of(at, at + use.reads, [&](uint32_t v) { return values.contains({false, v}); })) return true;
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
  const Atomics& atomics_;
  size_t budget_ = kMostVisits;
};

}  // namespace

std::vector<uint8_t> guesses(const Program& p) {
  std::vector<uint8_t> all(p.code.size(), 0);
  const auto has = [&](auto role) { return std::any_of(p.code.begin(), p.code.end(), [&](const DecodedOp& op) { return role(isa::spec(op.opcode).memory); }); };
  if (!has(is_rmw)) return all;
  const Atomics atomics(p);
  Judge judge(p, atomics);
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    if (isa::spec(p.code[pc].opcode).memory != MemoryRole::load || names_param(p, p.code[pc])) continue;
    const auto place = atomics.places().of(pc);
    all[pc] = place.has_value() && judge.guesses(pc, *place) ? 1 : 0;
  }
  return all;
}

}  // namespace drywell::sim::check
