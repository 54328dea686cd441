#include "launch/cuda_driver/cuda_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "drywell/isa/print.h"

namespace drywell::kernels {

std::string_view arch_of_capability(int major, int minor) {
  const std::string wanted = fmt::format("sm_{}{}a", major, minor);
  for (const std::string_view name : sim::builtin_arch_names()) {
    if (name == wanted) return name;
  }
  return {};
}

struct CudaDevice::Impl {
  explicit Impl(std::shared_ptr<const cuda::Library> library) : api(std::move(library)) {}
  ~Impl() {
    if (module != nullptr) (*api)->cuModuleUnload(module);
    for (cuda::Event e : events) {
      if (e != nullptr) (*api)->cuEventDestroy_v2(e);
    }
    if (context != nullptr) (*api)->cuDevicePrimaryCtxRelease_v2(device);
  }
  int attribute(int which) const {
    int v = 0;
    api->check((*api)->cuDeviceGetAttribute(&v, which, device), "a question about the device");
    return v;
  }
  cuda::Function function(const std::string& kernel, const sim::LaunchConfig& config) const;

  std::shared_ptr<const cuda::Library> api;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  cuda::Module module = nullptr;
  std::array<cuda::Event, 2> events{};
  sim::ArchConfig arch;
  std::string name;
  isa::Module ir;
  bool lost = false;  // after a failed kernel
};

CudaDevice::CudaDevice() : impl_(std::make_unique<Impl>(cuda::Library::open())) {
  Impl& d = *impl_;
  const cuda::Library& api = *d.api;
  api.check(api->cuDeviceGet(&d.device, 0), "the first GPU");
  std::array<char, 128> name{};
  api.check(api->cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, d.device), "the GPU's name");
  const int major = d.attribute(cuda::kComputeCapabilityMajor), minor = d.attribute(cuda::kComputeCapabilityMinor);
  int version = 0;
  api.check(api->cuDriverGetVersion(&version), "the driver's version");
  d.name = fmt::format("{}, compute capability {}.{}, driver API {}.{}", name.data(), major, minor, version / 1000, version % 1000 / 10);
  const std::string_view arch = arch_of_capability(major, minor);
  if (arch.empty()) throw Unavailable(Code::E4503, fmt::format("{} is none that Drywell has figures for", d.name), fmt::format("GPUs of {} are known", fmt::join(sim::builtin_arch_names(), ", ")));
  d.arch = sim::load_arch(std::string(arch));
  api.check(api->cuDevicePrimaryCtxRetain(&d.context, d.device), "a context");
  api.check(api->cuCtxSetCurrent(d.context), "the context");
  for (cuda::Event& e : d.events) api.check(api->cuEventCreate(&e, 0), "an event");
}

CudaDevice::~CudaDevice() = default;

std::string CudaDevice::describe() const { return impl_->name; }
const sim::ArchConfig& CudaDevice::arch() const { return impl_->arch; }
bool CudaDevice::lost() const { return impl_->lost; }
uint32_t CudaDevice::sm_count() const { return static_cast<uint32_t>(impl_->attribute(cuda::kMultiprocessorCount)); }

GmemAddr CudaDevice::allocate(uint64_t bytes, std::string) {
  const cuda::Library& api = *impl_->api;
  cuda::DevicePtr p = 0;
  const uint64_t size = std::max<uint64_t>(bytes, 1);
  api.check(api->cuMemAlloc_v2(&p, size), "memory");
  api.check(api->cuMemsetD8_v2(p, 0xFF, size), "to poison memory");
  return GmemAddr(p);
}

void CudaDevice::release(GmemAddr a) {
  if (!impl_->lost) impl_->api->check((*impl_->api)->cuMemFree_v2(a.value()), "to free memory");
}

void CudaDevice::write(GmemAddr to, const void* from, uint64_t bytes) {
  if (bytes != 0) impl_->api->check((*impl_->api)->cuMemcpyHtoD_v2(to.value(), from, bytes), "a copy to the GPU");
}
void CudaDevice::read(void* to, GmemAddr from, uint64_t bytes) {
  if (bytes != 0) impl_->api->check((*impl_->api)->cuMemcpyDtoH_v2(to, from.value(), bytes), "a copy from the GPU");
}

isa::TensorMap CudaDevice::encode(const isa::TensorMapFields& f) {
  const cuda::Library& api = *impl_->api;
  isa::TensorMap map;
  void* address = reinterpret_cast<void*>(f.address);
  const int type = static_cast<int>(f.type), interleave = static_cast<int>(f.interleave), swizzle = static_cast<int>(f.swizzle);
  const int promotion = static_cast<int>(f.l2_promotion), fill = static_cast<int>(f.oob_fill);
  switch (f.mode) {
    case isa::TensorMapMode::tile:
      api.check(api->cuTensorMapEncodeTiled(map.bytes.data(), type, f.rank, address, f.dim.data(), f.stride.data(), f.box.data(),
                                            f.element_stride.data(), interleave, swizzle, promotion, fill),
                "a tiled tensor map");
      return map;
    case isa::TensorMapMode::im2col:
      api.check(api->cuTensorMapEncodeIm2col(map.bytes.data(), type, f.rank, address, f.dim.data(), f.stride.data(), f.lower_corner.data(),
                                             f.upper_corner.data(), f.channels_per_pixel, f.pixels_per_column, f.element_stride.data(),
                                             interleave, swizzle, promotion, fill),
                "an im2col tensor map");
      return map;
    default: throw Unsupported("im2col::w tensor maps on a GPU");
  }
}

void CudaDevice::load(isa::Module module, std::string_view text) {
  const cuda::Library& api = *impl_->api;
  if (impl_->module != nullptr) api.check(api->cuModuleUnload(impl_->module), "to unload a module");
  impl_->module = nullptr;
  impl_->ir = std::move(module);
  const std::string ptx = text.empty() ? isa::print_module(impl_->ir) : std::string(text);
  std::vector<char> log(16384, '\0');
  int options[] = {cuda::kErrorLogBuffer, cuda::kErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const cuda::Result r = api->cuModuleLoadDataEx(&impl_->module, ptx.c_str(), 2, options, values);
  if (r != 0) throw InputError(Code::E4504, fmt::format("the GPU's driver does not load the PTX: {}", api.describe(r)), log.data());
}

const cuda::Library& CudaDevice::library() const { return *impl_->api; }

cuda::Function CudaDevice::Impl::function(const std::string& kernel, const sim::LaunchConfig& config) const {
  cuda::Function handle = nullptr;
  api->check((*api)->cuModuleGetFunction(&handle, module, kernel.c_str()), "the kernel");
  if (config.dynamic_smem != 0) {
    api->check((*api)->cuFuncSetAttribute(handle, cuda::kMaxDynamicSharedSizeBytes, static_cast<int>(config.dynamic_smem)), "that much shared memory");
  }
  if (config.cluster.count() > 8) api->check((*api)->cuFuncSetAttribute(handle, cuda::kNonPortableClusterSizeAllowed, 1), "a large cluster");
  return handle;
}

void CudaDevice::enqueue(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, cuda::Stream stream) {
  const cuda::Library& api = *impl_->api;
  const std::string name(kernel);
  const isa::Function* f = impl_->ir.find_function(name);
  if (f == nullptr || !f->is_entry) throw InputError(Code::E4112, fmt::format("no kernel '{}' in the module", name));
  if (args.values().size() != f->params.size()) {
    throw InputError(Code::E4110, fmt::format("kernel '{}' takes {} arguments, {} given", name, f->params.size(), args.values().size()));
  }
  std::vector<std::vector<uint8_t>> values = args.values();
  std::vector<void*> parameters;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].size() != f->params[i].bytes()) {
      throw InputError(Code::E4111, fmt::format("argument {} has {} bytes, the parameter has {}", i, values[i].size(), f->params[i].bytes()));
    }
    parameters.push_back(values[i].data());
  }
  cuda::LaunchAttribute cluster;
  cluster.id = cuda::kClusterDimension;
  cluster.value.cluster = {config.cluster.x, config.cluster.y, config.cluster.z};
  const bool clustered = config.cluster.count() > 1;
  const cuda::LaunchConfig c{{config.grid.x, config.grid.y, config.grid.z}, {config.block.x, config.block.y, config.block.z}, config.dynamic_smem, stream, clustered ? &cluster : nullptr, clustered ? 1u : 0u};
  api.check(api->cuLaunchKernelEx(&c, impl_->function(name, config), parameters.data(), nullptr), "the launch");
}

sim::RunResult CudaDevice::launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions&) {
  const cuda::Library& api = *impl_->api;
  api.check(api->cuEventRecord(impl_->events[0], nullptr), "an event");
  enqueue(kernel, config, args, nullptr);
  api.check(api->cuEventRecord(impl_->events[1], nullptr), "an event");
  sim::RunResult out;
  // A failed kernel leaves the process unusable (CUDA driver API, "sticky" errors; an H200 refuses it a new context, too):
  // run_series() goes on in another process.
  if (const cuda::Result r = api->cuCtxSynchronize(); r != 0) {
    impl_->lost = true;
    sim::Fault fault;
    fault.code = kLaunchFailedOnGpu;
    fault.message = "on the GPU: " + api.describe(r);
    fault.where.kernel = std::string(kernel);
    out.fault = std::move(fault);
    return out;
  }
  float ms = 0;
  api.check(api->cuEventElapsedTime(&ms, impl_->events[0], impl_->events[1]), "the time");
  out.host_seconds = ms * 1e-3;
  return out;
}

}  // namespace drywell::kernels
