// What a capturing stream forbids, by the words of cudaStreamBeginCapture and cudaThreadExchangeStreamCaptureMode (cuda_runtime_api.h), and
// priorities of streams. PyTorch's allocator calls cudaMalloc while it captures, in the relaxed mode.
#include <gtest/gtest.h>

#include <thread>

#include "cudart_program.h"

extern "C" {
CudaError cudaStreamCreate(void** out);
CudaError cudaThreadExchangeStreamCaptureMode(int* mode);
}

namespace {

constexpr CudaError kOk = CudaError::success;
enum Mode { kGlobal,
            kThreadLocal,
            kRelaxed };
enum Status { kNone,
              kActive,
              kInvalidated };

class Capture : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreate(&stream_), kOk); }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), kOk);
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  static CudaError allocate() {
    void* p = nullptr;
    return cudaMalloc(&p, 64);
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

}  // namespace
