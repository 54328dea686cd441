#include "drywell/core/error.h"

#include <fmt/format.h>

namespace drywell {
namespace {

const char* severity_name(Severity s) {
  switch (s) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "?";
}

}  // namespace

std::string Diagnostic::to_string() const {
  std::string out;
  if (!where.file.empty()) {
    out += where.file;
    if (where.line != 0) out += fmt::format(":{}", where.line);
    if (where.column != 0) out += fmt::format(":{}", where.column);
    out += ": ";
  }
  out += fmt::format("{} {}: {}", severity_name(severity), code_name(code), message);
  if (!hint.empty()) out += "\n    hint: " + hint;
  return out;
}

void Diagnostics::add(Diagnostic d) {
  if (d.severity == Severity::error) ++errors_;
  list_.push_back(std::move(d));
}

void Diagnostics::error(Code code, SourcePos where, std::string message, std::string hint) {
  add({code, Severity::error, std::move(where), std::move(message), std::move(hint)});
}

void Diagnostics::warning(Code code, SourcePos where, std::string message, std::string hint) {
  add({code, Severity::warning, std::move(where), std::move(message), std::move(hint)});
}

void Diagnostics::append(const Diagnostics& other) {
  for (const Diagnostic& d : other.list_) add(d);
}

std::string Diagnostics::to_string() const {
  std::string out;
  for (const Diagnostic& d : list_) {
    if (!out.empty()) out += '\n';
    out += d.to_string();
  }
  return out;
}

Error::Error(Code code, std::string message) : code_(code), what_(std::move(message)) {}

void Error::prepend(std::string_view context) { what_ = std::string(context) + ": " + what_; }

InputError::InputError(Diagnostics d)
    : Error(d.empty() ? Code::E1000 : d.list().front().code, d.to_string()), diagnostics_(std::move(d)) {}

InputError::InputError(Code code, std::string message, std::string hint) : Error(code, {}) {
  diagnostics_.error(code, {}, std::move(message), std::move(hint));
  what_ = diagnostics_.to_string();
}

Unsupported::Unsupported(std::string what, Code code)
    : Error(code, fmt::format("unsupported {}: {}", code_name(code), what)) {}

InternalError::InternalError(std::string what)
    : Error(Code::X9000, "internal error (a bug in Drywell, please report it): " + std::move(what)) {}

void fail_check(const char* expr, const char* file, int line, const std::string& note) {
  throw InternalError(fmt::format("{}:{}: {} [{}]", file, line, note, expr));
}

}  // namespace drywell
