// Tensor maps: encoding by the rules of the CUDA driver, and their fields as text.
#include "drywell/isa/tensor_map.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "python/src/binding.h"

namespace drywell::python {
namespace {

struct MapRequest {
  unsigned type = 0;
  uint64_t address = 0;
  std::vector<uint64_t> shape,
      strides;  // dimension 0 is contiguous; strides in bytes, of dimensions 1 and up
  std::vector<uint32_t> box, element_strides;
  unsigned swizzle = 0, interleave = 0, l2 = 0, fill = 0, capability = 100;
  std::vector<int32_t> lower, upper;  // corners of an im2col map in the order W, H, D
  uint32_t channels = 0, pixels = 0;  // of one of its loads; 0: a tiled map
};

template <class From, class To>
void copy_to(const std::vector<From>& from, To& to) {
  std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
}

void set_im2col(const MapRequest& r, isa::TensorMapFields& f) {
  f.mode = isa::TensorMapMode::im2col;
  copy_to(r.lower, f.lower_corner);
  copy_to(r.upper, f.upper_corner);
  f.channels_per_pixel = r.channels;
  f.pixels_per_column = r.pixels;
}

isa::TensorMapFields fields_of(const MapRequest& r) {
  isa::TensorMapFields f;
  if (r.pixels != 0) set_im2col(r, f);
  f.type = static_cast<isa::TensorType>(r.type);
  f.rank = static_cast<uint32_t>(r.shape.size());
  f.address = r.address;
  copy_to(r.shape, f.dim);
  copy_to(r.strides, f.stride);
  copy_to(r.box, f.box);
  copy_to(r.element_strides, f.element_stride);
  f.swizzle = static_cast<isa::Swizzle>(r.swizzle);
  f.interleave = static_cast<isa::Interleave>(r.interleave);
  f.l2_promotion = static_cast<isa::L2Promotion>(r.l2);
  f.oob_fill = static_cast<isa::OobFill>(r.fill);
  return f;
}

nb::bytes encode(const MapRequest& r) {
  const isa::TensorMap map = isa::encode(fields_of(r), r.capability);
  return nb::bytes(reinterpret_cast<const char*>(map.bytes.data()), map.bytes.size());
}

std::vector<std::string> describe(const nb::bytes& map) {
  if (map.size() != isa::kTensorMapBytes) throw nb::value_error("a tensor map has 128 bytes");
  isa::TensorMap m;
  std::memcpy(m.bytes.data(), map.c_str(), isa::kTensorMapBytes);
  Diagnostics problems;
  const isa::TensorMapFields f = isa::decode(m, problems);
  if (problems.has_errors()) throw InputError(std::move(problems));
  return isa::describe(f);
}

std::vector<std::string> type_names() {
  std::vector<std::string> out;
  for (unsigned i = 0; i < isa::kTensorTypeCount; ++i)
    out.emplace_back(isa::to_string(static_cast<isa::TensorType>(i)));
  return out;
}

}  // namespace

void bind_tensor_map(nb::module_& m) {
  nb::class_<MapRequest>(m, "MapRequest")
      .def(nb::init<>())
      .def_rw("type", &MapRequest::type)
      .def_rw("address", &MapRequest::address)
      .def_rw("shape", &MapRequest::shape)
      .def_rw("strides", &MapRequest::strides)
      .def_rw("box", &MapRequest::box)
      .def_rw("element_strides", &MapRequest::element_strides)
      .def_rw("swizzle", &MapRequest::swizzle)
      .def_rw("interleave", &MapRequest::interleave)
      .def_rw("l2", &MapRequest::l2)
      .def_rw("fill", &MapRequest::fill)
      .def_rw("capability", &MapRequest::capability)
      .def_rw("lower", &MapRequest::lower)
      .def_rw("upper", &MapRequest::upper)
      .def_rw("channels", &MapRequest::channels)
      .def_rw("pixels", &MapRequest::pixels);
  m.def("encode_tensor_map", &encode,
        "The 128 bytes; IllegalError E146x names every rule that the request breaks.");
  m.def("describe_tensor_map", &describe, "The fields of 128 bytes as lines of text.");
  m.def("tensor_map_types", &type_names, "Names of the element types, in the order of CUtensorMapDataType.");
}

}  // namespace drywell::python
