// Entry points that nvcc's host code calls: registration of fat binaries, and launches by <<<…>>> (crt/host_runtime.h
// of CUDA 13.0).
#include <fmt/format.h>

#include "cudart/api/per_thread.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

GuestModule& module_of(Context& c, void** handle) { return c.modules.module(handle); }

/// Host and device have a managed variable under one address, as other managed memory.
void show_managed(Context& c, GuestModule& m, const Symbol& s) {
  const auto range = c.variable(m, s.name);
  c.memory().show_variable(*s.managed = range.host, range.bytes);
}

drywell::sim::LaunchConfig config_of(AbiDim3 grid, AbiDim3 block, size_t smem) {
  require(smem <= UINT32_MAX, CudaError::invalid_value);
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {1, 1, 1}, static_cast<uint32_t>(smem)};
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  serve_always("__cudaRegisterFatBinary", [&](Context& c) {
    const auto& w = *static_cast<const FatbinWrapper*>(wrapper);
    require(w.magic == kFatbinWrapperMagic, CudaError::invalid_kernel_image);
    const std::string name = fmt::format("<device code {}>", c.modules.all().size());
    std::vector<const void*> units;
    if (w.version == kLinkedFatbin && w.prelinked != nullptr) {
      for (void* const* unit = static_cast<void* const*>(w.prelinked); *unit != nullptr; ++unit) units.push_back(*unit);
    }
    // A linked program has machine code at `data`, and its units' PTX beside it.
    auto m = units.empty() ? std::make_unique<GuestModule>(w.data, name) : std::make_unique<GuestModule>(std::move(units), name);
    handle = reinterpret_cast<void**>(&c.modules.add(std::move(m)));
  });
  return handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  serve_always("__cudaUnregisterFatBinary", [&](Context& c) {
    GuestModule& m = module_of(c, handle);
    for (const auto& [host, symbol] : c.modules.symbols()) {
      if (symbol.module == &m && symbol.managed != nullptr && c.has_device()) c.memory().hide_variable(*symbol.managed);
    }
    c.modules.remove(&m);
  });
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*, void*, void*, int*) {
  serve_always("__cudaRegisterFunction", [&](Context& c) { c.modules.register_function(module_of(c, handle), host, name); });
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int, int) {
  serve_always("__cudaRegisterVar", [&](Context& c) { c.modules.register_variable(module_of(c, handle), host, name, bytes, nullptr); });
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t bytes, int, int) {
  serve_always("__cudaRegisterManagedVar", [&](Context& c) { c.modules.register_variable(module_of(c, handle), host, name, bytes, host); });
}

/// Called before the first access to a managed variable: its memory must exist then.
char __cudaInitModule(void** handle) {
  const CudaError e = serve_always("__cudaInitModule", [&](Context& c) {
    GuestModule& m = module_of(c, handle);
    for (const auto& [host, symbol] : c.modules.symbols()) {
      if (symbol.module == &m && symbol.managed != nullptr) show_managed(c, m, symbol);
    }
  });
  return e == CudaError::success ? 1 : 0;
}

unsigned __cudaPushCallConfiguration(AbiDim3 grid, AbiDim3 block, size_t smem, void* stream) {
  return static_cast<unsigned>(
      serve_always("__cudaPushCallConfiguration", [&](Context& c) { c.thread().pushed.push_back({grid, block, smem, stream}); }));
}

CudaError __cudaPopCallConfiguration(AbiDim3* grid, AbiDim3* block, size_t* smem, void* stream) {
  return serve_always("__cudaPopCallConfiguration", [&](Context& c) {
    auto& pushed = c.thread().pushed;
    require(!pushed.empty(), CudaError::missing_configuration);
    const CallConfiguration top = pushed.back();
    pushed.pop_back();
    *grid = top.grid;
    *block = top.block;
    *smem = top.smem;
    *static_cast<void**>(stream) = top.stream;
  });
}

CudaError __cudaGetKernel(void** kernel, const void* host) {
  return serve_always("__cudaGetKernel", [&](Context& c) { *kernel = &c.modules.kernel(host); });
}

CudaError cudaLaunchKernel(const void* function, AbiDim3 grid, AbiDim3 block, void** arguments, size_t smem, void* stream) {
  before_launch();
  return serve("cudaLaunchKernel",
               [&](Context& c) { c.launch(c.modules.kernel(function), config_of(grid, block, smem), arguments, nullptr, {}, stream); });
}
PER_THREAD_ALIAS(cudaLaunchKernel, _ptsz);

CudaError __cudaLaunchKernel(void* kernel, AbiDim3 grid, AbiDim3 block, void** arguments, size_t smem, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, smem, stream);
}
PER_THREAD_ALIAS(__cudaLaunchKernel, _ptsz);

CudaError cudaLaunchKernelExC(const RuntimeLaunchConfig* config, const void* function, void** arguments) {
  before_launch();
  return serve("cudaLaunchKernelExC", [&](Context& c) {
    require_value(config != nullptr);
    c.launch(c.modules.kernel(function), config_of(config->grid, config->block, config->dynamic_smem), arguments, nullptr,
             {config->attributes, config->attribute_count}, config->stream);
  });
}
PER_THREAD_ALIAS(cudaLaunchKernelExC, _ptsz);

CudaError cudaLaunchCooperativeKernel(const void* function, AbiDim3 grid, AbiDim3 block, void** arguments, size_t smem, void* stream) {
  LaunchAttribute attribute{};
  attribute.id = kCooperative;
  attribute.flag = 1;
  const RuntimeLaunchConfig config{grid, block, smem, stream, &attribute, 1};
  return cudaLaunchKernelExC(&config, function, arguments);
}
PER_THREAD_ALIAS(cudaLaunchCooperativeKernel, _ptsz);

#pragma GCC visibility pop
}
