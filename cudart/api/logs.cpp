// The driver's own log, in both interfaces: the stand-in writes its messages to standard error, calls nobody, and keeps no entries.
#include "cudart/serve.h"
#include "drywell/core/files.h"

using namespace drywell::cudart;

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaLogsRegisterCallback(void*, void*, void** out) {
  return serve("cudaLogsRegisterCallback", [&](Context&) {
    static char handle;
    if (out != nullptr) *out = &handle;
  });
}
CudaError cudaLogsUnregisterCallback(void*) {
  return serve("cudaLogsUnregisterCallback", [](Context&) {});
}
CudaError cudaLogsCurrent(unsigned* out, unsigned flags) {
  return serve("cudaLogsCurrent", [&](Context&) {
    require_value(out != nullptr && flags == 0);
    *out = 0;
  });
}
CudaError cudaLogsDumpToFile(unsigned*, const char* path, unsigned flags) {
  return serve("cudaLogsDumpToFile", [&](Context&) {
    require_value(path != nullptr && flags == 0);
    drywell::write_file_atomically(path, std::string_view());
  });
}
CudaError cudaLogsDumpToMemory(unsigned*, char* out, size_t* bytes, unsigned flags) {
  return serve("cudaLogsDumpToMemory", [&](Context&) {
    require_value(out != nullptr && bytes != nullptr && *bytes != 0 && flags == 0);
    *out = 0;
    *bytes = 0;
  });
}

CudaError cuLogsRegisterCallback(void* function, void* data, void** out) { return forward(cudaLogsRegisterCallback, function, data, out); }
CudaError cuLogsUnregisterCallback(void* handle) { return forward(cudaLogsUnregisterCallback, handle); }
CudaError cuLogsCurrent(unsigned* out, unsigned flags) { return forward(cudaLogsCurrent, out, flags); }
CudaError cuLogsDumpToFile(unsigned* at, const char* path, unsigned flags) { return forward(cudaLogsDumpToFile, at, path, flags); }
CudaError cuLogsDumpToMemory(unsigned* at, char* out, size_t* bytes, unsigned flags) { return forward(cudaLogsDumpToMemory, at, out, bytes, flags); }

#pragma GCC visibility pop
}
