// Which warp of a sub-partition issues: when does each warp of an SM end if all do the same, in one CTA and in several? And stores of rows, word by
// word, after a computation, or one warp after another. nvcc -arch=sm_90a -O3 (traces/hw/README.md)
#include <cstdio>
#include <cstring>
#include <algorithm>
#include <vector>
#include <cuda_runtime.h>
struct Rec { unsigned begin, mid, end, sm, warp; };
__device__ unsigned clk() { unsigned c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory"); return c; }
__device__ unsigned smid() { unsigned c; asm volatile("mov.u32 %0, %%smid;" : "=r"(c)); return c; }
template <int ILP> __device__ float chains(float x, int n) {
  float v[ILP];
  for (int i = 0; i < ILP; ++i) v[i] = x + i;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int u = 0; u < 16; ++u)
#pragma unroll
      for (int i = 0; i < ILP; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v[i]) : "f"(x));
  }
  float s = 0;
  for (int i = 0; i < ILP; ++i) s += v[i];
  return s;
}
__device__ float mixed(float x, int n) {  // approximations and logic
  float v = x; unsigned q = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int u = 0; u < 8; ++u) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v)); asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v) : "f"(x)); asm volatile("xor.b32 %0, %0, %1;" : "+r"(q) : "r"(k)); asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v) : "f"(x)); }
  return v + q;
}
__device__ float lds(float x, int n) {
  __shared__ unsigned a[1024];
  a[threadIdx.x] = threadIdx.x; __syncwarp();
  unsigned p = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int u = 0; u < 4; ++u) { p = ((volatile unsigned*)a)[p]; x = x * x + 1.f; }
  return x + p;
}
__device__ float ldg(const unsigned* g, float x, int n) {
  unsigned p = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; ++k)
#pragma unroll
    for (int u = 0; u < 4; ++u) { asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(p) : "l"(g + p)); x = x * x + 1.f; }
  return x + p;
}
template <int KIND> __global__ void work(Rec* out, const unsigned* g, float x, int n, float* sink) {
  const unsigned b = clk();
  float s;
  if (KIND == 1) s = chains<1>(x, n); else if (KIND == 2) s = chains<2>(x, n); else if (KIND == 4) s = chains<4>(x, n); else if (KIND == 5) s = mixed(x, n); else if (KIND == 6) s = lds(x, n); else s = ldg(g, x, n);
  const unsigned e = clk();
  if (s == 123.25f) *sink = s;
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {b, b, e, smid(), (blockIdx.x * blockDim.x + threadIdx.x) / 32};
}
// Rows of R words after n rounds of ILP-1 chains.
template <int R> __global__ void rows(Rec* out, float* y, float x, int n, float* sink) {
  const unsigned b = clk();
  float s = chains<1>(x, n);
  const unsigned m = clk();
  float* row = y + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * R;
#pragma unroll
  for (int k = 0; k < R; ++k) asm volatile("st.global.f32 [%0], %1;" :: "l"(row + k), "f"(s + k) : "memory");
  const unsigned e = clk();
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {b, m, e, smid(), (blockIdx.x * blockDim.x + threadIdx.x) / 32};
}
// The same, each warp when the warp before it has stored (bar.sync of two warps in a chain).
template <int R> __global__ void chained(Rec* out, float* y, float x, int n, float* sink) {
  const unsigned w = threadIdx.x / 32, W = blockDim.x / 32;
  float* row = y + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * R;
  if (w > 0) asm volatile("bar.sync %0, 64;" :: "r"(w) : "memory");
  const unsigned m = clk();
#pragma unroll
  for (int k = 0; k < R; ++k) asm volatile("st.global.f32 [%0], %1;" :: "l"(row + k), "f"(x + k) : "memory");
  const unsigned e = clk();
  if (w + 1 < W) asm volatile("bar.arrive %0, 64;" :: "r"(w + 1) : "memory");
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {m, m, e, smid(), (blockIdx.x * blockDim.x + threadIdx.x) / 32};
}
Rec* d_out; unsigned* d_g; float* d_y; float* d_sink;
void show(const char* name, int blocks, int threads, float us) {
  const int warps = blocks * threads / 32;
  std::vector<Rec> r(warps);
  cudaMemcpy(r.data(), d_out, warps * sizeof(Rec), cudaMemcpyDeviceToHost);
  const unsigned sm = r[0].sm;
  std::vector<Rec> s;
  for (auto& x : r) if (x.sm == sm) s.push_back(x);
  unsigned base = ~0u;
  for (auto& x : s) base = std::min(base, x.begin);
  printf("%s-%dx%d us %.2f warps %zu", name, blocks, threads, us, s.size());
  for (auto& x : s) printf(" %u:%u/%u/%u", x.warp, x.begin - base, x.mid - base, x.end - base);
  printf("\n");
}
template <class F> void timed(const char* name, int blocks, int threads, F launch) {
  cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
  for (int i = 0; i < 3; ++i) launch();
  float best = 1e9;
  for (int k = 0; k < 5; ++k) {
    cudaEventRecord(a); for (int i = 0; i < 20; ++i) launch(); cudaEventRecord(b); cudaEventSynchronize(b);
    float ms; cudaEventElapsedTime(&ms, a, b); best = std::min(best, ms * 1000 / 20);
  }
  cudaDeviceSynchronize();
  show(name, blocks, threads, best);
}

template <int KIND> void many(const char* name, int per_sm, int waves, int t, int n) {
  const int smem = 220 * 1024 / per_sm - 1024;
  auto k = work<KIND>;
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, smem);
  const int b = 132 * per_sm * waves;
  char full[80]; sprintf(full, "%s-%d-%d", name, per_sm, waves);
  timed(full, b, t, [&] { k<<<b, t, smem>>>(d_out, d_g, 1.5f, n, d_sink); });
}
// A stream of loads from the L2 and arithmetic on each: who ends when?
template <int W> __global__ void stream(Rec* out, const float4* g, float x, int n, float* sink) {
  const unsigned b = clk();
  float s = 0;
  const unsigned total = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; ++k, i += total) {
    float4 v = g[i];
#pragma unroll
    for (int u = 0; u < W; ++u) { s = s * v.x + v.y; s = s * v.z + v.w; }
  }
  const unsigned e = clk();
  if (s == 123.25f) *sink = s;
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {b, b, e, smid(), (blockIdx.x * blockDim.x + threadIdx.x) / 32};
}
template <int W> void streams(int per_sm, int t, int n) {
  char full[80]; sprintf(full, "stream%d-%d-n%d", W, per_sm, n);
  const int b = 132 * per_sm;
  timed(full, b, t, [&] { stream<W><<<b, t>>>(d_out, (const float4*)d_y, 1.5f, n, d_sink); });
}
__global__ void sw(Rec* out, const unsigned char* a, const unsigned char* b, int* score, int n) {
  const unsigned c0 = clk();
  __shared__ short h[3][258];
  __shared__ int best;
  const int t = threadIdx.x;
  for (int k = t; k < 3 * 258; k += blockDim.x) (&h[0][0])[k] = 0;
  if (t == 0) best = 0;
  __syncthreads();
  const unsigned char mine = a[blockIdx.x * blockDim.x + t] & 3;
  int top = 0;
  for (int d = 0; d < n + (int)blockDim.x - 1; ++d) {
    const int j = d - t;
    int v = 0;
    if (j >= 0 && j < n) {
      const int match = (b[blockIdx.x * n + j] & 3) == mine ? 3 : -2;
      v = max(max(0, h[(d + 1) % 3][t] + match), max(h[(d + 2) % 3][t] - 1, h[(d + 2) % 3][t + 1] - 1));
      top = max(top, v);
    }
    h[d % 3][t + 1] = v;
    __syncthreads();
  }
  atomicMax(&best, top);
  __syncthreads();
  if (t == 0) score[blockIdx.x] = best;
  const unsigned e = clk();
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {c0, c0, e, smid(), (blockIdx.x * blockDim.x + threadIdx.x) / 32};
}
// K dependent sums, then a barrier and an exchange through shared memory.
template <int K, int ILP> __global__ void barred(Rec* out, float x, int n, float* sink) {
  const unsigned c0 = clk();
  __shared__ float s[2][1024];
  float v[ILP];
  for (int i = 0; i < ILP; ++i) v[i] = x + threadIdx.x + i;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int u = 0; u < K; ++u)
#pragma unroll
      for (int i = 0; i < ILP; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(v[i]) : "f"(x));
    s[k & 1][threadIdx.x] = v[0];
    __syncthreads();
    v[0] += s[k & 1][(threadIdx.x + 33) % blockDim.x];
  }
  const unsigned e = clk();
  float r = 0; for (int i = 0; i < ILP; ++i) r += v[i];
  if (r == 123.25f) *sink = r;
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {c0, c0, e, smid(), (blockIdx.x * blockDim.x + threadIdx.x) / 32};
}
// y = f(x), an element of 16 bytes a thread, W pairs of products, in the L2.
template <int W> __global__ void map(Rec* out, const float4* g, float4* y, float x) {
  const unsigned b = clk();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = g[i];
#pragma unroll
  for (int u = 0; u < W; ++u) { v.x = v.x * x + v.y; v.y = v.y * x + v.z; v.z = v.z * x + v.w; v.w = v.w * x + v.x; }
  const unsigned m = clk();
  y[i] = v;
  const unsigned e = clk();
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {b, m, e, smid(), (blockIdx.x * blockDim.x + threadIdx.x) / 32};
}
void one_wave() {
  for (int t : {128, 512, 640, 1024}) {
    timed("chain1", 132, t, [&] { work<1><<<132, t>>>(d_out, d_g, 1.5f, 64, d_sink); });
    timed("chain2", 132, t, [&] { work<2><<<132, t>>>(d_out, d_g, 1.5f, 64, d_sink); });
    timed("chain4", 132, t, [&] { work<4><<<132, t>>>(d_out, d_g, 1.5f, 64, d_sink); });
    timed("mixed", 132, t, [&] { work<5><<<132, t>>>(d_out, d_g, 1.5f, 32, d_sink); });
    timed("lds", 132, t, [&] { work<6><<<132, t>>>(d_out, d_g, 1.5f, 64, d_sink); });
    timed("ldg", 132, t, [&] { work<7><<<132, t>>>(d_out, d_g, 1.5f, 64, d_sink); });
  }
  for (int b : {132 * 4, 132 * 8}) {
    timed("chain1", b, 256 * 4 * 132 / b / 32 * 32, [&] { work<1><<<b, 256 * 4 * 132 / b / 32 * 32>>>(d_out, d_g, 1.5f, 64, d_sink); });
    timed("mixed", b, 128, [&] { work<5><<<b, 128>>>(d_out, d_g, 1.5f, 32, d_sink); });
  }
#define ROWS(R) for (int n : {0, 4, 16, 64}) for (int t : {128, 256, 512, 1024}) { char name[40]; sprintf(name, "rows%d-%d", R, n); timed(name, 132, t, [&] { rows<R><<<132, t>>>(d_out, d_y, 1.5f, n, d_sink); }); } \
  for (int t : {256, 512}) { timed("chained" #R, 132, t, [&] { chained<R><<<132, t>>>(d_out, d_y, 1.5f, 0, d_sink); }); }
  ROWS(2) ROWS(4) ROWS(5) ROWS(8) ROWS(9) ROWS(16)
}
void several_waves() {
  many<1>("chain1", 8, 3, 128, 64); many<1>("chain1", 4, 3, 256, 64); many<1>("chain1", 2, 3, 512, 64); many<1>("chain1", 2, 2, 1024, 64);
  many<2>("chain2", 8, 3, 128, 64); many<2>("chain2", 4, 3, 128, 64); many<2>("chain2", 4, 2, 256, 64);
  many<4>("chain4", 8, 2, 128, 64); many<4>("chain4", 4, 2, 128, 64); many<4>("chain4", 4, 2, 256, 32);
  many<5>("mixed", 8, 3, 128, 32); many<5>("mixed", 4, 2, 256, 32); many<5>("mixed", 2, 2, 512, 32); many<5>("mixed", 16, 2, 128, 32);
  many<6>("lds", 8, 2, 128, 64); many<6>("lds", 4, 2, 256, 64);  many<7>("ldg", 8, 2, 128, 64); many<7>("ldg", 4, 2, 256, 64);
  streams<1>(8, 256, 16); streams<8>(8, 256, 16); streams<32>(8, 256, 16); streams<8>(16, 128, 16); streams<32>(16, 128, 16); streams<32>(2, 1024, 16); streams<32>(4, 512, 16);
}
void barriers_and_maps() {
  cudaMemset(d_y, 1, 1 << 26);
  timed("sw", 1024, 128, [&] { sw<<<1024, 128>>>(d_out, (unsigned char*)d_y, (unsigned char*)d_y + (1 << 20), (int*)d_sink, 256); });
  timed("sw", 132, 128, [&] { sw<<<132, 128>>>(d_out, (unsigned char*)d_y, (unsigned char*)d_y + (1 << 20), (int*)d_sink, 256); });
  for (int b : {1, 2, 4, 8, 16}) { 
    timed("bar4", 132 * b, 128, [&] { barred<4, 1><<<132 * b, 128>>>(d_out, 1.5f, 128, d_sink); });
    timed("bar16", 132 * b, 128, [&] { barred<16, 1><<<132 * b, 128>>>(d_out, 1.5f, 128, d_sink); });
    timed("bar64", 132 * b, 128, [&] { barred<64, 1><<<132 * b, 128>>>(d_out, 1.5f, 64, d_sink); });
    timed("bar16-4", 132 * b, 128, [&] { barred<16, 4><<<132 * b, 128>>>(d_out, 1.5f, 64, d_sink); }); }
  for (int b : {2, 8}) timed("bar16", 132 * b, 256, [&] { barred<16, 1><<<132 * b, 256>>>(d_out, 1.5f, 128, d_sink); });
  for (int w : {1, 2, 4}) {
    timed("map1", 132 * 8 * w, 256, [&] { map<1><<<132 * 8 * w, 256>>>(d_out, (float4*)d_y, (float4*)d_y + (1 << 22), 1.5f); });
    timed("map8", 132 * 8 * w, 256, [&] { map<8><<<132 * 8 * w, 256>>>(d_out, (float4*)d_y, (float4*)d_y + (1 << 22), 1.5f); });
    timed("map32", 132 * 8 * w, 256, [&] { map<32><<<132 * 8 * w, 256>>>(d_out, (float4*)d_y, (float4*)d_y + (1 << 22), 1.5f); });
  }
}
int main() {
  cudaMalloc(&d_out, 1 << 22); cudaMalloc(&d_g, 4096); cudaMalloc(&d_y, 1 << 28); cudaMalloc(&d_sink, 1 << 16);
  std::vector<unsigned> id(1024); for (unsigned i = 0; i < 1024; ++i) id[i] = i; cudaMemcpy(d_g, id.data(), 4096, cudaMemcpyHostToDevice);
  one_wave();
  several_waves();
  barriers_and_maps();
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
