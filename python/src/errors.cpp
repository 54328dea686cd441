// Drywell's exceptions become those of drywell.errors, with their codes and diagnostics.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include <optional>
#include <string>

#include "python/src/binding.h"

namespace drywell::python {
namespace {

nb::dict diagnostic(const Diagnostic& d) {
  nb::dict out;
  out["code"] = text(code_name(d.code));
  out["severity"] = d.severity == Severity::error     ? "error"
                    : d.severity == Severity::warning ? "warning"
                                                      : "note";
  out["where"] = position(d.where);
  out["message"] = text(d.message);
  out["hint"] = text(d.hint);
  return out;
}

nb::list diagnostics(const InputError& e) {
  nb::list out;
  for (const Diagnostic& d : e.diagnostics().list()) out.append(diagnostic(d));
  return out;
}

/// Raises drywell.errors.`type`(text, code, diagnostics).
void raise(const char* type, const Error& e, const nb::list& list) {
  const nb::object kind = nb::module_::import_("drywell.errors").attr(type);
  const nb::object value = kind(text(e.what()), text(code_name(e.code())), list);
  PyErr_SetObject(kind.ptr(), value.ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const InputError& e) {
    raise("IllegalError", e, diagnostics(e));
  } catch (const Unsupported& e) {
    raise("UnsupportedError", e, {});
  } catch (const Error& e) {
    raise("InternalError", e, {});
  }
}

/// A row of docs/errors.md as text; empty if there is no such code.
std::string explain(const std::string& name) {
  const std::optional<Code> code = find_code(name);
  if (!code.has_value()) return {};
  for (const CodeRow& row : all_codes()) {
    if (row.code == *code)
      return fmt::format("{}: {}{}{}", row.name, row.what, row.fix.empty() ? "" : "; fix: ", row.fix);
  }
  return {};
}

}  // namespace

nb::object position(const SourcePos& at) {
  if (at.line == 0) return nb::none();
  nb::dict out;
  out["file"] = text(at.file);
  out["line"] = at.line;
  out["column"] = at.column;
  return out;
}

void bind_errors(nb::module_& m) {
  nb::register_exception_translator(translate);
  m.def("explain", &explain, nb::arg("code"),
        "What a code means and how it is fixed; empty if there is no such code.");
}

}  // namespace drywell::python
