// Memory of other libraries' arrays by DLPack or the buffer protocol: where it is, and its shape.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/src/binding.h"

namespace drywell::python {
namespace {

using Array = nb::ndarray<nb::ro, nb::device::cpu>;

nb::dict describe(const Array& a) {
  nb::list shape, strides;
  for (size_t i = 0; i < a.ndim(); ++i) {
    shape.append(a.shape(i));
    strides.append(a.stride(i));
  }
  nb::dict out;
  out["address"] = reinterpret_cast<uintptr_t>(a.data());
  out["shape"] = nb::tuple(shape);
  out["strides"] = nb::tuple(strides);
  out["code"] = static_cast<int>(a.dtype().code);
  out["bits"] = static_cast<int>(a.dtype().bits);
  out["keep"] = nb::cast(a);
  return out;
}

}  // namespace

void bind_arrays(nb::module_& m) {
  m.def("describe_array", &describe, nb::arg("array"),
        "Address, shape, strides (in elements) and DLPack type of an array in host memory; TypeError for "
        "others.");
}

}  // namespace drywell::python
