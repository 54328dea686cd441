// A shared object that says it was built with other headers.
#include "drywell/launch/kernel_library.h"

extern "C" void drywell_register(drywell::kernels::KernelList& list) {
  list.build = "another";
  list.calls = 1;
}
