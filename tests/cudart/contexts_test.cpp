// Contexts that a program makes: handles of their own, and each thread's stack.
#include <gtest/gtest.h>

#include <thread>

#include "cudart_program.h"

extern "C" {
CudaError cuInit(unsigned flags);
CudaError cuDevicePrimaryCtxRetain(void** out, int device);
CudaError cuCtxCreate_v2(void** out, unsigned flags, int device);
CudaError cuCtxDestroy_v2(void* context);
CudaError cuCtxSetCurrent(void* context);
CudaError cuCtxPushCurrent_v2(void* context);
CudaError cuCtxPopCurrent_v2(void** out);
CudaError cuCtxGetCurrent(void** out);
CudaError cuCtxGetFlags(unsigned* out);
CudaError cuCtxGetId(void* context, unsigned long long* out);
CudaError cuStreamGetCtx(void* stream, void** out);
CudaError cuStreamCreate(void** out, unsigned flags);
CudaError cuMemAlloc_v2(uint64_t* out, size_t bytes);
CudaError cuPointerGetAttribute(void* out, int attribute, uint64_t p);
}

namespace {

constexpr CudaError kOk = CudaError::success;

void* current() {
  void* out = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&out), kOk);
  return out;
}

class Contexts : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), kOk);
    while (current() != nullptr) ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), kOk);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary_, 0), kOk);
  }
  void* primary_ = nullptr;
};

TEST_F(Contexts, HaveHandlesOfTheirOwn) {
  void *first = nullptr, *second = nullptr, *popped = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&first, 4, 0), kOk);
  ASSERT_EQ(cuCtxCreate_v2(&second, 0, 0), kOk);
  EXPECT_TRUE(first != primary_ && second != primary_ && first != second);
  EXPECT_EQ(current(), second);
  EXPECT_EQ(cuCtxPopCurrent_v2(&popped), kOk);
  EXPECT_EQ(popped, second);
  EXPECT_EQ(current(), first);
  unsigned flags = 0;
  EXPECT_EQ(cuCtxGetFlags(&flags), kOk);
  EXPECT_EQ(flags, 4u);
  unsigned long long of_first = 0, of_second = 0;
  EXPECT_EQ(cuCtxGetId(nullptr, &of_first), kOk);
  EXPECT_EQ(cuCtxGetId(second, &of_second), kOk);
  EXPECT_NE(of_first, of_second);
}

TEST_F(Contexts, AreGoneWhenDestroyed) {
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&first, 0, 0), kOk);
  ASSERT_EQ(cuCtxCreate_v2(&second, 0, 0), kOk);
  EXPECT_EQ(cuCtxDestroy_v2(first), kOk);
  EXPECT_EQ(current(), second) << "only the current one is popped";
  EXPECT_EQ(cuCtxPushCurrent_v2(first), CudaError::invalid_context);
  EXPECT_EQ(cuCtxDestroy_v2(first), CudaError::invalid_context);
  EXPECT_EQ(cuCtxDestroy_v2(second), kOk);
  EXPECT_EQ(current(), first) << "it stays where it is current";
  void* next = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&next, 0, 0), kOk);
  EXPECT_TRUE(next != first && next != second);
}

TEST_F(Contexts, OwnStreamsAndMemory) {
  void *made = nullptr, *stream = nullptr, *of = nullptr;
  uint64_t p = 0;
  EXPECT_EQ(cuStreamGetCtx(nullptr, &of), CudaError::invalid_context) << "none is current";
  ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), kOk);
  ASSERT_EQ(cuStreamCreate(&stream, 0), kOk);
  ASSERT_EQ(cuMemAlloc_v2(&p, 4), kOk);
  ASSERT_EQ(cuCtxSetCurrent(primary_), kOk);
  EXPECT_EQ(cuStreamGetCtx(stream, &of), kOk);
  EXPECT_EQ(of, made);
  EXPECT_EQ(cuStreamGetCtx(nullptr, &of), kOk);
  EXPECT_EQ(of, primary_);
  EXPECT_EQ(cuPointerGetAttribute(&of, 1, p), kOk);  // CU_POINTER_ATTRIBUTE_CONTEXT
  EXPECT_EQ(of, made);
}

TEST_F(Contexts, OfTheRuntimeAreThePrimaryOne) {
  void* made = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), kOk);
  EXPECT_EQ(current(), made) << "the runtime uses the current one";
  EXPECT_EQ(cudaSetDevice(0), kOk);
  EXPECT_EQ(current(), primary_);
  std::thread([] { EXPECT_EQ(current(), nullptr); }).join();
}

}  // namespace
