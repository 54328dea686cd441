// Code loaded at run time: the library interface of the runtime.
#include <fmt/format.h>

#include <algorithm>

#include "cudart/cubin.h"
#include "cudart/fatbin.h"
#include "cudart/names.h"
#include "cudart/serve.h"
#include "drywell/core/files.h"

using namespace drywell::cudart;

namespace {

/// The program may release its image after the call: the module keeps the text. `name`: for messages; empty: that of its first kernel.
GuestModule& load_image(Context& c, const void* code, const std::string& name) {
  const auto linked = std::find_if(c.links.begin(), c.links.end(), [&](const auto& l) { return l.get() == code; });
  const auto text = [&] {
    const auto kept = kept_ptx(code);
    return kept.has_value() ? *kept : best_image(read_fatbin(code), c.device().arch().target).ptx();
  };
  std::vector<std::string> texts = linked != c.links.end() ? (*linked)->texts : std::vector<std::string>{text()};
  const std::string own = name_of_image(texts.empty() ? "" : texts.front(), c.modules.all().size());
  GuestModule& m = c.modules.add(std::make_unique<GuestModule>(std::move(texts), name.empty() ? own : name));
  c.loaded(m);
  return m;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaLibraryLoadData(void** out, const void* code, int*, void**, unsigned, int*, void**, unsigned) {
  return serve("cudaLibraryLoadData", [&](Context& c) {
    require_value(out != nullptr && code != nullptr);
    *out = &load_image(c, code, "");
  });
}
/// PTX text or a fat binary.
CudaError cudaLibraryLoadFromFile(void** out, const char* path, int*, void**, unsigned, int*, void**, unsigned) {
  return serve("cudaLibraryLoadFromFile", [&](Context& c) {
    require_value(out != nullptr && path != nullptr);
    const auto bytes = drywell::read_file(path);
    const std::string image(reinterpret_cast<const char*>(bytes.data()), bytes.size());  // ends with 0, as text in memory does
    *out = &load_image(c, image.c_str(), path);
  });
}
CudaError cudaLibraryUnload(void* library) {
  return serve("cudaLibraryUnload", [&](Context& c) { c.modules.remove(&c.modules.module(library)); });
}
CudaError cudaLibraryGetKernel(void** out, void* library, const char* name) {
  return serve("cudaLibraryGetKernel", [&](Context& c) {
    GuestModule& m = c.modules.module(library);
    require_value(out != nullptr && name != nullptr);
    const auto* f = c.loaded(m).module().find_function(name);
    require(f != nullptr && f->is_entry, CudaError::symbol_not_found);
    *out = &m.kernel(name);
  });
}
CudaError cudaLibraryGetGlobal(void** out, size_t* bytes, void* library, const char* name) {
  return serve("cudaLibraryGetGlobal", [&](Context& c) {
    require_value(name != nullptr);
    const auto range = c.variable(c.modules.module(library), name);
    if (out != nullptr) *out = reinterpret_cast<void*>(range.base.value());
    if (bytes != nullptr) *bytes = range.bytes;
  });
}
/// A managed variable is one of the module's, for host and device.
CudaError cudaLibraryGetManaged(void** out, size_t* bytes, void* library, const char* name) { return cudaLibraryGetGlobal(out, bytes, library, name); }
CudaError cudaLibraryEnumerateKernels(void** out, unsigned most, void* library) {
  return serve("cudaLibraryEnumerateKernels", [&](Context& c) {
    GuestModule& m = c.modules.module(library);
    require_value(out != nullptr);
    unsigned n = 0;
    for (const auto& f : c.loaded(m).module().functions) {
      if (f.is_entry && n < most) out[n++] = &m.kernel(f.name);
    }
  });
}
CudaError cudaLibraryGetKernelCount(unsigned* out, void* library) {
  return serve("cudaLibraryGetKernelCount", [&](Context& c) {
    require_value(out != nullptr);
    *out = 0;
    for (const auto& f : c.loaded(c.modules.module(library)).module().functions) *out += f.is_entry ? 1 : 0;
  });
}

#pragma GCC visibility pop
}
