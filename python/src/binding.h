// The parts of the extension module drywell._core. Each bind_ function adds the types and functions of one
// source file.
//
// The module is private: python/drywell has the documented names, and converts plain Python values to and
// from these.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "drywell/core/error.h"
#include "drywell/core/types.h"

namespace drywell::python {

namespace nb = nanobind;

void bind_errors(nb::module_& m);
void bind_ptx(nb::module_& m);
void bind_device(nb::module_& m);
void bind_tensor_map(nb::module_& m);
void bind_numbers(nb::module_& m);
void bind_layouts(nb::module_& m);
void bind_arrays(nb::module_& m);

inline nb::str text(std::string_view s) { return nb::str(s.data(), s.size()); }
inline nb::bytes raw(std::string_view s) { return nb::bytes(s.data(), s.size()); }

/// {"file", "line", "column"}; None if the line is not known.
nb::object position(const SourcePos& at);

}  // namespace drywell::python
