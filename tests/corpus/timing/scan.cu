// Prefix sums of parts: by shuffles (one word a thread, four words a thread), and by the tree of Blelloch in shared memory.
extern "C" __global__ void scan_warp(const int* in, int* out, int* sums, int n) {
  __shared__ int part[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d <<= 1) { const int o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
  if (lane == 31) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / 32 ? part[lane] : 0;
    for (int d = 1; d < 32; d <<= 1) { const int o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
    part[lane] = s;
  }
  __syncthreads();
  if (warp > 0) v += part[warp - 1];
  if (i < n) out[i] = v;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
}
extern "C" __global__ void scan_four(const int4* in, int4* out, int* sums) {
  __shared__ int part[8];
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int4 v = in[i];
  v.y += v.x; v.z += v.y; v.w += v.z;
  int s = v.w;
  for (int d = 1; d < 32; d <<= 1) { const int o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
  if (lane == 31) part[warp] = s;
  __syncthreads();
  int before = s - v.w;
  for (int k = 0; k < warp; ++k) before += part[k];
  out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
  if (threadIdx.x == 255) sums[blockIdx.x] = before + v.w;
}
extern "C" __global__ void scan_blelloch(const int* in, int* out) {
  __shared__ int t[1024];
  const int b = blockIdx.x * 1024, k = threadIdx.x;
  t[k] = in[b + k]; t[k + 512] = in[b + k + 512];
  int offset = 1;
  for (int d = 512; d > 0; d >>= 1) {
    __syncthreads();
    if (k < d) t[offset * (2 * k + 2) - 1] += t[offset * (2 * k + 1) - 1];
    offset *= 2;
  }
  if (k == 0) t[1023] = 0;
  for (int d = 1; d < 1024; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (k < d) { const int a = offset * (2 * k + 1) - 1, c = offset * (2 * k + 2) - 1, o = t[a]; t[a] = t[c]; t[c] += o; }
  }
  __syncthreads();
  out[b + k] = t[k]; out[b + k + 512] = t[k + 512];
}
