#include "sim/timing/counted_loop.h"

#include <algorithm>
#include <limits>

#include "drywell/isa/opcode.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Mod;
using isa::Operand;
using isa::RegId;

// ptxas 13.0 unrolls the loops of tests/corpus/timing with up to 23 instructions, and leaves those of 73 and more as they are.
constexpr uint32_t kLongestLoop = 40;

bool is_register(const Operand& o) { return o.kind == Operand::Kind::reg && !o.negated; }

class Finder {
 public:
  Finder(const isa::Function& f, const std::vector<Registers>& registers, uint32_t first, uint32_t end)
      : f_(f), registers_(registers), first_(first), end_(end) {}

  std::optional<CountedLoop> find() {
    if (end_ - first_ > kLongestLoop || end_ - first_ < 3 || !branches_back() || !may_be_copied()) return std::nullopt;
    for (uint32_t i = first_; i < end_; ++i) {
      for (const RegId r : registers_[i].writes) definitions_[r].push_back(i);
    }
    CountedLoop loop{.first = first_, .branch = end_ - 1};
    find_inductions(loop);
    if (!find_test(loop) || !uses_are_plain(loop)) return std::nullopt;
    find_temporaries(loop);
    return loop;
  }

 private:
  const Instruction& at(uint32_t i) const { return f_.body[i]; }

  bool branches_back() const {
    const Instruction& b = at(end_ - 1);
    const auto operands = f_.operands(b);
    if (isa::spec(b.op).flow != isa::Flow::branch || operands.size() != 1 || operands[0].kind != Operand::Kind::label) return false;
    if (b.guard == isa::kNoReg || b.guard_negated || f_.labels[operands[0].index].position != first_) return false;
    return std::none_of(f_.pragmas.begin(), f_.pragmas.end(), [&](const isa::Annotation& a) { return a.position == first_ && a.text == "nounroll"; });
  }

  bool may_be_copied() const {
    for (uint32_t i = first_; i + 1 < end_; ++i) {
      if (motion_of(f_, at(i)) == Motion::wall || isa::spec(at(i).op).convergent) return false;
    }
    return true;
  }

  std::optional<uint32_t> only_definition(RegId r) const {
    const auto d = definitions_.find(r);
    return d == definitions_.end() || d->second.size() != 1 || at(d->second.front()).guard != isa::kNoReg ? std::nullopt : std::optional(d->second.front());
  }

  // r + a constant: the constant. ptxas counts with 32 or 64 bits.
  std::optional<int64_t> constant_added(uint32_t i, RegId r) const {
    const Instruction& instr = at(i);
    const auto operands = f_.operands(instr);
    if (isa::spec(instr.op).fold != isa::Fold::sum || instr.has(Mod::sat) || isa::type_bits(instr.mod(isa::Slot::type)) < 32) return std::nullopt;
    if (!is_register(operands[1]) || operands[1].index != r || operands[2].kind != Operand::Kind::imm || operands[2].value == 0) return std::nullopt;
    constexpr int64_t kMost = 1 << 20;
    return std::abs(operands[2].value) <= kMost ? std::optional(operands[2].value) : std::nullopt;
  }

  void find_inductions(CountedLoop& loop) const {
    for (const auto& [r, where] : definitions_) {
      const std::optional<uint32_t> d = only_definition(r);
      if (!d.has_value()) continue;
      if (const auto step = constant_added(*d, r); step.has_value()) {
        loop.inductions[r] = {*step, *d, false};
        continue;
      }
      const auto operands = f_.operands(at(*d));
      if (isa::spec(at(*d).op).timing != isa::TimingClass::move || operands.size() != 2 || !is_register(operands[1])) continue;
      const std::optional<uint32_t> next = only_definition(operands[1].index);
      if (!next.has_value() || *next > *d) continue;
      if (const auto step = constant_added(*next, r); step.has_value()) loop.inductions[r] = {*step, *d, true};
    }
  }

  // setp p, counter, bound: the predicate is for the branch alone, and the test sees the counter's next value.
  bool find_test(CountedLoop& loop) const {
    const RegId p = at(end_ - 1).guard;
    const std::optional<uint32_t> d = only_definition(p);
    if (!d.has_value() || reads_of(p) != 1) return false;
    const Instruction& test = at(*d);
    const auto operands = f_.operands(test);
    loop.test = *d;
    loop.compare = test.mod(isa::Slot::cmp);
    loop.type = test.mod(isa::Slot::type);
    if (loop.compare == Mod::none || operands.size() != 3 || !is_register(operands[1]) || isa::is_float_type(loop.type)) return false;
    loop.bound = operands[2];
    const bool fixed = loop.bound.kind == Operand::Kind::imm || (is_register(loop.bound) && !definitions_.contains(loop.bound.index));
    loop.counter = counter_of(loop, operands[1].index, *d);
    if (!fixed || loop.counter == isa::kNoReg) return false;
    const Mod counted = f_.body[step_of(loop)].mod(isa::Slot::type);
    return isa::type_bits(counted) == isa::type_bits(loop.type);
  }

  // The induction whose next value the register has at the test.
  RegId counter_of(const CountedLoop& loop, RegId tested, uint32_t test) const {
    for (const auto& [r, i] : loop.inductions) {
      if (r == tested && i.changed_at < test) return r;
      if (i.by_move && f_.operands(at(i.changed_at))[1].index == tested && only_definition(tested).value() < test) return r;
    }
    return isa::kNoReg;
  }

  uint32_t step_of(const CountedLoop& loop) const {
    const Induction& i = loop.counted();
    return i.by_move ? only_definition(f_.operands(at(i.changed_at))[1].index).value() : i.changed_at;
  }

  size_t reads_of(RegId r) const {
    size_t n = 0;
    for (uint32_t i = first_; i < end_; ++i) n += static_cast<size_t>(std::count(registers_[i].reads.begin(), registers_[i].reads.end(), r));
    return n;
  }

  // An induction is used as a plain operand or as the base of an address: there another value can stand in its place.
  bool uses_are_plain(const CountedLoop& loop) const {
    for (uint32_t i = first_; i < end_; ++i) {
      for (const RegId r : registers_[i].reads) {
        if (loop.inductions.contains(r) && !is_plain_use(at(i), r)) return false;
      }
    }
    return true;
  }

  bool is_plain_use(const Instruction& i, RegId r) const {
    if (i.guard == r) return false;
    return std::any_of(f_.operands(i).begin(), f_.operands(i).end(), [&](const Operand& o) {
      return (o.kind == Operand::Kind::reg || (o.kind == Operand::Kind::addr && o.base == Operand::Base::reg)) && o.index == r;
    });
  }

  void find_temporaries(CountedLoop& loop) const {
    std::map<RegId, bool> read_first;
    for (uint32_t i = first_; i < end_; ++i) {
      for (const RegId r : registers_[i].reads) read_first.try_emplace(r, true);
      for (const RegId r : registers_[i].writes) read_first.try_emplace(r, false);
    }
    for (const auto& [r, before] : read_first) {
      if (!before && !loop.inductions.contains(r)) loop.temporaries.push_back(r);
    }
  }

  const isa::Function& f_;
  const std::vector<Registers>& registers_;
  uint32_t first_, end_;
  std::map<RegId, std::vector<uint32_t>> definitions_;
};

}  // namespace

std::optional<CountedLoop> counted_loop(const isa::Function& f, const std::vector<Registers>& registers, uint32_t first, uint32_t end) {
  return Finder(f, registers, first, end).find();
}

}  // namespace drywell::sim
