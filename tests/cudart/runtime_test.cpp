// The runtime interface as programs use it, without CUDA: device code in PTX, registered as by nvcc's host code.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "cudart/abi.h"
#include "cudart_program.h"

extern "C" drywell::cudart::CudaError cudaDeviceGetP2PAttribute(int* out, int attribute, int source, int destination);

namespace {

using drywell::cudart::CopyKind;
using drywell::cudart::CudaError;
using drywell::cudart::FuncAttributes;
using drywell::cudart::KernelNodeParams;
using drywell::cudart::LaunchAttribute;
using drywell::cudart::MemoryType;
using drywell::cudart::PointerAttributes;

constexpr CudaError kOk = CudaError::success;

class Runtime : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  float* device_floats(size_t n, float value) {
    void* p = nullptr;
    EXPECT_EQ(cudaMalloc(&p, n * sizeof(float)), kOk);
    const std::vector<float> host(n, value);
    EXPECT_EQ(cudaMemcpy(p, host.data(), n * sizeof(float), CopyKind::host_to_device), kOk);
    return static_cast<float*>(p);
  }
  std::vector<float> floats(const float* p, size_t n) {
    std::vector<float> host(n);
    EXPECT_EQ(cudaMemcpy(host.data(), p, n * sizeof(float), CopyKind::device_to_host), kOk);
    return host;
  }
  /// y += a * x over n elements.
  CudaError axpy(float* y, const float* x, float a, unsigned n, void* stream = nullptr) {
    void* arguments[] = {&y, &x, &a, &n};
    return cudaLaunchKernel(program::kAxpy, {(n + 127) / 128, 1, 1}, {128, 1, 1}, arguments, 0, stream);
  }
};

TEST_F(Runtime, AKernelRunsOnWhatWasCopied) {
  constexpr unsigned kN = 1000;
  float *x = device_floats(kN, 3), *y = device_floats(kN, 1);
  ASSERT_EQ(axpy(y, x, 2, kN), kOk);
  ASSERT_EQ(cudaDeviceSynchronize(), kOk);
  EXPECT_EQ(floats(y, kN), std::vector<float>(kN, 7));
  EXPECT_EQ(cudaFree(x), kOk);
  EXPECT_EQ(cudaFree(x), CudaError::invalid_value);
}

TEST_F(Runtime, FreshMemoryIsPoison) {
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 64), kOk);
  for (float v : floats(static_cast<float*>(p), 16)) EXPECT_TRUE(std::isnan(v));
}

TEST_F(Runtime, VariablesOfTheModuleAreReachedByTheirHostSymbols) {
  void* address = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cudaGetSymbolAddress(&address, program::kTable), kOk);
  ASSERT_EQ(cudaGetSymbolSize(&bytes, program::kTable), kOk);
  EXPECT_EQ(bytes, 16u);
  const float in[2] = {5, 6};
  ASSERT_EQ(cudaMemcpyToSymbol(program::kTable, in, sizeof in, 8, CopyKind::host_to_device), kOk);
  float out[4] = {};
  ASSERT_EQ(cudaMemcpyFromSymbol(out, program::kTable, sizeof out, 0, CopyKind::device_to_host), kOk);
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{1, 2, 5, 6}));
  EXPECT_EQ(cudaMemcpyToSymbol(program::kTable, in, sizeof in, 12, CopyKind::host_to_device), CudaError::invalid_value);
  EXPECT_EQ(cudaGetSymbolAddress(&address, in), CudaError::invalid_symbol);
}

TEST_F(Runtime, ManagedAndPinnedMemoryHasOneAddress) {
  constexpr unsigned kN = 64;
  void *managed = nullptr, *pinned = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, kN * 4, 1), kOk);
  ASSERT_EQ(cudaHostAlloc(&pinned, kN * 4, 0), kOk);
  auto *x = static_cast<float*>(managed), *y = static_cast<float*>(pinned);
  std::fill_n(x, kN, 4.0f);
  std::fill_n(y, kN, 1.0f);
  ASSERT_EQ(axpy(y, x, 0.5f, kN), kOk);
  EXPECT_EQ(std::vector<float>(y, y + kN), std::vector<float>(kN, 3));
  PointerAttributes a{};
  ASSERT_EQ(cudaPointerGetAttributes(&a, x + 3), kOk);
  EXPECT_EQ(a.type, MemoryType::managed);
  EXPECT_EQ(a.device_pointer, x + 3);
  EXPECT_EQ(cudaFreeHost(x), CudaError::invalid_value);
  EXPECT_EQ(cudaFreeHost(y), kOk);
  EXPECT_EQ(cudaFree(x), kOk);
}

TEST_F(Runtime, RegisteredMemoryOfTheProgramIsSeenByTheDevice) {
  alignas(64) static float memory[128];
  std::fill_n(memory, 128, 2.0f);
  EXPECT_EQ(cudaHostRegister(reinterpret_cast<void*>(~uint64_t{4095}), 1 << 20, 0), CudaError::invalid_value) << "it wraps";
  EXPECT_EQ(cudaHostRegister(memory, uint64_t{1} << 46, 0), CudaError::invalid_value) << "there is no such memory";
  ASSERT_EQ(cudaHostRegister(memory, sizeof memory, 0), kOk);
  EXPECT_EQ(cudaHostRegister(memory, sizeof memory, 0), CudaError::host_memory_already_registered);
  ASSERT_EQ(axpy(memory, memory, 1, 128), kOk);
  EXPECT_EQ(memory[127], 4);
  EXPECT_EQ(cudaHostUnregister(memory), kOk);
  EXPECT_EQ(cudaHostUnregister(memory), CudaError::host_memory_not_registered);
}

TEST_F(Runtime, PitchedCopiesAndFills) {
  void* p = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&p, &pitch, 12, 3), kOk);
  ASSERT_EQ(cudaMemset2D(p, pitch, 0x11, 12, 3), kOk);
  std::vector<uint8_t> host(36);
  std::iota(host.begin(), host.end(), 0);
  ASSERT_EQ(cudaMemcpy2D(p, pitch, host.data(), 12, 8, 2, CopyKind::host_to_device), kOk);
  std::vector<uint8_t> back(36);
  ASSERT_EQ(cudaMemcpy2D(back.data(), 12, p, pitch, 12, 3, CopyKind::device_to_host), kOk);
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 12; ++x) EXPECT_EQ(back[y * 12 + x], x < 8 && y < 2 ? y * 12 + x : 0x11) << y << "," << x;
  }
  EXPECT_EQ(cudaMemcpy2D(p, 4, host.data(), 12, 8, 2, CopyKind::host_to_device), CudaError::invalid_pitch);
}

TEST_F(Runtime, CopiesStayInsideAllocations) {
  float* x = device_floats(4, 0);
  std::vector<float> host(5);
  EXPECT_EQ(cudaMemcpy(host.data(), x, 20, CopyKind::device_to_host), CudaError::invalid_value);
  EXPECT_EQ(cudaMemcpy(host.data(), host.data(), 4, CopyKind::device_to_host), CudaError::invalid_value);
  EXPECT_EQ(cudaPeekAtLastError(), CudaError::invalid_value);
  EXPECT_EQ(cudaGetLastError(), CudaError::invalid_value);
  EXPECT_EQ(cudaGetLastError(), kOk);
}

TEST_F(Runtime, AFaultStaysUntilTheDeviceIsReset) {
  void* nowhere = nullptr;
  void* arguments[] = {&nowhere};
  // The launch itself succeeds; the next call returns the error.
  ASSERT_EQ(cudaLaunchKernel(program::kStore, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), CudaError::illegal_address);
  EXPECT_EQ(cudaGetLastError(), CudaError::illegal_address);
  EXPECT_EQ(cudaGetLastError(), CudaError::illegal_address);
  EXPECT_EQ(cudaMalloc(&nowhere, 4), CudaError::illegal_address);
  EXPECT_STREQ(cudaGetErrorName(CudaError::illegal_address), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(CudaError::illegal_address), "an illegal memory access was encountered");
  ASSERT_EQ(cudaDeviceReset(), kOk);
  EXPECT_EQ(cudaGetLastError(), kOk);
  float *x = device_floats(8, 1), *y = device_floats(8, 1);
  ASSERT_EQ(axpy(y, x, 1, 8), kOk);
  EXPECT_EQ(floats(y, 8), std::vector<float>(8, 2));
}

TEST_F(Runtime, FaultsHaveTheNumbersOfADevice) {
  char* p = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&p), 64), kOk);
  ++p;
  void* arguments[] = {&p};
  ASSERT_EQ(cudaLaunchKernel(program::kStore, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), CudaError::misaligned_address);
  ASSERT_EQ(cudaDeviceReset(), kOk);
  ASSERT_EQ(cudaLaunchKernel(program::kTrap, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr), kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), CudaError::launch_failure);
}

TEST_F(Runtime, LaunchesADeviceRefusesAreRefused) {
  float* x = device_floats(1, 0);
  void* arguments[] = {&x};
  const auto launch = [&](unsigned grid, unsigned block, size_t smem) {
    return cudaLaunchKernel(program::kStore, {grid, 1, 1}, {block, 1, 1}, arguments, smem, nullptr);
  };
  EXPECT_EQ(launch(1, 2048, 0), CudaError::invalid_value);
  EXPECT_EQ(launch(0, 1, 0), CudaError::invalid_value);
  EXPECT_EQ(launch(1, 1, 100'000), CudaError::invalid_value);  // above 48 KiB only after asking
  ASSERT_EQ(cudaFuncSetAttribute(program::kStore, drywell::cudart::kMaxDynamicSharedMemorySize, 100'000), kOk);
  EXPECT_EQ(launch(1, 1, 100'000), kOk);
  EXPECT_EQ(cudaFuncSetAttribute(program::kStore, drywell::cudart::kMaxDynamicSharedMemorySize, 240'000), CudaError::invalid_value);
  EXPECT_EQ(cudaLaunchKernel(arguments, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), CudaError::invalid_device_function);
}

TEST_F(Runtime, AClusterIsALaunchAttribute) {
  unsigned* out = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&out), 64), kOk);
  void* arguments[] = {&out};
  LaunchAttribute attribute{};
  attribute.id = drywell::cudart::kClusterDimension;
  attribute.cluster = {4, 1, 1};
  drywell::cudart::RuntimeLaunchConfig config{{8, 1, 1}, {1, 1, 1}, 0, nullptr, &attribute, 1};
  ASSERT_EQ(cudaLaunchKernelExC(&config, program::kClusterSize, arguments), kOk);
  std::vector<unsigned> host(8);
  ASSERT_EQ(cudaMemcpy(host.data(), out, 32, CopyKind::device_to_host), kOk);
  EXPECT_EQ(host, std::vector<unsigned>(8, 4));
  attribute.cluster = {16, 1, 1};
  config.grid.x = 16;
  EXPECT_EQ(cudaLaunchKernelExC(&config, program::kClusterSize, arguments), CudaError::invalid_cluster_size);
  ASSERT_EQ(cudaFuncSetAttribute(program::kClusterSize, drywell::cudart::kNonPortableClusterSizeAllowed, 1), kOk);
  EXPECT_EQ(cudaLaunchKernelExC(&config, program::kClusterSize, arguments), kOk);
  ASSERT_EQ(cudaMemcpy(host.data(), out, 32, CopyKind::device_to_host), kOk);
  EXPECT_EQ(host[0], 16u);
  int clusters = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveClusters(&clusters, program::kClusterSize, &config), kOk);
  EXPECT_GT(clusters, 0);
}

TEST_F(Runtime, ACaptureRunsWhenItsGraphIsLaunched) {
  float *x = device_floats(32, 1), *y = device_floats(32, 0);
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, 1, 0), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), kOk);
  float a = 3;
  unsigned n = 32;
  void* arguments[] = {&y, &x, &a, &n};
  ASSERT_EQ(cudaLaunchKernel(program::kAxpy, {1, 1, 1}, {32, 1, 1}, arguments, 0, stream), kOk);
  a = 100;  // arguments were copied at the launch
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), kOk);
  EXPECT_EQ(floats(y, 32), std::vector<float>(32, 0));
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), kOk);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(executable, stream), kOk);
  EXPECT_EQ(floats(y, 32), std::vector<float>(32, 9));
  EXPECT_EQ(cudaGraphExecDestroy(executable), kOk);
  EXPECT_EQ(cudaGraphDestroy(graph), kOk);
  EXPECT_EQ(cudaStreamDestroy(stream), kOk);
  EXPECT_EQ(cudaStreamSynchronize(stream), CudaError::invalid_handle);
}

TEST_F(Runtime, AForkedCaptureJoinsByEvents) {
  float *x = device_floats(32, 1), *y = device_floats(32, 0);
  void *s = nullptr, *t = nullptr, *fork = nullptr, *join = nullptr, *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&s, 1, 0), kOk);
  ASSERT_EQ(cudaStreamCreateWithPriority(&t, 1, 0), kOk);
  ASSERT_EQ(cudaEventCreateWithFlags(&fork, 2), kOk);
  ASSERT_EQ(cudaEventCreateWithFlags(&join, 2), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(s, 0), kOk);
  ASSERT_EQ(cudaEventRecord(fork, s), kOk);
  ASSERT_EQ(cudaStreamWaitEvent(t, fork, 0), kOk);
  ASSERT_EQ(axpy(y, x, 1, 32, t), kOk);
  ASSERT_EQ(cudaEventRecord(join, t), kOk);
  ASSERT_EQ(cudaStreamWaitEvent(s, join, 0), kOk);
  ASSERT_EQ(axpy(y, x, 1, 32, s), kOk);
  ASSERT_EQ(cudaStreamEndCapture(s, &graph), kOk);
  EXPECT_EQ(floats(y, 32), std::vector<float>(32, 0));
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), kOk);
  ASSERT_EQ(cudaGraphLaunch(executable, s), kOk);
  EXPECT_EQ(floats(y, 32), std::vector<float>(32, 2));
}

TEST_F(Runtime, WithoutAClockTimeIsNotANumber) {
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&a, 0), kOk);
  ASSERT_EQ(cudaEventCreateWithFlags(&b, 0), kOk);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, b), CudaError::invalid_handle);  // never recorded
  ASSERT_EQ(cudaEventRecord(a, nullptr), kOk);
  ASSERT_EQ(cudaEventRecord(b, nullptr), kOk);
  ASSERT_EQ(cudaEventElapsedTime(&ms, a, b), kOk);
  EXPECT_TRUE(std::isnan(ms));
}

// As with CUDA, whose documentation asks for a fresh process.
TEST_F(Runtime, AForkedChildHasNoDevice) {
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 4), kOk);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(static_cast<int>(cudaMalloc(&p, 4)));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(CudaError::initialization));
  EXPECT_EQ(cudaFree(p), kOk);
}

TEST_F(Runtime, TheDeviceIsTheArchitecture) {
  int value = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, 75, 0), kOk);
  EXPECT_EQ(value, 10);
  ASSERT_EQ(cudaDeviceGetAttribute(&value, 97, 0), kOk);
  EXPECT_EQ(value, 227 << 10);  // CUDA C++ Programming Guide
  EXPECT_EQ(cudaDeviceGetAttribute(&value, 75, 1), CudaError::invalid_device);
  FuncAttributes a{};
  ASSERT_EQ(cudaFuncGetAttributes(&a, program::kAxpy), kOk);
  EXPECT_EQ(a.max_threads_per_block, 1024);
  EXPECT_EQ(a.ptx_version, 100);
  int ctas = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, program::kAxpy, 1024, 0), kOk);
  EXPECT_EQ(ctas, 2);  // 2048 threads per SM
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, program::kAxpy, 32, 0), kOk);
  EXPECT_EQ(ctas, 32);
}

// cuda_runtime_api.h: cudaErrorInvalidDevice also if both are the same device.
TEST_F(Runtime, ADeviceHasNoLinkToItself) {
  int value = 0;
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, 1, 0, 0), CudaError::invalid_device);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, 1, 0, 1), CudaError::invalid_device);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(nullptr, 1, 0, 1), CudaError::invalid_value);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, 6, 0, 1), CudaError::invalid_value);
}

TEST_F(Runtime, WhatIsNotServedSaysSo) {
  EXPECT_EQ(cudaIpcGetMemHandle(nullptr, nullptr), CudaError::not_supported);
  EXPECT_EQ(cudaGetLastError(), CudaError::not_supported);
  void* entry = nullptr;
  int status = 0;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, 0, &status), kOk);
  EXPECT_NE(entry, nullptr);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &entry, 12000, 0, &status), kOk);
  EXPECT_EQ(status, 1);
}

TEST_F(Runtime, TensorMapsAreEncodedOrRefused) {
  float* x = device_floats(64 * 64, 0);
  alignas(64) unsigned char map[128];
  const uint64_t dim[2] = {64, 64}, stride[1] = {256};
  const uint32_t box[2] = {32, 8}, step[2] = {1, 1};
  EXPECT_EQ(cuTensorMapEncodeTiled(map, 7, 2, x, dim, stride, box, step, 0, 3, 0, 0), kOk);
  EXPECT_EQ(cuTensorMapReplaceAddress(map, x + 64), kOk);
  const uint32_t too_big[2] = {512, 8};
  EXPECT_EQ(cuTensorMapEncodeTiled(map, 7, 2, x, dim, stride, too_big, step, 0, 0, 0, 0), CudaError::invalid_value);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuTensorMapEncodeTiled(map + 8, 7, 2, x, dim, stride, box, step, 0, 0, 0, 0), CudaError::invalid_value);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("is no multiple of 64"), std::string::npos);
}

// Programs that use TMA ask for attribute 127 (CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED), and print the peak bandwidth as twice the clock
// times the bus: 7.67 TB/s of a B200 (sim/arch/sm_100a.toml).
TEST_F(Runtime, AttributesThatProgramsDecideBy) {
  const auto attribute = [](int n) {
    int v = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&v, n, 0), kOk);
    return v;
  };
  EXPECT_EQ(attribute(127), 1);
  EXPECT_EQ(attribute(89), 1);  // cudaDevAttrConcurrentManagedAccess
  EXPECT_NEAR(2e3 * attribute(36) * attribute(37) / 8, 7.67e12, 1e10);
}

}  // namespace
