// cudaLaunchKernelExC with its attributes, the queries before a launch, and streams, events and host functions around it.
#include <cstring>

#include "check.cuh"

size_t wrong = 0;
void expect(bool fine, const char* what) {
  if (!fine) std::printf("wrong: %s\n", what);
  wrong += !fine;
}
#define EXPECT(CONDITION_) expect((CONDITION_), #CONDITION_)

__global__ void cluster_of(int* out) {
  unsigned n;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  out[blockIdx.x] = static_cast<int>(n);
}
__global__ void __cluster_dims__(2, 1, 1) fixed_cluster(int* out) {
  unsigned n;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  out[blockIdx.x] = static_cast<int>(n);
}
__global__ void first(int* p) {
  asm volatile("griddepcontrol.launch_dependents;");
  p[threadIdx.x] = 1;
}
__global__ void second(int* p) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  p[threadIdx.x] += 10;
}
__global__ void __launch_bounds__(256) bounded(int* p) {
  __shared__ volatile int s[1000];
  s[threadIdx.x] = p[threadIdx.x];
}

__constant__ int table[20];
__global__ void with_memory(int* p) {
  int own[1000];
  for (int i = 0; i < 1000; ++i) own[i] = p[i];
  p[threadIdx.x] = own[p[0]] + table[p[1]];
}

cudaLaunchConfig_t config_of(unsigned grid, unsigned block, cudaLaunchAttribute* attributes, unsigned count) {
  cudaLaunchConfig_t c{};
  c.gridDim = grid;
  c.blockDim = block;
  c.attrs = attributes;
  c.numAttrs = count;
  return c;
}

void clusters(int* p) {
  cudaLaunchAttribute a[2]{};
  a[0].id = cudaLaunchAttributeClusterDimension;
  a[0].val.clusterDim = {2, 1, 1};
  a[1].id = cudaLaunchAttributePreferredClusterDimension;
  a[1].val.preferredClusterDim = {8, 1, 1};
  cudaLaunchConfig_t c = config_of(16, 32, a, 1);
  void* arguments[] = {&p};
  CHECK(cudaLaunchKernelExC(&c, reinterpret_cast<const void*>(cluster_of), arguments));
  EXPECT(to_host(p, 16)[15] == 2);
  c.numAttrs = 2;
  CHECK(cudaLaunchKernelExC(&c, reinterpret_cast<const void*>(cluster_of), arguments));
  for (int n : to_host(p, 16)) expect(n == 2 || n == 8, "the size asked for, or the preferred one");
  fixed_cluster<<<8, 32>>>(p);
  EXPECT(to_host(p, 8)[0] == 2);
  fixed_cluster<<<7, 32>>>(p);
  EXPECT(cudaGetLastError() != cudaSuccess);
  a[0].val.clusterDim = {16, 1, 1};
  c.numAttrs = 1;
  EXPECT(cudaLaunchKernelExC(&c, reinterpret_cast<const void*>(cluster_of), arguments) == cudaErrorInvalidClusterSize);
  CHECK(cudaFuncSetAttribute(cluster_of, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(cudaLaunchKernelExC(&c, reinterpret_cast<const void*>(cluster_of), arguments));
  EXPECT(to_host(p, 16)[0] == 16);
  int active = 0, potential = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&active, cluster_of, &c));
  CHECK(cudaOccupancyMaxPotentialClusterSize(&potential, cluster_of, &c));
  EXPECT(active > 0 && potential == 16);
  cudaGetLastError();
}

void programmatic(int* p) {
  cudaStream_t stream;
  cudaEvent_t triggered;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreateWithFlags(&triggered, cudaEventDisableTiming));
  cudaLaunchAttribute a[2]{};
  a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a[0].val.programmaticStreamSerializationAllowed = 1;
  a[1].id = cudaLaunchAttributeProgrammaticEvent;
  a[1].val.programmaticEvent.event = triggered;
  cudaLaunchConfig_t c = config_of(1, 64, a + 1, 1);
  c.stream = stream;
  CHECK(cudaLaunchKernelEx(&c, first, p));
  CHECK(cudaEventSynchronize(triggered));
  c.attrs = a;
  CHECK(cudaLaunchKernelEx(&c, second, p));
  CHECK(cudaStreamSynchronize(stream));
  for (int v : to_host(p, 64)) expect(v == 11, "the second kernel saw what the first wrote");
}

void queries() {
  cudaFuncAttributes f{};
  CHECK(cudaFuncGetAttributes(&f, bounded));
  EXPECT(f.maxThreadsPerBlock == 256 && f.sharedSizeBytes == 4000 && f.maxDynamicSharedSizeBytes == (48 << 10) - 4000);
  EXPECT(f.localSizeBytes == 0 && f.constSizeBytes >= 80);
  EXPECT(f.ptxVersion == 100 && f.binaryVersion == 100);
  CHECK(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  EXPECT(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10) == cudaErrorInvalidValue);
  CHECK(cudaFuncGetAttributes(&f, with_memory));
  EXPECT(f.localSizeBytes >= 4000);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 100 << 10));
  EXPECT(blocks == 2);  // 228 KiB of shared memory, 1 KiB of each block's is reserved
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, bounded, 256, 0, cudaOccupancyDefault));
  EXPECT(blocks == 8);  // 2048 threads
  size_t bytes = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, bounded, 2, 256));
  EXPECT(bytes > 100 << 10 && bytes < 114 << 10);
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  EXPECT(block == 256 && grid == 8 * 148);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(value == 227 << 10);
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  EXPECT(prop.major == 10 && prop.minor == 0 && prop.multiProcessorCount == 148 && prop.warpSize == 32);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  cudaGetLastError();
}

void order(int* p) {
  cudaStream_t a, b;
  cudaEvent_t done;
  CHECK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, -1));
  CHECK(cudaStreamCreate(&b));
  CHECK(cudaEventCreate(&done));
  EXPECT(cudaEventQuery(done) == cudaSuccess);  // no recorded work: complete
  CHECK(cudaMemsetAsync(p, 0, 64 * sizeof(int), a));
  first<<<1, 64, 0, a>>>(p);
  CHECK(cudaEventRecord(done, a));
  CHECK(cudaStreamWaitEvent(b, done));
  second<<<1, 64, 0, b>>>(p);
  static int seen = 0;
  CHECK(cudaLaunchHostFunc(b, [](void* q) { seen = *static_cast<int*>(q) + 1; }, new int(41)));
  CHECK(cudaStreamSynchronize(b));
  EXPECT(seen == 42);
  EXPECT(cudaStreamQuery(b) == cudaSuccess);
  EXPECT(to_host(p, 64)[63] == 11);
  int least = 0, greatest = 0, priority = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamGetPriority(a, &priority));
  EXPECT(priority == -1 && greatest <= -1 && least == 0);
}

int main() {
  int* p = to_device(std::vector<int>(64));
  clusters(p);
  programmatic(p);
  queries();
  order(p);
  return verdict(wrong, 1);
}
