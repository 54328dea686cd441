// PTX text in: what nvcc, Triton, CuTe or a person wrote becomes the same IR the DSL builds.
#pragma once

#include <string_view>

#include "drywell/core/error.h"
#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// What reading a text gave. With errors the module holds what could be read; it must not be run.
struct ParseResult {
  Module module;
  Diagnostics diagnostics;
};

/// Reads a PTX module (PTX ISA up to 9.0). Reports everything it finds, each with line, column, the offending
/// text and a hint: E1101 opcodes the table does not have (one diagnostic per distinct opcode text, with its
/// count), E1102 operands that do not fit, E1103…E1116 syntax, names, numbers, headers and limits, U5001
/// legal PTX that is not modelled. Legality beyond that (types, targets, operand rules) is validate()'s.
///
/// Registers, labels and variables of nested scopes get names that are unique in their function; module-scope
/// names and parameters keep theirs. `.file` numbers become indices into Module::files and `.loc` becomes
/// Instruction::source (the innermost line, with the calls it was inlined for). Debug sections are skipped.
ParseResult parse_ptx(std::string_view text, std::string_view file_name);

/// The same; throws InputError with every diagnostic if there is an error.
Module parse_ptx_or_throw(std::string_view text, std::string_view file_name);

}  // namespace drywell::isa
