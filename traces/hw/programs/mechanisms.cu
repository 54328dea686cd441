// Prints the figures of traces/hw/h200-2026-11-23-mechanisms.csv: wide loads of shared memory, counting atomics, sub-partitions of CTAs,
// loops that end on a result, atomics of the L2 by footprint, and streams from a clean, dirty and warm L2. nvcc -arch=sm_90a -O3 -std=c++17
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>
#define CK(x)                                                      \
  do {                                                             \
    auto e = (x);                                                  \
    if (e) {                                                       \
      printf("ERR %s line %d\n", cudaGetErrorString(e), __LINE__); \
      exit(1);                                                     \
    }                                                              \
  } while (0)
// ---- shared loads
template <int W, int PAT>
__global__ void lds(unsigned* out, long long* cyc, int n) {
  extern __shared__ unsigned s[];
  int t = threadIdx.x, l = t & 31;
  for (int i = t; i < 8192; i += blockDim.x) s[i] = i;
  __syncthreads();
  int idx = PAT == 0   ? 0
            : PAT == 1 ? l / 16
            : PAT == 2 ? l % 16
            : PAT == 3 ? l / 2
            : PAT == 4 ? l
            : PAT == 5 ? l / 8
            : PAT == 6 ? l % 2
                       : l % 4;
  unsigned a = (unsigned)__cvta_generic_to_shared(s) + idx * W * 4;
  unsigned acc = 0;
  __syncthreads();
  long long t0 = clock64();
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
      unsigned x, y, z, w;
      if (W == 1) {
        asm volatile("ld.volatile.shared.u32 %0,[%1];" : "=r"(x) : "r"(a + u * 512));
        acc ^= x;
      }
      if (W == 2) {
        asm volatile("ld.volatile.shared.v2.u32 {%0,%1},[%2];" : "=r"(x), "=r"(y) : "r"(a + u * 512));
        acc ^= x ^ y;
      }
      if (W == 4) {
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(a + u * 512));
        acc ^= x;
        if (n < 0) acc ^= y ^ z ^ w;
      }
    }
  }
  __syncthreads();
  long long t1 = clock64();
  out[t] = acc;
  if (t == 0) *cyc = t1 - t0;
}
template <int W, int PAT>
void run_lds(const char* nm, unsigned* o, long long* c) {
  for (int warps : {4, 16}) {
    long long h[2];
    int ns[2] = {8, 72};
    for (int i = 0; i < 2; ++i) {
      long long best = 1ll << 60;
      for (int r = 0; r < 3; ++r) {
        lds<W, PAT><<<1, warps * 32, 32768>>>(o, c, ns[i]);
        CK(cudaMemcpy(&h[i], c, 8, cudaMemcpyDeviceToHost));
        best = std::min(best, h[i]);
      }
      h[i] = best;
    }
    printf("lds.v%d.%s.warps-%d %.3f cyc per warp instr (SM)\n", W, nm, warps, (h[1] - h[0]) / (64. * 16 * warps));
  }
}
// ---- shared counting atomics
template <int KIND, int PAT>
__global__ void ats(unsigned* out, long long* cyc, int n, unsigned one) {
  extern __shared__ unsigned s[];
  int t = threadIdx.x, l = t & 31;
  for (int i = t; i < 8192; i += blockDim.x) s[i] = 0;
  __syncthreads();
  unsigned a[16];
  unsigned h = t * 2654435761u + 12345;
  for (int u = 0; u < 16; ++u) {
    h = h * 1664525u + 1013904223u;
    unsigned r = h >> 8;
    unsigned i = PAT == 0   ? 0
                 : PAT == 1 ? l
                 : PAT == 2 ? l / 2
                 : PAT == 3 ? l * 2
                 : PAT == 4 ? l * 8 % 256 + (l * 8 / 256)
                 : PAT == 5 ? r % 256
                 : PAT == 6 ? r % 32
                 : PAT == 7 ? r % 1024
                 : PAT == 8 ? r % 4096
                 : PAT == 9 ? r % 8
                            : l * 32;
    a[u] = (unsigned)__cvta_generic_to_shared(s) + i * 4;
  }
  __syncthreads();
  long long t0 = clock64();
  unsigned acc = 0;
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
      if (KIND == 0) asm volatile("red.shared.add.u32 [%0],1;" ::"r"(a[u]) : "memory");
      if (KIND == 1) asm volatile("red.shared.add.u32 [%0],%1;" ::"r"(a[u]), "r"(one) : "memory");
      if (KIND == 2) {
        unsigned o;
        asm volatile("atom.shared.add.u32 %0,[%1],1;" : "=r"(o) : "r"(a[u]) : "memory");
        acc += o;
      }
    }
  }
  __syncthreads();
  long long t1 = clock64();
  out[t] = acc;
  if (t == 0) *cyc = t1 - t0;
}
template <int KIND, int PAT>
void run_ats(const char* k, const char* nm, unsigned* o, long long* c) {
  for (int warps : {4, 16, 32}) {
    long long h[2];
    int ns[2] = {4, 36};
    for (int i = 0; i < 2; ++i) {
      long long best = 1ll << 60;
      for (int r = 0; r < 3; ++r) {
        ats<KIND, PAT><<<1, warps * 32, 32768>>>(o, c, ns[i], 3);
        CK(cudaMemcpy(&h[i], c, 8, cudaMemcpyDeviceToHost));
        best = std::min(best, h[i]);
      }
      h[i] = best;
    }
    printf("ats.%s.%s.warps-%d %.3f cyc per warp instr (SM)\n", k, nm, warps, (h[1] - h[0]) / (32. * 16 * warps));
  }
}
// ---- sub-partitions: only warp `which` of each CTA works
__global__ void part(float* out, long long* cyc, int n, int which, unsigned* wid) {
  int w = threadIdx.x / 32;
  float a[8];
  for (int i = 0; i < 8; ++i) a[i] = threadIdx.x + i;
  unsigned id, sm;
  asm volatile("mov.u32 %0,%%warpid;" : "=r"(id));
  asm volatile("mov.u32 %0,%%smid;" : "=r"(sm));
  if ((threadIdx.x & 31) == 0) wid[blockIdx.x * 32 + w] = sm << 8 | id;
  if (w == which) {
    long long t0 = clock64();
    for (int k = 0; k < n; ++k) {
#pragma unroll
      for (int u = 0; u < 64; ++u) a[u & 7] = fmaf(a[u & 7], 1.0001f, 0.5f);
    }
    long long t1 = clock64();
    float s = 0;
    for (int i = 0; i < 8; ++i) s += a[i];
    out[blockIdx.x * 32 + (threadIdx.x & 31)] = s;
    if ((threadIdx.x & 31) == 0) cyc[blockIdx.x] = t1 - t0;
  }
}
// ---- mandelbrot loops
template <int V>
__global__ void loop(float* out, long long* cyc, float cr, float ci, int limit) {
  float r = 0, i = 0;
  int k = 0;
  long long t0 = clock64();
  if (V == 0) {
    while (k < limit && r * r + i * i < 4) {
      const float t = r * r - i * i + cr;
      i = 2 * r * i + ci;
      r = t;
      ++k;
    }
  }
  if (V == 1) {
    do {
      r = fmaf(r, cr, ci);
      ++k;
    } while (r < 4.f);
  }  // chain 1 fma + setp + bra
  if (V == 2) {
    do {
      r = fmaf(r, cr, ci);
      r = fmaf(r, cr, ci);
      r = fmaf(r, cr, ci);
      ++k;
    } while (r < 4.f);
  }
  if (V == 3) {
    int m = __float_as_int(cr) & 1;
    do {
      k += m;
    } while (k < limit);
  }
  if (V == 4) {
    int m = __float_as_int(cr) & 1;
    do {
      k += m;
      r = fmaf(r, cr, ci);
    } while (k < limit);
  }
  long long t1 = clock64();
  out[threadIdx.x] = r + i + k;
  if (threadIdx.x == 0) {
    cyc[0] = t1 - t0;
    cyc[1] = k;
  }
}
// ---- L2 atomics
__global__ void l2red(unsigned* p, int n, unsigned words, unsigned stride) {
  unsigned h = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 777;
  for (int k = 0; k < n; ++k) {
    h = h * 1664525u + 1013904223u;
    atomicAdd(p + (size_t)((h >> 8) % words) * stride, 3u);
  }
}
// ---- cold streams
__global__ void rd(const float4* a, float4* o, int n) {
  float4 s = {0, 0, 0, 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = a[i];
    s.x += v.x;
    s.y += v.y;
    s.z += v.z;
    s.w += v.w;
  }
  if (s.x == 12345.f) o[0] = s;
}
__global__ void wr(float4* o, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) o[i] = make_float4(1, 2, 3, 4);
}
__global__ void cp(const float4* a, float4* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = a[i];
}
__global__ void rd1(const float4* a, float4* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 v = a[i];
    if (v.x == 12345.f) o[0] = v;
  }
}
__global__ void wr1(float4* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = make_float4(1, 2, 3, 4);
}
int main() {
  unsigned* o;
  long long* c;
  CK(cudaMalloc(&o, 1 << 22));
  CK(cudaMalloc(&c, 1 << 20));
  float* of = (float*)o;
  run_lds<1, 0>("same", o, c);
  run_lds<1, 4>("own", o, c);
  run_lds<2, 0>("same", o, c);
  run_lds<2, 1>("two", o, c);
  run_lds<2, 2>("sixteen", o, c);
  run_lds<2, 3>("pairs", o, c);
  run_lds<2, 4>("own", o, c);
  run_lds<2, 7>("mod4", o, c);
  run_lds<4, 0>("same", o, c);
  run_lds<4, 1>("two", o, c);
  run_lds<4, 2>("sixteen", o, c);
  run_lds<4, 3>("pairs", o, c);
  run_lds<4, 4>("own", o, c);
  run_lds<4, 5>("four", o, c);
  run_lds<4, 6>("mod2", o, c);
  run_lds<4, 7>("mod4", o, c);
#define A(P, N)                  \
  run_ats<0, P>("inc", N, o, c); \
  run_ats<1, P>("add", N, o, c);
  A(0, "same")
  A(1, "own") A(2, "pairs") A(3, "2-way") A(10, "32-way") A(9, "rand8") A(6, "rand32") A(5, "rand256") A(7, "rand1024") A(8, "rand4096")
      run_ats<2, 0>("atominc", "same", o, c);
  run_ats<2, 1>("atominc", "own", o, c);
  run_ats<2, 5>("atominc", "rand256", o, c);
  {
    unsigned* wid;
    CK(cudaMalloc(&wid, 1 << 20));
    for (int th : {32, 64, 96, 128, 160, 256, 512})
      for (int which : {0, 1}) {
        if (which >= th / 32) continue;
        int per = th == 512 ? 4 : 8;
        int g = 132 * per;
        CK(cudaMemset(c, 0, 1 << 16));
        part<<<g, th>>>(of, c, 200, which, wid);
        CK(cudaDeviceSynchronize());
        std::vector<long long> h(g);
        std::vector<unsigned> w(g * 32);
        CK(cudaMemcpy(h.data(), c, g * 8, cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(w.data(), wid, g * 128, cudaMemcpyDeviceToHost));
        std::sort(h.begin(), h.end());
        printf("part threads-%d ctas-%d which-%d: min %.2f median %.2f max %.2f cyc per fma; SM of CTA0: ", th, per, which, h[0] / 12800.,
               h[g / 2] / 12800., h[g - 1] / 12800.);
        unsigned s0 = w[0] >> 8;
        for (int b = 0; b < g; ++b)
          if (w[b * 32] >> 8 == s0) {
            printf("[");
            for (int k = 0; k < std::min(4, th / 32); ++k) printf("%u ", w[b * 32 + k] & 255);
            printf("]");
          }
        printf("\n");
      }
  }
  {
    long long h[2];
    auto P = [&](const char* n) {
      CK(cudaMemcpy(h, c, 16, cudaMemcpyDeviceToHost));
      printf("loop %s %.2f cyc per pass (%lld)\n", n, h[0] / (double)h[1], h[1]);
    };
    for (int r = 0; r < 2; ++r) {
      loop<0><<<1, 32>>>(of, c, -0.1f, 0.1f, 4000);
      P("mandelbrot");
      loop<1><<<1, 32>>>(of, c, 1.f, 0.001f, 0);
      P("fma1");
      loop<2><<<1, 32>>>(of, c, 1.f, 0.0004f, 0);
      P("fma3");
      loop<3><<<1, 32>>>(of, c, __builtin_bit_cast(float, 0x3f800001), 0.f, 4000);
      P("int");
      loop<4><<<1, 32>>>(of, c, __builtin_bit_cast(float, 0x3f800001), 0.f, 4000);
      P("int+fma");
    }
  }
  unsigned* big;
  CK(cudaMalloc(&big, 512 << 20));
  CK(cudaMemset(big, 0, 512 << 20));
  cudaEvent_t e0, e1;
  cudaEventCreate(&e0);
  cudaEventCreate(&e1);
  for (unsigned stride : {1u, 4u, 8u, 16u, 32u, 64u, 128u})
    for (unsigned words : {256u, 1024u, 4096u, 16384u, 65536u, 262144u}) {
      float best = 1e9, ms;
      int n = 64;
      for (int r = 0; r < 3; ++r) {
        cudaEventRecord(e0);
        l2red<<<132 * 4, 256>>>(big, n, words, stride);
        cudaEventRecord(e1);
        CK(cudaEventSynchronize(e1));
        cudaEventElapsedTime(&ms, e0, e1);
        best = std::min(best, ms);
      }
      printf("l2red stride-%uB words-%u %.3f ns per warp red (chip)\n", stride * 4, words, best * 1e6 / (132. * 4 * 8 * n));
    }
  float4 *a = (float4*)big, *b = (float4*)(big + (128 << 18)), *f = (float4*)(big + (256 << 18));
  for (int mb : {4, 8, 16, 32, 64}) {
    int n = mb << 16;
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<float> t;
      for (int state = 0; state < 3; ++state) {
        t.clear();
        for (int r = 0; r < 9; ++r) {
          float ms;
          rd<<<1056, 256>>>(f, b, 8 << 20); /* 128 MiB loads */
          if (state == 1) wr<<<1056, 256>>>(f, 8 << 20);
          CK(cudaDeviceSynchronize());
          if (state == 2) {
            for (int q = 0; q < 2; ++q) {
              if (kind == 0) rd1<<<(n + 255) / 256, 256>>>(a, b, n);
              if (kind == 1) wr1<<<(n + 255) / 256, 256>>>(b, n);
              if (kind == 2) cp<<<(n + 255) / 256, 256>>>(a, b, n);
              if (kind == 3) rd<<<1056, 256>>>(a, b, n);
              if (kind == 4) wr<<<1056, 256>>>(b, n);
            }
            CK(cudaDeviceSynchronize());
          }
          cudaEventRecord(e0);
          if (kind == 0) rd1<<<(n + 255) / 256, 256>>>(a, b, n);
          if (kind == 1) wr1<<<(n + 255) / 256, 256>>>(b, n);
          if (kind == 2) cp<<<(n + 255) / 256, 256>>>(a, b, n);
          if (kind == 3) rd<<<1056, 256>>>(a, b, n);
          if (kind == 4) wr<<<1056, 256>>>(b, n);
          cudaEventRecord(e1);
          CK(cudaEventSynchronize(e1));
          cudaEventElapsedTime(&ms, e0, e1);
          t.push_back(ms * 1e3);
        }
        std::sort(t.begin(), t.end());
        const char* ks[] = {"read1", "write1", "copy1", "read", "write"};
        const char* ss[] = {"clean", "dirty", "warm"};
        printf("stream %s %dMiB %s median %.2f min %.2f us\n", ks[kind], mb, ss[state], t[4], t[0]);
      }
    }
  }
}
