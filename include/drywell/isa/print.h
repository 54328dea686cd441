// PTX text of anything the IR holds. What it prints assembles with ptxas for the module's target.
#pragma once

#include <string>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Opcode with its modifiers in canonical order: "cp.async.bulk.tensor.2d.shared::cluster.global…".
std::string print_opcode(const Instruction& i);
std::string print_operand(const Function& f, const Operand& o);
/// One instruction with guard and semicolon, no newline: "@!%p1 bra $L1;".
std::string print_instruction(const Function& f, const Instruction& i);
/// The same for messages: of a long vector of registers its ends, "{%r1, %r2, ..., %r64}".
std::string print_instruction_briefly(const Function& f, const Instruction& i);

struct PrintOptions {
  bool source_lines = true;  // .file/.loc lines where instructions carry a source, with the calls it was inlined for
};
std::string print_function(const Module& m, const Function& f, const PrintOptions& o = {});
std::string print_module(const Module& m, const PrintOptions& o = {});

}  // namespace drywell::isa
