// Graphs: a step of breadth-first search by edges in compressed rows, and labels that shrink to the least neighbour's.
extern "C" __global__ void bfs_step(const unsigned* edges, const int* level, int* next, int* changed, int degree, int n, int depth) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || (level[v] & 3) != (depth & 3)) return;
  for (int e = 0; e < degree; ++e) {
    const unsigned u = edges[(size_t)v * degree + e] & (n - 1);
    if (next[u] == 0) { next[u] = depth + 1; *changed = 1; }
  }
}
extern "C" __global__ void least_label(const unsigned* edges, const unsigned* label, unsigned* out, int degree, int n) {
  const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 8, k = threadIdx.x % 8;
  unsigned best = label[v];
  for (int e = k; e < degree; e += 8) best = min(best, label[edges[(size_t)v * degree + e] & (n - 1)]);
  for (int d = 4; d > 0; d >>= 1) best = min(best, __shfl_xor_sync(~0u, best, d));
  if (k == 0) out[v] = best;
}
