// Prints the family "guarded" of traces/hw/h200-2026-11-23-mechanisms.csv: steps of a tree whose guard holds for few warps against steps of
// all warps, and barriers alone. nvcc -arch=sm_90a -O3 -std=c++17
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#define CK(x)                                                      \
  do {                                                             \
    auto e = (x);                                                  \
    if (e) {                                                       \
      printf("ERR %s line %d\n", cudaGetErrorString(e), __LINE__); \
      exit(1);                                                     \
    }                                                              \
  } while (0)
// one CTA per SM or eight: n rounds of a piece; cycles per round from clocks
template <int V>
__global__ void k(float* out, long long* cyc, int n) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  float acc = t;
  long long t0 = clock64();
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      int lim = 128 >> u;
      if (V == 0) __syncthreads();
      if (V == 1) {
        if (t < lim) s[t] += s[t + lim];
        __syncthreads();
      }
      if (V == 2) {
        if (t < lim) s[t] += s[t + lim];
        __syncwarp();
      }
      if (V == 3) {
        s[t] += s[t ^ lim];
        __syncthreads();
      }
      if (V == 4) {
        if (t < 0) s[t] += s[t + lim];
        if (t < -1) s[t] += s[t + lim + 8];
        asm volatile("" ::: "memory");
      }
      if (V == 5) {
        if (t < (n >> 20)) {
          asm volatile("st.volatile.shared.f32 [%0],%1;" ::"r"((unsigned)__cvta_generic_to_shared(s) + t * 4 + u * 4), "f"(acc));
        }
      }
      if (V == 6) {
        asm volatile("{.reg .pred p; setp.lt.s32 p,%2,0; @p ld.volatile.shared.f32 %0,[%1];}"
                     : "+f"(acc)
                     : "r"((unsigned)__cvta_generic_to_shared(s) + t * 4 + u * 4), "r"(t));
      }
    }
  }
  long long t1 = clock64();
  out[blockIdx.x * 256 + t] = acc + s[t];
  if ((t & 31) == 0) cyc[blockIdx.x * 8 + t / 32] = t1 - t0;
}
template <int V>
void run(const char* nm, float* o, long long* c) {
  for (int per : {1, 2, 4, 8}) {
    static long long h[132 * 64];
    double r[2];
    int ns[2] = {4, 20};
    for (int i = 0; i < 2; ++i) {
      r[i] = 1e18;
      for (int q = 0; q < 4; ++q) {
        k<V><<<132 * per, 256>>>(o, c, ns[i]);
        CK(cudaMemcpy(h, c, 132 * per * 64, cudaMemcpyDeviceToHost));
        double m = 0;
        for (int b = 0; b < 132 * per * 8; ++b) m += h[b];
        m /= 132 * per * 8;
        r[i] = std::min(r[i], m);
      }
    }
    printf("%s ctas-%d %.2f cyc per step\n", nm, per, (r[1] - r[0]) / (16 * 8));
  }
}
__global__ void tree(const float* x, float* out, int n, int steps) {
  __shared__ float t[256];
  int i = blockIdx.x * 512 + threadIdx.x;
  t[threadIdx.x] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (steps > 0) {
      if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s];
      __syncthreads();
      --steps;
    }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = t[0];
}
__global__ void stamp(const float* x, float* out, int n, unsigned long long* w) {
  __shared__ float t[256];
  unsigned long long g0;
  asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(g0));
  long long c0 = clock64();
  int i = blockIdx.x * 512 + threadIdx.x;
  t[threadIdx.x] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
  __syncthreads();
  long long c1 = clock64();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s];
    __syncthreads();
  }
  long long c2 = clock64();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = t[0];
    unsigned sm;
    asm volatile("mov.u32 %0,%%smid;" : "=r"(sm));
    w[blockIdx.x * 4] = c0;
    w[blockIdx.x * 4 + 1] = c1;
    w[blockIdx.x * 4 + 2] = c2;
    w[blockIdx.x * 4 + 3] = sm;
  }
}
int main() {
  float* o;
  long long* c;
  CK(cudaMalloc(&o, 64 << 20));
  CK(cudaMalloc(&c, 8 << 20));
  run<0>("bar", o, c);
  run<1>("tree", o, c);
  run<2>("tree-warp", o, c);
  run<3>("full", o, c);
  run<4>("off2", o, c);
  run<5>("sts-off", o, c);
  run<6>("lds-off", o, c);
  cudaEvent_t e0, e1;
  cudaEventCreate(&e0);
  cudaEventCreate(&e1);
  for (int st : {0, 1, 2, 4, 8}) {
    float best = 1e9, ms;
    for (int q = 0; q < 5; ++q) {
      cudaEventRecord(e0);
      for (int z = 0; z < 20; ++z) tree<<<8192, 256>>>(o, (float*)c, 8192 * 512, st);
      cudaEventRecord(e1);
      CK(cudaEventSynchronize(e1));
      cudaEventElapsedTime(&ms, e0, e1);
      best = std::min(best, ms);
    }
    printf("tree launch steps-%d %.3f us\n", st, best * 50);
  }
  unsigned long long* w;
  CK(cudaMalloc(&w, 1 << 20));
  for (int q = 0; q < 3; ++q) stamp<<<8192, 256>>>(o, (float*)c, 8192 * 512, w);
  static unsigned long long h[8192 * 4];
  CK(cudaMemcpy(h, w, sizeof h, cudaMemcpyDeviceToHost));
  double a = 0, b = 0;
  int m = 0;
  for (int i = 2000; i < 8192; ++i) {
    a += h[i * 4 + 1] - h[i * 4];
    b += h[i * 4 + 2] - h[i * 4 + 1];
    ++m;
  }
  printf("stamp load phase %.1f tree phase %.1f cycles\n", a / m, b / m);
  // gaps: per SM sort by start
  printf("first SM: ");
  for (int i = 0, z = 0; i < 8192 && z < 40; ++i)
    if (h[i * 4 + 3] == h[3]) {
      printf("%llu+%llu+%llu ", h[i * 4] - h[0], h[i * 4 + 1] - h[i * 4], h[i * 4 + 2] - h[i * 4 + 1]);
      ++z;
    }
  printf("\n");
}
