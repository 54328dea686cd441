// Launches whose CTAs load and store once: by bytes, by width, by block, and by what else the launch has.
extern "C" __global__ void read4(const float4* x, float* y) { const float4 v = x[blockIdx.x * blockDim.x + threadIdx.x]; if (v.x == 12345.f) y[0] = v.y + v.z + v.w; }
extern "C" __global__ void read1(const float* x, float* y) { const float v = x[blockIdx.x * blockDim.x + threadIdx.x]; if (v == 12345.f) y[0] = v; }
extern "C" __global__ void write4(float4* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(1, 2, 3, 4); }
extern "C" __global__ void write1(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
extern "C" __global__ void write2b(short* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
extern "C" __global__ void copy4(const float4* x, float4* y) { const int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }
extern "C" __global__ void copy1(const float* x, float* y) { const int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }
extern "C" __global__ void copy2b(const short* x, short* y) { const int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }
extern "C" __global__ void inplace1(float* y) { const int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = y[i] * 2; }
extern "C" __global__ void three1(const float* a, const float* b, const float* c, float* y) { const int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = a[i] + b[i] * c[i]; }
extern "C" __global__ void copyg(const float4* x, float4* y, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i]; }
extern "C" __global__ void readg(const float4* x, float* y, int n) { float s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { const float4 v = x[i]; s += v.x + v.y + v.z + v.w; } if (s == 12345.f) y[0] = s; }
extern "C" __global__ void writeg(float4* y, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = make_float4(1, 2, 3, i); }
// Slices: each CTA reads its own n float4 many times, from the slice that other CTAs read in the round before (shift) or always its own.
extern "C" __global__ void slices(const float4* x, float* y, int n, int rounds, int shift) {
  float s = 0;
  for (int r = 0; r < rounds; ++r) {
    const float4* p = x + (size_t)((blockIdx.x + r * shift) % gridDim.x) * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) { float4 v; asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p + i)); s += v.x + v.y + v.z + v.w; }
  }
  if (s == 12345.f) y[0] = s;
}
extern "C" __global__ void pages(const float* x, float* y, int stride) { const float v = x[(size_t)blockIdx.x * stride + threadIdx.x]; if (v == 12345.f) y[0] = v; }
extern "C" __global__ void shfls(float* y, int n) { float v = threadIdx.x; for (int i = 0; i < n; ++i) v += __shfl_xor_sync(~0u, v, 16); y[blockIdx.x * blockDim.x + threadIdx.x] = v; }
extern "C" __global__ void empties(float* y) { if (threadIdx.x == 5000) y[0] = 1; }
template <int N> __device__ float straight(float v, float a) {
#pragma unroll
  for (int i = 0; i < N; ++i) v = v * a + (float)(i * 0.37f);
  return v;
}
extern "C" __global__ void code256(float* y, float a) { y[blockIdx.x * blockDim.x + threadIdx.x] = straight<256>(threadIdx.x, a); }
extern "C" __global__ void code1024(float* y, float a) { y[blockIdx.x * blockDim.x + threadIdx.x] = straight<1024>(threadIdx.x, a); }
extern "C" __global__ void code4096(float* y, float a) { y[blockIdx.x * blockDim.x + threadIdx.x] = straight<4096>(threadIdx.x, a); }
extern "C" __global__ void barriers(float* y, int n) { __shared__ float s[1024]; float v = 0; for (int i = 0; i < n; ++i) { s[threadIdx.x] = v; __syncthreads(); v += s[threadIdx.x ^ 32]; __syncthreads(); } y[blockIdx.x * blockDim.x + threadIdx.x] = v; }
extern "C" __global__ void twice(const unsigned* at, const float* x, float* y, unsigned mask) { const int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[at[i] & mask]; }
extern "C" __global__ void rowsum(const float4* x, float* y, int n4) {
  __shared__ float part[32];
  float s = 0;
  for (int i = threadIdx.x; i < n4; i += blockDim.x) { const float4 v = x[(size_t)blockIdx.x * n4 + i]; s += v.x + v.y + v.z + v.w; }
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) { for (int w = 1; w < blockDim.x / 32; ++w) s += part[w]; y[blockIdx.x] = s; }
}
