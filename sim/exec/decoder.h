// What a row's semantics see while an instruction is decoded.
#pragma once

#include <string_view>
#include <unordered_map>

#include "drywell/isa/instruction.h"
#include "sim/exec/program.h"

namespace drywell::sim {

class Decoder {
 public:
  Decoder(Program& p, const isa::Module& m, const isa::Function& f, const ModuleImage& image);

  void run();

  // --- the instruction being decoded
  const isa::Instruction& instr() const { return *instr_; }
  isa::Mod mod(isa::Slot s) const { return instr_->mod(s); }
  bool has(isa::Mod m) const { return instr_->has(m); }
  /// Operand at row position `k`, or nullptr if absent.
  const isa::Operand* operand(size_t k) const { return positions_[k] < 0 ? nullptr : &operands_[static_cast<size_t>(positions_[k])]; }

  // --- operands
  /// Register, immediate (broadcast with the lane width of `bits`) or symbol value.
  Src source(const isa::Operand& o, unsigned bits);
  uint32_t dest(const isa::Operand& o);
  PredSrc pred(const isa::Operand& o);
  /// Predicate register index to write; sinks write a scratch predicate.
  uint32_t dest_pred(const isa::Operand& o);
  /// Address operand: base source (64-bit lanes if the base register is 64-bit, told by `wide`) and offset.
  struct Address { Src base; int64_t offset; bool wide; bool has_base; };
  Address address(const isa::Operand& o);
  /// Puts an address operand where lane_address() finds it: op.src[0], op.imm, op.wide.
  void set_address(DecodedOp& op, const isa::Operand& o) {
    const Address a = address(o);
    op.src[0] = a.base;
    op.imm = static_cast<uint64_t>(a.offset);
    op.wide = a.wide;
  }
  unsigned register_bits(const isa::Operand& o) const { return isa::type_bits(f_.regs[o.index].type); }
  std::span<const isa::Operand> elements(const isa::Operand& o) const { return f_.elements(o); }
  /// Vector elements as sources into Program::slots; sinks and absent lanes get bank 2.
  uint32_t vector(const isa::Operand& o, unsigned bits);
  uint32_t push_slot(Src s) { p_.slots.push_back(s); return static_cast<uint32_t>(p_.slots.size() - 1); }
  uint32_t label_pc(const isa::Operand& o) const { return f_.labels[o.index].position; }
  /// Constant of `bits` lane width holding `value` in every lane.
  Src constant(uint64_t value, unsigned bits);
  /// Value of a symbol: address in its own state space (generic if `generic`).
  uint64_t symbol_value(uint32_t symbol, bool generic) const;
  /// Its state space.
  isa::Mod symbol_space(uint32_t symbol) const;
  uint32_t scratch() const { return scratch_; }
  Program& program() { return p_; }
  const isa::Function& function() const { return f_; }

 private:
  void layout_registers();
  void layout_memory();
  void record_registers(const isa::Instruction& i);
  void decode_one(uint32_t index);

  Program& p_;
  const isa::Module& m_;
  const isa::Function& f_;
  const ModuleImage& image_;
  const isa::Instruction* instr_ = nullptr;
  std::span<const isa::Operand> operands_;
  std::array<int8_t, isa::kMaxOperands> positions_{};
  std::unordered_map<uint64_t, uint32_t> constants32_, constants64_;
  std::unordered_map<uint64_t, uint64_t> shared_offset_;  // by symbol kind and index
  uint32_t scratch_ = 0;                                  // register slot for discarded results
};

/// Semantics of a row: fills `op` and returns the function that executes it. Specialised once per supported row, in the
/// file of sim/exec named like the row's table; a missing one is a link error.
template <isa::Opcode>
ExecFn bind(Decoder& d, DecodedOp& op);

}  // namespace drywell::sim
