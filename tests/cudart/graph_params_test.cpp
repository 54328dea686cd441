// Graphs: parameters and attributes of nodes read and changed, nodes for memory and events, captures that join, pictures, objects of
// the program. Expected values are arithmetic written out.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "cudart/driver_copy.h"
#include "cudart/graph_api.h"
#include "cudart_program.h"

extern "C" {
CudaError cudaMemsetAsync(void* to, int value, size_t bytes, void* stream);
CudaError cuGraphCreate(void** out, unsigned flags);
CudaError cuGraphAddKernelNode_v2(void** out, void* graph, void* const* after, size_t count, const void* p);
CudaError cuGraphAddMemcpyNode(void** out, void* graph, void* const* after, size_t count, const drywell::cudart::DriverCopy3D* p, void* context);
CudaError cuGraphMemcpyNodeGetParams(void* node, drywell::cudart::DriverCopy3D* out);
}

namespace {

using drywell::cudart::DriverCopy3D;
using drywell::cudart::DriverMemory;
using drywell::cudart::LaunchAttribute;

constexpr CudaError kOk = CudaError::success;

class GraphParams : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), kOk);
    ASSERT_EQ(cudaMalloc(&data_, 64), kOk);
    ASSERT_EQ(cudaMemsetAsync(data_, 0, 64, nullptr), kOk);
  }
  void TearDown() override {
    EXPECT_EQ(cudaGraphDestroy(graph_), kOk);
    EXPECT_EQ(cudaDeviceReset(), kOk);
    cudaGetLastError();
  }
  void run(void* graph) {
    void* executable = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), kOk);
    ASSERT_EQ(cudaGraphLaunch(executable, nullptr), kOk);
    ASSERT_EQ(cudaGraphExecDestroy(executable), kOk);
  }
  uint32_t word(size_t i) {
    uint32_t w[16];
    EXPECT_EQ(cudaMemcpy(w, data_, 64, CopyKind::device_to_host), kOk);
    return w[i];
  }
  /// The node that stores 1 at data + 4 * i.
  void* store_node(size_t i, void* const* after = nullptr, size_t count = 0) {
    void* at = static_cast<uint32_t*>(data_) + i;
    void* arguments[] = {&at};
    const KernelNodeParams p{program::kStore, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
    void* node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, after, count, &p), kOk);
    return node;
  }
  size_t nodes(void* graph) {
    size_t n = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &n), kOk);
    return n;
  }
  void *graph_ = nullptr, *data_ = nullptr;
};

TEST_F(GraphParams, AKernelsArgumentsAreReadAndChanged) {
  void* node = store_node(0);
  KernelNodeParams p{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(node, &p), kOk);
  void* at = nullptr;
  std::memcpy(&at, p.arguments[0], sizeof at);
  EXPECT_EQ(at, data_);
  EXPECT_EQ(p.grid.x, 1u);
  at = static_cast<uint32_t*>(data_) + 3;
  void* arguments[] = {&at};
  p.arguments = arguments;
  ASSERT_EQ(cudaGraphKernelNodeSetParams(node, &p), kOk);
  run(graph_);
  EXPECT_EQ(word(0), 0u);
  EXPECT_EQ(word(3), 1u);
  HostNodeParams other{};
  EXPECT_EQ(cudaGraphHostNodeGetParams(node, &other), CudaError::invalid_value);
}

TEST_F(GraphParams, ACapturedLaunchHasItsArguments) {
  void *stream = nullptr, *captured = nullptr, *node = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, 0, 0), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), kOk);
  void* arguments[] = {&data_};
  ASSERT_EQ(cudaLaunchKernel(program::kStore, {2, 1, 1}, {1, 1, 1}, arguments, 0, stream), kOk);
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), kOk);
  size_t count = 1;
  ASSERT_EQ(cudaGraphGetNodes(captured, &node, &count), kOk);
  KernelNodeParams p{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(node, &p), kOk);
  EXPECT_EQ(p.grid.x, 2u);
  EXPECT_EQ(p.function, static_cast<const void*>(program::kStore));  // the host entry, not a handle
  EXPECT_EQ(std::memcmp(p.arguments[0], &data_, sizeof data_), 0);
  EXPECT_EQ(cudaGraphDestroy(captured), kOk);
}

TEST_F(GraphParams, AnAttributeOfANodeIsTheLaunchs) {
  void* arguments[] = {&data_};
  const KernelNodeParams p{program::kClusterSize, {8, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  void* node = nullptr;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &p), kOk);
  LaunchAttribute cluster{};
  cluster.cluster = {4, 1, 1};
  ASSERT_EQ(cudaGraphKernelNodeSetAttribute(node, drywell::cudart::kClusterDimension, cluster.bytes), kOk);
  LaunchAttribute read{};
  ASSERT_EQ(cudaGraphKernelNodeGetAttribute(node, drywell::cudart::kClusterDimension, read.bytes), kOk);
  EXPECT_EQ(read.cluster.x, 4u);
  run(graph_);
  EXPECT_EQ(word(0), 4u);
}

TEST_F(GraphParams, FillsAndCopiesAreReadAndChanged) {
  const MemsetParams fill{data_, 4, 0x55, 1, 4, 1};
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(cudaGraphAddMemsetNode(&first, graph_, nullptr, 0, &fill), kOk);
  MemsetParams p{};
  ASSERT_EQ(cudaGraphMemsetNodeGetParams(first, &p), kOk);
  EXPECT_EQ(p.value, 0x55u);
  p.value = 0x66;
  ASSERT_EQ(cudaGraphMemsetNodeSetParams(first, &p), kOk);
  const DriverCopy3D copy{{0, 0, 0, 0, DriverMemory::unified, nullptr, reinterpret_cast<uint64_t>(data_), nullptr, nullptr, 0, 0},
                          {8, 0, 0, 0, DriverMemory::unified, nullptr, reinterpret_cast<uint64_t>(data_), nullptr, nullptr, 64, 0},
                          4,
                          1,
                          1};
  ASSERT_EQ(cuGraphAddMemcpyNode(&second, graph_, &first, 1, &copy, nullptr), kOk);
  DriverCopy3D read{};
  ASSERT_EQ(cuGraphMemcpyNodeGetParams(second, &read), kOk);
  EXPECT_EQ(read.to.x, 8u);
  EXPECT_EQ(read.width, 4u);
  run(graph_);
  EXPECT_EQ(word(2), 0x66666666u);
}

TEST_F(GraphParams, AGraphsMemoryIsPoisonedAtEachLaunch) {
  MemAllocNodeParams p{};
  p.bytes = 64;
  void *allocation = nullptr, *copy = nullptr, *fill = nullptr, *release = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&allocation, graph_, nullptr, 0, &p), kOk);
  ASSERT_NE(p.address, nullptr);
  MemAllocNodeParams read{};
  ASSERT_EQ(cudaGraphMemAllocNodeGetParams(allocation, &read), kOk);
  EXPECT_EQ(read.address, p.address);
  Memcpy3DParms c{};
  c.src_ptr = {p.address, 4, 4, 1};
  c.dst_ptr = {data_, 4, 4, 1};
  c.extent = {4, 1, 1};
  c.kind = CopyKind::device_to_device;
  ASSERT_EQ(cudaGraphAddMemcpyNode(&copy, graph_, &allocation, 1, &c), kOk);
  const MemsetParams zero{p.address, 4, 0, 1, 4, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph_, &copy, 1, &zero), kOk);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&release, graph_, &fill, 1, p.address), kOk);
  for (int launch = 0; launch < 2; ++launch) {
    run(graph_);
    EXPECT_EQ(word(0), 0xFFFFFFFFu) << launch;
  }
  EXPECT_EQ(cudaFree(p.address), kOk);
}

TEST_F(GraphParams, AJoinIsNoNode) {
  void *s = nullptr, *t = nullptr, *fork = nullptr, *join = nullptr, *captured = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&s, 0, 0), kOk);
  ASSERT_EQ(cudaStreamCreateWithPriority(&t, 0, 0), kOk);
  ASSERT_EQ(cudaEventCreateWithFlags(&fork, 2), kOk);
  ASSERT_EQ(cudaEventCreateWithFlags(&join, 2), kOk);
  ASSERT_EQ(cudaStreamBeginCapture(s, 0), kOk);
  ASSERT_EQ(cudaMemsetAsync(data_, 1, 4, s), kOk);
  ASSERT_EQ(cudaEventRecord(fork, s), kOk);
  ASSERT_EQ(cudaStreamWaitEvent(t, fork, 0), kOk);
  ASSERT_EQ(cudaMemsetAsync(data_, 2, 4, s), kOk);
  ASSERT_EQ(cudaMemsetAsync(static_cast<char*>(data_) + 4, 2, 4, t), kOk);
  ASSERT_EQ(cudaEventRecord(join, t), kOk);
  ASSERT_EQ(cudaStreamWaitEvent(s, join, 0), kOk);
  int status = 0;
  void* const* last = nullptr;
  size_t count = 0;
  ASSERT_EQ(cudaStreamGetCaptureInfo(s, &status, nullptr, nullptr, &last, nullptr, &count), kOk);
  EXPECT_EQ(count, 2u);
  ASSERT_EQ(cudaMemsetAsync(data_, 3, 8, s), kOk);
  ASSERT_EQ(cudaStreamEndCapture(s, &captured), kOk);
  EXPECT_EQ(nodes(captured), 4u);
  size_t edges = 0;
  ASSERT_EQ(cudaGraphGetEdges(captured, nullptr, nullptr, nullptr, &edges), kOk);
  EXPECT_EQ(edges, 4u);
  run(captured);
  EXPECT_EQ(word(0), 0x03030303u);
  EXPECT_EQ(word(1), 0x03030303u);
  EXPECT_EQ(cudaGraphDestroy(captured), kOk);
}

TEST_F(GraphParams, ACaptureMayContinueAGraph) {
  void *first = store_node(0), *stream = nullptr, *back = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, 0, 0), kOk);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, graph_, &first, nullptr, 1, 0), kOk);
  ASSERT_EQ(cudaMemsetAsync(data_, 9, 4, stream), kOk);
  ASSERT_EQ(cudaStreamEndCapture(stream, &back), kOk);
  EXPECT_EQ(back, graph_);
  run(graph_);
  EXPECT_EQ(word(0), 0x09090909u);
}

TEST_F(GraphParams, NodesAndEdgesAreTakenAway) {
  void *a = store_node(0), *b = store_node(1, &a, 1), *c = store_node(2, &b, 1);
  void* found[2] = {};
  size_t count = 2;
  ASSERT_EQ(cudaGraphNodeGetDependentNodes(a, found, nullptr, &count), kOk);
  EXPECT_TRUE(count == 1 && found[0] == b);
  ASSERT_EQ(cudaGraphDestroyNode(b), kOk);
  count = 2;
  ASSERT_EQ(cudaGraphNodeGetDependencies(c, found, nullptr, &count), kOk);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &a, &c, nullptr, 1), CudaError::invalid_value);
  run(graph_);
  EXPECT_TRUE(word(0) == 1 && word(1) == 0 && word(2) == 1);
}

TEST_F(GraphParams, EventsAreRecordedWhenTheGraphRuns) {
  void *event = nullptr, *node = nullptr, *held = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, 0), kOk);
  ASSERT_EQ(cudaGraphAddEventRecordNode(&node, graph_, nullptr, 0, event), kOk);
  ASSERT_EQ(cudaGraphEventRecordNodeGetEvent(node, &held), kOk);
  EXPECT_EQ(held, event);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, event), CudaError::invalid_handle);  // not recorded yet
  run(graph_);
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, event), kOk);
}

TEST_F(GraphParams, APictureNamesKernelsAndEdges) {
  void* a = store_node(0);
  store_node(1, &a, 1);
  const auto path = std::filesystem::temp_directory_path() / "drywell-graph-test.dot";
  ASSERT_EQ(cudaGraphDebugDotPrint(graph_, path.c_str(), 0), kOk);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  EXPECT_NE(text.find("kernel: store"), std::string::npos) << text;
  EXPECT_NE(text.find("n0 -> n1"), std::string::npos) << text;
}

TEST_F(GraphParams, AnObjectLivesAsLongAsAnExecutableGraphHoldsIt) {
  int destroyed = 0;
  void *object = nullptr, *mine = nullptr, *executable = nullptr;
  ASSERT_EQ(cudaUserObjectCreate(
                &object, &destroyed, [](void* p) { ++*static_cast<int*>(p); }, 1, 1),
            kOk);
  ASSERT_EQ(cudaGraphCreate(&mine, 0), kOk);
  ASSERT_EQ(cudaGraphRetainUserObject(mine, object, 1, 1), kOk);  // the graph takes the reference over
  ASSERT_EQ(cudaGraphInstantiate(&executable, mine, 0), kOk);
  ASSERT_EQ(cudaGraphDestroy(mine), kOk);
  EXPECT_EQ(destroyed, 0);
  ASSERT_EQ(cudaGraphExecDestroy(executable), kOk);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), CudaError::invalid_handle);
}

}  // namespace
