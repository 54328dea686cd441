#include "drywell/isa/contract.h"

#include <algorithm>
#include <map>
#include <optional>

#include "drywell/isa/registers.h"
#include "isa/emit.h"
#include "isa/quotient.h"

namespace drywell::isa {
namespace {

Fold fold_of(const Instruction& i) { return spec(i.op).fold; }
bool rounds_freely(const Instruction& i) { return i.mod(Slot::rnd) == Mod::none; }

bool same_arithmetic(const Instruction& a, const Instruction& b) {
  return a.mod(Slot::type) == b.mod(Slot::type) && a.mod(Slot::ftz) == b.mod(Slot::ftz);
}

/// The registers of each instruction, none of an unused one.
std::vector<Registers> used_registers(const Function& f) {
  std::vector<Registers> out = registers_of(f);
  const std::vector<uint8_t> unused = unused_instructions(f, out);
  for (size_t i = 0; i < out.size(); ++i)
    if (unused[i] != 0) out[i] = {};
  return out;
}

/// The blocks of a function, and the registers whose values leave a block.
class Blocks {
 public:
  Blocks(const Function& f, const std::vector<Registers>& registers) : f_(f), end_(f.body.size()), read_first_(f.regs.size()) {
    mark_starts();
    for (uint32_t i = static_cast<uint32_t>(end_.size()), end = i; i-- > 0;) {
      end_[i] = end;
      if (starts_[i] != 0) end = i;
    }
    for (uint32_t i = 0; i < end_.size(); i = end_[i]) find_first_reads(i, registers);
  }
  /// The end of the block of instruction `i`.
  uint32_t end(uint32_t i) const { return end_[i]; }
  /// True if some block reads what another one, or its own last pass, left in the register.
  bool passes(RegId r) const { return read_first_[r] != 0; }

 private:
  // A label that only the jump right before it names splits nothing.
  void mark_starts() {
    starts_.assign(f_.body.size() + 1, 0);
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      if (spec(f_.body[i].op).flow == Flow::next) continue;
      const std::optional<uint32_t> target = only_target(i);
      const bool falls = target == i + 1 && f_.body[i].guard == kNoReg;
      if (target.has_value() && !falls) starts_[*target] = 1;
      if (!falls) starts_[i + 1] = 1;
    }
    // Indirect branches name their labels in lists.
    for (const auto& list : f_.branch_targets)
      for (const uint32_t label : list) starts_[f_.labels[label].position] = 1;
  }
  std::optional<uint32_t> only_target(uint32_t i) const {
    for (const Operand& o : f_.operands(f_.body[i])) {
      if (o.kind == Operand::Kind::label) return f_.labels[o.index].position;
    }
    return std::nullopt;
  }
  void find_first_reads(uint32_t first, const std::vector<Registers>& registers) {
    std::map<RegId, bool> written;
    for (uint32_t i = first; i < end_[first]; ++i) {
      for (const RegId r : registers[i].reads) read_first_[r] |= written.contains(r) ? 0 : 1;
      for (const RegId r : registers[i].writes) written[r] = true;
    }
  }

  const Function& f_;
  std::vector<uint8_t> starts_;
  std::vector<uint32_t> end_;
  std::vector<uint8_t> read_first_;
};

class Finder {
 public:
  explicit Finder(const Function& f) : f_(f), registers_(used_registers(f)), blocks_(f, registers_) {}

  std::vector<Contraction> run() {
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      if (std::vector<Contraction> uses; is_product(i) && all_sums(i, i, false, uses) && !uses.empty() && once_each(uses)) found_[i] = std::move(uses);
    }
    settle();
    std::vector<Contraction> out;
    for (const auto& [product, uses] : found_) out.insert(out.end(), uses.begin(), uses.end());
    std::sort(out.begin(), out.end(), [](const Contraction& a, const Contraction& b) { return a.sum < b.sum; });
    return out;
  }

 private:
  bool is_product(uint32_t i) const {
    const Instruction& p = f_.body[i];
    return (fold_of(p) == Fold::float_product || fold_of(p) == Fold::float_quotient) && !registers_[i].writes.empty() && p.guard == kNoReg && rounds_freely(p) && !p.has(Mod::sat) && f_.operands(p)[0].kind == Operand::Kind::reg;
  }
  bool is_sum(uint32_t i, uint32_t product) const {
    const Instruction& s = f_.body[i];
    const bool sum = fold_of(s) == Fold::float_sum || fold_of(s) == Fold::float_difference;
    return sum && rounds_freely(s) && same_arithmetic(s, f_.body[product]);
  }
  // The register that an instruction only passes on, with or without its sign flipped.
  bool passes_on(uint32_t i, uint32_t product) const {
    const Instruction& m = f_.body[i];
    if (m.guard != kNoReg || registers_[i].reads.size() != 1 || registers_[i].writes.size() != 1) return false;
    const InstrSpec& row = spec(m.op);
    const bool copy = row.memory == MemoryRole::none && row.timing == TimingClass::move && f_.regs[registers_[i].writes[0]].type == f_.regs[registers_[i].reads[0]].type;
    return copy || (row.fold == Fold::negation && same_arithmetic(m, f_.body[product]));
  }
  // True if nothing but sums of its block read the value that instruction `at` writes, while the factors are as they were.
  bool all_sums(uint32_t at, uint32_t product, bool negated, std::vector<Contraction>& uses) const {
    const RegId value = registers_[at].writes[0];
    const uint32_t end = blocks_.end(at);
    for (uint32_t i = at + 1; i < end; ++i) {
      const Registers& r = registers_[i];
      if (std::count(r.reads.begin(), r.reads.end(), value) != 0) {
        if (passes_on(i, product)) {
          if (!all_sums(i, product, negated != (fold_of(f_.body[i]) == Fold::negation), uses)) return false;
        } else if (!is_sum(i, product) || factors_written(product, i)) {
          return false;
        } else if (!add_uses(i, product, value, negated, uses)) {
          return false;
        }
      }
      if (std::count(r.writes.begin(), r.writes.end(), value) != 0) return true;
    }
    return !blocks_.passes(value);
  }
  bool add_uses(uint32_t sum, uint32_t product, RegId value, bool negated, std::vector<Contraction>& uses) const {
    const auto operands = f_.operands(f_.body[sum]);
    if (f_.body[sum].guard != kNoReg && operands[0].index == value) return false;  // without the guard the product stays
    for (uint32_t k = 1; k < 3; ++k) {
      if (operands[k].kind == Operand::Kind::reg && operands[k].index == value) uses.push_back({product, sum, k, negated});
    }
    return true;
  }
  bool factors_written(uint32_t product, uint32_t until) const {
    const std::vector<RegId>& factors = registers_[product].reads;
    for (uint32_t i = product; i < until; ++i) {
      for (const RegId r : registers_[i].writes) {
        if (std::find(factors.begin(), factors.end(), r) != factors.end()) return true;
      }
    }
    return false;
  }
  // A sum of a product and itself is none.
  static bool once_each(std::vector<Contraction>& uses) {
    std::sort(uses.begin(), uses.end(), [](const Contraction& a, const Contraction& b) { return a.sum < b.sum; });
    return std::adjacent_find(uses.begin(), uses.end(), [](const Contraction& a, const Contraction& b) { return a.sum == b.sum; }) == uses.end();
  }
  // Of two products in one sum the one with more uses stays a product; among equals the second operand.
  void settle() {
    std::map<uint32_t, std::pair<uint32_t, uint32_t>> taken;  // by sum: product and operand
    std::vector<Contraction> all;
    for (const auto& [product, uses] : found_) all.insert(all.end(), uses.begin(), uses.end());
    std::sort(all.begin(), all.end(), [](const Contraction& a, const Contraction& b) { return std::pair(a.sum, a.operand) < std::pair(b.sum, b.operand); });
    for (size_t i = 1; i < all.size(); ++i) {
      const Contraction &a = all[i - 1], &b = all[i];
      const auto first = found_.find(a.product), second = found_.find(b.product);
      if (a.sum != b.sum || first == found_.end() || second == found_.end()) continue;
      found_.erase(second->second.size() >= first->second.size() ? second : first);
    }
  }

  const Function& f_;
  const std::vector<Registers> registers_;
  const Blocks blocks_;
  std::map<uint32_t, std::vector<Contraction>> found_;  // by product
};

/// Rewrites one function.
class Rewriter {
 public:
  explicit Rewriter(Function& f) : f_(f), unused_(unused_instructions(f, registers_of(f))) {
    for (const Contraction& c : contractions(f)) {
      by_sum_[c.sum] = c;
      products_.push_back(c.product);
    }
    std::sort(products_.begin(), products_.end());
  }

  void run() {
    std::vector<uint32_t> moved(f_.body.size() + 1);
    const std::vector<Instruction> before = std::move(f_.body);
    f_.body.clear();
    for (uint32_t i = 0; i < before.size(); ++i) {
      moved[i] = static_cast<uint32_t>(f_.body.size());
      if (const auto c = by_sum_.find(i); c != by_sum_.end())
        fuse(before[i], c->second);
      else if (std::binary_search(products_.begin(), products_.end(), i))
        keep_factors(i, before[i]);
      else if (unused_[i] == 0)
        f_.body.push_back(before[i]);
    }
    moved[before.size()] = static_cast<uint32_t>(f_.body.size());
    for (Label& l : f_.labels) l.position = moved[l.position];
    for (Annotation& a : f_.pragmas) a.position = moved[a.position];
  }

 private:
  // -o: of an immediate at once, of a register by an instruction.
  Operand negative(Operand o, const Instruction& sum) {
    const Mod type = sum.mod(Slot::type);
    if (o.kind == Operand::Kind::imm) {
      o.value ^= int64_t{1} << (type_bits(type) - 1);
      return o;
    }
    const Operand r = emit_.fresh(f_.regs[o.index].type);
    emit_.push("neg." + std::string(mod_text(type)), sum, {r, o});
    return r;
  }
  static std::string modifiers(const Instruction& sum) {
    return std::string(sum.has(Mod::ftz) ? ".ftz" : "") + (sum.has(Mod::sat) ? ".sat" : "") + "." + std::string(mod_text(sum.mod(Slot::type)));
  }
  // Called where the product stands: of a quotient all but the last instruction is computed there.
  void keep_factors(uint32_t i, const Instruction& product) {
    const auto p = f_.operands(product);
    factors_[i] = fold_of(product) == Fold::float_quotient ? quotient_factors(f_, product, emit_) : std::pair(p[1], p[2]);
  }
  void fuse(const Instruction& sum, const Contraction& c) {
    const std::vector<Operand> s(f_.operands(sum).begin(), f_.operands(sum).end());
    const bool subtracts = is_difference(sum);
    auto [factor, other] = factors_.at(c.product);
    Operand addend = s[3 - c.operand];
    if (c.negated != (subtracts && c.operand == 2)) factor = negative(factor, sum);
    if (subtracts && c.operand == 1) addend = negative(addend, sum);
    emit_.push("fma.rn" + modifiers(sum), sum, {s[0], factor, other, addend});
  }
  static bool is_difference(const Instruction& sum) { return fold_of(sum) == Fold::float_difference; }

  Function& f_;
  const std::vector<uint8_t> unused_;
  Emitter emit_{f_};
  std::map<uint32_t, Contraction> by_sum_;
  std::map<uint32_t, std::pair<Operand, Operand>> factors_;  // by product
  std::vector<uint32_t> products_;
};

}  // namespace

std::vector<Contraction> contractions(const Function& f) { return Finder(f).run(); }

Module contracted(Module m) {
  for (Function& f : m.functions) {
    if (f.is_prototype) continue;
    multiply_by_reciprocals(f);
    Rewriter(f).run();
  }
  return m;
}

}  // namespace drywell::isa
