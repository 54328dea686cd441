// drywell._core: the simulator's public headers for Python.
#include <nanobind/nanobind.h>

#include "python/src/binding.h"

NB_MODULE(_core, m) {
  using namespace drywell::python;
  nanobind::set_leak_warnings(
      false);  // caches of other packages (Triton's) keep modules to the end of the process
  m.attr("version") = DRYWELL_VERSION;
  bind_errors(m);
  bind_arrays(m);
  bind_ptx(m);
  bind_tensor_map(m);
  bind_device(m);
  bind_numbers(m);
  bind_layouts(m);
}
