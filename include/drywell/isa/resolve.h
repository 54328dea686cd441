// Opcode text and operands → a row of the table with its slots filled. Parser and builder share it.
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
  Opcode op{};
  std::array<uint8_t, kMaxSlots> mods{};
};

/// Every row whose mnemonic and slots accept `opcode_text` ("add.sat.s32"), in table order. Modifiers may stand in any
/// order that does not swap two slots admitting the same token. Empty on failure; then `why` and `hint` tell.
std::vector<OpcodeForm> resolve_opcode(std::string_view opcode_text, std::string* why, std::string* hint);

/// Assigns given operands to the row's positions: entry k is the index of the operand at row position k, or -1 if that
/// optional operand is absent. Returns false if they do not fit.
bool match_operands(const Function& f, const OpcodeForm& form, std::span<const Operand> given,
                    std::array<int8_t, kMaxOperands>& positions);

/// The form among `forms` that the operands fit, or nullptr with the reason and the operand at fault (given.size() if
/// operands are missing).
const OpcodeForm* choose_form(const Function& f, std::span<const OpcodeForm> forms, std::span<const Operand> given,
                              std::string* why, size_t* which = nullptr);

}  // namespace drywell::isa
