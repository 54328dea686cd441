// Green contexts: parts of the SMs, and streams on them.
#include <gtest/gtest.h>

#include <array>

#include "cudart_program.h"

extern "C" {
struct Resource;
CudaError cuInit(unsigned flags);
CudaError cuDeviceGetDevResource(int device, void* out, int type);
CudaError cuDevSmResourceSplitByCount(void* result, unsigned* groups, const void* input, void* remaining, unsigned flags, unsigned least);
CudaError cuDevResourceGenerateDesc(void** out, const void* all, unsigned count);
CudaError cuGreenCtxCreate(void** out, void* description, int device, unsigned flags);
CudaError cuGreenCtxDestroy(void* green);
CudaError cuGreenCtxGetDevResource(void* green, void* out, int type);
CudaError cuGreenCtxStreamCreate(void** out, void* green, unsigned flags, int priority);
CudaError cuStreamGetGreenCtx(void* stream, void** out);
CudaError cuCtxGetDevResource(void* context, void* out, int type);
CudaError cuDevicePrimaryCtxRetain(void** out, int device);
CudaError cuStreamGetCtx(void* stream, void** out);
CudaError cuStreamGetCtx_v2(void* stream, void** out, void** green);
CudaError cuCtxFromGreenCtx(void** out, void* green);
CudaError cuStreamWriteValue32_v2(void* stream, uint64_t at, uint32_t value, unsigned flags);
}

namespace {

constexpr CudaError kOk = CudaError::success;
constexpr int kSms = 1;

/// CUdevResource as cuda.h of CUDA 13.0 has it: the type, 92 bytes, and the resource in 48.
struct DevResource {
  int type = 0;
  unsigned char padding[92] = {};
  unsigned sms = 0, least = 0, alignment = 0;
  unsigned char rest[36] = {};
};

class GreenContexts : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), kOk);
    ASSERT_EQ(cuDeviceGetDevResource(0, &all_, kSms), kOk);
  }
  void TearDown() override { EXPECT_EQ(cudaDeviceReset(), kOk); }
  DevResource all_;
};

TEST_F(GreenContexts, SplitTheDevicesSmsInGroupsOfEight) {
  int sms = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&sms, 16, 0), kOk);
  EXPECT_EQ(all_.sms, static_cast<unsigned>(sms));
  unsigned groups = 0;
  ASSERT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &all_, nullptr, 0, 60), kOk);
  EXPECT_EQ(groups, all_.sms / 64);
  std::array<DevResource, 4> parts;
  DevResource rest;
  groups = 4;
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, &rest, 0, 9), kOk);
  EXPECT_EQ(groups, 4u);
  for (const DevResource& p : parts) EXPECT_EQ(p.sms, 16u);
  EXPECT_EQ(rest.sms, all_.sms - 64);
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, &rest, 0, all_.sms + 1), CudaError::invalid_value);
}

TEST_F(GreenContexts, HaveStreamsOnWhichWorkRuns) {
  std::array<DevResource, 1> parts;
  unsigned groups = 1;
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, nullptr, 0, 8), kOk);
  void *description = nullptr, *green = nullptr, *stream = nullptr, *of_stream = nullptr, *context = nullptr, *p = nullptr;
  ASSERT_EQ(cuDevResourceGenerateDesc(&description, parts.data(), 1), kOk);
  EXPECT_EQ(cuGreenCtxCreate(&green, description, 0, 0), CudaError::invalid_value);  // CU_GREEN_CTX_DEFAULT_STREAM is required
  ASSERT_EQ(cuGreenCtxCreate(&green, description, 0, 1), kOk);
  DevResource own;
  ASSERT_EQ(cuGreenCtxGetDevResource(green, &own, kSms), kOk);
  EXPECT_EQ(own.sms, 8u);
  EXPECT_EQ(cuGreenCtxStreamCreate(&stream, green, 0, 0), CudaError::invalid_value);  // only streams that do not block
  ASSERT_EQ(cuGreenCtxStreamCreate(&stream, green, 1, 0), kOk);
  EXPECT_EQ(cuStreamGetGreenCtx(stream, &of_stream), kOk);
  EXPECT_EQ(of_stream, green);
  EXPECT_EQ(cuStreamGetGreenCtx(nullptr, &of_stream), kOk);
  EXPECT_EQ(of_stream, nullptr);
  EXPECT_EQ(cuCtxFromGreenCtx(&context, green), kOk);
  void *again = nullptr, *primary = nullptr;
  EXPECT_EQ(cuCtxFromGreenCtx(&again, green), kOk);
  EXPECT_EQ(context, again);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), kOk);
  EXPECT_NE(context, primary);
  EXPECT_EQ(cuCtxGetDevResource(context, &own, kSms), kOk);
  EXPECT_EQ(own.sms, 8u);
  EXPECT_EQ(cuStreamGetCtx(stream, &again), kOk);
  EXPECT_EQ(again, context);
  EXPECT_EQ(cuStreamGetCtx_v2(stream, &again, &of_stream), kOk);
  EXPECT_TRUE(again == primary && of_stream == green);
  ASSERT_EQ(cudaHostAlloc(&p, 4, 0), kOk);
  void* arguments[] = {&p};
  EXPECT_EQ(cudaLaunchKernel(program::kStore, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream), kOk);
  EXPECT_EQ(*static_cast<int*>(p), 1);
  EXPECT_EQ(cuGreenCtxDestroy(green), kOk);
  EXPECT_EQ(cuGreenCtxDestroy(green), CudaError::invalid_handle);
}

}  // namespace
