// PTX text to IR: text of nvcc, Triton, CuTe or a person becomes the same IR that the DSL builds.
#pragma once

#include <string_view>

#include "drywell/core/error.h"
#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Result of parsing a text. If it has errors, the module holds the valid part of the text and must not be run.
struct ParseResult {
  Module module;            // what the text declares
  Diagnostics diagnostics;  // errors and warnings, in the order of the text
};

/// Parses a PTX module (PTX ISA up to 9.4; U5001, a warning, for a newer one). Reports all errors, each with line, column, the offending text and a hint:
/// E1101 opcodes that the table does not have (one diagnostic per distinct opcode text, with its count), E1102 operands
/// that do not fit, E1103…E1116 syntax, names, numbers, headers and limits, U5001 legal PTX that is not modelled.
/// validate() checks further legality (types, targets, operand rules).
///
/// Registers, labels and variables of nested scopes get names that are unique in their function; module-scope names and
/// parameters keep theirs. `.file` numbers become indices into Module::files and `.loc` becomes Instruction::source
/// (the innermost line, with its inlined calls). Debug sections are skipped. May be called at the same time.
ParseResult parse_ptx(std::string_view text, std::string_view file_name);

/// As parse_ptx; throws InputError with every diagnostic if there is an error.
Module parse_ptx_or_throw(std::string_view text, std::string_view file_name);

}  // namespace drywell::isa
