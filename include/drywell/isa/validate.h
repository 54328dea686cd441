// Static legality of instructions, kernels and modules: the rules of ptxas. All validate functions may be called at the
// same time, each with its own Diagnostics.
#pragma once

#include <string>

#include "drywell/core/error.h"
#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Collects the reports about one instruction for its legality rules. One thread uses it.
class LegalityReport {
 public:
  /// Messages about instruction `at` go to `out`.
  LegalityReport(const InstructionRef& at, Diagnostics& out) : at_(at), out_(out) {}
  /// Adds an error.
  void error(Code code, std::string message, std::string hint = {});
  /// Adds a warning.
  void warning(Code code, std::string message, std::string hint = {});
  /// True after an error.
  bool failed() const { return failed_; }

 private:
  const InstructionRef& at_;
  Diagnostics& out_;
  bool failed_ = false;
};

/// Checks one instruction: target and PTX version, register widths, operand shapes, the row's own rules.
void validate_instruction(const InstructionRef& i, Diagnostics& out);
/// Checks a function and its content (labels bound, roles, directives).
void validate_function(const Module& m, const Function& f, Diagnostics& out);
/// Checks a module. If the result is empty, ptxas should accept the printed text.
Diagnostics validate(const Module& m);

}  // namespace drywell::isa
