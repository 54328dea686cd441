// Two ordered lists merged along the merge path, 2048 words a CTA, and a stable split of a CTA's words by one bit.
__device__ __forceinline__ unsigned ordered(const unsigned* x, int i) { return (unsigned)i << 8 | (x[i] & 255); }
extern "C" __global__ void __launch_bounds__(256) merge_path(const unsigned* x, const unsigned* y, unsigned* out, int na, int nb) {
  __shared__ unsigned s[2048 + 2];
  __shared__ int cut[2];
  const int t = threadIdx.x, first = blockIdx.x * 2048, last = min(first + 2048, na + nb);
  if (t < 2) {
    const int d = t ? last : first;
    int low = max(0, d - nb), high = min(d, na);
    while (low < high) {
      const int mid = (low + high) / 2;
      if (ordered(x, mid) <= ordered(y, d - 1 - mid)) low = mid + 1; else high = mid;
    }
    cut[t] = low;
  }
  __syncthreads();
  const int a0 = cut[0], b0 = first - a0, ca = cut[1] - a0, cb = last - first - ca;
  for (int i = t; i < ca; i += 256) s[i] = ordered(x, a0 + i);
  for (int i = t; i < cb; i += 256) s[ca + i] = ordered(y, b0 + i);
  __syncthreads();
  const int d = t * 8;
  int low = max(0, d - cb), high = min(d, ca);
  while (low < high) {
    const int mid = (low + high) / 2;
    if (s[mid] <= s[ca + d - 1 - mid]) low = mid + 1; else high = mid;
  }
  int i = low, j = d - low;
  unsigned v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const bool left = j >= cb || (i < ca && s[i] <= s[ca + j]);
    v[k] = s[left ? i : ca + j];
    if (left) ++i; else ++j;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) s[d + k] = v[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) out[first + t + k * 256] = s[t + k * 256];
}
extern "C" __global__ void __launch_bounds__(512) split_bit(const unsigned* x, unsigned* y, unsigned* zeros, int bit) {
  __shared__ unsigned s[2048], part[64];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  x += (size_t)blockIdx.x * 2048;
  y += (size_t)blockIdx.x * 2048;
  unsigned v[4], before[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k] = x[t + k * 512];
    const unsigned none = __ballot_sync(~0u, !(v[k] >> bit & 1));
    before[k] = __popc(none & ((1u << lane) - 1));
    if (lane == 0) part[k * 16 + warp] = __popc(none);
  }
  __syncthreads();
  if (warp == 0) {
    const unsigned a = part[lane * 2], b = part[lane * 2 + 1];
    unsigned n = a + b;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const unsigned o = __shfl_up_sync(~0u, n, d);
      if (lane >= d) n += o;
    }
    part[lane * 2] = n - a - b;
    part[lane * 2 + 1] = n - b;
    if (lane == 31) zeros[blockIdx.x] = n;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) before[k] += part[k * 16 + warp];
  __shared__ unsigned total;
  if (t == 511) total = before[3] + !(v[3] >> bit & 1);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) s[v[k] >> bit & 1 ? total + (t + k * 512) - before[k] : before[k]] = v[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) y[t + k * 512] = s[t + k * 512];
}
