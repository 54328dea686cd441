// PTX text of the IR. ptxas assembles the text for the module's target. All functions may be called at the same time.
#pragma once

#include <string>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Opcode with its modifiers in canonical order: "cp.async.bulk.tensor.2d.shared::cluster.global…".
std::string print_opcode(const Instruction& i);
/// An operand: "%rd1", "[%rd2+16]", "{%f1, %f2}".
std::string print_operand(const Function& f, const Operand& o);
/// One instruction with guard and semicolon, no newline: "@!%p1 bra $L1;".
std::string print_instruction(const Function& f, const Instruction& i);
/// As print_instruction, for messages: a long register vector is shortened to its ends, "{%r1, %r2, ..., %r64}".
std::string print_instruction_briefly(const Function& f, const Instruction& i);

/// What a text has beside instructions.
struct PrintOptions {
  bool source_lines = true;  // .file/.loc lines where instructions have a source, with their inlined calls
};
/// A function or entry with its declarations.
std::string print_function(const Module& m, const Function& f, const PrintOptions& o = {});
/// A whole file: version, target, variables, functions.
std::string print_module(const Module& m, const PrintOptions& o = {});

}  // namespace drywell::isa
