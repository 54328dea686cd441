// The decoder: the interface that the semantics of a row use while an instruction is decoded.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "drywell/isa/instruction.h"
#include "drywell/sim/space.h"
#include "sim/exec/decode.h"

namespace drywell::sim {

class Decoder {
 public:
  Decoder(Program& p, const isa::Module& m, const ModuleImage& image);

  void run(const isa::Function& kernel);

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
  /// Address operand: base source and offset. `wide`: the base register is 64-bit, so the source has 64-bit lanes.
  struct Address {
    Src base;
    int64_t offset;
    bool wide;
    bool has_base;
  };
  Address address(const isa::Operand& o);
  /// Stores an address operand in the fields that lane_address() reads: op.src[0], op.imm, op.wide.
  void set_address(DecodedOp& op, const isa::Operand& o) {
    const Address a = address(o);
    op.src[0] = a.base;
    op.imm = static_cast<uint64_t>(a.offset);
    op.wide = a.wide;
  }
  unsigned register_bits(const isa::Operand& o) const { return isa::type_bits(f_->regs[o.index].type); }
  /// True if no other instruction of the function reads the registers that this one writes.
  bool result_is_unread();
  std::span<const isa::Operand> elements(const isa::Operand& o) const { return f_->elements(o); }
  /// Vector elements as sources into Program::slots; sinks and absent lanes get bank 2.
  uint32_t vector(const isa::Operand& o, unsigned bits);
  /// Index of the next slot, which is the first slot of the run that follows.
  uint32_t next_slot() const { return static_cast<uint32_t>(p_.slots.size()); }
  uint32_t push_slot(Src s) {
    p_.slots.push_back(s);
    return static_cast<uint32_t>(p_.slots.size() - 1);
  }
  uint32_t label_pc(uint32_t label) const { return code_->first + f_->labels[label].position; }
  /// Constant of `bits` lane width holding `value` in every lane.
  Src constant(uint64_t value, unsigned bits);
  /// A symbol's address plus `addend` in its own state space, with the lane width of `bits`.
  Src symbol(uint32_t symbol, int64_t addend, unsigned bits);
  /// State space of a symbol; a .func's parameters are in local memory. Mod::none for functions.
  isa::Mod symbol_space(uint32_t symbol) const;
  /// Space of an access: the instruction's modifier, corrected by the space of the symbol in the address.
  Space access_space(const isa::Operand& address) const;
  /// Index in Program::functions of the function that a symbol names, or nullopt if the module does not define it.
  std::optional<uint32_t> callee(uint32_t symbol) const;
  bool in_kernel() const { return code_ == &p_.functions[0]; }
  uint32_t scratch() const { return code_->scratch; }
  uint32_t sink_pred() const { return code_->sink_pred; }
  uint32_t carry() const { return code_->carry; }
  Program& program() { return p_; }
  const isa::Module& module() const { return m_; }
  isa::Target machine() const { return image_.machine; }
  const isa::Function& function() const { return *f_; }

 private:
  void find_functions(const isa::Function& kernel);
  void layout_registers(FunctionCode& c);
  void layout_function(uint32_t index);
  void layout_shared();
  Src frame_address(isa::Mod space, uint32_t offset, bool wide);
  void record_registers(const isa::Instruction& i);
  void decode_one(uint32_t index);
  void decode_function(uint32_t index);

  Program& p_;
  const isa::Module& m_;
  const ModuleImage& image_;
  const isa::Function* f_ = nullptr;  // the function being decoded
  FunctionCode* code_ = nullptr;      // and its code
  const isa::Instruction* instr_ = nullptr;
  std::span<const isa::Operand> operands_;
  std::array<int8_t, isa::kMaxOperands> positions_{};
  std::vector<uint8_t> unread_;  // of the function's instructions; empty: not known yet
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  std::vector<uint32_t> place_;  // in Program::functions, by the module's function
  std::unordered_map<uint64_t, uint32_t> constants32_, constants64_;
  std::unordered_map<uint64_t, uint32_t> module_shared_;                 // by module variable
  std::vector<std::unordered_map<uint64_t, uint32_t>> function_offset_;  // per function: by variable, in its space
};

/// Semantics of a row: fills `op` and returns the function that executes it. Specialised once per supported row, in the
/// file of sim/exec that has the name of the row's table; a missing specialisation is a link error.
template <class Row>
ExecFn bind(Decoder& d, DecodedOp& op);

}  // namespace drywell::sim
