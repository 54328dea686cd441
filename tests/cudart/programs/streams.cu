// The runtime through NVIDIA's own headers: captures, graphs, managed and pinned memory, clusters, occupancy, pools.
#include "check.cuh"

__managed__ int managed_total, managed_row[32];

__global__ void add(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] += v; }
__global__ void total(const int* p, int n) {
  if (threadIdx.x == 0)
    for (int i = 0; i < n; ++i) managed_total += p[i];
}
__global__ void cluster_shape(int* out) {
  unsigned x;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<int>(x);
}

// A graph made node by node, with the call for any kind of node: a fill, two branches, the host. Returns the number of errors.
size_t graph_of_nodes(cudaStream_t stream) {
  constexpr int kN = 32;
  size_t wrong = 0;
  const auto expect = [&](bool fine, const char* what) {
    if (!fine) std::printf("wrong: %s\n", what);
    wrong += !fine;
  };
  int *p = nullptr, *q = nullptr, one = 1, two = 2, seen = 0;
  CHECK(cudaMalloc(&p, kN * sizeof(int)));
  CHECK(cudaMalloc(&q, kN * sizeof(int)));
  cudaGraph_t graph;
  cudaGraphNode_t fill, branches[2], host;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeMemset;
  params.memset.dst = p;
  params.memset.elementSize = sizeof(int);
  params.memset.value = 40;
  params.memset.width = kN;
  params.memset.height = 1;
  CHECK(cudaGraphAddNode(&fill, graph, nullptr, nullptr, 0, &params));
  void* arguments[2] = {&p, &one};
  cudaGraphNodeParams kernel{};
  kernel.type = cudaGraphNodeTypeKernel;
  kernel.kernel.func = reinterpret_cast<void*>(add);
  kernel.kernel.gridDim = 1;
  kernel.kernel.blockDim = kN;
  kernel.kernel.kernelParams = arguments;
  CHECK(cudaGraphAddNode(&branches[0], graph, &fill, nullptr, 1, &kernel));
  params = {};
  params.type = cudaGraphNodeTypeMemcpy;
  params.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(p, kN * sizeof(int), kN * sizeof(int), 1);
  params.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(q, kN * sizeof(int), kN * sizeof(int), 1);
  params.memcpy.copyParams.extent = make_cudaExtent(kN * sizeof(int), 1, 1);
  params.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaGraphAddNode(&branches[1], graph, &branches[0], nullptr, 1, &params));
  params = {};
  params.type = cudaGraphNodeTypeHost;
  params.host.fn = [](void* data) { ++*static_cast<int*>(data); };
  params.host.userData = &seen;
  CHECK(cudaGraphAddNode(&host, graph, branches, nullptr, 2, &params));

  size_t roots = 4, edges = 0;
  cudaGraphNode_t root[4], from[4], to[4];
  cudaGraphEdgeData data[4];
  CHECK(cudaGraphGetRootNodes(graph, root, &roots));
  expect(roots == 1 && root[0] == fill && root[1] == nullptr, "one root");
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  expect(edges == 4, "four edges");
  CHECK(cudaGraphGetEdges(graph, from, to, data, &edges));
  for (size_t i = 0; i < edges; ++i) {
    const bool one_of_them = (from[i] == fill && to[i] == branches[0]) || (from[i] == branches[0] && to[i] == branches[1]) || (from[i] != fill && to[i] == host);
    expect(one_of_them && data[i].type == cudaGraphDependencyTypeDefault, "an edge that was asked for");
  }

  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  arguments[1] = &two;
  CHECK(cudaGraphExecNodeSetParams(executable, branches[0], &kernel));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  int result[kN];
  CHECK(cudaMemcpy(result, q, sizeof(result), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) expect(result[i] == 42, "the nodes ran in order, the kernel with its new arguments");
  expect(seen == 1, "the host's node ran");
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  return wrong;
}

int main() {
  constexpr int kN = 64;
  size_t wrong = 0;
  const auto expect = [&](bool fine, const char* what) {
    if (!fine) std::printf("wrong: %s\n", what);
    wrong += !fine;
  };
  int *p = nullptr, *pinned = nullptr, *managed = nullptr;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMallocAsync(&p, kN * sizeof(int), stream));
  CHECK(cudaMallocHost(&pinned, kN * sizeof(int)));
  CHECK(cudaMallocManaged(&managed, kN * sizeof(int)));
  CHECK(cudaMemsetAsync(p, 0, kN * sizeof(int), stream));

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<2, 32, 0, stream>>>(p, 1);
  add<<<2, 32, 0, stream>>>(p, 2);
  CHECK(cudaMemcpyAsync(pinned, p, kN * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect(nodes == 3, "three nodes were captured");
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 4; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kN; ++i) expect(pinned[i] == 12, "the graph ran four times");

  // A clone runs like its original, and each node of the original has its node in the clone.
  cudaGraph_t clone;
  cudaGraphExec_t twin;
  cudaGraphNode_t theirs[3], copies[3], found;
  CHECK(cudaGraphClone(&clone, graph));
  nodes = 3;
  CHECK(cudaGraphGetNodes(graph, theirs, &nodes));
  CHECK(cudaGraphGetNodes(clone, copies, &nodes));
  for (int i = 0; i < 3; ++i) {
    CHECK(cudaGraphNodeFindInClone(&found, theirs[i], clone));
    expect(found == copies[i] && found != theirs[i], "the twin in the clone");
  }
  expect(cudaGraphNodeFindInClone(&found, copies[0], clone) == cudaErrorInvalidValue, "no twin of a stranger");
  cudaGetLastError();
  CHECK(cudaGraphInstantiate(&twin, clone, 0));
  CHECK(cudaGraphLaunch(twin, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kN; ++i) expect(pinned[i] == 15, "the clone ran once");
  CHECK(cudaGraphExecDestroy(twin));
  CHECK(cudaGraphDestroy(clone));

  wrong += graph_of_nodes(stream);

  // Memory that belongs to a graph, and a copy made as a node.
  int* inside = nullptr;
  cudaGraph_t own;
  cudaGraphExec_t own_executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&inside, kN * sizeof(int), stream));
  CHECK(cudaMemsetAsync(inside, 0, kN * sizeof(int), stream));
  add<<<2, 32, 0, stream>>>(inside, 7);
  CHECK(cudaMemcpyAsync(p, inside, kN * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaFreeAsync(inside, stream));
  CHECK(cudaStreamEndCapture(stream, &own));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(p, kN * sizeof(int), kN * sizeof(int), 1);
  copy.dstPtr = make_cudaPitchedPtr(pinned, kN * sizeof(int), kN * sizeof(int), 1);
  copy.extent = make_cudaExtent(kN * sizeof(int), 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  size_t count = 0;
  CHECK(cudaGraphGetNodes(own, nullptr, &count));
  expect(count == 5, "an allocation and its end are nodes");
  expect(cudaGraphClone(&clone, own) == cudaErrorNotSupported, "no clone of a graph with memory of its own");
  cudaGetLastError();
  std::vector<cudaGraphNode_t> all(count);
  CHECK(cudaGraphGetNodes(own, all.data(), &count));
  cudaGraphNode_t last;
  CHECK(cudaGraphAddMemcpyNode(&last, own, &all[3], 1, &copy));
  CHECK(cudaGraphInstantiate(&own_executable, own, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(own_executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kN; ++i) expect(pinned[i] == 7, "a graph's own memory");

  for (int i = 0; i < kN; ++i) managed[i] = i;
  add<<<1, kN>>>(managed, 1);
  managed_total = 5;
  total<<<1, 1>>>(managed, kN);
  CHECK(cudaDeviceSynchronize());
  expect(managed[10] == 11, "managed memory");
  expect(managed_total == 5 + kN * (kN + 1) / 2, "a managed variable");
  for (int i = 0; i < 32; ++i) managed_row[i] = i;
  add<<<1, 32>>>(managed_row, 4);
  CHECK(cudaDeviceSynchronize());
  expect(managed_row[31] == 35, "a managed variable by its address");
  void* row = nullptr;
  CHECK(cudaGetSymbolAddress(&row, managed_row));
  cudaPointerAttributes of_row;
  CHECK(cudaPointerGetAttributes(&of_row, managed_row + 1));
  expect(row == managed_row && of_row.type == cudaMemoryTypeManaged, "host and device have a managed variable under one address");

  cudaLaunchConfig_t config{};
  config.gridDim = 8;
  config.blockDim = 32;
  cudaLaunchAttribute attribute[2];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim = {2, 1, 1};
  attribute[1].id = cudaLaunchAttributePreferredClusterDimension;
  attribute[1].val.preferredClusterDim = {4, 1, 1};
  config.attrs = attribute;
  config.numAttrs = 2;
  CHECK(cudaLaunchKernelEx(&config, cluster_shape, managed));
  CHECK(cudaDeviceSynchronize());
  expect(managed[0] == 4 || managed[0] == 2, "a cluster of a size asked for");
  int clusters = 0, ctas = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, cluster_shape, &config));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, add, 256, 0));
  expect(clusters > 0 && ctas == 8, "occupancy");

  cudaFuncAttributes f;
  CHECK(cudaFuncGetAttributes(&f, add));
  expect(f.maxThreadsPerBlock == 1024 && f.sharedSizeBytes == 0, "function attributes");
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  expect(prop.warpSize == 32 && prop.sharedMemPerBlockOptin == 227 << 10 && prop.clusterLaunch == 1 && prop.memoryPoolsSupported == 1, "properties");
  cudaPointerAttributes where;
  CHECK(cudaPointerGetAttributes(&where, pinned));
  expect(where.type == cudaMemoryTypeHost && where.devicePointer == pinned, "pointer attributes");
  CHECK(cudaFreeAsync(p, stream));
  return verdict(wrong, 1);
}
