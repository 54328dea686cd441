// Distance of SMs to the L2, copies in its two halves, instruction fetch, first parameter, one SM's stores.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
#include <string>
#define CK(x) do { cudaError_t e = (x); if (e) { printf("error %s line %d\n", cudaGetErrorString(e), __LINE__); exit(1);} } while (0)
typedef unsigned long long u64;
__device__ __forceinline__ unsigned smid() { unsigned r; asm volatile("mov.u32 %0, %%smid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned ldcg(const unsigned* p) { unsigned v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
__device__ __forceinline__ unsigned clk() { unsigned v; asm volatile("mov.u32 %0, %%clock;" : "=r"(v) :: "memory"); return v; }

__global__ void link(unsigned* t, unsigned lines, unsigned mul, unsigned add) {  // a line's successor: an LCG of full period
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += gridDim.x * blockDim.x)
    for (int k = 0; k < 32; ++k) t[i * 32 + k] = (unsigned)(((u64)i * mul + add) % lines) * 32 + k;
}
__global__ void touch(const unsigned* t, unsigned lines, int all, int only, unsigned* sink) {
  extern __shared__ unsigned pad[];
  if (only >= 0 && smid() != only) return;
  unsigned s = 0;
  if (all) for (unsigned i = threadIdx.x; i < lines * 8; i += blockDim.x) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t + i * 4)); s += v.x; }
  else for (unsigned i = smid() * blockDim.x + threadIdx.x; i < lines * 8; i += gridDim.x * blockDim.x) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t + i * 4)); s += v.x; }
  if (s == 12345) sink[0] = s;
}
// One thread of each SM chosen chases n lines; sum of latencies and a histogram of 16-cycle bins.
__global__ void chase(const unsigned* t, unsigned start, int n, int only, unsigned* sum, unsigned* hist) {
  extern __shared__ unsigned pad[];
  unsigned sm = smid();
  if (threadIdx.x || (only >= 0 && sm != only)) return;
  for (int i = 0; i < 128; ++i) pad[i] = 0;
  unsigned at = start, total = 0;
  for (int i = 0; i < n; ++i) {
    unsigned a = clk();
    at = ldcg(t + at);
    asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(1024), "r"(at) : "memory"); unsigned b = clk();
    unsigned d = b - a;
    total += d;
    pad[min(d / 8, 127u)]++;
  }
  sum[sm] = total;
  for (int i = 0; i < 128; ++i) hist[sm * 128 + i] = pad[i];
  if (at == 0xffffffff) sum[0] = 1;
}
// latency of each line, for one SM
__global__ void each(const unsigned* t, int n, unsigned stride, int only, unsigned short* out) {
  extern __shared__ unsigned pad[];
  if (threadIdx.x || smid() != only) return;
  unsigned z = 0;
  for (int i = 0; i < n; ++i) {
    unsigned a = clk();
    z = ldcg(t + (size_t)i * stride + (z & 0x80000000u));
    asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(1024), "r"(z) : "memory"); unsigned b = clk();
    out[i] = b - a;
  }
}
__global__ void bw(const unsigned* t, unsigned vecs, int mode, int reps, unsigned* sink) {
  extern __shared__ unsigned pad[];
  unsigned s = 0;
  const unsigned part = vecs / gridDim.x;
  for (int r = 0; r < reps; ++r) {
    if (mode == 0) {
      unsigned off = blockIdx.x * part;
      for (unsigned i = threadIdx.x; i < vecs; i += blockDim.x * 4) {
#pragma unroll
        for (int k = 0; k < 4; ++k) { unsigned j = i + k * blockDim.x + off; if (j >= vecs) j -= vecs; if (j >= vecs) j -= vecs; uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t + j * 4)); s += v.x ^ v.y ^ v.z ^ v.w; }
      }
    } else {
      unsigned p = mode == 1 ? blockIdx.x : (blockIdx.x + r * 37) % gridDim.x;
      for (unsigned i = threadIdx.x; i < part; i += blockDim.x * 4) {
#pragma unroll
        for (int k = 0; k < 4; ++k) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t + (size_t)(p * part + min(i + k * blockDim.x, part - 1)) * 4)); s += v.x ^ v.y ^ v.z ^ v.w; }
      }
    }
  }
  if (s == 12345) sink[0] = s;
}
// instruction fetch
template <int N> __global__ void straight(float* o, unsigned* times, int two, float f) {
  float x = f;
  for (int p = 0; p < two; ++p) {
    unsigned a = clk();
#pragma unroll
    for (int i = 0; i < N; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(f));
    asm volatile("" :: "f"(x));
    unsigned b = clk();
    if (threadIdx.x == 0) times[blockIdx.x * 4 + p] = b - a;
  }
  if (x == 12.f) o[0] = x;
}
template <int N> __global__ void wide(float* o, unsigned* times, int two, float f) {  // independent: one a cycle
  float x = f, y = f, z = f, w = f;
  for (int p = 0; p < two; ++p) {
    unsigned a = clk();
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(f)); asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(y) : "f"(f));
      asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(z) : "f"(f)); asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(w) : "f"(f)); }
    asm volatile("" :: "f"(x), "f"(y), "f"(z), "f"(w));
    unsigned b = clk();
    if (threadIdx.x == 0) times[blockIdx.x * 4 + p] = b - a;
  }
  if (x + y + z + w == 12.f) o[0] = x;
}
template <int N, int B> __global__ void jumps(float* o, unsigned* times, int two, float f, unsigned m) {  // N skips over B instructions
  float x = f;
  for (int p = 0; p < two; ++p) {
    unsigned a = clk();
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (m & (1u << (i & 31))) {
#pragma unroll
        for (int k = 0; k < B; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(f));
      }
    }
    unsigned b = clk();
    if (threadIdx.x == 0) times[blockIdx.x * 4 + p] = b - a;
  }
  if (x == 12.f) o[0] = x;
}
__global__ void empty0() {}
__global__ void empty5(float* a, unsigned* b, int c, float d, unsigned e) {}
__global__ void storep(unsigned* o, int v) { o[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void loadp(const unsigned* t, unsigned* o) { unsigned x = t[blockIdx.x * 32]; if (x == 0xffffffff) o[0] = x; }
__global__ void load2p(const unsigned* t, unsigned* o) { unsigned x = t[blockIdx.x * 32]; x = t[x & 1023]; if (x == 0xffffffff) o[0] = x; }
__global__ void load4p(const unsigned* t, unsigned* o) { unsigned x = t[blockIdx.x * 32]; x = t[x & 1023];  x = t[x * 3 & 1023]; x = t[x * 5& 1023]; if (x == 0xffffffff) o[0] = x; }
__global__ void parts(unsigned* o, const unsigned* t) {  // clocks: start, first parameter used, first load, second load
  unsigned a = clk();
  const unsigned* q = t; asm volatile("" :: "l"(q));
  unsigned v = ldcg(q + blockIdx.x * 64); unsigned b = clk() + (v & 0x80000000u);
  unsigned w = ldcg(q + blockIdx.x * 64 + 32 * 8 + (v & 0x80000000u)); unsigned c = clk() + (w & 0x80000000u);
  if (threadIdx.x == 0) { o[blockIdx.x * 4] = b - a; o[blockIdx.x * 4 + 1] = c - b; }
}
__global__ void stores(uint4* o, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) o[(size_t)blockIdx.x * n + i] = make_uint4(i, 1, 2, 3); }

template <class F> float slope(F f) {  // ns a launch in a graph: 40 less 10
  float best[2] = {1e30f, 1e30f};
  for (int g = 0; g < 2; ++g) {
    int n = g ? 40 : 10;
    cudaStream_t s; CK(cudaStreamCreate(&s));
    cudaGraph_t graph; cudaGraphExec_t ex;
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n; ++i) f(s);
    CK(cudaStreamEndCapture(s, &graph)); CK(cudaGraphInstantiate(&ex, graph, 0));
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    for (int r = 0; r < 12; ++r) { cudaEventRecord(a, s); cudaGraphLaunch(ex, s); cudaEventRecord(b, s); CK(cudaStreamSynchronize(s)); float ms; cudaEventElapsedTime(&ms, a, b); best[g] = std::min(best[g], ms); }
    cudaGraphExecDestroy(ex); cudaGraphDestroy(graph); cudaStreamDestroy(s);
  }
  return (best[1] - best[0]) / 30 * 1e6f;
}
unsigned *t, *sum, *hist, *sink, *times; float* o;
template <class K, class... A> void first_pass(const char* name, K k, A... extra) {
  for (int ctas : {1, 132}) {
    std::vector<unsigned> h(132 * 4);
    unsigned m0 = 0, m1 = 0;
    for (int r = 0; r < 3; ++r) { k<<<ctas, 32>>>(o, times, 2, 0.5f, extra...); empty5<<<1, 32>>>(o, times, 1, 1.f, 0); CK(cudaDeviceSynchronize()); }
    CK(cudaMemcpy(h.data(), times, ctas * 16, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ctas; ++i) { m0 = std::max(m0, h[i * 4]); m1 = std::max(m1, h[i * 4 + 1]); }
    float s1 = slope([&](cudaStream_t s) { k<<<ctas, 32, 0, s>>>(o, times, 1, 0.5f, extra...); });
    float s2 = slope([&](cudaStream_t s) { k<<<ctas, 32, 0, s>>>(o, times, 2, 0.5f, extra...); });
    printf("fetch,%s,ctas-%d,first %u,again %u,graph_ns one %.0f,two %.0f\n", name, ctas, m0, m1, s1, s2);
  }
}
int main() {
  cudaDeviceProp p; CK(cudaGetDeviceProperties(&p, 0));
  printf("device,%s,%d SMs,L2 %d\n", p.name, p.multiProcessorCount, p.l2CacheSize);
  CK(cudaMalloc(&t, 256u << 20)); CK(cudaMalloc(&sum, 4096)); CK(cudaMalloc(&hist, 132 * 128 * 4)); CK(cudaMalloc(&sink, 1 << 20)); CK(cudaMalloc(&times, 1 << 16)); CK(cudaMalloc(&o, 64 << 20));
  unsigned short* out; CK(cudaMalloc(&out, 1 << 20));
  for (auto k : {(const void*)touch, (const void*)chase, (const void*)each, (const void*)bw}) CK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 << 10));
  const int smem = 120 << 10;  // one CTA an SM
  auto sweep = [&] { touch<<<132, 1024, smem>>>(t + (100u << 18), (140u << 20) / 128, 0, -1, sink); };
  auto mean = [&](const std::vector<unsigned>& h, int n) { std::string s; for (int i = 0; i < 128; ++i) if (h[i]) s += " " + std::to_string(i * 8) + ":" + std::to_string(h[i]); return s; };
  // E1
  for (int mib : {1, 8, 16, 20, 24, 28, 32, 40, 48}) {
    unsigned lines = mib * 8192;
    link<<<1024, 256>>>(t, lines, 8 * 12345 * 5 * 7 + 1, 7 * 11 + 2);  // a-1 divisible by 4 and by lines' primes; add odd
    for (int mode = 0; mode < 4; ++mode) {
      sweep(); 
      for (int r = 0; r < 2; ++r) touch<<<132, 1024, smem>>>(t, lines, mode == 0 || mode == 1, mode == 0 ? 0 : mode == 3 ? -1 : -1, sink);
      if (mode == 3) for (int r = 0; r < 2; ++r) touch<<<132, 1024, smem>>>(t, lines, 1, 0, sink);
      chase<<<132, 32, smem>>>(t, 0, 4096, 0, sum, hist); CK(cudaDeviceSynchronize());
      std::vector<unsigned> s(132), h(128);
      CK(cudaMemcpy(s.data(), sum, 528, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(h.data(), hist, 512, cudaMemcpyDeviceToHost));
      printf("chase,%d MiB,%s,mean %.1f,%s\n", mib, mode == 0 ? "touched by SM0" : mode == 1 ? "touched by all" : mode == 2 ? "touched in parts" : "parts, then SM0", s[0] / 4096.0, mean(h, 4096).c_str());
    }
  }
  for (int mib : {1, 4, 16}) {
    unsigned lines = mib * 8192;
    link<<<1024, 256>>>(t, lines, 8 * 12345 * 5 * 7 + 1, 7 * 11 + 2);
    for (int r = 0; r < 2; ++r) touch<<<132, 1024, smem>>>(t, lines, 1, -1, sink);
    chase<<<132, 32, smem>>>(t, 0, 4096, -1, sum, hist); CK(cudaDeviceSynchronize());
    std::vector<unsigned> s(132); CK(cudaMemcpy(s.data(), sum, 528, cudaMemcpyDeviceToHost));
    printf("sms,%d MiB", mib); for (int i = 0; i < 132; ++i) printf(",%.1f", s[i] / 4096.0); printf("\n");
  }
  for (int sm : {0, 1, 2, 40, 101}) {  // one line after another; then lines in their order for several SMs
    std::vector<unsigned short> h(4096), b(4096, 65535);
    for (int r = 0; r < 5; ++r) { each<<<132, 32, smem>>>(t, 4096, 32, sm, out); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(h.data(), out, 8192, cudaMemcpyDeviceToHost)); for (int i = 0; i < 4096; ++i) b[i] = std::min(b[i], h[i]); }
    printf("each,sm %d", sm); for (int i = 0; i < 256; ++i) printf(",%d", b[i]); printf("\n");
    std::vector<unsigned short> q = b; std::sort(q.begin(), q.end());
    printf("each-quantiles,sm %d", sm); for (int i = 0; i <= 16; ++i) printf(",%d", q[std::min(4095, i * 256)]); printf("\n");
  }
  // E2
  for (int mode = 0; mode < 3; ++mode)
    for (int mib : {4, 8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64}) {
      unsigned vecs = mib * 65536;
      int reps = mode == 0 ? 2 : 24;
      float ms[2];
      for (int k = 0; k < 2; ++k) {
        float best = 1e30f; cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
        for (int r = 0; r < 3; ++r) { cudaEventRecord(a); bw<<<132, 1024, smem>>>(t, vecs, mode, reps * (k + 1), sink); cudaEventRecord(b); CK(cudaDeviceSynchronize()); float m; cudaEventElapsedTime(&m, a, b); best = std::min(best, m); }
        ms[k] = best;
      }
      double bytes = mode == 0 ? (double)vecs * 16 * 132 * reps : (double)(vecs / 132) * 16 * 132 * reps;
      printf("bw,%s,%d MiB,%.1f GB/s\n", mode == 0 ? "all read all" : mode == 1 ? "own part" : "parts in turn", mib, bytes / (ms[1] - ms[0]) * 1e-6);
    }
  return 0;
}
