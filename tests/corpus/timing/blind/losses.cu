// Losses and their gradients: softmax with cross entropy by a CTA a row, mean squares in two launches' first, and clipping by norm.
extern "C" __global__ void xent_grad(const float* x, const unsigned* label, float* g, float* loss, int n) {
  __shared__ float part[8];
  const float* p = x + (size_t)blockIdx.x * n;
  float m = -1e30f;
  for (int i = threadIdx.x; i < n; i += 256) m = fmaxf(m, p[i]);
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  for (int w = 0; w < 8; ++w) m = fmaxf(m, part[w]);
  __syncthreads();
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256) s += __expf(p[i] - m);
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  for (int w = 0; w < 8; ++w) s += part[w];
  const int y = label[blockIdx.x] % n;
  for (int i = threadIdx.x; i < n; i += 256) g[(size_t)blockIdx.x * n + i] = __expf(p[i] - m) / s - (i == y ? 1.f : 0.f);
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(s) + m - p[y];
}
extern "C" __global__ void squares(const float4* x, const float4* y, float* sum, int n4) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const float4 a = x[i], b = y[i];
    const float u = a.x - b.x, v = a.y - b.y, w = a.z - b.z, z = a.w - b.w;
    s += u * u + v * v + w * w + z * z;
  }
  __shared__ float part[8];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 8) {
    s = part[threadIdx.x];
    for (int d = 4; d > 0; d >>= 1) s += __shfl_down_sync(0xff, s, d);
    if (threadIdx.x == 0) atomicAdd(sum, s);
  }
}
