// PTX text of the IR. ptxas assembles the text for the module's target. All functions may be called at the same time.
#pragma once

#include <string>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Opcode with its modifiers in canonical order: "cp.async.bulk.tensor.2d.shared::cluster.global…".
std::string print_opcode(const Instruction& i);
std::string print_operand(const Function& f, const Operand& o);
/// One instruction with guard and semicolon, no newline: "@!%p1 bra $L1;".
std::string print_instruction(const Function& f, const Instruction& i);
/// As print_instruction, for messages: a long register vector is shortened to its ends, "{%r1, %r2, ..., %r64}".
std::string print_instruction_briefly(const Function& f, const Instruction& i);

struct PrintOptions {
  bool source_lines = true;  // .file/.loc lines where instructions have a source, with their inlined calls
};
std::string print_function(const Module& m, const Function& f, const PrintOptions& o = {});
std::string print_module(const Module& m, const PrintOptions& o = {});

}  // namespace drywell::isa
