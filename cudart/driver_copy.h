// Descriptions of copies in the driver interface (cuda.h), as the runtime's.
#pragma once

#include "cudart/abi.h"

namespace drywell::cudart {

/// CUmemorytype
enum class DriverMemory : int {
  host = 1,
  device = 2,
  array = 3,
  unified = 4
};

/// One end of a CUDA_MEMCPY2D.
struct DriverEnd2D {
  size_t x, y;
  DriverMemory type;
  const void* host;
  uint64_t device;
  void* array;
  size_t pitch;
};
/// CUDA_MEMCPY2D
struct DriverCopy2D {
  DriverEnd2D from, to;
  size_t width, height;
};
/// One end of a CUDA_MEMCPY3D.
struct DriverEnd3D {
  size_t x, y, z, level;
  DriverMemory type;
  const void* host;
  uint64_t device;
  void *array, *reserved;
  size_t pitch, height;
};
/// CUDA_MEMCPY3D
struct DriverCopy3D {
  DriverEnd3D from, to;
  size_t width, height, depth;
};

/// Throw CallFailed for what is not there, Unsupported for arrays.
Memcpy3DParms runtime_copy(const DriverCopy2D* p);
Memcpy3DParms runtime_copy(const DriverCopy3D* p);
DriverCopy3D driver_copy(const Memcpy3DParms& p);

}  // namespace drywell::cudart
