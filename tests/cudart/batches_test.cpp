// Calls with many copies, copies "between devices", pools by place, libraries from files, and small queries of both interfaces.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "cudart/driver_copy.h"
#include "cudart_program.h"
#include "drywell/core/files.h"
#include "support/process.h"

extern "C" {
using drywell::cudart::MemLocation;
CudaError cudaStreamCreate(void** out);
CudaError cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes, size_t count, const void* attributes, const size_t* first, size_t attribute_count, void* stream);
CudaError cudaMemDiscardBatchAsync(void** at, const size_t* bytes, size_t count, unsigned long long flags, void* stream);
CudaError cudaMemPrefetchBatchAsync(void** at, const size_t* bytes, size_t count, const MemLocation* places, const size_t* first, size_t n, unsigned long long flags, void* stream);
CudaError cudaMemGetDefaultMemPool(void** out, const MemLocation* where, int type);
CudaError cudaMemSetMemPool(const MemLocation* where, int type, void* pool);
CudaError cudaLibraryLoadFromFile(void** out, const char* path, int* options, void** values, unsigned count, int* library_options, void** library_values, unsigned library_count);
CudaError cudaLibraryEnumerateKernels(void** out, unsigned most, void* library);
CudaError cudaLogsCurrent(unsigned* out, unsigned flags);
CudaError cudaLogsDumpToMemory(unsigned* at, char* out, size_t* bytes, unsigned flags);
CudaError cuMemcpyPeer(uint64_t to, void* to_context, uint64_t from, void* from_context, size_t bytes);
CudaError cuMemcpy3DPeer(const drywell::cudart::DriverCopy3D* p);
CudaError cuMemcpyBatchAsync_v2(const uint64_t* to, const uint64_t* from, const size_t* bytes, size_t count, const void* attributes, const size_t* first, size_t n, void* stream);
CudaError cuCtxSynchronize_v2(void* context);
CudaError cuModuleLoad(void** out, const char* path);
}

namespace {

using drywell::cudart::DriverCopy3D;
using drywell::cudart::DriverMemory;

constexpr CudaError kOk = CudaError::success;

class Batches : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream_), kOk);
    ASSERT_EQ(cudaMalloc(&data_, 256), kOk);
    std::iota(host_.begin(), host_.end(), 0);
    ASSERT_EQ(cudaMemcpy(data_, host_.data(), 256, CopyKind::host_to_device), kOk);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), kOk);
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  uint8_t* at(size_t i) const { return static_cast<uint8_t*>(data_) + i; }
  std::array<uint8_t, 256> bytes() {
    std::array<uint8_t, 256> out{};
    EXPECT_EQ(cudaMemcpy(out.data(), data_, 256, CopyKind::device_to_host), kOk);
    return out;
  }
  void *stream_ = nullptr, *data_ = nullptr;
  std::array<uint8_t, 256> host_{};
};

TEST_F(Batches, AllCopiesAreMade) {
  void* to[] = {at(0), at(16), at(32)};
  const void* from[] = {at(128), at(144), host_.data() + 200};
  const size_t sizes[] = {4, 8, 16};
  ASSERT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 3, nullptr, nullptr, 0, stream_), kOk);
  const auto b = bytes();
  EXPECT_EQ(b[3], 131);
  EXPECT_EQ(b[4], 4);
  EXPECT_EQ(b[23], 151);
  EXPECT_EQ(b[24], 24);
  EXPECT_EQ(b[47], 215);
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 0, nullptr, nullptr, 0, stream_), CudaError::invalid_value);
  const uint64_t back[] = {reinterpret_cast<uint64_t>(at(0))}, source[] = {reinterpret_cast<uint64_t>(at(255))};
  const size_t one = 1;
  ASSERT_EQ(cuMemcpyBatchAsync_v2(back, source, &one, 1, nullptr, nullptr, 0, stream_), kOk);
  EXPECT_EQ(bytes()[0], 255);
}

TEST_F(Batches, WhatIsDiscardedIsPoison) {
  void* places[] = {at(8), at(64)};
  const size_t sizes[] = {8, 1};
  ASSERT_EQ(cudaMemPrefetchBatchAsync(places, sizes, 2, nullptr, nullptr, 0, 0, stream_), kOk);
  EXPECT_EQ(bytes()[8], 8);
  ASSERT_EQ(cudaMemDiscardBatchAsync(places, sizes, 2, 0, stream_), kOk);
  const auto b = bytes();
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(b[i], (i >= 8 && i < 16) || i == 64 ? 0xFF : i) << i;
}

TEST_F(Batches, CopiesWithinTheDevice) {
  ASSERT_EQ(cuMemcpyPeer(reinterpret_cast<uint64_t>(at(0)), nullptr, reinterpret_cast<uint64_t>(at(100)), nullptr, 4), kOk);
  EXPECT_EQ(bytes()[3], 103);
  DriverCopy3D p{};
  p.from.type = p.to.type = DriverMemory::device;
  p.from.device = reinterpret_cast<uint64_t>(at(128));
  p.to.device = reinterpret_cast<uint64_t>(at(0));
  p.from.pitch = p.to.pitch = 16;
  p.width = 2;
  p.height = 3;
  p.depth = 1;
  ASSERT_EQ(cuMemcpy3DPeer(&p), kOk);
  const auto b = bytes();
  EXPECT_EQ(b[1], 129);
  EXPECT_EQ(b[2], 102);
  EXPECT_EQ(b[33], 161);
}

TEST_F(Batches, PoolsByPlace) {
  void* pool = nullptr;
  const MemLocation device{1, 0}, none{1, 3}, host{2, 0};
  ASSERT_EQ(cudaMemGetDefaultMemPool(&pool, &device, 1), kOk);
  EXPECT_EQ(cudaMemSetMemPool(&device, 1, pool), kOk);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &none, 1), CudaError::invalid_device);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &host, 1), CudaError::not_supported);
}

TEST_F(Batches, LibrariesFromFiles) {
  const drywell::test::TemporaryDirectory folder;
  const std::string path = folder.file("two.ptx");
  drywell::write_file_atomically(path, std::string_view(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry a()\n{\nret;\n}\n.visible .entry b()\n{\nret;\n}\n"));
  void *library = nullptr, *kernels[3] = {};
  ASSERT_EQ(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), kOk);
  ASSERT_EQ(cudaLibraryEnumerateKernels(kernels, 3, library), kOk);
  EXPECT_NE(kernels[1], nullptr);
  EXPECT_EQ(kernels[2], nullptr);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, kernels[1]), kOk);
  EXPECT_STREQ(name, "b");
  EXPECT_EQ(cuModuleLoad(&library, "no such file"), CudaError::file_not_found);
}

TEST_F(Batches, SmallQueries) {
  unsigned position = 7;
  EXPECT_EQ(cudaLogsCurrent(&position, 0), kOk);
  EXPECT_EQ(position, 0u);
  char text[8] = "before";
  size_t bytes = sizeof text;
  EXPECT_EQ(cudaLogsDumpToMemory(&position, text, &bytes, 0), kOk);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(cuCtxSynchronize_v2(nullptr), kOk);
}

}  // namespace
