// Number formats: conversion of codes, the values of codes, and the arithmetic of matrix instructions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/format.h"
#include "drywell/sim/numeric/mma.h"
#include "drywell/sim/numeric/mma_tile.h"
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

template <class E, size_t N>
E word_of(const std::array<std::string_view, N>& words, const std::string& word, const char* what) {
  for (size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<E>(i);
  throw nb::value_error(fmt::format("no {} '{}': {}", what, word, fmt::join(words, ", ")).c_str());
}

constexpr std::array<std::string_view, 7> kMmaArchs{"sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};
constexpr std::array<std::string_view, 3> kMmaInstructions{"mma.sync", "wgmma", "tcgen05"};
constexpr std::array<std::string_view, 6> kMmaKinds{"f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"};

/// A chain of matrix instructions along k. Codes are right-aligned in words, scales in bytes; A is m x k, B n x k, D m x n.
struct MmaRequest {
  std::string arch = "sm_100", instruction = "tcgen05", kind = "f16", a_format = "f16", b_format = "f16", d_format = "f32";
  std::string scale_format = "f32";
  unsigned m = 0, n = 0, k = 0, k_of_one = 16, scales_of_one = 0;
};

const numeric::MmaRow& row_of(const MmaRequest& r) {
  const numeric::MmaQuery q{word_of<numeric::MmaArch>(kMmaArchs, r.arch, "architecture"),
                            word_of<numeric::MmaInstruction>(kMmaInstructions, r.instruction, "instruction"),
                            word_of<numeric::MmaKind>(kMmaKinds, r.kind, "kind"),
                            format_of(r.a_format), format_of(r.b_format), format_of(r.d_format), format_of(r.scale_format)};
  if (const numeric::MmaRow* row = numeric::find_mma(q)) return *row;
  throw nb::value_error(fmt::format("{} of {} has no kind {} with A {}, B {}, D {} and scales {}", r.instruction, r.arch, r.kind,
                                    r.a_format, r.b_format, r.d_format, r.scale_format)
                            .c_str());
}

/// Rows of one operand, for the instruction that begins at element `first` of k.
numeric::OperandSource operand(const MmaRequest& r, const std::string& format, unsigned rows, const uint32_t* codes, const uint8_t* scales, unsigned first) {
  numeric::OperandSource s{format_of(format), rows, r.k_of_one, codes + first, size_t{r.k} * sizeof(uint32_t), numeric::CodeStorage::words};
  if (r.scales_of_one == 0) return s;
  const size_t scales_of_row = size_t{r.k / r.k_of_one} * r.scales_of_one;
  s.scale_format = format_of(r.scale_format);
  s.scales_per_row = r.scales_of_one;
  s.scales = scales + size_t{first / r.k_of_one} * r.scales_of_one;
  s.scale_stride = scales_of_row;
  return s;
}

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check_sizes(const MmaRequest& r, const Codes& a, const Codes& b, const Out& d, const Bytes& sa, const Bytes& sb) {
  const size_t scales = r.k_of_one == 0 ? 0 : size_t{r.k / r.k_of_one} * r.scales_of_one;
  const bool fits = r.k_of_one != 0 && r.k % r.k_of_one == 0 && a.shape(0) == size_t{r.m} * r.k && b.shape(0) == size_t{r.n} * r.k &&
                    d.shape(0) == size_t{r.m} * r.n && sa.shape(0) == r.m * scales && sb.shape(0) == r.n * scales;
  if (!fits) throw nb::value_error("arrays of different sizes");
}

/// D = C + A * B, in place: `d` has C at first. Returns what the arithmetic rests on.
std::string mma(const MmaRequest& r, const Codes& a, const Codes& b, Out d, const Bytes& a_scales, const Bytes& b_scales) {
  check_sizes(r, a, b, d, a_scales, b_scales);
  const numeric::MmaRow& row = row_of(r);
  const nb::gil_scoped_release others_run;
  for (unsigned first = 0; first < r.k; first += r.k_of_one)
    numeric::mma_tile(row.params, operand(r, r.a_format, r.m, a.data(), a_scales.data(), first),
                      operand(r, r.b_format, r.n, b.data(), b_scales.data(), first), {d.data(), r.n, d.data(), r.n});
  static constexpr std::string_view kConfidence[] = {"measured", "modelled", "assumed"};
  return std::string(kConfidence[static_cast<size_t>(row.confidence)]);
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
  nb::class_<MmaRequest>(m, "MmaRequest")
      .def(nb::init<>())
      .def_rw("arch", &MmaRequest::arch)
      .def_rw("instruction", &MmaRequest::instruction)
      .def_rw("kind", &MmaRequest::kind)
      .def_rw("a_format", &MmaRequest::a_format)
      .def_rw("b_format", &MmaRequest::b_format)
      .def_rw("d_format", &MmaRequest::d_format)
      .def_rw("scale_format", &MmaRequest::scale_format)
      .def_rw("m", &MmaRequest::m)
      .def_rw("n", &MmaRequest::n)
      .def_rw("k", &MmaRequest::k)
      .def_rw("k_of_one", &MmaRequest::k_of_one)
      .def_rw("scales_of_one", &MmaRequest::scales_of_one);
  m.def("mma", &mma, nb::arg("request"), nb::arg("a"), nb::arg("b"), nb::arg("d"), nb::arg("a_scales"), nb::arg("b_scales"));
  m.def("convert", &convert, nb::arg("request"), nb::arg("codes"), nb::arg("out"), nb::arg("random").none());
  m.def("values", &values, nb::arg("format"), nb::arg("codes"), nb::arg("out"));
  m.def("format_info", &info);
}

}  // namespace drywell::python
