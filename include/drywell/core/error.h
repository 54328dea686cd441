// The four kinds of failure: bad input (Diagnostic), legal but not modelled (Unsupported), guest misbehaviour (Fault, a
// value inside a run's result), simulator bug (InternalError).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/code.h"

namespace drywell {

enum class Severity : uint8_t { note, warning, error };

/// A position in a text of the user: PTX file, DSL source, configuration or data file. Line 0 = unknown.
struct SourcePos {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const SourcePos&) const = default;
};

/// One message for the user.
struct Diagnostic {
  Code code{};
  Severity severity = Severity::error;
  SourcePos where;
  std::string message;
  std::string hint;  // how to fix it; may be empty

  /// "file:line:col: error E1203: message\n    hint: …"
  std::string to_string() const;
};

/// A list of diagnostics: a stage reports everything that it finds, not only the first. One thread writes to a list at
/// a time; const calls may run at the same time.
class Diagnostics {
 public:
  void add(Diagnostic d);
  void error(Code code, SourcePos where, std::string message, std::string hint = {});
  void warning(Code code, SourcePos where, std::string message, std::string hint = {});
  void append(const Diagnostics& other);
  bool has_errors() const { return errors_ != 0; }
  size_t error_count() const { return errors_; }
  bool empty() const { return list_.empty(); }
  std::span<const Diagnostic> list() const { return list_; }
  std::string to_string() const;

 private:
  std::vector<Diagnostic> list_;
  size_t errors_ = 0;
};

/// Base of all exceptions of this library. Outer layers add context in front with `prepend`.
class Error : public std::exception {
 public:
  explicit Error(Code code, std::string message);
  const char* what() const noexcept override { return what_.c_str(); }
  Code code() const { return code_; }
  void prepend(std::string_view context);

 protected:
  Code code_;
  std::string what_;
};

/// Bad kernel, PTX, configuration or data: carries every diagnostic.
class InputError : public Error {
 public:
  explicit InputError(Diagnostics d);
  InputError(Code code, std::string message, std::string hint = {});
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};

/// Legal PTX that Drywell does not model. The message names the instruction or feature. Code U5000 or a more exact
/// U5xxx.
class Unsupported : public Error {
 public:
  explicit Unsupported(std::string what, Code code = Code::U5000);
};

/// A bug in Drywell itself. Code X9000.
class InternalError : public Error {
 public:
  explicit InternalError(std::string what);
};

[[noreturn]] void fail_check(const char* expr, const char* file, int line, const std::string& note);

/// Process exit codes of the tools, one per kind of failure.
enum class ExitCode : int {
  ok = 0,
  verification_failed = 1,  // wrong values or a hazard was reported
  usage = 2,
  bad_input = 3,     // illegal PTX, kernel, configuration or data file
  unsupported = 4,   // legal, not modelled
  guest_fault = 5,   // the kernel faulted or deadlocked
  unavailable = 6,   // no GPU, no CUDA toolkit
  internal = 70,     // simulator bug
};

}  // namespace drywell

/// Invariant of the simulator itself; throws InternalError if it is false. Never for errors of the user.
#define DRYWELL_CHECK(expr, note) \
  ((expr) ? void(0) : ::drywell::fail_check(#expr, __FILE__, __LINE__, (note)))
