// Entry points that CUDA 13.0's libraries have and the stand-in does not serve: a call fails with cudaErrorNotSupported and is
// reported once. The functions ignore their arguments, which the C calling convention allows.
#include "cudart/serve.h"

extern "C" {
#pragma GCC visibility push(default)

#define NOT_SERVED(NAME_) \
  drywell::cudart::CudaError NAME_() { return drywell::cudart::not_served(#NAME_); }
#include "cudart/table/runtime_not_served.inc"
// The last: it ends the macros.
#include "cudart/table/driver.inc"

#pragma GCC visibility pop
}
