// Opcode text and operands → a row of the table with values for its slots. The parser and the builder use it. All
// functions may be called at the same time.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// A row that accepts an opcode's modifiers.
struct OpcodeForm {
  Opcode op{};                            // the row
  std::array<uint8_t, kMaxSlots> mods{};  // by slot: which of its modifiers it has
};

/// Returns all rows whose mnemonic and slots accept `opcode_text` ("add.sat.s32"), in table order. Modifiers may come
/// in any order that does not exchange two slots admitting the same token. Empty on failure; then `why` and `hint` hold
/// the reason and a hint.
std::vector<OpcodeForm> resolve_opcode(std::string_view opcode_text, std::string* why, std::string* hint);

/// Assigns the `given` operands to the row's positions: entry k is the index of the operand at row position k, or -1 if
/// that optional operand is absent. Returns false if the operands do not fit.
bool match_operands(const Function& f, const OpcodeForm& form, std::span<const Operand> given,
                    std::array<int8_t, kMaxOperands>& positions);

/// Returns the first of `forms` that the operands fit. Returns nullptr if there is none: then `why` is the reason and
/// `which` the index of the wrong operand (given.size() if operands are missing).
const OpcodeForm* choose_form(const Function& f, std::span<const OpcodeForm> forms, std::span<const Operand> given,
                              std::string* why, size_t* which = nullptr);

}  // namespace drywell::isa
