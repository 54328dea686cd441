// What CTAs of a launch see on a GPU: when they start, SM by SM, and how long first loads take (traces/hw/README.md).
#include <cstdio>
#include <vector>
#include <algorithm>
#include <map>
struct S { unsigned long long g; unsigned sm, c; };
__device__ unsigned long long gt() { unsigned long long v; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(v)); return v; }
__device__ unsigned smid() { unsigned v; asm volatile("mov.u32 %0, %smid;" : "=r"(v)); return v; }
__device__ unsigned clk() { unsigned v; asm volatile("mov.u32 %0, %clock;" : "=r"(v)); return v; }
__global__ void fillk(S* s, unsigned n) {
  const unsigned c = clk(); const unsigned long long g = gt();
  if (threadIdx.x == 0) { s[blockIdx.x] = S{g, smid(), c}; }
  while (clk() - c < n);
}
struct W { unsigned sm, c0, c1, c2; };
template <int MODE> __global__ void burst(const float4* x, float4* y, W* w) {
  const unsigned c0 = clk();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = {};
  asm volatile("" ::: "memory");
  const unsigned c1 = clk() + (x == nullptr);
  if (MODE == 0) asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + i));
  if (MODE == 1) asm volatile("ld.global.f32 %0, [%1];" : "=f"(v.x) : "l"((const float*)x + i));
  unsigned c2; asm volatile("{ .reg .pred p; setp.eq.f32 p, %1, 0f4B3C614E; @p trap; mov.u32 %0, %clock; }" : "=r"(c2) : "f"(v.x + v.y + v.z + v.w) : "memory");
  if (threadIdx.x % 32 == 0) w[i / 32] = W{smid(), c0, c1, c2};
}
template <class T> T pct(std::vector<T> v, double p) { std::sort(v.begin(), v.end()); return v[(size_t)(p * (v.size() - 1))]; }
int main() {
  S* d; char *x, *y; W* w;
  cudaMalloc(&d, 1 << 20); cudaMalloc(&x, 64 << 20); cudaMalloc(&y, 64 << 20); cudaMalloc(&w, 16 << 20); cudaMemset(x, 0, 64 << 20);
  for (int block : {32, 64, 128, 256, 512, 1024}) for (int spin : {0, 4000}) for (int grid : {132, 528, 1056, 4224}) {
    std::vector<S> h(grid);
    for (int r = 0; r < 4; ++r) fillk<<<grid, block>>>(d, spin);
    cudaDeviceSynchronize(); cudaMemcpy(h.data(), d, grid * sizeof(S), cudaMemcpyDeviceToHost);
    std::vector<unsigned long long> g; for (auto& s : h) g.push_back(s.g); std::sort(g.begin(), g.end());
    printf("fill block %d spin %d grid %d: ns at k:", block, spin, grid);
    for (int k : {1, 16, 66, 132, 264, 396, 528, 792, 1056, 1584, 2112, 3168, 4224}) if (k <= grid) printf(" %d:%llu", k, g[k - 1] - g[0]);
    std::map<unsigned, std::vector<unsigned>> per; std::map<unsigned, unsigned long long> first;
    for (auto& s : h) { per[s.sm].push_back(s.c); if (!first.count(s.sm) || s.g < first[s.sm]) first[s.sm] = s.g; }
    printf(" | first start by SM ns:"); for (int sm : {0, 1, 2, 3, 16, 17, 40, 64, 65, 100, 128, 131}) if (first.count(sm)) printf(" %llu", first[sm] - g[0]);
    for (int sm : {0, 40, 131}) { auto v = per[sm]; std::vector<unsigned> q; for (auto c : v) q.push_back(c - v[0]); for (auto& c : q) if ((int)c < 0) c = 0; std::sort(q.begin(), q.end()); printf(" | SM %d:", sm); for (size_t k = 0; k < q.size() && k < 16; ++k) printf(" %u", q[k]); }
    if (grid == 528) { printf(" | SM of CTA:"); for (int k = 0; k < 72; ++k) printf(" %u", h[k].sm); }
    printf("\n");
  }
  auto bursts = [&](auto k, const char* name) {
    for (int block : {64, 256, 1024}) for (int grid : {132, 264, 528, 1056}) {
      if (grid * block > 132 * 2048) continue;
      const int n = grid * block / 32; std::vector<W> h(n);
      for (int r = 0; r < 4; ++r) k<<<grid, block>>>((float4*)x, (float4*)y, w);
      cudaDeviceSynchronize(); cudaMemcpy(h.data(), w, n * sizeof(W), cudaMemcpyDeviceToHost);
      std::vector<unsigned> a, b, life; std::map<unsigned, std::pair<unsigned, unsigned>> per;
      for (auto& s : h) { a.push_back(s.c1 - s.c0); b.push_back(s.c2 - s.c1); auto it = per.find(s.sm); if (it == per.end()) per[s.sm] = {s.c0, s.c2}; else { if ((int)(s.c0 - it->second.first) < 0) it->second.first = s.c0; if ((int)(s.c2 - it->second.second) > 0) it->second.second = s.c2; } }
      std::vector<unsigned> span; for (auto& p : per) span.push_back(p.second.second - p.second.first);
      printf("burst %s grid %d block %d: param p50 %u max %u; load min %u p10 %u p50 %u p90 %u max %u; SM span min %u p50 %u max %u\n", name, grid, block, pct(a, .5), pct(a, 1), pct(b, 0), pct(b, .1), pct(b, .5), pct(b, .9), pct(b, 1), pct(span, 0), pct(span, .5), pct(span, 1));
    }
  };
  bursts(burst<0>, "16B"); bursts(burst<1>, "4B"); bursts(burst<2>, "none");
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
