// cuLink…: PTX that a program links at run time.
#include <algorithm>

#include "cudart/fatbin.h"
#include "cudart/serve.h"
#include "drywell/core/error.h"
#include "drywell/core/files.h"

using namespace drywell::cudart;

namespace {

// CUjitInputType
constexpr int kPtx = 1, kFatBinary = 2;

LinkJob& job(Context& c, const void* state) {
  const auto it = std::find_if(c.links.begin(), c.links.end(), [&](const auto& l) { return l.get() == state; });
  require(it != c.links.end(), CudaError::invalid_handle);
  return **it;
}

void add(Context& c, void* state, int type, const void* data, size_t bytes) {
  require_value(data != nullptr);
  if (type != kPtx && type != kFatBinary) throw drywell::Unsupported("linking of machine code (cuLinkAddData)");
  job(c, state).texts.push_back(best_image(read_fatbin(data, bytes), c.device().arch().target).ptx());
}

/// Writes why a step of a link failed into the buffers that the program gave when the link began.
CudaError with_logs(CudaError error, void* state) {
  (void)serve_always("cuLinkComplete", [&](Context& c) { job(c, state).logs.write("", error == CudaError::success ? "" : c.explanation()); });
  return error;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuLinkCreate_v2(unsigned count, int* options, void** values, void** out) {
  return serve("cuLinkCreate", [&](Context& c) {
    require_value(out != nullptr);
    LinkJob& j = *c.links.emplace_back(std::make_unique<LinkJob>());
    j.logs = JitLogs(count, options, values);
    *out = &j;
  });
}
CudaError cuLinkAddData_v2(void* state, int type, void* data, size_t bytes, const char*, unsigned, int*, void**) {
  return with_logs(serve("cuLinkAddData", [&](Context& c) { add(c, state, type, data, bytes); }), state);
}
CudaError cuLinkAddFile_v2(void* state, int type, const char* path, unsigned, int*, void**) {
  return with_logs(serve("cuLinkAddFile", [&](Context& c) {
                     require_value(path != nullptr);
                     const std::vector<std::byte> bytes = drywell::read_file(path);
                     add(c, state, type, bytes.data(), bytes.size());
                   }),
                   state);
}
CudaError cuLinkComplete(void* state, void** image, size_t* bytes) {
  return with_logs(serve("cuLinkComplete", [&](Context& c) {
                     LinkJob& j = job(c, state);
                     require_value(image != nullptr && !j.texts.empty());
                     *image = &j;
                     if (bytes != nullptr) *bytes = sizeof j;
                   }),
                   state);
}
CudaError cuLinkDestroy(void* state) {
  return serve("cuLinkDestroy", [&](Context& c) {
    job(c, state);
    std::erase_if(c.links, [&](const auto& l) { return l.get() == state; });
  });
}

#pragma GCC visibility pop
}
