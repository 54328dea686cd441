// Arithmetic whose machine code is several instructions: what they take of issue slots and pipes, alone and beside other work.
__device__ __forceinline__ unsigned xorshift(unsigned& s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__device__ __forceinline__ float sqrt_rn(float x) { float r; asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float rcp_rn(float x) { float r; asm("rcp.rn.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float div_rn(float x) { float r; asm("div.rn.f32 %0, 0f3FC00000, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float div_full(float x) { float r; asm("div.full.f32 %0, 0f3FC00000, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float ex2(float x) { float r; asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float ex2f(float x) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float lg2(float x) { float r; asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float rcpa(float x) { float r; asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ __forceinline__ float tanh_full(float x) { return tanhf(x); }
__device__ __forceinline__ float exp_full(float x) { return expf(x); }
__device__ __forceinline__ float sin_full(float x) { return sinf(x); }
__device__ __forceinline__ float i2f(float x) { return (float)__float_as_uint(x); }
__device__ __forceinline__ float f2i(float x) { return __int_as_float((int)x); }
// A function once a round, and F products and sums beside it that do not depend on it.
template <float (*G)(float), int F> __device__ __forceinline__ void beside(float* y, int n) {
  float x = threadIdx.x + 1.5f, s = 0, f[4] = {x, x + 1, x + 2, x + 3};
  for (int i = 0; i < n; ++i) {
    s += G(x);
    x += 0.25f;
#pragma unroll
    for (int k = 0; k < F; ++k) f[k % 4] = f[k % 4] * 1.0001f + 0.5f;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = s + f[0] + f[1] + f[2] + f[3];
}
#define B(G, F) extern "C" __global__ void G##_##F(float* y, int n) { beside<G, F>(y, n); }
#define B3(G) B(G, 0) B(G, 8) B(G, 24)
B3(sqrt_rn) B3(rcp_rn) B3(div_rn) B3(div_full) B3(ex2) B3(ex2f) B3(lg2) B3(rcpa) B3(tanh_full) B3(exp_full) B(sin_full, 0) B(i2f, 0) B(i2f, 8) B(f2i, 0) B(f2i, 8)
// The steps of a random walk, one after another.
template <int L> __device__ __forceinline__ void steps(float* y, int n) {
  unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1;
  float v = 0;
  for (int t = 0; t < n; ++t) {
    const unsigned a = xorshift(s), b = xorshift(s);
    if (L == 0) continue;
    float p = (a >> 8) * 5.9604645e-8f + 1e-7f, q = (b >> 8) * 5.9604645e-8f;
    if (L >= 2) p = __logf(p);
    if (L >= 3) p = sqrtf(-2 * p);
    if (L >= 4) q = __cosf(6.2831853f * q);
    v += 0.001f + 0.02f * p * q;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = v + (L == 0 ? s : 0);
}
#define S(L) extern "C" __global__ void steps##L(float* y, int n) { steps<L>(y, n); }
S(0) S(1) S(2) S(3) S(4)
// Sums of 64 bits beside products.
template <int F> __device__ __forceinline__ void wide(float* y, int n) {
  unsigned long long a = threadIdx.x, b = blockIdx.x, c = a + 5, d = b + 7;
  const unsigned long long k = (unsigned long long)n << 33 | n;
  float f[4] = {1, 2, 3, 4};
  for (int i = 0; i < n; ++i) {
    a += k ^ b; b += k ^ c; c += k ^ d; d += k ^ a;
#pragma unroll
    for (int j = 0; j < F; ++j) f[j % 4] = f[j % 4] * 1.0001f + 0.5f;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = (float)(a ^ b ^ c ^ d) + f[0] + f[1] + f[2] + f[3];
}
extern "C" __global__ void wide0(float* y, int n) { wide<0>(y, n); }
extern "C" __global__ void wide16(float* y, int n) { wide<16>(y, n); }
// A branch that parts the warp, and one that does not.
extern "C" __global__ void parting(float* y, int n, unsigned bits) {
  unsigned s = threadIdx.x * 747796405u + 1; float v = 0;
  for (int i = 0; i < n; ++i) {
    xorshift(s);
    if (s & bits) { for (int k = 0; k < 2; ++k) { v = v * 1.01f + 1; asm volatile(""); } v = __cosf(v) + __sinf(v) * v + __expf(v); if (v > 1e30f) v = sqrtf(v); }
    else v = __expf(v) * 0.5f;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = v + s;
}
