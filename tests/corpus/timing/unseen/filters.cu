// Image filters: a bilateral filter of 7 x 7 from a tile in shared memory, and tiles of 64 x 64 bytes equalised with a clipped histogram.
extern "C" __global__ void bilateral(const float* in, float* out, int w, int h, float space, float range) {
  __shared__ float t[14][40];
  const int x0 = blockIdx.x * 32 - 3, y0 = blockIdx.y * 8 - 3;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 14 * 38; i += 256) {
    const int x = min(max(x0 + i % 38, 0), w - 1), y = min(max(y0 + i / 38, 0), h - 1);
    t[i / 38][i % 38] = in[(size_t)y * w + x];
  }
  __syncthreads();
  const float mid = t[threadIdx.y + 3][threadIdx.x + 3];
  float sum = 0, weight = 0;
#pragma unroll
  for (int j = 0; j < 7; ++j)
#pragma unroll
    for (int i = 0; i < 7; ++i) {
      const float v = t[threadIdx.y + j][threadIdx.x + i], d = v - mid;
      const float f = __expf(-((i - 3) * (i - 3) + (j - 3) * (j - 3)) * space - d * d * range);
      sum += f * v;
      weight += f;
    }
  out[(size_t)(y0 + 3 + threadIdx.y) * w + x0 + 3 + threadIdx.x] = sum / weight;
}
extern "C" __global__ void __launch_bounds__(256) equalise(const unsigned* in, unsigned* out, int w4, int clip) {
  __shared__ unsigned bins[256], map[256], part[8], lost;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const size_t base = (size_t)blockIdx.y * 64 * w4 + blockIdx.x * 16;
  bins[t] = 0;
  if (t == 0) lost = 0;
  __syncthreads();
  unsigned v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k] = in[base + (size_t)(t / 16 + 16 * k) * w4 + t % 16];
#pragma unroll
    for (int b = 0; b < 4; ++b) atomicAdd(&bins[v[k] >> (8 * b) & 255], 1u);
  }
  __syncthreads();
  unsigned n = bins[t];
  const unsigned over = n > (unsigned)clip ? n - clip : 0;
  n -= over;
  const unsigned all = __reduce_add_sync(~0u, over);
  if (lane == 0) atomicAdd(&lost, all);
  __syncthreads();
  n += lost / 256;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const unsigned o = __shfl_up_sync(~0u, n, d);
    if (lane >= d) n += o;
  }
  if (lane == 31) part[warp] = n;
  __syncthreads();
  for (int k = 0; k < warp; ++k) n += part[k];
  map[t] = min(n * 255u / 4096u, 255u);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k)
    out[base + (size_t)(t / 16 + 16 * k) * w4 + t % 16] = map[v[k] & 255] | map[v[k] >> 8 & 255] << 8 | map[v[k] >> 16 & 255] << 16 | map[v[k] >> 24] << 24;
}
