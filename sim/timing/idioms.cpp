#include "sim/timing/idioms.h"

#include <algorithm>
#include <set>
#include <utility>

namespace drywell::sim {
namespace {

using isa::Access;
using isa::Fold;
using isa::Instruction;
using isa::Mod;
using isa::Operand;
using isa::RegId;

// The uses of a register over the whole function.
struct RegFacts {
  uint32_t defs = 0, uses = 0, address_uses = 0, float_uses = 0, logic_uses = 0;
  uint32_t def_at = 0, use_at = 0;  // the last one seen
};

class Folder {
 public:
  explicit Folder(const isa::Function& f)
      : f_(f), regs_(f.regs.size()), folded_(f.body.size(), 0), absorbed_(f.body.size(), 0), inputs_(f.body.size()) {
    scan();
  }

  std::vector<uint8_t> run() {
    for (uint32_t i = 0; i < f_.body.size(); ++i) fold_moves(i);
    for (uint32_t i = 0; i < f_.body.size(); ++i) is_logic(i) ? fold_logic(i) : fold_chains(i);
    return std::move(folded_);
  }

 private:
  Fold fold(uint32_t i) const { return isa::spec(f_.body[i].op).fold; }
  Mod type(uint32_t i) const { return f_.body[i].mod(isa::Slot::type); }

  template <class F>
  void for_registers(const Operand& o, bool write, bool address, const F& f) const {
    switch (o.kind) {
      case Operand::Kind::reg: f(o.index, write, address); break;
      case Operand::Kind::addr:
        if (o.base == Operand::Base::reg) f(o.index, false, true);
        break;
      case Operand::Kind::vec:
      case Operand::Kind::tensor:
      case Operand::Kind::pair:
      case Operand::Kind::args:
        for (const Operand& e : f_.elements(o)) for_registers(e, write, address, f);
        break;
      default: break;
    }
  }

  template <class F>
  void for_operands(uint32_t i, const F& f) const {
    const Instruction& instr = f_.body[i];
    const isa::InstrSpec& row = isa::spec(instr.op);
    const auto positions = isa::operand_positions(f_, instr);
    for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
      if (positions[k] < 0) continue;
      const Operand& o = f_.operands(instr)[static_cast<size_t>(positions[k])];
      if (row.operands[k].access != Access::write) for_registers(o, false, false, f);
      if (row.operands[k].access != Access::read) for_registers(o, true, false, f);
    }
  }

  void scan() {
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      const bool is_float = isa::is_float_type(type(i)) && !is_memory(i);
      for_operands(i, [&](RegId r, bool write, bool address) {
        RegFacts& x = regs_[r];
        if (write) {
          ++x.defs;
          x.def_at = i;
        } else {
          ++x.uses;
          x.use_at = i;
          if (address) ++x.address_uses;
          if (is_float) ++x.float_uses;
          if (is_logic(i)) ++x.logic_uses;
        }
      });
      if (f_.body[i].guard != isa::kNoReg) ++regs_[f_.body[i].guard].uses;
    }
  }

  /// A function of each bit, for LOP3.
  bool is_logic(uint32_t i) const {
    const unsigned bits = isa::type_bits(type(i));
    return (bits == 32 || bits == 64) && (isa::is_logic(fold(i)) || fold(i) == Fold::inversion);
  }
  bool is_memory(uint32_t i) const { return isa::spec(f_.body[i].op).engine == isa::Engine::lsu; }
  bool is_plain(uint32_t i) const { return f_.body[i].guard == isa::kNoReg; }
  /// Register written by an instruction with one destination, or kNoReg.
  RegId destination(uint32_t i) const {
    RegId d = isa::kNoReg;
    for_operands(i, [&](RegId r, bool write, bool) {
      if (write) d = r;
    });
    return d;
  }
  uint32_t register_sources(uint32_t i) const {
    uint32_t n = 0;
    for_operands(i, [&](RegId, bool write, bool) { n += write ? 0 : 1; });
    return n;
  }
  bool has_immediate(uint32_t i) const {
    for (const Operand& o : f_.operands(f_.body[i])) {
      if (o.kind == Operand::Kind::imm) return true;
    }
    return false;
  }

  // Operand forms the machine has for free.
  void fold_moves(uint32_t i) {
    if (!is_plain(i)) return;
    const RegId d = destination(i);
    if (d == isa::kNoReg || regs_[d].defs != 1) return;
    const RegFacts& x = regs_[d];
    switch (fold(i)) {
      case Fold::inversion: folded_[i] = type(i) == Mod::pred; return;  // every use of a predicate can be negated
      case Fold::sign:
      case Fold::negation: folded_[i] = isa::is_float_type(type(i)) && x.uses != 0 && x.float_uses == x.uses; return;  // source modifiers
      case Fold::sum:
      case Fold::sum_like: folded_[i] = has_immediate(i) && x.uses != 0 && x.address_uses == x.uses; return;  // [reg + offset]
      case Fold::none:
      case Fold::shift:
      case Fold::product:
      case Fold::logic:
      case Fold::mask:
      case Fold::float_sum:
      case Fold::float_difference:
      case Fold::float_product:
      case Fold::float_quotient: return;
    }
  }

  using Inputs = std::set<std::pair<Operand::Kind, int64_t>>;  // registers and constants

  Inputs written_inputs(uint32_t i) const {
    Inputs inputs;
    for (const Operand& o : f_.operands(f_.body[i]).subspan(1)) inputs.insert({o.kind, o.kind == Operand::Kind::imm ? o.value : o.index});
    return inputs;
  }
  // A complement costs nothing in any of its uses; another result is computed once.
  bool joins_logic(uint32_t p, const RegFacts& x) const {
    return is_logic(p) && is_plain(p) && (x.uses == 1 || (fold(p) == Fold::inversion && x.logic_uses == x.uses));
  }
  Inputs inputs_through(uint32_t p, const RegFacts& x) const { return x.uses == 1 ? inputs_[p] : written_inputs(p); }

  // LOP3 computes any function of the bits of three values, of which one may be a constant: ptxas makes one of a tree of logic with no more
  // inputs (median3_bytes of tests/corpus/timing/fresh/camera.ptx: 79 of 222 instructions).
  static bool fits_lop3(const Inputs& inputs) {
    const auto constants = std::count_if(inputs.begin(), inputs.end(), [](const auto& x) { return x.first == Operand::Kind::imm; });
    return inputs.size() <= 3 && constants <= 1;
  }
  void fold_logic(uint32_t i) {
    inputs_[i] = written_inputs(i);
    for (const Operand& o : f_.operands(f_.body[i]).subspan(1)) {
      if (o.kind != Operand::Kind::reg) continue;
      const RegFacts& x = regs_[o.index];
      if (x.defs != 1 || x.def_at >= i || !joins_logic(x.def_at, x)) continue;
      Inputs all = inputs_[i];
      all.erase({o.kind, o.index});
      all.merge(inputs_through(x.def_at, x));
      if (!fits_lop3(all)) continue;
      inputs_[i] = std::move(all);
      folded_[x.def_at] = 1;
    }
  }

  // Folds the producer of a single-use operand into the consumer's three-input form.
  void fold_chains(uint32_t i) {
    if (folded_[i] != 0 || !is_sum(fold(i))) return;
    const unsigned bits = isa::type_bits(type(i));
    if (bits != 32 && bits != 64) return;
    for_operands(i, [&](RegId r, bool write, bool) {
      if (write || absorbed_[i] != 0) return;
      const RegFacts& x = regs_[r];
      if (x.defs != 1 || x.uses != 1) return;
      const uint32_t p = x.def_at;
      if (p >= i || folded_[p] != 0 || absorbed_[p] != 0 || !is_plain(p)) return;
      if (register_sources(p) + register_sources(i) > 4) return;  // three inputs besides the link
      const Fold producer = fold(p);
      if (bits == 32 && is_sum(producer)) {
        folded_[p] = 1;  // IADD3
      } else if (bits == 32 && producer == Fold::shift) {
        folded_[p] = 1;  // LEA
      } else if (producer == Fold::product && !f_.body[p].has(Mod::hi)) {
        folded_[i] = 1;  // IMAD, IMAD.WIDE: the addition is free
        absorbed_[p] = 1;
        return;
      } else {
        return;
      }
      absorbed_[i] = 1;
    });
  }

  const isa::Function& f_;
  std::vector<RegFacts> regs_;
  std::vector<uint8_t> folded_, absorbed_;
  std::vector<Inputs> inputs_;  // of logic, with the instructions that are folded into it
};

}  // namespace

std::vector<uint8_t> folded_instructions(const isa::Function& f) { return Folder(f).run(); }

}  // namespace drywell::sim
