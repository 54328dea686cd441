// The four kinds of failure: bad input (Diagnostic), legal but not modelled (Unsupported), guest misbehaviour (Fault, a
// value inside a run's result), simulator bug (InternalError). Exceptions are values: any threads may read copies of one at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/code.h"

namespace drywell {

/// Weight of a diagnostic. A list with an `error` stops the stage that made it.
enum class Severity : uint8_t {
  note,
  warning,
  error
};

/// A position in a text of the user: PTX file, DSL source, configuration or data file. Line 0 = unknown.
struct SourcePos {
  std::string file;     // path as the user wrote it; empty: unknown
  uint32_t line = 0;    // from 1
  uint32_t column = 0;  // from 1, in bytes; 0: the whole line
  bool operator==(const SourcePos&) const = default;
};

/// One message for the user.
struct Diagnostic {
  Code code{};                          // stable; its page is docs/errors.md
  Severity severity = Severity::error;  // whether the input can still be used
  SourcePos where;                      // the place that the message is about
  std::string message;                  // one sentence, without its place
  std::string hint;                     // how to fix it; may be empty

  /// "file:line:col: error E1203: message\n    hint: …"
  std::string to_string() const;
};

/// A list of diagnostics: a stage reports everything that it finds, not only the first. One thread writes to a list at
/// a time; const calls may run at the same time.
class Diagnostics {
 public:
  /// Appends one diagnostic.
  void add(Diagnostic d);
  /// Appends one of severity `error`.
  void error(Code code, SourcePos where, std::string message, std::string hint = {});
  /// Appends one of severity `warning`.
  void warning(Code code, SourcePos where, std::string message, std::string hint = {});
  /// Appends those of another list, in their order.
  void append(const Diagnostics& other);
  /// True if some diagnostic has severity `error`.
  bool has_errors() const { return errors_ != 0; }
  /// The number of diagnostics of severity `error`.
  size_t error_count() const { return errors_; }
  /// True if there is no diagnostic of any severity.
  bool empty() const { return list_.empty(); }
  /// All of them in the order of their arrival; valid until the next change.
  std::span<const Diagnostic> list() const { return list_; }
  /// One diagnostic a line, each with its hint below.
  std::string to_string() const;

 private:
  std::vector<Diagnostic> list_;
  size_t errors_ = 0;
};

/// Base of all exceptions of this library. Outer layers add context in front with `prepend`.
class Error : public std::exception {
 public:
  /// `message`: what what() returns until a context is put in front.
  explicit Error(Code code, std::string message);
  /// The message with its contexts; valid as long as the exception and until the next prepend().
  const char* what() const noexcept override { return what_.c_str(); }
  /// The stable code; its first letter is the kind of failure.
  Code code() const { return code_; }
  /// Puts "context: " in front of the message.
  void prepend(std::string_view context);

 protected:
  Code code_;         // of the failure
  std::string what_;  // the message with its contexts
};

/// Bad kernel, PTX, configuration or data: carries every diagnostic.
class InputError : public Error {
 public:
  /// Carries all of `d`, which has at least one error; code() is the code of the first error.
  explicit InputError(Diagnostics d);
  /// One error without a place.
  InputError(Code code, std::string message, std::string hint = {});
  /// Everything that was found, warnings too.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};

/// Legal PTX that Drywell does not model. The message names the instruction or feature. Code U5000 or a more exact
/// U5xxx.
class Unsupported : public Error {
 public:
  /// `what`: the instruction or feature, as the user wrote it.
  explicit Unsupported(std::string what, Code code = Code::U5000);
};

/// A bug in Drywell itself. Code X9000.
class InternalError : public Error {
 public:
  /// `what`: the invariant that does not hold.
  explicit InternalError(std::string what);
};

/// Throws the InternalError of a DRYWELL_CHECK.
[[noreturn]] void fail_check(const char* expr, const char* file, int line, const std::string& note);

/// Process exit codes of the tools, one per kind of failure.
enum class ExitCode : int {
  ok = 0,
  verification_failed = 1,  // wrong values or a hazard was reported
  usage = 2,
  bad_input = 3,    // illegal PTX, kernel, configuration or data file
  unsupported = 4,  // legal, not modelled
  guest_fault = 5,  // the kernel faulted or deadlocked
  unavailable = 6,  // no GPU, no CUDA toolkit
  internal = 70,    // simulator bug
};

}  // namespace drywell

/// Invariant of the simulator itself; throws InternalError if it is false. Never for errors of the user.
#define DRYWELL_CHECK(expr, note) \
  ((expr) ? void(0) : ::drywell::fail_check(#expr, __FILE__, __LINE__, (note)))
