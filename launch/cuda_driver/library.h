// The CUDA driver library, opened when a program requests a GPU: no link dependency and no header of the toolkit. The
// declarations below are the entry points and numbers of CUDA 12's driver API (cuda.h) that Drywell uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "launch/unavailable.h"

namespace drywell::kernels {

namespace cuda {

using Result = int;  // CUresult; 0 is success
using Device = int;
using DevicePtr = unsigned long long;
struct ContextStruct;
struct ModuleStruct;
struct FunctionStruct;
struct EventStruct;
struct StreamStruct;
struct GraphStruct;
struct GraphExecStruct;
using Context = ContextStruct*;
using Module = ModuleStruct*;
using Function = FunctionStruct*;
using Event = EventStruct*;
using Stream = StreamStruct*;
using Graph = GraphStruct*;
using GraphExec = GraphExecStruct*;

enum DeviceAttribute : int {
  kMultiprocessorCount = 16,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76
};
enum FunctionAttribute : int {
  kMaxDynamicSharedSizeBytes = 8,
  kNonPortableClusterSizeAllowed = 14
};
enum StreamFlag : unsigned {
  kNonBlocking = 1
};
enum CaptureMode : int {
  kCaptureThreadLocal = 1
};
enum JitOption : int {
  kErrorLogBuffer = 5,
  kErrorLogBufferSizeBytes = 6
};

struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  union {
    unsigned char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value{};
};
inline constexpr int kClusterDimension = 4;  // LaunchAttribute::id

struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// The entry points, with their names in the library.
struct Api {
  Result (*cuInit)(unsigned);
  Result (*cuDriverGetVersion)(int*);
  Result (*cuGetErrorName)(Result, const char**);
  Result (*cuGetErrorString)(Result, const char**);
  Result (*cuDeviceGetCount)(int*);
  Result (*cuDeviceGet)(Device*, int);
  Result (*cuDeviceGetName)(char*, int, Device);
  Result (*cuDeviceGetAttribute)(int*, int, Device);
  Result (*cuDevicePrimaryCtxRetain)(Context*, Device);
  Result (*cuDevicePrimaryCtxRelease_v2)(Device);
  Result (*cuCtxSetCurrent)(Context);
  Result (*cuCtxSynchronize)();
  Result (*cuMemAlloc_v2)(DevicePtr*, size_t);
  Result (*cuMemFree_v2)(DevicePtr);
  Result (*cuMemcpyHtoD_v2)(DevicePtr, const void*, size_t);
  Result (*cuMemcpyDtoH_v2)(void*, DevicePtr, size_t);
  Result (*cuMemsetD8_v2)(DevicePtr, unsigned char, size_t);
  Result (*cuModuleLoadDataEx)(Module*, const void*, unsigned, int*, void**);
  Result (*cuModuleUnload)(Module);
  Result (*cuModuleGetFunction)(Function*, Module, const char*);
  Result (*cuFuncSetAttribute)(Function, int, int);
  Result (*cuLaunchKernelEx)(const LaunchConfig*, Function, void**, void**);
  Result (*cuEventCreate)(Event*, unsigned);
  Result (*cuEventDestroy_v2)(Event);
  Result (*cuEventRecord)(Event, Stream);
  Result (*cuEventElapsedTime)(float*, Event, Event);
  Result (*cuStreamCreate)(Stream*, unsigned);
  Result (*cuStreamDestroy_v2)(Stream);
  Result (*cuStreamSynchronize)(Stream);
  Result (*cuStreamBeginCapture_v2)(Stream, int);
  Result (*cuStreamEndCapture)(Stream, Graph*);
  Result (*cuGraphInstantiateWithFlags)(GraphExec*, Graph, unsigned long long);
  Result (*cuGraphLaunch)(GraphExec, Stream);
  Result (*cuGraphExecDestroy)(GraphExec);
  Result (*cuGraphDestroy)(Graph);
  Result (*cuTensorMapEncodeTiled)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*, int, int, int, int);
  Result (*cuTensorMapEncodeIm2col)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const int*, const int*, uint32_t, uint32_t,
                                    const uint32_t*, int, int, int, int);
};

/// The opened library; it stays open while a shared_ptr to it exists.
class Library {
 public:
  /// Throws Unavailable E4501 (no library, or an entry point is missing), E4502 (no device).
  static std::shared_ptr<const Library> open();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Api* operator->() const { return &api_; }
  /// Returns for example "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  std::string describe(Result r) const;
  /// Throws InputError E4504, with `what` in the message, unless `r` is success.
  void check(Result r, const char* what) const;

 private:
  Library() = default;
  void* handle_ = nullptr;
  Api api_{};
};

}  // namespace cuda
}  // namespace drywell::kernels
