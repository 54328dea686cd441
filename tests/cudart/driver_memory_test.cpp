// Memory of the driver interface: mappings, values in a stream's order, copies and fills in two and three dimensions, pools.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "cudart/driver_copy.h"
#include "cudart_program.h"
#include "drywell/core/host_memory.h"

extern "C" {
CudaError cuInit(unsigned flags);
CudaError cudaMallocHost(void** out, size_t bytes);
CudaError cuMemGetAllocationGranularity(size_t* out, const void* properties, int option);
CudaError cuMemAddressReserve(uint64_t* out, size_t bytes, size_t alignment, uint64_t at, unsigned long long flags);
CudaError cuMemAddressFree(uint64_t base, size_t bytes);
CudaError cuMemCreate(unsigned long long* out, size_t bytes, const void* properties, unsigned long long flags);
CudaError cuMemRelease(unsigned long long handle);
CudaError cuMemMap(uint64_t at, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags);
CudaError cuMemUnmap(uint64_t at, size_t bytes);
CudaError cuMemSetAccess(uint64_t at, size_t bytes, const void* list, size_t count);
CudaError cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes);
CudaError cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes);
CudaError cuMemAlloc_v2(uint64_t* out, size_t bytes);
CudaError cuMemcpy2D_v2(const drywell::cudart::DriverCopy2D* p);
CudaError cuMemcpy3D_v2(const drywell::cudart::DriverCopy3D* p);
CudaError cuMemsetD2D16_v2(uint64_t to, size_t pitch, unsigned short value, size_t width, size_t height);
CudaError cuMemsetD8_v2(uint64_t to, unsigned char value, size_t n);
CudaError cuStreamWaitValue32_v2(void* stream, uint64_t at, uint32_t value, unsigned flags);
CudaError cuStreamWaitValue64_v2(void* stream, uint64_t at, uint64_t value, unsigned flags);
CudaError cuStreamWriteValue32_v2(void* stream, uint64_t at, uint32_t value, unsigned flags);
CudaError cuStreamWriteValue64_v2(void* stream, uint64_t at, uint64_t value, unsigned flags);
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, const void** device);
int nvmlDeviceGetGpuFabricInfoV(const void* device, unsigned* info);
CudaError cuStreamBatchMemOp_v2(void* stream, unsigned count, const void* list, unsigned flags);
}

namespace {

using drywell::cudart::DriverCopy2D;
using drywell::cudart::DriverCopy3D;
using drywell::cudart::DriverMemory;

constexpr CudaError kOk = CudaError::success;
constexpr size_t kPiece = 2 << 20;

class DriverMemoryCalls : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cuInit(0), kOk); }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  uint64_t allocate(size_t bytes, unsigned char value) {
    uint64_t p = 0;
    EXPECT_EQ(cuMemAlloc_v2(&p, bytes), kOk);
    EXPECT_EQ(cuMemsetD8_v2(p, value, bytes), kOk);
    return p;
  }
  template <class T>
  T read(uint64_t at) {
    T value{};
    EXPECT_EQ(cuMemcpyDtoH_v2(&value, at, sizeof value), kOk);
    return value;
  }
};

/// CUmemAllocationProp: pinned memory of device 0; CUmemAccessDesc: the device reads and writes.
struct Properties {
  int type = 1, handle_types = 0, location_type = 1, location = 0;
  void* metadata = nullptr;
  char flags[8] = {};
};
struct Access {
  int location_type = 1, location = 0, flags = 3;
};

class Mappings : public DriverMemoryCalls {
 protected:
  void SetUp() override {
    DriverMemoryCalls::SetUp();
    ASSERT_EQ(cuMemAddressReserve(&base_, 4 * kPiece, 0, 0, 0), kOk);
  }
  unsigned long long map(unsigned piece) {
    unsigned long long handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, kPiece, &properties_, 0), kOk);
    EXPECT_EQ(cuMemMap(base_ + piece * kPiece, kPiece, 0, handle, 0), kOk);
    EXPECT_EQ(cuMemSetAccess(base_ + piece * kPiece, kPiece, &access_, 1), kOk);
    return handle;
  }
  CudaError store(uint64_t at) {
    void* p = reinterpret_cast<void*>(at);
    void* arguments[] = {&p};
    return cudaLaunchKernel(program::kStore, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
  }
  uint64_t base_ = 0;
  Properties properties_;
  Access access_;
};

// Pinned memory is backed where it is touched; what is promised counts all the same.
TEST_F(Mappings, WhatIsAllocatedOfAllKindsTogetherIsWhatTheHostCanBack) {
  size_t free = 0, left = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), kOk);
  const size_t large = free / 4 * 3 / kPiece * kPiece;
  if (free < size_t{2} << 30) GTEST_SKIP() << "the host has less than 4 GB";
  void *pinned = nullptr, *device = nullptr;
  unsigned long long handle = 0;
  const uint64_t before = drywell::resident_bytes();
  ASSERT_EQ(cudaMallocHost(&pinned, large), kOk);
  const auto* const bytes = static_cast<const uint8_t*>(pinned);
  EXPECT_EQ(bytes[0], 0xFF);
  EXPECT_EQ(bytes[large / 2], 0xFF);
  EXPECT_EQ(bytes[large - 1], 0xFF);
  EXPECT_LT(drywell::resident_bytes() - before, uint64_t{64} << 20);
  ASSERT_EQ(cudaMemGetInfo(&left, &total), kOk);
  EXPECT_LE(left, free - large);
  EXPECT_EQ(cudaMalloc(&device, large), CudaError::memory_allocation);
  EXPECT_EQ(cuMemCreate(&handle, large, &properties_, 0), CudaError::memory_allocation);
  ASSERT_EQ(cudaFreeHost(pinned), kOk);
  EXPECT_EQ(cudaMalloc(&device, large), kOk);
  EXPECT_EQ(cuMemCreate(&handle, large, &properties_, 0), CudaError::memory_allocation);
  EXPECT_EQ(cudaFree(device), kOk);
}

// A piece of 1 GiB, of which one word is written, moves from one mapping to another.
TEST_F(Mappings, PhysicalMemoryIsBackedWhereItIsTouched) {
  constexpr size_t kLarge = size_t{1} << 30, kWord = kLarge / 2 + 12;
  size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), kOk);
  if (free < 2 * kLarge) GTEST_SKIP() << "the host has less than 2 GB";
  uint64_t at = 0;
  unsigned long long handle = 0;
  ASSERT_EQ(cuMemAddressReserve(&at, 3 * kLarge, 0, 0, 0), kOk);
  const uint64_t before = drywell::resident_bytes();
  ASSERT_EQ(cuMemCreate(&handle, kLarge, &properties_, 0), kOk);
  const auto show = [&](uint64_t place) {
    ASSERT_EQ(cuMemMap(place, kLarge, 0, handle, 0), kOk);
    ASSERT_EQ(cuMemSetAccess(place, kLarge, &access_, 1), kOk);
  };
  show(at);
  EXPECT_EQ(read<uint32_t>(at), 0xFFFFFFFFu);
  EXPECT_EQ(read<uint32_t>(at + kLarge - 4), 0xFFFFFFFFu);
  ASSERT_EQ(store(at + kWord), kOk);
  EXPECT_EQ(read<uint32_t>(at + kWord), 1u);
  EXPECT_LT(drywell::resident_bytes() - before, uint64_t{64} << 20);
  ASSERT_EQ(cuMemUnmap(at, kLarge), kOk);
  show(at + kLarge);  // another place: what was written is still there
  EXPECT_EQ(read<uint32_t>(at + kLarge + kWord), 1u);
  EXPECT_EQ(read<uint32_t>(at + kLarge + kWord + 4), 0xFFFFFFFFu);
  EXPECT_LT(drywell::resident_bytes() - before, uint64_t{64} << 20);
  ASSERT_EQ(cuMemUnmap(at + kLarge, kLarge), kOk);
  EXPECT_EQ(cuMemRelease(handle), kOk);
  EXPECT_EQ(cuMemAddressFree(at, 3 * kLarge), kOk);
}

TEST_F(Mappings, PiecesSideBySideAreOneAllocation) {
  int supported = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&supported, 102, 0), kOk);
  EXPECT_EQ(supported, 1);
  size_t granularity = 0;
  ASSERT_EQ(cuMemGetAllocationGranularity(&granularity, &properties_, 0), kOk);
  EXPECT_EQ(granularity, kPiece);
  map(0);
  EXPECT_NE(cuMemcpyHtoD_v2(base_ + kPiece - 4, "12345678", 8), kOk);  // the second piece is not there yet
  map(1);
  ASSERT_EQ(cuMemcpyHtoD_v2(base_ + kPiece - 4, "12345678", 8), kOk);
  EXPECT_EQ(std::memcmp(std::vector<uint64_t>{read<uint64_t>(base_ + kPiece - 4)}.data(), "12345678", 8), 0);
  EXPECT_EQ(store(base_ + kPiece), kOk);  // a kernel's store
  EXPECT_EQ(read<uint32_t>(base_ + kPiece), 1u);
}

TEST_F(Mappings, WhatIsUnmappedIsNoMemoryAndOnePieceCanBeInTwoPlaces) {
  const unsigned long long handle = map(0);
  map(1);
  ASSERT_EQ(cuMemMap(base_ + 2 * kPiece, kPiece, 0, handle, 0), kOk);
  ASSERT_EQ(cuMemSetAccess(base_ + 2 * kPiece, kPiece, &access_, 1), kOk);
  ASSERT_EQ(store(base_ + 64), kOk);
  EXPECT_EQ(read<uint32_t>(base_ + 2 * kPiece + 64), 1u);
  EXPECT_EQ(read<uint32_t>(base_ + 2 * kPiece + 68), 0xFFFFFFFFu);
  ASSERT_EQ(cuMemUnmap(base_, kPiece), kOk);
  EXPECT_EQ(cuMemRelease(handle), kOk);
  EXPECT_EQ(read<uint32_t>(base_ + 2 * kPiece + 64), 1u);  // the other mapping keeps the memory
  uint32_t word = 0;
  EXPECT_NE(cuMemcpyDtoH_v2(&word, base_ + 64, 4), kOk);
  EXPECT_EQ(cuMemAddressFree(base_, 4 * kPiece), CudaError::invalid_value);  // still mapped
  ASSERT_EQ(cuMemUnmap(base_ + kPiece, 2 * kPiece), kOk);
  EXPECT_EQ(cuMemAddressFree(base_, 4 * kPiece), kOk);
}

TEST_F(Mappings, WithoutAccessKernelsFault) {
  unsigned long long handle = 0;
  ASSERT_EQ(cuMemCreate(&handle, kPiece, &properties_, 0), kOk);
  EXPECT_EQ(cuMemMap(base_ + 4096, kPiece, 0, handle, 0), CudaError::invalid_value);
  EXPECT_EQ(cuMemMap(base_ + 4 * kPiece, kPiece, 0, handle, 0), CudaError::invalid_value);
  ASSERT_EQ(cuMemMap(base_, kPiece, 0, handle, 0), kOk);
  EXPECT_EQ(cuMemMap(base_, kPiece, 0, handle, 0), CudaError::invalid_value);
  EXPECT_EQ(store(base_), kOk);
  EXPECT_EQ(cudaDeviceSynchronize(), CudaError::illegal_address);
}

TEST_F(DriverMemoryCalls, StreamsWaitForValuesThatAreThere) {
  const uint64_t p = allocate(16, 0);
  ASSERT_EQ(cuStreamWriteValue32_v2(nullptr, p, 7, 0), kOk);
  EXPECT_EQ(read<uint32_t>(p), 7u);
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, p, 5, 0), kOk);           // at least
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, p, 0xFFFFFFFF, 0), kOk);  // cyclic: 7 comes after -1
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, p, 7, 1), kOk);           // equal
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, p, 4, 2), kOk);           // a common bit
  EXPECT_EQ(cuStreamWaitValue32_v2(nullptr, p, 8, 3), kOk);           // a bit that neither has
  ASSERT_EQ(cuStreamWriteValue64_v2(nullptr, p + 8, uint64_t{1} << 40, 0), kOk);
  EXPECT_EQ(cuStreamWaitValue64_v2(nullptr, p + 8, uint64_t{1} << 39, 0), kOk);
  const uint64_t batch[2][6] = {{2, p, 9, 0, 0, 0}, {1, p, 9, 1, 0, 0}};  // write 9, wait until equal
  EXPECT_EQ(cuStreamBatchMemOp_v2(nullptr, 2, batch, 0), kOk);
  EXPECT_EQ(read<uint32_t>(p), 9u);
}

TEST_F(DriverMemoryCalls, BoxesAreCopiedAndFilled) {
  std::vector<uint8_t> host(64);
  std::iota(host.begin(), host.end(), uint8_t{0});
  const uint64_t p = allocate(64, 0xEE);
  // Rows of 8 bytes: 3 bytes of 2 rows from (1, 2) to (4, 5).
  const DriverCopy2D box{{1, 2, DriverMemory::host, host.data(), 0, nullptr, 8}, {4, 5, DriverMemory::device, nullptr, p, nullptr, 8}, 3, 2};
  ASSERT_EQ(cuMemcpy2D_v2(&box), kOk);
  std::vector<uint8_t> want(64, 0xEE);
  for (size_t y = 0; y < 2; ++y) {
    for (size_t x = 0; x < 3; ++x) want[(5 + y) * 8 + 4 + x] = static_cast<uint8_t>((2 + y) * 8 + 1 + x);
  }
  std::vector<uint8_t> got(64);
  ASSERT_EQ(cuMemcpyDtoH_v2(got.data(), p, 64), kOk);
  EXPECT_EQ(got, want);
  // Slices of 2 rows of 8 bytes: one byte of each of 3 slices.
  const DriverCopy3D deep{{0, 1, 1, 0, DriverMemory::host, host.data(), 0, nullptr, nullptr, 8, 2}, {7, 0, 0, 0, DriverMemory::device, nullptr, p, nullptr, nullptr, 8, 2}, 1, 1, 3};
  ASSERT_EQ(cuMemcpy3D_v2(&deep), kOk);
  for (size_t z = 0; z < 3; ++z) want[z * 16 + 7] = static_cast<uint8_t>((1 + z) * 16 + 8);
  ASSERT_EQ(cuMemcpyDtoH_v2(got.data(), p, 64), kOk);
  EXPECT_EQ(got, want);
  ASSERT_EQ(cuMemsetD2D16_v2(p, 8, 0x1234, 2, 3), kOk);
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 4; ++x) want[y * 8 + x] = x % 2 == 0 ? 0x34 : 0x12;
  }
  ASSERT_EQ(cuMemcpyDtoH_v2(got.data(), p, 64), kOk);
  EXPECT_EQ(got, want);
}

TEST_F(DriverMemoryCalls, PoolsCountTheirBytes) {
  constexpr int kUsedNow = 7, kUsedMost = 8;
  void *pool = nullptr, *a = nullptr, *b = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), kOk);
  ASSERT_EQ(cudaMallocAsync(&a, 1000, nullptr), kOk);
  ASSERT_EQ(cudaMallocAsync(&b, 500, nullptr), kOk);
  ASSERT_EQ(cudaFreeAsync(a, nullptr), kOk);
  uint64_t bytes = 0;
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, kUsedNow, &bytes), kOk);
  EXPECT_EQ(bytes, 500u);
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, kUsedMost, &bytes), kOk);
  EXPECT_EQ(bytes, 1500u);
  bytes = 0;
  ASSERT_EQ(cudaMemPoolSetAttribute(pool, kUsedMost, &bytes), kOk);
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, kUsedMost, &bytes), kOk);
  EXPECT_EQ(bytes, 500u);
}

// PyTorch asks before it maps memory.
TEST(Nvml, TheDeviceHasNoFabric) {
  const void* device = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:00:00.0", &device), 0);
  EXPECT_NE(device, nullptr);
  unsigned info[9] = {36 | 2 << 24, 1, 1, 1, 1, 1, 1, 1, 1};  // version 2; the state is the byte at 28
  ASSERT_EQ(nvmlDeviceGetGpuFabricInfoV(device, info), 0);
  EXPECT_EQ(info[7], 0u);
  info[0] = 0;
  EXPECT_NE(nvmlDeviceGetGpuFabricInfoV(device, info), 0);
}

}  // namespace
