#include "sim/check/address_forms.h"

#include <algorithm>

#include "drywell/isa/opcode.h"
#include "drywell/isa/spec.h"
#include "sim/check/local_accesses.h"

namespace drywell::sim::check {
namespace {

using isa::MemoryRole;
using isa::Mod;
using isa::Operand;
using isa::Slot;

constexpr size_t kDeepest = 24;  // instructions between a root and an address
constexpr size_t kMostSteps = 200;
constexpr size_t kMostPlaces = 8;  // in which a register is defined; registers that one is compared with
constexpr uint32_t kItself = ~0u;
constexpr size_t kMostTerms = 16;  // an address of a tensor of five dimensions has ten

void add_term(AddressForm& form, AddressRoot root, uint64_t factor) {
  const auto at = std::lower_bound(form.terms.begin(), form.terms.end(), root, [](const auto& t, const AddressRoot& r) { return t.first < r; });
  if (at == form.terms.end() || at->first != root)
    form.terms.insert(at, {root, factor});
  else if ((at->second += factor) == 0)
    form.terms.erase(at);
}

AddressRoot variable_of(const isa::SymbolRef& s) { return {true, AddressForms::number(s)}; }

bool is_copy(const isa::InstrSpec& row, std::span<const Operand> operands) { return row.timing == isa::TimingClass::move && operands.size() == 2; }

// Both registers hold the address, or the index, if it fits 32 bits.
bool converts(const isa::InstrSpec& row, const isa::Instruction& i) {
  return row.timing == isa::TimingClass::cvt_move && i.mod(Slot::sat) == Mod::none && isa::type_bits(i.mod(Slot::type)) >= 32 && isa::type_bits(i.mod(Slot::atype)) >= 32;
}

// d = a * b, or d = a * b + c; of mad24, too, whose factors fit 24 bits.
bool multiplies(const isa::InstrSpec& row, const isa::Instruction& i) {
  return row.slot_index(Slot::half) >= 0 && row.slot_index(Slot::atype) < 0 && !i.has(Mod::hi) && !i.has(Mod::sat);
}

/// Operands, and what each is multiplied by in the sum that the result is. Empty: it is no such sum.
using Factors = std::vector<std::pair<size_t, uint64_t>>;
Factors factors_of(const isa::InstrSpec& row, const isa::Instruction& i, std::span<const Operand> o) {
  const auto constant = [&](size_t k) { return o[k].kind == Operand::Kind::imm ? std::optional(static_cast<uint64_t>(o[k].value)) : std::nullopt; };
  if (is_copy(row, o) || converts(row, i)) return {{1, 1}};
  if (row.fold == isa::Fold::sum && !i.has(Mod::sat)) return {{1, 1}, {2, 1}};
  if (row.fold == isa::Fold::shift && constant(2).value_or(64) < isa::type_bits(i.mod(Slot::type))) return {{1, uint64_t{1} << *constant(2)}};
  if (!multiplies(row, i) || (!constant(1) && !constant(2))) return {};
  Factors all{constant(2) ? std::pair(size_t{1}, *constant(2)) : std::pair(size_t{2}, *constant(1))};
  if (o.size() > 3) all.emplace_back(3, 1);
  return all;
}

const Operand* address_of(const isa::Function& f, const isa::Instruction& i) {
  const auto operands = f.operands(i);
  const auto found = std::find_if(operands.begin(), operands.end(), [](const Operand& o) { return o.kind == Operand::Kind::addr; });
  return found == operands.end() ? nullptr : &*found;
}

}  // namespace

std::optional<uint32_t> AddressForm::variable() const {
  const bool one = offset == 0 && terms.size() == 1 && terms.front().first.variable && terms.front().second == 1;
  return one ? std::optional(terms.front().first.index) : std::nullopt;
}

AddressForms::AddressForms(const Program& p) : p_(p), predicates_(p) {
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    for (const uint32_t target : branch_targets(p, p.code[pc])) targets_.insert(target);
    const Program::RegUse& use = p.reg_use[pc];
    for (uint32_t i = 0; i < use.writes; ++i) definitions_[{p.code[pc].function, p.reg_lists[use.first + use.reads + i]}].push_back(pc);
  }
  find_twins();
}

// Few registers are defined in several places, and by sums in each of them.
void AddressForms::find_twins() {
  std::map<std::pair<uint32_t, size_t>, std::vector<std::pair<Register, std::vector<AddressForm>>>> known;  // by function and number of definitions
  std::map<Register, Twin> twins;
  for (const auto& [r, places] : definitions_) {
    std::vector<AddressForm> own = places.size() < 2 || places.size() > kMostPlaces ? std::vector<AddressForm>{} : sums(r);
    if (own.empty()) continue;
    auto& others = known[{r.first, places.size()}];
    for (const auto& [other, of_other] : others) {
      const auto d = distance(other, of_other, r, own);
      if (d.has_value()) twins.emplace(r, Twin{other, *d});
      if (d.has_value()) break;
    }
    if (!twins.contains(r) && others.size() < kMostPlaces) others.emplace_back(r, std::move(own));
  }
  twins_ = std::move(twins);
}

// One for each definition, in which the register itself is no root but a mark. Empty: one of them is no sum, or has a guard.
std::vector<AddressForm> AddressForms::sums(Register r) const {
  std::vector<AddressForm> all;
  for (const size_t pc : definitions_.at(r)) {
    AddressForm form{r.first, {}, 0, {}};
    Chain chain;
    if (!add_result(form, pc, 1, chain)) return {};
    for (auto& [root, factor] : form.terms)
      if (root == AddressRoot{false, r.second}) root.index = kItself;
    std::sort(form.terms.begin(), form.terms.end());
    all.push_back(std::move(form));
  }
  return all;
}

std::optional<int64_t> AddressForms::distance(Register one, const std::vector<AddressForm>& of_one, Register other, const std::vector<AddressForm>& of_other) {
  std::optional<int64_t> d;
  for (size_t k = 0; k < of_one.size(); ++k) {
    const size_t at = definitions_.at(one)[k], there = definitions_.at(other)[k];
    const AddressForm &a = of_one[k], &b = of_other[k];
    const bool itself = std::any_of(a.terms.begin(), a.terms.end(), [](const auto& t) { return t.first.index == kItself; });
    if (a.terms != b.terms || !nothing_between(std::min(at, there), std::max(at, there), a) || !holds_at(a, at) || !holds_at(b, there)) return std::nullopt;
    if (itself && a.offset == b.offset) continue;  // both move by the same
    if (itself || d.value_or(b.offset - a.offset) != b.offset - a.offset) return std::nullopt;
    d = b.offset - a.offset;
  }
  return d;
}

// Both definitions are in one block, no access lies between, and no root gets another value there.
bool AddressForms::nothing_between(size_t from, size_t to, const AddressForm& form) const {
  for (size_t pc = from; pc < to; ++pc) {
    const DecodedOp& op = p_.code[pc];
    if (op.flow != isa::Flow::next || (pc != from && isa::spec(op.opcode).memory != MemoryRole::none)) return false;
  }
  for (const auto& t : form.terms) {
    const auto found = definitions_.find({form.function, t.first.index});
    if (t.first.variable || found == definitions_.end()) continue;
    if (std::any_of(found->second.begin(), found->second.end(), [&](size_t pc) { return from < pc && pc < to; })) return false;
  }
  return std::none_of(targets_.lower_bound(from + 1), targets_.upper_bound(to), [](size_t) { return true; });
}

std::optional<AddressForm> AddressForms::of(size_t pc) const {
  const DecodedOp& op = p_.code[pc];
  const isa::Function& f = p_.function_of(op);
  const Operand* const o = op.instr < f.body.size() ? address_of(f, p_.instruction(op)) : nullptr;
  if (o == nullptr || o->base == Operand::Base::none) return std::nullopt;
  if (o->base == Operand::Base::reg) return of_register(op.function, o->index, o->value);
  return AddressForm{op.function, {{variable_of(f.symbols[o->index]), 1}}, o->value, {}};
}

AddressForm AddressForms::of_register(uint32_t function, uint32_t index, int64_t offset) const {
  AddressForm form{function, {}, offset, {}};
  const uint32_t reg = p_.functions[function].reg_offset[index];
  Chain chain;
  add_register(form, reg, 1, chain);
  if (form.terms.size() <= kMostTerms) return form;
  return {function, {{{false, reg}, 1}}, offset, {}};
}

std::optional<AddressForm> AddressForms::unfollowed(size_t pc) const {
  const DecodedOp& op = p_.code[pc];
  const Operand* const o = address_of(p_.function_of(op), p_.instruction(op));
  if (o == nullptr || o->base != Operand::Base::reg) return std::nullopt;
  return AddressForm{op.function, {{{false, p_.functions[op.function].reg_offset[o->index]}, 1}}, o->value, {}};
}

std::optional<uint32_t> AddressForms::parameter(const AddressForm& form) const {
  const bool one = form.offset == 0 && form.terms.size() == 1 && !form.terms.front().first.variable && form.terms.front().second == 1;
  const auto def = one ? definition({form.function, form.terms.front().first.index}) : std::nullopt;
  if (!def.has_value() || isa::spec(p_.code[*def].opcode).memory != MemoryRole::load || !names_param(p_, p_.code[*def])) return std::nullopt;
  const auto from = of(*def);
  const auto symbol = from.has_value() ? from->variable() : std::nullopt;
  const bool param = symbol.has_value() && *symbol >> 24 == static_cast<uint32_t>(isa::SymbolRef::Kind::param);
  return param ? std::optional(*symbol & 0xFFFFFF) : std::nullopt;
}

// A register that is not the result of such arithmetic, or that several instructions write, is a root.
void AddressForms::add_register(AddressForm& form, uint32_t reg, uint64_t factor, Chain& chain) const {
  const auto def = chain.pcs.size() < kDeepest && ++chain.steps < kMostSteps ? definition({form.function, reg}) : std::nullopt;
  if (def.has_value() && add_result(form, *def, factor, chain)) return;
  const auto twin = twins_.find({form.function, reg});
  if (twin != twins_.end()) {
    form.offset = static_cast<int64_t>(static_cast<uint64_t>(form.offset) + factor * static_cast<uint64_t>(twin->second.distance));
    reg = twin->second.first.second;
  }
  add_term(form, {false, reg}, factor);
  for (const size_t pc : chain.pcs) form.made_at[pc].insert(reg);
}

bool AddressForms::add_result(AddressForm& form, size_t pc, uint64_t factor, Chain& chain) const {
  const DecodedOp& op = p_.code[pc];
  const isa::Instruction& i = p_.instruction(op);
  const isa::InstrSpec& row = isa::spec(op.opcode);
  const auto o = p_.function_of(op).operands(i);
  const auto linear = [](const Operand& x) { return (x.kind == Operand::Kind::reg && x.part.whole() && !x.minus) || x.kind == Operand::Kind::imm || x.kind == Operand::Kind::symbol; };
  if (op.guard.index != 0 || row.memory != MemoryRole::none || o.size() < 2 || !std::all_of(o.begin(), o.end(), linear)) return false;
  const Factors factors = factors_of(row, i, o);
  if (factors.empty()) return false;
  chain.pcs.push_back(pc);
  for (const auto& [operand, by] : factors) add_operand(form, o[operand], factor * by, chain);
  chain.pcs.pop_back();
  return true;
}

void AddressForms::add_operand(AddressForm& form, const Operand& o, uint64_t factor, Chain& chain) const {
  if (o.kind == Operand::Kind::reg) return add_register(form, p_.functions[form.function].reg_offset[o.index], factor, chain);
  if (o.kind == Operand::Kind::symbol) add_term(form, variable_of(p_.functions[form.function].function->symbols[o.index]), factor);
  form.offset = static_cast<int64_t>(static_cast<uint64_t>(form.offset) + factor * static_cast<uint64_t>(o.value));
}

std::optional<size_t> AddressForms::definition(Register r) const {
  const auto found = definitions_.find(r);
  return found == definitions_.end() || found->second.size() != 1 ? std::nullopt : std::optional(found->second.front());
}

// Those without a guard: with one, the old value may stay.
std::vector<size_t> AddressForms::changes(Register r) const {
  std::vector<size_t> all;
  const auto found = definitions_.find(r);
  if (found == definitions_.end()) return all;
  std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(all), [&](size_t pc) { return p_.code[pc].guard.index == 0; });
  return all;
}

std::set<int64_t> AddressForms::distances(const AddressForm& one, size_t from, const AddressForm& other, size_t to) {
  std::set<size_t> avoided;
  for (const auto& [root, factor] : one.terms) {
    if (root.variable) continue;
    const std::vector<size_t> all = changes({one.function, root.index});
    avoided.insert(all.begin(), all.end());
  }
  if (!avoided.insert(from).second || one.function != other.function) return {};
  const int64_t offset = other.offset - one.offset;
  if (one.terms == other.terms) return reaches(from, to, avoided) ? std::set<int64_t>{offset} : std::set<int64_t>{};
  AddressForm::Terms more;
  std::set_difference(other.terms.begin(), other.terms.end(), one.terms.begin(), one.terms.end(), std::back_inserter(more));
  if (more.size() != 1 || more.front().first.variable || other.terms.size() != one.terms.size() + 1) return {};
  std::set<int64_t> all;
  for (const size_t pc : last_definitions({one.function, more.front().first.index}, from, to, avoided))
    for (const int64_t value : constants(pc)) all.insert(offset + static_cast<int64_t>(static_cast<uint64_t>(value) * more.front().second));
  return all;
}

// Those of a constant, and of a choice between two.
std::vector<int64_t> AddressForms::constants(size_t pc) const {
  const DecodedOp& op = p_.code[pc];
  const Transfer transfer = predicates_.of(pc).transfer;
  const auto o = p_.function_of(op).operands(p_.instruction(op));
  const size_t count = transfer == Transfer::selects ? 2 : 1;
  std::vector<int64_t> all;
  for (size_t k = 1; k <= count && transfer != Transfer::uses && o.size() == 2 * count; ++k)
    if (o[k].kind == Operand::Kind::imm) all.push_back(o[k].value);
  return all.size() == count ? all : std::vector<int64_t>{};
}

bool AddressForms::holds_at(const AddressForm& form, size_t pc) {
  const auto stale = [&](size_t made, uint32_t root) {
    const std::vector<size_t> all = changes({form.function, root});
    return std::any_of(all.begin(), all.end(), [&](size_t change) { return reaches(made, change, {}) && reaches(change, pc, {made}); });
  };
  return std::none_of(form.made_at.begin(), form.made_at.end(), [&](const auto& m) {
    return m.first != pc && std::any_of(m.second.begin(), m.second.end(), [&](uint32_t root) { return stale(m.first, root); });
  });
}

template <class F>
void AddressForms::each_next(size_t pc, F f) const {
  const DecodedOp& op = p_.code[pc];
  if (op.guard.index != 0 || op.flow == isa::Flow::next || op.flow == isa::Flow::call) f(pc + 1);
  for (const uint32_t target : branch_targets(p_, op)) f(size_t{target});
}

// `avoided`: control goes on from none of them; `to` may be one.
bool AddressForms::reaches(size_t from, size_t to, const std::set<size_t>& avoided) {
  std::set<size_t> seen;
  std::vector<size_t> open;
  const auto add = [&](size_t next) { open.push_back(next); };
  for (each_next(from, add); !open.empty() && budget_ != 0; --budget_) {
    const size_t pc = open.back();
    open.pop_back();
    if (pc == to) return true;
    if (pc < p_.code.size() && !avoided.contains(pc) && seen.insert(pc).second) each_next(pc, add);
  }
  return false;
}

// Those from which the register may have its value at `to`, on paths as above. With a guard, the old value may stay.
std::set<size_t> AddressForms::last_definitions(Register r, size_t from, size_t to, const std::set<size_t>& avoided) {
  const auto defs = definitions_.find(r);
  std::set<size_t> all;
  if (defs == definitions_.end()) return all;
  const std::vector<size_t> unguarded = changes(r);
  const std::set<size_t> others(unguarded.begin(), unguarded.end());
  std::set<size_t> ends = avoided;
  ends.insert(others.begin(), others.end());
  const bool stays = reaches(from, to, ends);
  for (const size_t pc : defs->second) {
    const bool between = !avoided.contains(pc) && reaches(from, pc, avoided) && reaches(pc, to, ends);
    if (between || (stays && pc != from && reaches(pc, from, others))) all.insert(pc);
  }
  return all;
}

}  // namespace drywell::sim::check
