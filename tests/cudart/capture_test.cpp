// What a capturing stream forbids, by the words of cudaStreamBeginCapture and cudaThreadExchangeStreamCaptureMode (cuda_runtime_api.h), and
// priorities of streams. PyTorch's allocator calls cudaMalloc while it captures, in the relaxed mode.
#include <gtest/gtest.h>

#include <thread>
#include <tuple>

#include "cudart_program.h"

extern "C" {
CudaError cudaStreamCreate(void** out);
CudaError cudaStreamCreateWithFlags(void** out, unsigned flags);
CudaError cudaEventCreate(void** out);
CudaError cudaStreamIsCapturing_ptsz(void* stream, int* out);
CudaError cudaMemAdvise(const void* p, size_t bytes, int advice, drywell::cudart::MemLocation location);
CudaError cudaThreadExchangeStreamCaptureMode(int* mode);
CudaError cudaLibraryLoadData(void** out, const void* code, int* options, void** values, unsigned count, int* library_options, void** library_values, unsigned library_count);
CudaError cudaLibraryGetKernel(void** out, void* library, const char* name);
CudaError cudaLibraryUnload(void* library);
CudaError cudaGraphInstantiate(void** out, void* graph, unsigned long long flags);
CudaError cudaGraphLaunch(void* executable, void* stream);
CudaError cudaGraphExecDestroy(void* executable);
}

namespace {

constexpr CudaError kOk = CudaError::success;
enum Mode {
  kGlobal,
  kThreadLocal,
  kRelaxed
};
enum Status {
  kNone,
  kActive,
  kInvalidated
};

class Capture : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreate(&stream_), kOk); }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), kOk);
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  static CudaError allocate_at(void** p) { return cudaMalloc(p, 64); }
  static CudaError allocate() {
    void* p = nullptr;
    return allocate_at(&p);
  }
  static CudaError allocate_elsewhere() {
    CudaError e = kOk;
    std::thread([&] { e = allocate(); }).join();
    return e;
  }
  static int exchange(int mode) {
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), kOk);
    return mode;
  }
  int status() {
    int s = -1;
    EXPECT_EQ(cudaStreamIsCapturing(stream_, &s), kOk);
    return s;
  }
  CudaError end() {
    void* graph = nullptr;
    const CudaError e = cudaStreamEndCapture(stream_, &graph);
    EXPECT_EQ(graph != nullptr, e == kOk);
    return e;
  }
  void* stream_ = nullptr;
};

TEST_F(Capture, ForbidsAllocationsByItsMode) {
  ASSERT_EQ(cudaStreamBeginCapture(stream_, kRelaxed), kOk);
  EXPECT_EQ(allocate(), kOk);
  EXPECT_EQ(allocate_elsewhere(), kOk);
  EXPECT_EQ(end(), kOk);

  ASSERT_EQ(cudaStreamBeginCapture(stream_, kThreadLocal), kOk);
  EXPECT_EQ(cudaFree(nullptr), CudaError::capture_unsupported);
  EXPECT_EQ(end(), CudaError::capture_invalidated);

  ASSERT_EQ(cudaStreamBeginCapture(stream_, kThreadLocal), kOk);
  EXPECT_EQ(allocate_elsewhere(), kOk);
  EXPECT_EQ(status(), kActive);
  EXPECT_EQ(allocate(), CudaError::capture_unsupported);
  EXPECT_EQ(status(), kInvalidated);
  EXPECT_EQ(end(), CudaError::capture_invalidated);
  EXPECT_EQ(status(), kNone);

  ASSERT_EQ(cudaStreamBeginCapture(stream_, kGlobal), kOk);
  EXPECT_EQ(allocate_elsewhere(), CudaError::capture_unsupported);
  EXPECT_EQ(end(), CudaError::capture_invalidated);
  EXPECT_EQ(allocate(), kOk);
}

TEST_F(Capture, AThreadMayRelaxItsOwnMode) {
  ASSERT_EQ(cudaStreamBeginCapture(stream_, kGlobal), kOk);
  EXPECT_EQ(exchange(kRelaxed), kGlobal);
  EXPECT_EQ(allocate(), kOk);
  EXPECT_EQ(exchange(kGlobal), kRelaxed);
  EXPECT_EQ(end(), kOk);
}

TEST_F(Capture, CannotBeWaitedFor) {
  ASSERT_EQ(cudaStreamBeginCapture(stream_, kRelaxed), kOk);
  EXPECT_EQ(cudaStreamSynchronize(stream_), CudaError::capture_unsupported);
  EXPECT_EQ(end(), CudaError::capture_invalidated);
}

// Here the stream of the fixture is a blocking one, and the other is not.
TEST_F(Capture, OfABlockingStreamForbidsToAskTheLegacyStream) {
  int of_default = -1;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, kGlobal), kOk);
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &of_default), CudaError::capture_implicit);
  EXPECT_EQ(cudaStreamIsCapturing_ptsz(nullptr, &of_default), kOk) << "that of the thread";
  EXPECT_EQ(status(), kActive);
  EXPECT_EQ(end(), kOk);
  void *other = nullptr, *graph = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, 1), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(other, kGlobal), kOk);
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &of_default), kOk);
  EXPECT_EQ(of_default, kNone);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), kOk);
  EXPECT_EQ(cudaStreamDestroy(other), kOk);
}

TEST_F(Capture, EndsWhereItBegan) {
  void *other = nullptr, *event = nullptr, *graph = nullptr;
  ASSERT_EQ(cudaStreamCreate(&other), kOk);
  ASSERT_EQ(cudaEventCreate(&event), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, kGlobal), kOk);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), CudaError::illegal_state);
  EXPECT_EQ(status(), kActive) << "the other stream was not part of it";
  ASSERT_EQ(cudaEventRecord(event, stream_), kOk);
  ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), kOk);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), CudaError::capture_unmatched);
  EXPECT_EQ(end(), CudaError::capture_invalidated);
  EXPECT_EQ(cudaEventDestroy(event), kOk);
  EXPECT_EQ(cudaStreamDestroy(other), kOk);
}

TEST_F(Capture, IsNotMergedWithAnother) {
  void *other = nullptr, *event = nullptr, *graph = nullptr;
  ASSERT_EQ(cudaStreamCreate(&other), kOk);
  ASSERT_EQ(cudaEventCreate(&event), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, kGlobal), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(other, kGlobal), kOk);
  ASSERT_EQ(cudaEventRecord(event, other), kOk);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, event, 0), CudaError::capture_merge);
  EXPECT_EQ(end(), CudaError::capture_invalidated);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), kOk);
  EXPECT_EQ(cudaEventDestroy(event), kOk);
  EXPECT_EQ(cudaStreamDestroy(other), kOk);
}

TEST_F(Capture, HasItsOtherStreamsJoinedAtTheEnd) {
  void *other = nullptr, *fork = nullptr, *join = nullptr, *p = nullptr, *q = nullptr;
  constexpr auto kDeviceToDevice = static_cast<drywell::cudart::CopyKind>(3);
  ASSERT_EQ(cudaStreamCreate(&other), kOk);
  ASSERT_EQ(cudaEventCreate(&fork), kOk);
  ASSERT_EQ(cudaEventCreate(&join), kOk);
  ASSERT_EQ(allocate_at(&p), kOk);
  ASSERT_EQ(allocate_at(&q), kOk);
  for (const auto& [work, joins, ends] : {std::tuple(true, false, CudaError::capture_unjoined), {true, true, kOk}, {false, false, kOk}}) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, kGlobal), kOk);
    ASSERT_EQ(cudaMemcpyAsync(p, q, 64, kDeviceToDevice, stream_), kOk);
    ASSERT_EQ(cudaEventRecord(fork, stream_), kOk);
    ASSERT_EQ(cudaStreamWaitEvent(other, fork, 0), kOk);
    EXPECT_EQ(work ? cudaMemcpyAsync(p, q, 64, kDeviceToDevice, other) : kOk, kOk);
    ASSERT_EQ(cudaEventRecord(join, other), kOk);
    EXPECT_EQ(joins ? cudaStreamWaitEvent(stream_, join, 0) : kOk, kOk);
    EXPECT_EQ(end(), ends);
    EXPECT_EQ(status(), kNone);
  }
  for (void* event : {fork, join}) EXPECT_EQ(cudaEventDestroy(event), kOk);
  EXPECT_EQ(cudaStreamDestroy(other), kOk);
}

TEST(Devices, AreFoundByTheirPlaceOnTheBus) {
  char id[16];
  int device = -1;
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof id, 0), kOk);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, id), kOk);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "00:00.0"), kOk);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "0000:00:00"), kOk);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "FFFF:FF:FF.F"), CudaError::invalid_device);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "fake:id"), CudaError::invalid_value);
  cudaGetLastError();
}

TEST(ManagedMemory, TakesTheAdviceThatThereIs) {
  void* p = nullptr;
  ASSERT_EQ(cudaMallocManaged(&p, 64, 1), kOk);
  for (const int advice : {1, 6}) EXPECT_EQ(cudaMemAdvise(p, 64, advice, {1, 0}), kOk);
  for (const int advice : {-1, 0, 7}) EXPECT_EQ(cudaMemAdvise(p, 64, advice, {1, 0}), CudaError::invalid_value);
  EXPECT_EQ(cudaFree(p), kOk);
  cudaGetLastError();
}

TEST(StreamPriorities, AreClampedToTheirRange) {
  for (const auto& [asked, given] : {std::pair{-3, -3}, {-100, -5}, {7, 0}}) {
    void* s = nullptr;
    int priority = 99;
    ASSERT_EQ(cudaStreamCreateWithPriority(&s, 0, asked), kOk);
    ASSERT_EQ(cudaStreamGetPriority(s, &priority), kOk);
    EXPECT_EQ(priority, given);
    EXPECT_EQ(cudaStreamDestroy(s), kOk);
  }
}

// CuTe DSL unloads a function's library as soon as the function is gone, also if a graph has its launch: on a GPU the graph runs.
TEST_F(Capture, KeepsTheKernelsOfALibraryThatIsUnloaded) {
  static constexpr const char* kText =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd1;\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 7;\nret;\n}\n";
  void *library = nullptr, *kernel = nullptr, *graph = nullptr, *executable = nullptr, *word = nullptr;
  ASSERT_EQ(cudaMalloc(&word, 4), kOk);
  ASSERT_EQ(cudaLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0), kOk);
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "k"), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, kRelaxed), kOk);
  void* arguments[] = {&word};
  EXPECT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream_), kOk);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), kOk);
  EXPECT_EQ(cudaLibraryUnload(library), kOk);
  EXPECT_NE(cudaLaunchKernel(kernel, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), kOk) << "the handle is gone";
  cudaGetLastError();
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), kOk);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), kOk);
  uint32_t got = 0;
  EXPECT_EQ(cudaMemcpy(&got, word, 4, drywell::cudart::CopyKind::device_to_host), kOk);
  EXPECT_EQ(got, 7u);
  EXPECT_EQ(cudaGraphExecDestroy(executable), kOk);
}

}  // namespace
