// Memory of graphs: which addresses nodes share, what cudaDeviceGetGraphMemAttribute counts, and launches of a graph whose memory is not
// freed. The sequences are those of NVIDIA's sample graphMemoryFootprint and of cuda.h's words; the numbers are sums of sizes.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "cudart/graph_api.h"
#include "cudart_program.h"

extern "C" {
CudaError cudaFreeAsync(void* p, void* stream);
CudaError cudaMallocAsync(void** out, size_t bytes, void* stream);
CudaError cudaStreamCreate(void** out);
CudaError cudaStreamDestroy(void* stream);
CudaError cudaStreamBeginCapture(void* stream, int mode);
CudaError cudaStreamEndCapture(void* stream, void** graph);
CudaError cuDeviceGetGraphMemAttribute(int device, int attribute, void* out);
}

namespace {

constexpr CudaError kOk = CudaError::success;
constexpr size_t kBytes = 1 << 20;
enum Attribute {
  kUsed,
  kUsedMost,
  kReserved,
  kReservedMost
};

class GraphMemoryTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  void* make_graph() {
    void* g = nullptr;
    EXPECT_EQ(cudaGraphCreate(&g, 0), kOk);
    return g;
  }
  struct Allocated {
    void *node = nullptr, *address = nullptr;
  };
  Allocated allocate(void* graph, void* after, size_t bytes = kBytes) {
    MemAllocNodeParams p{};
    p.bytes = bytes;
    void* node = nullptr;
    EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, &after, after != nullptr ? 1 : 0, &p), kOk);
    return {node, p.address};
  }
  void* free_node(void* graph, const Allocated& a) {
    void* node = nullptr;
    EXPECT_EQ(cudaGraphAddMemFreeNode(&node, graph, &a.node, 1, a.address), kOk);
    return node;
  }
  void* executable(void* graph, unsigned long long flags = 0) {
    void* e = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&e, graph, flags), kOk);
    return e;
  }
  uint64_t attribute(int which) {
    uint64_t bytes = 0;
    EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, which, &bytes), kOk);
    return bytes;
  }
};

TEST_F(GraphMemoryTest, AnAllocationBehindAFreeHasItsAddress) {
  void* const g = make_graph();
  const Allocated a = allocate(g, nullptr);
  void* const freed = free_node(g, a);
  const Allocated other_size = allocate(g, freed, kBytes / 2), b = allocate(g, freed), beside = allocate(g, nullptr), again = allocate(g, freed);
  EXPECT_EQ(b.address, a.address);
  EXPECT_NE(other_size.address, a.address);
  EXPECT_NE(beside.address, a.address);  // it may run before the free
  EXPECT_NE(again.address, a.address);   // b has it
  void* const freed_again = free_node(g, b);
  EXPECT_EQ(allocate(g, freed_again).address, a.address);
}

TEST_F(GraphMemoryTest, CapturedAllocationsShareAddressesToo) {
  void *s = nullptr, *p[3] = {}, *g = nullptr;
  ASSERT_EQ(cudaStreamCreate(&s), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(s, 0), kOk);
  ASSERT_EQ(cudaMallocAsync(&p[0], kBytes, s), kOk);
  ASSERT_EQ(cudaMallocAsync(&p[1], kBytes, s), kOk);
  ASSERT_EQ(cudaFreeAsync(p[0], s), kOk);
  ASSERT_EQ(cudaMallocAsync(&p[2], kBytes, s), kOk);
  ASSERT_EQ(cudaFreeAsync(p[1], s), kOk);
  ASSERT_EQ(cudaFreeAsync(p[2], s), kOk);
  ASSERT_EQ(cudaStreamEndCapture(s, &g), kOk);
  EXPECT_NE(p[0], p[1]);
  EXPECT_EQ(p[2], p[0]);
  void* const e = executable(g);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(e, s), kOk);
  EXPECT_EQ(attribute(kUsed), 2 * kBytes);
  EXPECT_EQ(attribute(kUsedMost), 2 * kBytes);
  EXPECT_EQ(cudaStreamDestroy(s), kOk);
}

TEST_F(GraphMemoryTest, GraphsShareWhatOthersHaveFreed) {
  void *graphs[3], *e[3];
  for (int i = 0; i < 3; ++i) {
    graphs[i] = make_graph();
    free_node(graphs[i], allocate(graphs[i], nullptr));
    e[i] = executable(graphs[i]);
  }
  EXPECT_EQ(attribute(kReserved), 0u);  // "Creating the graph execs does not reserve any physical memory."
  for (void* one : e) {
    ASSERT_EQ(cudaGraphLaunch(one, nullptr), kOk);
    EXPECT_EQ(attribute(kReserved), kBytes);
    EXPECT_EQ(attribute(kUsed), kBytes);  // the sample's footprint
  }
  ASSERT_EQ(cudaDeviceGraphMemTrim(0), kOk);
  EXPECT_EQ(attribute(kReserved), 0u);
  EXPECT_EQ(attribute(kReservedMost), kBytes);
}

TEST_F(GraphMemoryTest, WhatIsNotFreedStaysReserved) {
  Allocated a[3];
  for (int i = 0; i < 3; ++i) {
    void* const g = make_graph();
    a[i] = allocate(g, nullptr);
    ASSERT_EQ(cudaGraphLaunch(executable(g), nullptr), kOk);
    EXPECT_EQ(attribute(kUsed), (i + 1) * kBytes);
    EXPECT_EQ(attribute(kReserved), (i + 1) * kBytes);
  }
  ASSERT_EQ(cudaDeviceGraphMemTrim(0), kOk);
  EXPECT_EQ(attribute(kReserved), 3 * kBytes);
  for (const Allocated& one : a) ASSERT_EQ(cudaFree(one.address), kOk);
  EXPECT_EQ(attribute(kUsed), 3 * kBytes);  // "Freeing the allocations does not shrink the footprint."
  uint64_t zero = 0;
  ASSERT_EQ(cudaDeviceSetGraphMemAttribute(0, kUsedMost, &zero), kOk);
  EXPECT_EQ(attribute(kUsedMost), 3 * kBytes);  // of now
  ASSERT_EQ(cudaDeviceGraphMemTrim(0), kOk);
  EXPECT_EQ(attribute(kReserved), 0u);
  ASSERT_EQ(cudaDeviceSetGraphMemAttribute(0, kUsedMost, &zero), kOk);
  EXPECT_EQ(attribute(kUsedMost), 0u);
  EXPECT_EQ(attribute(kReservedMost), 3 * kBytes);
}

// cuda.h, cuGraphLaunch: "If any allocations created by hGraphExec remain unfreed (from a previous launch) and hGraphExec was not
// instantiated with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, the launch will fail with CUDA_ERROR_INVALID_VALUE."
TEST_F(GraphMemoryTest, AGraphIsLaunchedAgainOnceItsMemoryIsFree) {
  void* const g = make_graph();
  const Allocated a = allocate(g, nullptr);
  void* const e = executable(g);
  ASSERT_EQ(cudaGraphLaunch(e, nullptr), kOk);
  EXPECT_EQ(cudaGraphLaunch(e, nullptr), CudaError::invalid_value);
  cudaGetLastError();
  ASSERT_EQ(cudaFreeAsync(a.address, nullptr), kOk);
  EXPECT_EQ(cudaGraphLaunch(e, nullptr), kOk);
  ASSERT_EQ(cudaFree(a.address), kOk);
  void* const frees = executable(g, 1);  // cudaGraphInstantiateFlagAutoFreeOnLaunch
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(frees, nullptr), kOk);
  EXPECT_EQ(attribute(kUsed), kBytes);
}

TEST_F(GraphMemoryTest, RefusesWhatIsNoAttribute) {
  uint64_t bytes = 7;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, 4, &bytes), CudaError::invalid_value);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(1, kUsed, &bytes), CudaError::invalid_device);
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, kUsed, &bytes), CudaError::invalid_value);
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, kUsedMost, &bytes), CudaError::invalid_value);  // not 0
  EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, kUsed, &bytes), kOk);
  EXPECT_EQ(bytes, 0u);
}

}  // namespace
