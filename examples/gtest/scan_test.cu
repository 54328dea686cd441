// Unit tests of a kernel, on a simulated GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

constexpr int kBlock = 256;

/// Inclusive prefix sum of one block.
__global__ void scan(int* data) {
  __shared__ int sums[kBlock];
  const int i = threadIdx.x;
  sums[i] = data[i];
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    const int left = i >= step ? sums[i - step] : 0;
    __syncthreads();
    sums[i] += left;
    __syncthreads();
  }
  data[i] = sums[i];
}

std::vector<int> scanned(const std::vector<int>& in) {
  int* device = nullptr;
  EXPECT_EQ(cudaMalloc(&device, in.size() * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
  scan<<<1, kBlock>>>(device);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<int> out(in.size());
  EXPECT_EQ(cudaMemcpy(out.data(), device, out.size() * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  return out;
}

TEST(Scan, OfOnesCounts) {
  std::vector<int> expected(kBlock);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(scanned(std::vector<int>(kBlock, 1)), expected);
}

TEST(Scan, OfAnything) {
  std::vector<int> in(kBlock), expected(kBlock);
  for (int i = 0; i < kBlock; ++i) in[i] = i * 37 % 101 - 50;
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT_EQ(scanned(in), expected);
}

}  // namespace
