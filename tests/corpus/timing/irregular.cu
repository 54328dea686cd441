// Threads that take different ways: Mandelbrot, sparse rows by thread and by warp, binary search, bodies that attract each other.
extern "C" __global__ void mandelbrot(int* out, int w, int h, int limit) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const float cr = -2 + 3.0f * x / w, ci = -1.2f + 2.4f * y / h;
  float r = 0, i = 0;
  int k = 0;
  while (k < limit && r * r + i * i < 4) { const float t = r * r - i * i + cr; i = 2 * r * i + ci; r = t; ++k; }
  out[y * w + x] = k;
}
extern "C" __global__ void sparse_thread(const unsigned* cols, const float* values, const float* x, float* y, int rows, unsigned mask) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const int length = 4 + (r * 2654435761u >> 28);
  float s = 0;
  for (int i = 0; i < length; ++i) s += values[r * 20 + i] * x[cols[r * 20 + i] & mask];
  y[r] = s;
}
extern "C" __global__ void sparse_warp(const unsigned* cols, const float* values, const float* x, float* y, int rows, unsigned mask) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const int length = 32 + (r * 2654435761u >> 25);
  float s = 0;
  for (int i = lane; i < length; i += 32) s += values[r * 160 + i] * x[cols[r * 160 + i] & mask];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[r] = s;
}
extern "C" __global__ void search(const unsigned* keys, unsigned* out, int n, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned want = keys[i] % size * 3;
  int lo = 0, hi = size;
  while (lo < hi) { const int mid = (lo + hi) / 2; if (out[n + mid] < want) lo = mid + 1; else hi = mid; }
  out[i] = lo;
}
extern "C" __global__ void bodies(const float4* p, float4* a, int n) {
  __shared__ float4 t[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int b = 0; b < n; b += 128) {
    t[threadIdx.x] = p[b + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 128; ++j) {
      const float dx = t[j].x - me.x, dy = t[j].y - me.y, dz = t[j].z - me.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = t[j].w * r * r * r;
      ax += dx * f; ay += dy * f; az += dz * f;
    }
    __syncthreads();
  }
  a[i] = make_float4(ax, ay, az, 0);
}
