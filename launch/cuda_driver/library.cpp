#include "launch/cuda_driver/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace drywell::kernels {

namespace cuda {
namespace {

template <class F>
void find(void* handle, const char* name, F*& into) {
  void* p = dlsym(handle, name);
  if (p == nullptr) throw Unavailable(Code::E4501, fmt::format("the CUDA driver library lacks {}", name), "a driver for CUDA 12.0 or later is needed");
  into = reinterpret_cast<F*>(p);
}

Api find_all(void* handle) {
  Api a;
  find(handle, "cuInit", a.cuInit);
  find(handle, "cuDriverGetVersion", a.cuDriverGetVersion);
  find(handle, "cuGetErrorName", a.cuGetErrorName);
  find(handle, "cuGetErrorString", a.cuGetErrorString);
  find(handle, "cuDeviceGetCount", a.cuDeviceGetCount);
  find(handle, "cuDeviceGet", a.cuDeviceGet);
  find(handle, "cuDeviceGetName", a.cuDeviceGetName);
  find(handle, "cuDeviceGetAttribute", a.cuDeviceGetAttribute);
  find(handle, "cuDevicePrimaryCtxRetain", a.cuDevicePrimaryCtxRetain);
  find(handle, "cuDevicePrimaryCtxRelease_v2", a.cuDevicePrimaryCtxRelease_v2);
  find(handle, "cuCtxSetCurrent", a.cuCtxSetCurrent);
  find(handle, "cuCtxSynchronize", a.cuCtxSynchronize);
  find(handle, "cuMemAlloc_v2", a.cuMemAlloc_v2);
  find(handle, "cuMemFree_v2", a.cuMemFree_v2);
  find(handle, "cuMemcpyHtoD_v2", a.cuMemcpyHtoD_v2);
  find(handle, "cuMemcpyDtoH_v2", a.cuMemcpyDtoH_v2);
  find(handle, "cuMemsetD8_v2", a.cuMemsetD8_v2);
  find(handle, "cuModuleLoadDataEx", a.cuModuleLoadDataEx);
  find(handle, "cuModuleUnload", a.cuModuleUnload);
  find(handle, "cuModuleGetFunction", a.cuModuleGetFunction);
  find(handle, "cuFuncSetAttribute", a.cuFuncSetAttribute);
  find(handle, "cuLaunchKernelEx", a.cuLaunchKernelEx);
  find(handle, "cuEventCreate", a.cuEventCreate);
  find(handle, "cuEventDestroy_v2", a.cuEventDestroy_v2);
  find(handle, "cuEventRecord", a.cuEventRecord);
  find(handle, "cuEventElapsedTime", a.cuEventElapsedTime);
  find(handle, "cuStreamCreate", a.cuStreamCreate);
  find(handle, "cuStreamDestroy_v2", a.cuStreamDestroy_v2);
  find(handle, "cuStreamSynchronize", a.cuStreamSynchronize);
  find(handle, "cuStreamBeginCapture_v2", a.cuStreamBeginCapture_v2);
  find(handle, "cuStreamEndCapture", a.cuStreamEndCapture);
  find(handle, "cuGraphInstantiateWithFlags", a.cuGraphInstantiateWithFlags);
  find(handle, "cuGraphLaunch", a.cuGraphLaunch);
  find(handle, "cuGraphExecDestroy", a.cuGraphExecDestroy);
  find(handle, "cuGraphDestroy", a.cuGraphDestroy);
  find(handle, "cuTensorMapEncodeTiled", a.cuTensorMapEncodeTiled);
  find(handle, "cuTensorMapEncodeIm2col", a.cuTensorMapEncodeIm2col);
  return a;
}

}  // namespace

std::shared_ptr<const Library> Library::open() {
  std::shared_ptr<Library> out(new Library);
  // Tests set the variable to a library that does not exist.
  const char* named = std::getenv("DRYWELL_LIBCUDA");
  const char* name = named != nullptr ? named : "libcuda.so.1";
  out->handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (out->handle_ == nullptr) {
    throw Unavailable(Code::E4501, fmt::format("no CUDA driver on this machine ({} cannot be opened)", name), "drywell run simulates; it needs no GPU");
  }
  out->api_ = find_all(out->handle_);
  const Result r = out->api_.cuInit(0);
  int count = 0;
  if (r != 0 || out->api_.cuDeviceGetCount(&count) != 0 || count == 0) {
    throw Unavailable(Code::E4502, fmt::format("the CUDA driver finds no GPU{}", r != 0 ? " (" + out->describe(r) + ")" : ""), "drywell run simulates; it needs no GPU");
  }
  return out;
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

std::string Library::describe(Result r) const {
  const char* name = nullptr;
  const char* text = nullptr;
  api_.cuGetErrorName(r, &name);
  api_.cuGetErrorString(r, &text);
  return fmt::format("{}: {}", name != nullptr ? name : "unknown CUDA error", text != nullptr ? text : std::to_string(r));
}

void Library::check(Result r, const char* what) const {
  if (r != 0) throw InputError(Code::E4504, fmt::format("the GPU's driver refuses {}: {}", what, describe(r)));
}

}  // namespace cuda
}  // namespace drywell::kernels
