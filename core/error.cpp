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
  out += fmt::format("{} {}: {}", severity_name(severity), code, message);
  if (!hint.empty()) out += "\n    hint: " + hint;
  return out;
}

void Diagnostics::add(Diagnostic d) {
  if (d.severity == Severity::error) ++errors_;
  list_.push_back(std::move(d));
}

void Diagnostics::error(std::string code, SourcePos where, std::string message, std::string hint) {
  add({std::move(code), Severity::error, std::move(where), std::move(message), std::move(hint)});
}

void Diagnostics::warning(std::string code, SourcePos where, std::string message, std::string hint) {
  add({std::move(code), Severity::warning, std::move(where), std::move(message), std::move(hint)});
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

Error::Error(std::string code, std::string message) : code_(std::move(code)), what_(std::move(message)) {}

void Error::prepend(std::string_view context) { what_ = std::string(context) + ": " + what_; }

InputError::InputError(Diagnostics d)
    : Error(d.empty() ? "E1000" : d.list().front().code, d.to_string()), diagnostics_(std::move(d)) {}

InputError::InputError(std::string code, std::string message, std::string hint) : Error(code, {}) {
  diagnostics_.error(std::move(code), {}, std::move(message), std::move(hint));
  what_ = diagnostics_.to_string();
}

Unsupported::Unsupported(std::string what, std::string code)
    : Error(code, fmt::format("unsupported {}: {}", code, what)) {}

InternalError::InternalError(std::string what)
    : Error("X9000", "internal error (a bug in Drywell, please report it): " + std::move(what)) {}

void fail_check(const char* expr, const char* file, int line, const std::string& note) {
  throw InternalError(fmt::format("{}:{}: {} [{}]", file, line, note, expr));
}

}  // namespace drywell
