// The instruction table as numbers that a compiler reads quickly (include/drywell/isa/table/opcode_grammar.inc).
#pragma once

#include <string>

namespace drywell::tools {

/// Returns the text of opcode_grammar.inc.
std::string opcode_grammar();

}  // namespace drywell::tools
