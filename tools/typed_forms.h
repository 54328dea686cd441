// The rows of the instruction table as C++ functions with named modifiers: include/drywell/isa/table/typed_forms.inc.
#pragma once

#include <string>

namespace drywell::tools {

std::string typed_forms();

}  // namespace drywell::tools
