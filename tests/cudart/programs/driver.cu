// The driver interface alone, through cuda.h: contexts, modules from text, memory, launches, streams, events, graphs, errors.
#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

size_t wrong = 0;
void expect(bool fine, const char* what) {
  if (!fine) std::printf("wrong: %s\n", what);
  wrong += !fine;
}
#define EXPECT(CONDITION_) expect((CONDITION_), #CONDITION_)
#define OK(CALL_) expect((CALL_) == CUDA_SUCCESS, #CALL_)

constexpr char kText[] = R"(.version 8.7
.target sm_90
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 p, .param .u32 n)
{
  .reg .pred %q;
  .reg .b32 %r<6>;
  .reg .b64 %a<3>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r2, [n];
  setp.ge.u32 %q, %r1, %r2;
  @%q bra done;
  ld.param.u64 %a1, [p];
  mul.wide.u32 %a2, %r1, 4;
  add.u64 %a1, %a1, %a2;
  ld.global.u32 %r4, [%a1];
  ld.global.u32 %r5, [factor];
  mul.lo.u32 %r4, %r4, %r5;
  st.global.u32 [%a1], %r4;
done:
  ret;
}
.visible .entry clusters(.param .u64 p)
{
  .reg .b32 %r1;
  .reg .b64 %a1;
  ld.param.u64 %a1, [p];
  mov.u32 %r1, %cluster_nctarank;
  st.global.u32 [%a1], %r1;
  ret;
}
)";

void memory() {
  CUdeviceptr p = 0, base = 0;
  size_t bytes = 0, pitch = 0, free = 0, total = 0;
  OK(cuMemAlloc(&p, 64));
  OK(cuMemsetD8(p, 0xAB, 64));
  OK(cuMemsetD16(p + 16, 0x1234, 8));
  OK(cuMemsetD32(p + 32, 0xCAFEF00D, 4));
  unsigned char host[64];
  OK(cuMemcpyDtoH(host, p, sizeof host));
  uint16_t half = 0;
  uint32_t word = 0;
  std::memcpy(&half, host + 30, 2);
  std::memcpy(&word, host + 44, 4);
  EXPECT(host[0] == 0xAB && host[15] == 0xAB && half == 0x1234 && word == 0xCAFEF00D && host[48] == 0xAB);
  OK(cuMemGetAddressRange(&base, &bytes, p + 10));
  EXPECT(base == p && bytes == 64);
  OK(cuMemGetInfo(&free, &total));
  EXPECT(free < total);
  OK(cuMemFree(p));
  OK(cuMemAllocPitch(&p, &pitch, 100, 4, 4));
  EXPECT(pitch >= 100 && pitch % 256 == 0);
  OK(cuMemFree(p));
  void* pinned = nullptr;
  OK(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  OK(cuMemHostGetDevicePointer(&p, pinned, 0));
  OK(cuMemsetD8(p, 7, 64));
  EXPECT(static_cast<unsigned char*>(pinned)[63] == 7);
  OK(cuMemFreeHost(pinned));
}

void launches(CUmodule module) {
  CUfunction scale, clusters;
  OK(cuModuleGetFunction(&scale, module, "scale"));
  OK(cuModuleGetFunction(&clusters, module, "clusters"));
  std::vector<uint32_t> host(1000, 5);
  CUdeviceptr p = 0, factor = 0;
  size_t bytes = 0;
  OK(cuMemAlloc(&p, host.size() * 4));
  OK(cuMemcpyHtoD(p, host.data(), host.size() * 4));
  CUstream stream;
  CUevent begin, end;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  unsigned n = static_cast<unsigned>(host.size());
  void* arguments[] = {&p, &n};
  OK(cuEventRecord(begin, stream));
  OK(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  OK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT(bytes == 4);
  const uint32_t four = 4;
  OK(cuMemcpyHtoDAsync(factor, &four, 4, stream));
  struct {
    CUdeviceptr p;
    unsigned n;
  } packed{p, n};
  size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, stream, nullptr, extra));
  OK(cuEventRecord(end, stream));
  OK(cuEventSynchronize(end));
  float ms = -1;
  OK(cuEventElapsedTime(&ms, begin, end));
  OK(cuMemcpyDtoH(host.data(), p, host.size() * 4));
  EXPECT(host[0] == 60 && host[999] == 60);

  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {4, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cuLaunchKernelEx(&config, clusters, arguments, nullptr));
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH(host.data(), p, 4));
  EXPECT(host[0] == 4);
  int blocks = 0, active = 0;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 1024, 0));
  OK(cuOccupancyMaxActiveClusters(&active, clusters, &config));
  EXPECT(blocks == 2 && active > 0);
  EXPECT(cuLaunchKernel(scale, 1, 1, 1, 2000, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuModuleGetFunction(&scale, module, "nothing") == CUDA_ERROR_NOT_FOUND);

  CUgraph graph;
  CUgraphExec executable;
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuMemsetD32Async(p, 1, 1000, stream));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphInstantiate(&executable, graph, 0));
  OK(cuGraphLaunch(executable, stream));
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH(host.data(), p, host.size() * 4));
  EXPECT(host[500] == 1);
  OK(cuMemFree(p));
}

// Two units, linked when the program runs.
void linking() {
  constexpr char kCaller[] =
      ".version 8.7\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) seven();\n.visible .entry put(.param .u64 p)\n{\n.reg .b32 %r1;\n"
      ".reg .b64 %a1;\nld.param.u64 %a1, [p];\n{\n.param .b32 out;\ncall (out), seven;\nld.param.b32 %r1, [out];\n}\nst.global.u32 [%a1], %r1;\nret;\n}\n";
  constexpr char kCalled[] =
      ".version 8.7\n.target sm_90\n.address_size 64\n.visible .func (.param .b32 r) seven()\n{\n.reg .b32 %r1;\nmov.u32 %r1, 7;\nst.param.b32 [r], %r1;\n"
      "ret;\n}\n";
  CUlinkState state;
  void* image = nullptr;
  size_t bytes = 0;
  char info[64], error[256];
  std::fill(std::begin(info), std::end(info), 'x');
  std::fill(std::begin(error), std::end(error), 'x');
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE};
  void* values[] = {info, reinterpret_cast<void*>(sizeof info), error, reinterpret_cast<void*>(sizeof error), reinterpret_cast<void*>(1)};
  OK(cuLinkCreate(5, options, values, &state));
  EXPECT(cuLinkAddData(state, CU_JIT_INPUT_CUBIN, const_cast<char*>(kCaller), sizeof kCaller, "caller", 0, nullptr, nullptr) != CUDA_SUCCESS);
  EXPECT(error[0] != 0 && error[0] != 'x' && std::find(std::begin(error), std::end(error), 0) != std::end(error));
  OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kCaller), sizeof kCaller, "caller", 0, nullptr, nullptr));
  OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kCalled), sizeof kCalled, "called", 0, nullptr, nullptr));
  OK(cuLinkComplete(state, &image, &bytes));
  EXPECT(info[0] == 0 && error[0] == 0);
  CUmodule module;
  CUfunction put;
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(state));
  OK(cuModuleGetFunction(&put, module, "put"));
  CUdeviceptr p = 0;
  OK(cuMemAlloc(&p, 4));
  void* arguments[] = {&p};
  OK(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int value = 0;
  OK(cuMemcpyDtoH(&value, p, 4));
  EXPECT(value == 7);
}

// A driver refuses everything before cuInit, and then has no context until the program makes one current.
void before_contexts() {
  CUcontext context = nullptr;
  CUdeviceptr p = 0;
  int count = 0;
  EXPECT(cuCtxGetCurrent(&context) == CUDA_ERROR_NOT_INITIALIZED);
  EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  EXPECT(cuMemAlloc(&p, 4) == CUDA_ERROR_NOT_INITIALIZED);
  EXPECT(cuDriverGetVersion(&count) == CUDA_SUCCESS);
  OK(cuInit(0));
  OK(cuCtxGetCurrent(&context));
  EXPECT(context == nullptr);
  EXPECT(cuCtxPopCurrent(&context) == CUDA_ERROR_INVALID_CONTEXT);
}

// Each thread has a stack of contexts.
void contexts(CUdevice device) {
  CUcontext primary = nullptr, current = nullptr;
  unsigned flags = 0;
  int active = 1;
  OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 0);
  OK(cuDevicePrimaryCtxRetain(&primary, device));
  OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 1);
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);
  OK(cuCtxPushCurrent(primary));
  OK(cuCtxPushCurrent(primary));
  OK(cuCtxPopCurrent(nullptr));
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == primary);
  OK(cuCtxSetCurrent(nullptr));
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);
  OK(cuDevicePrimaryCtxRelease(device));
}

}  // namespace

int main() {
  before_contexts();
  int devices = 0, version = 0, major = 0;
  OK(cuDeviceGetCount(&devices));
  OK(cuDriverGetVersion(&version));
  EXPECT(devices == 1 && version >= 13000);
  CUdevice device;
  CUcontext context;
  OK(cuDeviceGet(&device, 0));
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(major == 10);
  contexts(device);
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  memory();
  CUmodule module;
  OK(cuModuleLoadData(&module, kText));
  launches(module);
  linking();
  const char *name = nullptr, *text = nullptr;
  OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
  OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT(std::strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0 && std::strstr(text, "illegal memory access") != nullptr);
  OK(cuModuleUnload(module));
  OK(cuCtxSynchronize());
  OK(cuDevicePrimaryCtxRelease(device));
  std::printf(wrong == 0 ? "Passed\n" : "Failed\n");
  return wrong == 0 ? 0 : 1;
}
