// Number formats: conversion of codes, and the values of codes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <optional>

#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/format.h"
#include "python/src/binding.h"

namespace drywell::python {
namespace {

using Codes = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

numeric::Format format_of(const std::string& name) {
  for (unsigned i = 0; i < numeric::kFormatCount; ++i) {
    const auto f = static_cast<numeric::Format>(i);
    if (numeric::format_info(f).name == name) return f;
  }
  throw nb::value_error(
      fmt::format("no format '{}': e2m1, e2m3, e3m2, e4m3, e5m2, ue4m3, ue8m0, tf32, bf16, f16 or f32", name)
          .c_str());
}

numeric::Rounding rounding_of(const std::string& name) {
  static constexpr std::string_view kNames[] = {"rn", "rz", "rm", "rp", "rna", "rs"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<numeric::Rounding>(i);
  throw nb::value_error(fmt::format("no rounding '{}': rn, rz, rm, rp, rna or rs", name).c_str());
}

struct ConvertRequest {
  std::string source, target, rounding = "rn";
  bool satfinite = false, relu = false, ftz = false;
};

void convert(const ConvertRequest& r, const Codes& in, Out out, const std::optional<Codes>& random) {
  if (in.shape(0) != out.shape(0) || (random.has_value() && random->shape(0) != in.shape(0)))
    throw nb::value_error("arrays of different sizes");
  numeric::ConvertSpec spec{
      format_of(r.target), format_of(r.source), rounding_of(r.rounding), r.satfinite, r.relu, r.ftz};
  if (spec.rounding == numeric::Rounding::rs && !random.has_value())
    throw nb::value_error("rounding rs needs random integers");
  numeric::convert_lanes(spec, in.data(), out.data(), static_cast<unsigned>(in.shape(0)),
                         random.has_value() ? random->data() : nullptr);
}

void values(const std::string& format, const Codes& in, Reals out) {
  if (in.shape(0) != out.shape(0)) throw nb::value_error("arrays of different sizes");
  const numeric::Format f = format_of(format);
  for (size_t i = 0; i < in.shape(0); ++i) out.data()[i] = numeric::to_double(f, in.data()[i]);
}

nb::dict info(const std::string& format) {
  const numeric::FormatInfo& f = numeric::format_info(format_of(format));
  nb::dict out;
  out["bits"] = f.bits();
  out["exponent_bits"] = f.exponent_bits;
  out["fraction_bits"] = f.fraction_bits;
  out["bias"] = f.bias;
  out["max"] = numeric::to_double(format_of(format), f.max_finite);
  out["has_nan"] = f.has_nan();
  out["has_infinity"] = f.has_infinity();
  return out;
}

}  // namespace

void bind_numbers(nb::module_& m) {
  nb::class_<ConvertRequest>(m, "ConvertRequest")
      .def(nb::init<>())
      .def_rw("source", &ConvertRequest::source)
      .def_rw("target", &ConvertRequest::target)
      .def_rw("rounding", &ConvertRequest::rounding)
      .def_rw("satfinite", &ConvertRequest::satfinite)
      .def_rw("relu", &ConvertRequest::relu)
      .def_rw("ftz", &ConvertRequest::ftz);
  m.def("convert", &convert, nb::arg("request"), nb::arg("codes"), nb::arg("out"), nb::arg("random").none());
  m.def("values", &values, nb::arg("format"), nb::arg("codes"), nb::arg("out"));
  m.def("format_info", &info);
}

}  // namespace drywell::python
