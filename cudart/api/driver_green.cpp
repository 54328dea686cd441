// Green contexts of the driver interface: parts of the device's SMs, and streams on them.
#include <algorithm>

#include "cudart/properties.h"
#include "cudart/runtime_api.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

constexpr int kSms = 1, kMultiprocessors = 16;            // CU_DEV_RESOURCE_TYPE_SM, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr unsigned kGroup = 8;                            // the least part, and its alignment, of compute capability 9.0 and newer
constexpr unsigned kDefaultStream = 1, kNonBlocking = 1;  // CU_GREEN_CTX_DEFAULT_STREAM, CU_STREAM_NON_BLOCKING

/// CUdevResource
struct Resource {
  int type;
  unsigned char padding[92];
  unsigned sms, least, alignment;
  unsigned char rest[36];
};
static_assert(sizeof(Resource) == 144);

Resource resource_of(unsigned sms) { return {kSms, {}, sms, kGroup, kGroup, {}}; }
unsigned all_sms(Context& c) { return static_cast<unsigned>(device_attribute(c.device(), kMultiprocessors)); }

void give(Resource* out, int type, unsigned sms) {
  require_value(out != nullptr && type == kSms);
  *out = resource_of(sms);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuDeviceGetDevResource(int device, Resource* out, int type) {
  return serve("cuDeviceGetDevResource", [&](Context& c) {
    require(device == 0, CudaError::invalid_device);
    give(out, type, all_sms(c));
  });
}
/// Those of the green context that the context was made from, if it was.
CudaError cuCtxGetDevResource(void* context, Resource* out, int type) {
  return serve("cuCtxGetDevResource", [&](Context& c) {
    const void* const green = (context != nullptr ? c.contexts.get(context) : c.current_context()).green;
    give(out, type, green != nullptr ? c.green_contexts.get(green).sms : all_sms(c));
  });
}
CudaError cuGreenCtxGetDevResource(void* green, Resource* out, int type) {
  return serve("cuGreenCtxGetDevResource", [&](Context& c) { give(out, type, c.green_contexts.get(green).sms); });
}

/// Without `result`, only the number of groups. A group has at least `least` SMs.
CudaError cuDevSmResourceSplitByCount(Resource* result, unsigned* groups, const Resource* input, Resource* remaining, unsigned, unsigned least) {
  return serve("cuDevSmResourceSplitByCount", [&](Context&) {
    require_value(groups != nullptr && input != nullptr && input->type == kSms);
    const unsigned size = std::max((least + kGroup - 1) / kGroup * kGroup, kGroup);
    require_value(size <= input->sms);
    const unsigned possible = input->sms / size;
    *groups = result == nullptr ? possible : std::min(*groups, possible);
    for (unsigned i = 0; result != nullptr && i < *groups; ++i) result[i] = resource_of(size);
    const unsigned left = input->sms - *groups * size;
    if (remaining != nullptr) *remaining = left == 0 ? Resource{} : resource_of(left);
  });
}

CudaError cuDevResourceGenerateDesc(void** out, const Resource* all, unsigned count) {
  return serve("cuDevResourceGenerateDesc", [&](Context& c) {
    require_value(out != nullptr && all != nullptr && count != 0);
    unsigned sms = 0;
    for (unsigned i = 0; i < count; ++i) {
      require_value(all[i].type == kSms);
      sms += all[i].sms;
    }
    require_value(sms <= all_sms(c));
    *out = &c.green_descriptions.make(std::make_unique<GreenContext>(GreenContext{sms, 0}));
  });
}

CudaError cuGreenCtxCreate(void** out, void* description, int device, unsigned flags) {
  return serve("cuGreenCtxCreate", [&](Context& c) {
    require_value(out != nullptr && flags == kDefaultStream);
    require(device == 0, CudaError::invalid_device);
    const unsigned sms = c.green_descriptions.get(description).sms;
    *out = &c.green_contexts.make(std::make_unique<GreenContext>(GreenContext{sms, c.next_green++}));
    if (c.launcher().timed()) c.say_once("kernels in streams of green contexts are timed as if they had all SMs");
  });
}
CudaError cuGreenCtxDestroy(void* green) {
  return serve("cuGreenCtxDestroy", [&](Context& c) {
    c.green_contexts.take(green);
    c.contexts.green_destroyed(green);
  });
}
CudaError cuGreenCtxGetId(void* green, unsigned long long* out) {
  return serve("cuGreenCtxGetId", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.green_contexts.get(green).id;
  });
}
CudaError cuCtxFromGreenCtx(void** out, void* green) {
  return serve("cuCtxFromGreenCtx", [&](Context& c) {
    c.green_contexts.get(green);
    require_value(out != nullptr);
    *out = &c.contexts.of_green(green);
  });
}
CudaError cuGreenCtxStreamCreate(void** out, void* green, unsigned flags, int priority) {
  return serve("cuGreenCtxStreamCreate", [&](Context& c) {
    c.green_contexts.get(green);
    require_value(out != nullptr && flags == kNonBlocking);
    Stream& s = c.streams.create(flags, priority);
    s.context = &c.contexts.of_green(green);
    *out = &s;
  });
}
CudaError cuStreamGetGreenCtx(void* stream, void** out) {
  return serve("cuStreamGetGreenCtx", [&](Context& c) {
    require_value(out != nullptr);
    const GuestContext* const made_in = c.streams.get(stream).context;
    *out = made_in != nullptr ? const_cast<void*>(made_in->green) : nullptr;
  });
}

#pragma GCC visibility pop
}
