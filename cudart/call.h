// How a call ends early: what the parts of the stand-in throw at the C interface, which turns it into the number a program
// gets (serve.h).
#pragma once

#include "cudart/abi.h"

namespace drywell::cudart {

/// Ends the call with an error that needs no words.
struct CallFailed {
  CudaError error;
};

/// Ends the call with `error` unless `fine`.
inline void require(bool fine, CudaError error) {
  if (!fine) throw CallFailed{error};
}
inline void require_value(bool fine) { require(fine, CudaError::invalid_value); }

}  // namespace drywell::cudart
