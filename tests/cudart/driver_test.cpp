// The driver interface, without CUDA: the committed PTX of examples/cuda (tests/corpus) loaded and launched as a host program
// would, against arithmetic written out here.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "cudart/abi.h"
#include "cudart_program.h"
#include "support/paths.h"

extern "C" {
CudaError cuInit(unsigned flags);
CudaError cuDeviceGetExecAffinitySupport(int* out, int type, int device);
CudaError cuModuleLoad(void** out, const char* path);
CudaError cuModuleLoadData(void** out, const void* image);
CudaError cuModuleGetFunction(void** out, void* module, const char* name);
CudaError cuModuleUnload(void* module);
CudaError cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, void* function, int threads, size_t smem);
CudaError cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void* function, size_t (*smem_of)(int), size_t smem, int limit);
CudaError cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, void* function, size_t (*smem_of)(int), size_t smem, int limit, unsigned flags);
CudaError cuFuncGetAttribute(int* out, int attribute, void* function);
CudaError cuDeviceGetAttribute(int* out, int attribute, int device);
CudaError cuCtxGetLimit(size_t* out, int limit);
CudaError cuCtxSetLimit(int limit, size_t value);
CudaError cuModuleLoadDataEx(void** out, const void* image, unsigned count, int* options, void** values);
CudaError cuMemAlloc_v2(uint64_t* out, size_t bytes);
CudaError cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes);
CudaError cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes);
CudaError cuFuncSetAttribute(void* function, int attribute, int value);
CudaError cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned smem, void* stream,
                         void** arguments, void** extra);
CudaError cuCtxSynchronize();
CudaError cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t p);
CudaError cuModuleGetGlobal_v2(uint64_t* out, size_t* bytes, void* module, const char* name);
CudaError cuPointerGetAttribute(void* out, int attribute, uint64_t p);
CudaError cuPointerGetAttributes(unsigned n, const int* attributes, void** outs, uint64_t p);
CudaError cudaGetLastError();
CudaError cudaSetDevice(int device);
CudaError cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags, int* status);
}

namespace drywell::test {
namespace {

using cudart::CudaError;
constexpr CudaError kOk = CudaError::success;

template <class T>
uint64_t to_device(const std::vector<T>& v) {
  uint64_t p = 0;
  EXPECT_EQ(cuMemAlloc_v2(&p, v.size() * sizeof(T)), kOk);
  EXPECT_EQ(cuMemcpyHtoD_v2(p, v.data(), v.size() * sizeof(T)), kOk);
  return p;
}

struct alignas(64) Map {
  unsigned char bytes[128];
};
/// 128-byte swizzled boxes of a row-major matrix.
Map map_of(int type, uint64_t element, uint64_t p, uint64_t rows, uint64_t columns, uint32_t box_columns, uint32_t box_rows) {
  Map m{};
  const uint64_t dim[] = {columns, rows}, stride[] = {columns * element};
  const uint32_t box[] = {box_columns, box_rows}, step[] = {1, 1};
  EXPECT_EQ(cuTensorMapEncodeTiled(&m, type, 2, reinterpret_cast<void*>(p), dim, stride, box, step, 0, 3, 0, 0), kOk);
  return m;
}

// bf16 is the upper half of binary32; these values have it exactly.
uint16_t bf16(float f) {
  uint32_t word = 0;
  std::memcpy(&word, &f, 4);
  return static_cast<uint16_t>(word >> 16);
}

class Driver : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cuInit(0), kOk); }
};

TEST_F(Driver, NoContextWithFewerSms) {
  int supported = 7;
  EXPECT_EQ(cuDeviceGetExecAffinitySupport(&supported, 0, 0), kOk);
  EXPECT_EQ(supported, 0);
  EXPECT_EQ(cuDeviceGetExecAffinitySupport(&supported, 1, 0), CudaError::invalid_value);
  EXPECT_EQ(cuDeviceGetExecAffinitySupport(&supported, 0, 1), CudaError::invalid_device);
  void* found = nullptr;
  int status = -1;
  EXPECT_EQ(cuGetProcAddress_v2("cuDeviceGetExecAffinitySupport", &found, 13000, 0, &status), kOk);
  EXPECT_EQ(found, reinterpret_cast<void*>(&cuDeviceGetExecAffinitySupport));
}

TEST_F(Driver, GemmBf16OfTheCorpus) {
  constexpr unsigned kM = 128, kN = 128, kK = 128, kSmem = 98304;
  void *module = nullptr, *function = nullptr;
  ASSERT_EQ(cuModuleLoad(&module, source_path("tests/corpus/cuda_gemm_bf16.ptx").c_str()), kOk);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "gemm_bf16"), kOk);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "gemm_fp64"), CudaError::symbol_not_found);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "gemm_bf16"), kOk);

  const auto value = [](size_t i, int range) { return static_cast<float>(static_cast<int>(i * 7919 % (2 * range + 1)) - range); };
  std::vector<uint16_t> a(kM * kK), b(kN * kK), d(kM * kN);
  std::vector<float> bias(kN);
  for (size_t i = 0; i < a.size(); ++i) a[i] = bf16(value(i, 1));
  for (size_t i = 0; i < b.size(); ++i) b[i] = bf16(value(i + 3, 1));
  for (size_t i = 0; i < kN; ++i) bias[i] = value(i, 4);
  const uint64_t da = to_device(a), db = to_device(b), dd = to_device(d);
  uint64_t dbias = to_device(bias);
  Map ma = map_of(9, 2, da, kM, kK, 64, 128), mb = map_of(9, 2, db, kN, kK, 64, 128);  // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
  int n = kN, k = kK;
  uint64_t out = dd;
  void* arguments[] = {&ma, &mb, &dbias, &out, &n, &k};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, kSmem, nullptr, arguments, nullptr), CudaError::invalid_value);
  ASSERT_EQ(cuFuncSetAttribute(function, cudart::kMaxDynamicSharedMemorySize, kSmem), kOk);
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, kSmem, nullptr, arguments, nullptr), CudaError::invalid_value);
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, kSmem, nullptr, arguments, nullptr), kOk);
  ASSERT_EQ(cuCtxSynchronize(), kOk);
  ASSERT_EQ(cuMemcpyDtoH_v2(d.data(), dd, d.size() * 2), kOk);
  for (size_t i = 0; i < kM; ++i) {
    for (size_t j = 0; j < kN; ++j) {
      float sum = bias[j];
      for (size_t q = 0; q < kK; ++q) sum += value(i * kK + q, 1) * value(j * kK + q + 3, 1);
      ASSERT_EQ(d[i * kN + j], bf16(std::max(sum, 0.0f))) << i << ", " << j;  // at most 132: exact in bf16
    }
  }
  EXPECT_EQ(cuModuleUnload(module), kOk);
}

// Parameters packed into a buffer, as cuLaunchKernel's `extra` takes them.
TEST_F(Driver, PackedParametersAndTextInMemory) {
  static constexpr char kText[] =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry put(.param .u32 v, .param .u64 p)\n{\n.reg .b64 %rd1;\n.reg .b32 %r1;\n"
      "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [v];\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
  void *module = nullptr, *function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kText), kOk);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "put"), kOk);
  uint64_t p = to_device(std::vector<uint32_t>{0});
  unsigned char packed[16] = {};
  const uint32_t v = 77;
  std::memcpy(packed, &v, 4);
  std::memcpy(packed + 8, &p, 8);
  size_t bytes = sizeof packed;
  void* extra[] = {reinterpret_cast<void*>(1), packed, reinterpret_cast<void*>(2), &bytes, nullptr};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), kOk);
  uint32_t got = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&got, p, 4), kOk);
  EXPECT_EQ(got, 77u);
  EXPECT_EQ(cuModuleLoadData(&module, "not code"), CudaError::invalid_kernel_image);
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { nonsense; }"), CudaError::invalid_ptx);
}

// One kernel with a texture does not refuse the others of its module, and is refused when it is launched.
TEST_F(Driver, TexturesAreRefusedByKernel) {
  const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry store(.param .u64 p) { .reg .b64 %rd1; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 5; ret; }\n"
      ".visible .entry sample(.param .u64 p) { .reg .b64 %rd<3>; .reg .f32 %f<5>; ld.param.u64 %rd1, [p]; tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}]; st.global.f32 [%rd1], %f1; ret; }\n"
      ".func help(.param .b64 t) { .reg .b32 %r1; .reg .b64 %rd1; ld.param.b64 %rd1, [t]; txq.width.b32 %r1, [%rd1]; ret; }\n"
      ".visible .entry by_call(.param .u64 p) { .reg .b64 %rd1; .param .b64 t; ld.param.u64 %rd1, [p]; st.param.b64 [t], %rd1; call help, (t); ret; }\n";
  void* module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, text), kOk);
  uint64_t p = to_device(std::vector<uint32_t>{0});
  void* arguments[] = {&p};
  const auto launch = [&](const char* name) {
    void* function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, name), kOk);
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  };
  EXPECT_EQ(launch("sample"), CudaError::not_supported);
  EXPECT_EQ(launch("by_call"), CudaError::not_supported);
  EXPECT_EQ(launch("store"), kOk);
  uint32_t got = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&got, p, 4), kOk);
  EXPECT_EQ(got, 5u);
}

TEST_F(Driver, EntryPointsByName) {
  void* entry = nullptr;
  int status = 0;
  ASSERT_EQ(cuGetProcAddress_v2("cuMemAlloc", &entry, 13000, 0, &status), kOk);
  EXPECT_EQ(entry, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchFunction", &entry, 13000, 0, &status), CudaError::symbol_not_found);
  EXPECT_EQ(entry, nullptr);
  EXPECT_EQ(status, 1);
}

// Names that libraries take from libcuda.so.1 themselves: first versions, and those of per-thread default streams.
TEST_F(Driver, NamesOfOtherVersions) {
  using GetProcAddress = CudaError (*)(const char*, void**, int, uint64_t);
  const auto first = reinterpret_cast<GetProcAddress>(::dlsym(RTLD_DEFAULT, "cuGetProcAddress"));
  ASSERT_NE(first, nullptr);
  void* entry = nullptr;
  ASSERT_EQ(first("cuMemAlloc", &entry, 12000, 0), kOk);
  EXPECT_EQ(entry, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(first("cuNoSuchFunction", &entry, 12000, 0), CudaError::symbol_not_found);
  for (const auto& [name, same] : {std::pair("cuCtxDestroy", "cuCtxDestroy_v2"), {"cuStreamWaitValue32", "cuStreamWaitValue32_v2"}, {"cuMemcpyAsync_ptsz", "cuMemcpyAsync"}, {"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD_v2"}, {"cuStreamBatchMemOp_ptsz", "cuStreamBatchMemOp_v2"}}) {
    EXPECT_NE(::dlsym(RTLD_DEFAULT, name), nullptr) << name;
    EXPECT_EQ(::dlsym(RTLD_DEFAULT, name), ::dlsym(RTLD_DEFAULT, same)) << name;
  }
}

// Warp asks for cuStreamGetCaptureInfo of CUDA 11.3, which has no data of edges: the function of 12.3 wrote through a register that the caller had not
// set. Versions and parameters by CUDA's header of function types.
TEST_F(Driver, EntryPointsOfEarlierVersionsHaveTheirParameters) {
  const auto of = [](const char* name, int version) {
    void* entry = nullptr;
    EXPECT_EQ(cuGetProcAddress_v2(name, &entry, version, 0, nullptr), kOk) << name;
    return entry;
  };
  for (const auto& [name, version, same] : {std::tuple("cuStreamGetCaptureInfo", 10010, "cuStreamGetCaptureInfo"), {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2"}, {"cuStreamGetCaptureInfo", 12020, "cuStreamGetCaptureInfo_v2"}, {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"}, {"cuGraphAddDependencies", 12020, "cuGraphAddDependencies"}, {"cuGraphAddDependencies", 13000, "cuGraphAddDependencies_v2"}, {"cuGraphAddKernelNode", 11080, "cuGraphAddKernelNode"}, {"cuGraphAddKernelNode", 12000, "cuGraphAddKernelNode_v2"}, {"cuMemPrefetchAsync", 8000, "cuMemPrefetchAsync"}, {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"}, {"cuCtxCreate", 11000, "cuCtxCreate_v2"}, {"cuCtxCreate", 12000, "cuCtxCreate_v3"}, {"cuCtxCreate", 12050, "cuCtxCreate_v4"}})
    EXPECT_EQ(of(name, version), ::dlsym(RTLD_DEFAULT, same)) << name << " " << version;
  void* stream = nullptr;
  ASSERT_EQ(reinterpret_cast<CudaError (*)(void**, unsigned)>(of("cuStreamCreate", 11030))(&stream, 0), kOk);
  ASSERT_EQ(reinterpret_cast<CudaError (*)(void*, int)>(of("cuStreamBeginCapture", 11030))(stream, 0), kOk);
  using CaptureInfo = CudaError (*)(void*, int*, unsigned long long*, void**, void* const**, size_t*);
  int status = 0;
  unsigned long long id = 0;
  void *graph = nullptr, *same = nullptr;
  void* const* after = nullptr;
  size_t count = 7;
  ASSERT_EQ(reinterpret_cast<CaptureInfo>(of("cuStreamGetCaptureInfo", 11030))(stream, &status, &id, &graph, &after, &count), kOk);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(status, 1);  // CU_STREAM_CAPTURE_STATUS_ACTIVE
  ASSERT_EQ(reinterpret_cast<CudaError (*)(void*, void**)>(of("cuStreamEndCapture", 11030))(stream, &same), kOk);
  EXPECT_EQ(same, graph);
  // Two empty nodes with an edge between them.
  const auto add = reinterpret_cast<CudaError (*)(void**, void*, void* const*, size_t)>(of("cuGraphAddEmptyNode", 11030));
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(add(&first, graph, nullptr, 0), kOk);
  ASSERT_EQ(add(&second, graph, nullptr, 0), kOk);
  ASSERT_EQ(reinterpret_cast<CudaError (*)(void*, void* const*, void* const*, size_t)>(of("cuGraphAddDependencies", 11030))(graph, &first, &second, 1), kOk);
  void* before = nullptr;
  count = 1;
  ASSERT_EQ(reinterpret_cast<CudaError (*)(void*, void**, size_t*)>(of("cuGraphNodeGetDependencies", 11030))(second, &before, &count), kOk);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(before, first);
}

// Libraries look up whole tables of functions: one that is not served is found, and says so when it is called.
TEST_F(Driver, FunctionsThatAreNotServedSpeakWhenTheyAreCalled) {
  testing::internal::CaptureStderr();
  void* entry = nullptr;
  ASSERT_EQ(cuGetProcAddress_v2("cuTexRefCreate", &entry, 13000, 0, nullptr), kOk);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(reinterpret_cast<CudaError (*)(void**)>(entry)(&entry), CudaError::not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "drywell: cuTexRefCreate is not served\n");
}

// PyTorch reads the runtime's last error after calls of the driver that may fail.
TEST_F(Driver, ErrorsAreNotTheRuntimesLastError) {
  ASSERT_EQ(cudaGetLastError(), kOk);
  void* entry = nullptr;
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchFunction", &entry, 13000, 0, nullptr), CudaError::symbol_not_found);
  EXPECT_EQ(cudaGetLastError(), kOk);
  EXPECT_EQ(cuMemcpyDtoH_v2(&entry, 1, 8), CudaError::invalid_value);  // forwarded to cudaMemcpy
  EXPECT_EQ(cudaGetLastError(), kOk);
  EXPECT_EQ(cudaSetDevice(7), CudaError::invalid_device);
  EXPECT_EQ(cuMemcpyDtoH_v2(&entry, 1, 8), CudaError::invalid_value);
  EXPECT_EQ(cudaGetLastError(), CudaError::invalid_device);
}

TEST_F(Driver, PointerAttributes) {
  uint64_t p = 0;
  ASSERT_EQ(cuMemAlloc_v2(&p, 4096), kOk);
  uint64_t at = 0, base = 0;
  size_t bytes = 0;
  unsigned type = 0;
  int ordinal = 9;
  // CU_POINTER_ATTRIBUTE_DEVICE_POINTER, _RANGE_START_ADDR, _RANGE_SIZE, _MEMORY_TYPE, _DEVICE_ORDINAL
  EXPECT_EQ(cuPointerGetAttribute(&at, 3, p + 100), kOk);
  EXPECT_EQ(at, p + 100);
  const int attributes[] = {11, 12, 2, 9};
  void* outs[] = {&base, &bytes, &type, &ordinal};
  ASSERT_EQ(cuPointerGetAttributes(4, attributes, outs, p + 100), kOk);
  EXPECT_EQ(base, p);
  EXPECT_EQ(bytes, 4096u);
  EXPECT_EQ(type, 2u);  // CU_MEMORYTYPE_DEVICE
  EXPECT_EQ(ordinal, 0);
  // An address of the host: Triton takes the error for a tensor of the CPU.
  EXPECT_EQ(cuPointerGetAttribute(&at, 3, reinterpret_cast<uint64_t>(&at)), CudaError::invalid_value);
  ASSERT_EQ(cuPointerGetAttributes(4, attributes, outs, reinterpret_cast<uint64_t>(&at)), kOk);
  EXPECT_EQ(base, 0u);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, -2);                                                 // CU_DEVICE_INVALID
  EXPECT_EQ(cuPointerGetAttribute(&at, 4, p), CudaError::invalid_value);  // _HOST_POINTER of device memory
}

// NVIDIA's blog on error reports copies __FILE__ from a kernel: it asks for the range of the string.
TEST_F(Driver, AddressRanges) {
  uint64_t p = 0, base = 0, variable = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuMemAlloc_v2(&p, 4096), kOk);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, p + 100), kOk);
  EXPECT_EQ(std::pair(base, bytes), std::pair(p, size_t{4096}));
  void* module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ".version 8.7\n.target sm_100\n.address_size 64\n.visible .global .align 1 .b8 file[12] = {120, 46, 99, 117};\n"), kOk);
  ASSERT_EQ(cuModuleGetGlobal_v2(&variable, nullptr, module, "file"), kOk);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, variable + 3), kOk);
  EXPECT_EQ(std::pair(base, bytes), std::pair(variable, size_t{12}));
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, reinterpret_cast<uint64_t>(&module)), CudaError::invalid_value);
}

/// A kernel in which `count` values live together.
class ManyValues {
 public:
  explicit ManyValues(int count, const std::string& directives = "") {
    const std::string n = std::to_string(count);
    std::string text = ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry many(.param .u64 p) " + directives + "\n{\n.reg .b32 %r<" + n + ">;\n.reg .b64 %rd<2>;\n";
    for (int i = 0; i < count; ++i) text += "mov.u32 %r" + std::to_string(i) + ", %tid.x;\n";
    for (int i = 1; i < count; ++i) text += "add.u32 %r0, %r0, %r" + std::to_string(i) + ";\n";
    text += "ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r0;\nret;\n}\n";
    EXPECT_EQ(cuModuleLoadData(&module_, text.c_str()), kOk);
    EXPECT_EQ(cuModuleGetFunction(&function, module_, "many"), kOk);
  }
  ~ManyValues() { EXPECT_EQ(cuModuleUnload(module_), kOk); }
  ManyValues(const ManyValues&) = delete;
  ManyValues& operator=(const ManyValues&) = delete;
  int registers() const {
    int n = 0;
    EXPECT_EQ(cuFuncGetAttribute(&n, 4, function), kOk);  // CU_FUNC_ATTRIBUTE_NUM_REGS
    return n;
  }
  int ctas(int threads, size_t smem = 0) const {
    int n = 0;
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, function, threads, smem), kOk);
    return n;
  }
  void* function = nullptr;

 private:
  void* module_ = nullptr;
};

/// cuda_occupancy.h: registers are given to warps in units of 256, in each of four parts of the file of 65,536.
int ctas_by_registers(int registers, int warps) { return 65536 / 4 / ((registers * 32 + 255) / 256 * 256) * 4 / warps; }

TEST_F(Driver, OneNumberOfRegistersIsReportedAndLimitsOccupancy) {
  for (const int count : {90, 150, 200}) {
    const ManyValues k(count);
    ASSERT_GT(k.registers(), 64) << count;  // more than 32 CTAs of a warp would need
    for (const int warps : {1, 3, 4, 8}) EXPECT_EQ(k.ctas(32 * warps), std::max(1, std::min(32, ctas_by_registers(k.registers(), warps)))) << count << ", " << warps;
  }
  const ManyValues few(8), bounded(200, ".maxntid 1024"), both(200, ".maxntid 256 .minnctapersm 4"), most(200, ".maxnreg 40");
  EXPECT_LE(few.registers(), 32);
  EXPECT_EQ(few.ctas(1024), 2);
  EXPECT_EQ(bounded.registers(), 64);  // 65,536 / 1,024
  EXPECT_EQ(bounded.ctas(1024), 1);
  EXPECT_EQ(both.registers(), 64);
  EXPECT_EQ(both.ctas(256), 4);
  EXPECT_EQ(most.registers(), 40);
  EXPECT_EQ(most.ctas(96), 16);  // 12 warps for each part of the file, 48 in all: 17 CTAs by the whole file
}

TEST_F(Driver, TheBestBlockFillsAnSm) {
  const ManyValues few(8), many(200);
  int grid = 0, block = 0, sms = 0, most = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&sms, 16, 0), kOk);
  // 2,048 threads: two blocks of 1,024, which is tried first.
  ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, few.function, nullptr, 0, 0), kOk);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 2 * sms);
  ASSERT_EQ(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, few.function, nullptr, 0, 256, 0), kOk);
  EXPECT_EQ(block, 256);
  EXPECT_EQ(grid, 8 * sms);
  // With 1 KiB for each thread an SM of 228 KiB has room for 224 threads (and 1 KiB of each block).
  ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(
                &grid, &block, few.function, [](int threads) { return size_t(threads) * 1024; }, 7, 0),
            kOk);
  EXPECT_EQ(block * grid / sms, 224);
  // No other block has more resident threads than the one found.
  ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, many.function, nullptr, 0, 0), kOk);
  for (int threads = 32; threads <= 256; threads += 32) most = std::max(most, threads * many.ctas(threads));
  EXPECT_EQ(block * many.ctas(block), most);
  EXPECT_EQ(grid, many.ctas(block) * sms);
}

TEST_F(Driver, LimitsAreWhatWasSet) {
  size_t value = 0;
  // CU_LIMIT_STACK_SIZE, _PRINTF_FIFO_SIZE, _MALLOC_HEAP_SIZE, _DEV_RUNTIME_PENDING_LAUNCH_COUNT
  for (const int limit : {0, 1, 2, 4}) {
    ASSERT_EQ(cuCtxGetLimit(&value, limit), kOk);
    const size_t before = value;
    ASSERT_EQ(cuCtxSetLimit(limit, 4 * before), kOk);
    ASSERT_EQ(cuCtxGetLimit(&value, limit), kOk);
    EXPECT_EQ(value, 4 * before);
    ASSERT_EQ(cudaDeviceReset(), kOk);
    ASSERT_EQ(cuCtxGetLimit(&value, limit), kOk);
    EXPECT_EQ(value, before);
  }
  EXPECT_EQ(cuCtxGetLimit(&value, 3), CudaError::unsupported_limit);  // depth of synchronisation in kernels: "compute capability < 9.0"
  EXPECT_EQ(cuCtxSetLimit(3, 2), CudaError::unsupported_limit);
  EXPECT_EQ(cuCtxSetLimit(99, 2), CudaError::invalid_value);
}

TEST_F(Driver, WhyAModuleIsNotLoadedIsInTheProgramsBuffer) {
  char log[200] = "before", small[8] = "before";
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size
  void *values[] = {log, reinterpret_cast<void*>(sizeof log)}, *module = nullptr;
  const char bad[] = ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry wrong() { nonsense.u32; }\n";
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 2, options, values), CudaError::invalid_ptx);
  EXPECT_NE(std::string(log).find("nonsense"), std::string::npos) << log;
  EXPECT_NE(std::string(log).find("wrong"), std::string::npos) << log;  // the module is named by its kernel
  EXPECT_EQ(reinterpret_cast<size_t>(values[1]), std::strlen(log) + 1);
  values[0] = small;
  values[1] = reinterpret_cast<void*>(sizeof small);
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 2, options, values), CudaError::invalid_ptx);
  EXPECT_EQ(std::strlen(small), 7u);
}

}  // namespace
}  // namespace drywell::test
