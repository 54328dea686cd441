// Single mechanisms as launches: dependent loads, expf chains, stores, rows, long streams, gathers, reductions (docs/lab/calibration.md).
extern "C" __global__ void chase(const unsigned* t, unsigned* o, int n, unsigned mask) {
  unsigned at = blockIdx.x * 7919;
  for (int i = 0; i < n; ++i) at = (t[at & mask] + i * 977) & mask;
  o[blockIdx.x] = at;
}
extern "C" __global__ void exps(float* o, int n) {
  float a = threadIdx.x * 1e-3f, b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < n; ++i) { a = expf(-a); b = expf(-b); c = expf(-c); d = expf(-d); }
  o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
extern "C" __global__ void stores(float4* o, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) o[(size_t)blockIdx.x * n + i] = make_float4(i, 1, 2, 3);
}
extern "C" __global__ void rows(const float* x, float* y, int n, int reps) {
  __shared__ float p[32];
  float keep = 0;
  for (int r = 0; r < reps; ++r) {
    float s = keep * 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[((size_t)blockIdx.x * reps + r) * n + i];
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) p[threadIdx.x / 32] = s;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; ++w) keep += p[w];
    __syncthreads();
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = keep;
}
extern "C" __global__ void stream(const float* x, float* y, int n) {
  float s = 0;
  const float* p = x + (size_t)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * n * 32 + threadIdx.x % 32;
  for (int i = 0; i < n; ++i) s += p[i * 32];
  y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void gather(const float* t, const unsigned* at, float* o, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = t[at[i] & mask];
}
extern "C" __global__ void reds(float* t, const unsigned* at, unsigned mask, int v4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* p = t + (at[i / 32] & mask) * 128;
  if (v4) asm volatile("red.global.add.v4.f32 [%0], {%1,%1,%1,%1};" ::"l"(p + threadIdx.x % 32 * 4), "f"(1.f));
  else for (int k = 0; k < 4; ++k) atomicAdd(p + k * 32 + threadIdx.x % 32, 1.f);
}
