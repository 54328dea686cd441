// Graphs: a step of PageRank that pulls along compressed rows, four threads a vertex, and triangles by intersection of ordered lists.
__device__ __forceinline__ unsigned row_start(unsigned v) { return v * 12 + (v * 2654435761u >> 29); }
extern "C" __global__ void pagerank_pull(const unsigned* order, const unsigned* edges, const float* rank, const float* share, float* next, float* change, int n, float damping, unsigned mask) {
  __shared__ float part[8];
  const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 4, k = threadIdx.x % 4, lane = threadIdx.x % 32;
  float moved = 0;
  if (v < n) {
    const unsigned first = row_start(order[v]), last = row_start(order[v + 1]);
    float s = 0;
    for (unsigned e = first + k; e < last; e += 4) {
      const unsigned u = edges[e] & mask;
      s += rank[u] * share[u];
    }
    s += __shfl_xor_sync(~0u, s, 1);
    s += __shfl_xor_sync(~0u, s, 2);
    const float value = (1.f - damping) / n + damping * s;
    if (k == 0) {
      next[v] = value;
      moved = fabsf(value - rank[v]);
    }
  }
  for (int d = 16; d > 0; d >>= 1) moved += __shfl_down_sync(~0u, moved, d);
  if (lane == 0) part[threadIdx.x / 32] = moved;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) moved += part[w];
    atomicAdd(change, moved);
  }
}
__device__ __forceinline__ unsigned neighbour(const unsigned* noise, int v, int k) { return v + 1 + k * 3 + (noise[(size_t)v * 32 + k] & 1); }
extern "C" __global__ void triangles(const unsigned* noise, unsigned* count, int vertices) {
  __shared__ unsigned lists[8][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, v = blockIdx.x * (blockDim.x / 32) + warp;
  unsigned found = 0;
  const unsigned mine = neighbour(noise, v, lane);
  lists[warp][lane] = mine;
  __syncwarp();
  for (int e = 0; e < 32; ++e) {
    const unsigned u = lists[warp][e];
    if (u >= vertices) break;
    const unsigned want = neighbour(noise, u, lane);
    int low = 0, high = 32;
    while (low < high) {
      const int mid = (low + high) / 2;
      if (lists[warp][mid] < want) low = mid + 1; else high = mid;
    }
    found += low < 32 && lists[warp][low] == want;
  }
  found = __reduce_add_sync(~0u, found);
  if (lane == 0 && found) atomicAdd(count, found);
}
