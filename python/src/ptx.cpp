// PTX text: parsing, validation, and what its kernels declare.
#include <nanobind/nanobind.h>

#include <memory>

#include "drywell/isa/instruction.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"
#include "python/src/module.h"

namespace drywell::python {
namespace {

nb::dict parameter(const isa::Variable& v) {
  nb::dict out;
  out["name"] = text(v.name);
  out["type"] = text(isa::mod_text(v.type));
  out["bytes"] = v.bytes();
  out["align"] = v.align;
  out["is_array"] = v.is_array;
  return out;
}

nb::object triple(const std::optional<std::array<uint32_t, 3>>& t) {
  if (!t.has_value()) return nb::none();
  return nb::make_tuple((*t)[0], (*t)[1], (*t)[2]);
}

nb::dict entry(const isa::Function& f) {
  nb::list parameters;
  for (const isa::Variable& v : f.params) parameters.append(parameter(v));
  nb::dict out;
  out["name"] = text(f.name);
  out["params"] = parameters;
  out["reqntid"] = triple(f.directives.reqntid);
  out["maxntid"] = triple(f.directives.maxntid);
  out["cluster"] = triple(f.directives.reqnctapercluster);
  out["instructions"] = f.body.size();
  return out;
}

nb::list entries(const ParsedModule& m) {
  nb::list out;
  for (const isa::Function& f : m.module.functions)
    if (f.is_entry && !f.is_prototype) out.append(entry(f));
  return out;
}

ParsedModule parse(const std::string& ptx, const std::string& name) {
  ParsedModule m{isa::parse_ptx_or_throw(ptx, name)};
  if (Diagnostics problems = isa::validate(m.module); problems.has_errors())
    throw InputError(std::move(problems));
  return m;
}

ParsedModule parse_released(const nb::str& ptx, const nb::str& name) {
  const std::string t = ptx.c_str(), n = name.c_str();
  const nb::gil_scoped_release free;
  return parse(t, n);
}

}  // namespace

void bind_ptx(nb::module_& m) {
  nb::class_<ParsedModule>(m, "Module", "A valid PTX module.")
      .def("entries", &entries)
      .def("target", [](const ParsedModule& p) { return text(isa::target_name(p.module.target)); })
      .def("text", [](const ParsedModule& p) { return text(isa::print_module(p.module)); });
  m.def("parse", &parse_released, nb::arg("ptx"), nb::arg("name"),
        "Parses and validates PTX text. Raises IllegalError with every error, each with line and column.");
}

}  // namespace drywell::python
