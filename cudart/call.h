// Early end of a call: the parts of the stand-in throw CallFailed, and the C interface converts it to the error number
// that the program gets (serve.h).
#pragma once

#include "cudart/abi.h"

namespace drywell::cudart {

/// Ends the call with an error, without a message.
struct CallFailed {
  CudaError error;
};

/// Ends the call with `error` unless `fine`.
inline void require(bool fine, CudaError error) {
  if (!fine) throw CallFailed{error};
}
inline void require_value(bool fine) { require(fine, CudaError::invalid_value); }

}  // namespace drywell::cudart
