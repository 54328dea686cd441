// Static legality of instructions, kernels and modules. What ptxas rejects, this rejects.
#pragma once

#include <string>

#include "drywell/core/error.h"
#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Where a legality rule puts what it finds about one instruction.
class LegalityReport {
 public:
  LegalityReport(const InstructionRef& at, Diagnostics& out) : at_(at), out_(out) {}
  void error(std::string code, std::string message, std::string hint = {});
  void warning(std::string code, std::string message, std::string hint = {});
  bool failed() const { return failed_; }

 private:
  const InstructionRef& at_;
  Diagnostics& out_;
  bool failed_ = false;
};

/// Checks one instruction: target and PTX version, register widths, operand shapes, the row's own rules.
void validate_instruction(const InstructionRef& i, Diagnostics& out);
/// Checks a function and everything in it (labels bound, roles, directives).
void validate_function(const Module& m, const Function& f, Diagnostics& out);
/// Checks a module. An empty result means ptxas should accept the printed text.
Diagnostics validate(const Module& m);

}  // namespace drywell::isa
