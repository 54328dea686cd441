#define SPIN(N) extern "C" __global__ void spin##N() { const unsigned c = clock(); while (clock() - c < N); }
SPIN(1) SPIN(100) SPIN(200) SPIN(300) SPIN(400) SPIN(600) SPIN(800) SPIN(1200) SPIN(2000)
extern "C" __global__ void nop0() {}
extern "C" __global__ void nop1(float* y) {}
extern "C" __global__ void nop8(float* a, float* b, float* c, float* d, float* e, float* f, int g, int h) {}
extern "C" __global__ void param1(int n) { const unsigned c = clock(); while (clock() - c < n); }
extern "C" __global__ void store1(float* y) { if (threadIdx.x == 0) y[blockIdx.x] = 1; }
extern "C" __global__ void storeall(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
extern "C" __global__ void spinstore(float* y, int n) { const unsigned c = clock(); while (clock() - c < n); y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
extern "C" __global__ void storespin(float* y, int n) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; const unsigned c = clock(); while (clock() - c < n);  }
extern "C" __global__ void loads(const unsigned* t, float* y, int n) { unsigned at = blockIdx.x * 1024 + threadIdx.x; for (int i = 0; i < n; ++i) { unsigned v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(t + at)); at += v + 32; } if (at == 0x12345) y[0] = 1; }
extern "C" __global__ void loadspages(const unsigned* t, float* y, int n) { unsigned at = blockIdx.x * 1024 + threadIdx.x; for (int i = 0; i < n; ++i) { unsigned v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(t + at)); at += v + 1048576; } if (at == 0x12345) y[0] = 1; }
template <int W, int ILP> __device__ __forceinline__ void lat(const unsigned* t, float* y, int n, unsigned mask, bool one) {
  unsigned lane = threadIdx.x % 32, warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (one && lane) return;
  unsigned at = warp * 32 * W * ILP * 16 + lane * W, s = 0;
  const unsigned step = 32 * W * ILP;
  for (int i = 0; i < n; ++i) {
    unsigned v[ILP][4] = {};
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      const unsigned* p = t + ((at + k * 32 * W) & mask);
      if (W == 1) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k][0]) : "l"(p));
      if (W == 2) asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2];" : "=r"(v[k][0]), "=r"(v[k][1]) : "l"(p));
      if (W == 4) asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[k][0]), "=r"(v[k][1]), "=r"(v[k][2]), "=r"(v[k][3]) : "l"(p));
    }
#pragma unroll
    for (int k = 0; k < ILP; ++k) s += v[k][0] + v[k][1] + v[k][2] + v[k][3];
    at += step + s;
  }
  if (s == 0x12345) y[0] = s;
}
#define L(W, I) extern "C" __global__ void lat##W##_##I(const unsigned* t, float* y, int n, unsigned mask) { lat<W, I>(t, y, n, mask, false); }
L(1, 1) L(2, 1) L(4, 1) L(1, 4) L(4, 4) L(4, 2) L(1, 8)
extern "C" __global__ void lat1_one(const unsigned* t, float* y, int n, unsigned mask) { lat<1, 1>(t, y, n, mask, true); }
extern "C" __global__ void cpy(const float4* x, float4* y, int n) { // a copy of slices: each thread n float4, one at a time
  size_t at = (size_t)blockIdx.x * blockDim.x * n + threadIdx.x;
  for (int i = 0; i < n; ++i) { float4 v; asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + at)); y[at] = v; at += blockDim.x; }
}
