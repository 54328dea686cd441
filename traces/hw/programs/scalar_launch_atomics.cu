// Measures on one GPU what Drywell's timed model has no figure for (issue 22, causes 5 and 6). Prints CSV: family,name,value,unit.
//   nvcc -O2 -std=c++17 -arch=sm_90a -o measure scalar_launch_atomics.cu && ./measure > record.csv
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <functional>
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); return 1; } } while (0)
typedef unsigned long long u64; typedef unsigned int u32;
__device__ __forceinline__ u64 clk() { u64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t) :: "memory"); return t; }

// ---- scalar instructions: slope between two loop counts, one warp; `Chains` independent chains of the operation.
#define SCALAR(NAME, TYPE, OP)                                                                              \
  template <int Chains> __global__ void NAME(int n, u64* out, TYPE seed) {                                  \
    TYPE x[Chains];                                                                                         \
    for (int c = 0; c < Chains; ++c) x[c] = seed + threadIdx.x * 7 + c;                                     \
    const u64 t = clk();                                                                                    \
    _Pragma("unroll 1") for (int i = 0; i < n; ++i) {                                                       \
      _Pragma("unroll") for (int r = 0; r < 8; ++r) { _Pragma("unroll") for (int c = 0; c < Chains; ++c) { OP; } } \
    }                                                                                                       \
    const u64 d = clk() - t;                                                                                \
    TYPE s = 0; for (int c = 0; c < Chains; ++c) s ^= x[c];                                                 \
    if (threadIdx.x == 0) out[0] = d;                                                                       \
    out[1 + threadIdx.x] = (u64)s;                                                                          \
  }
SCALAR(k_match, u32, asm volatile("match.any.sync.b32 %0, %0, 0xffffffff;" : "+r"(x[c])))
SCALAR(k_match_same, u32, { u32 m; asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(m) : "r"(x[c] & 0)); x[c] = m; })
SCALAR(k_match64, u64, { u32 m; asm volatile("match.any.sync.b64 %0, %1, 0xffffffff;" : "=r"(m) : "l"(x[c])); x[c] += m; })
SCALAR(k_matchall, u32, { u32 m; asm volatile("{.reg .pred p; match.all.sync.b32 %0|p, %1, 0xffffffff;}" : "=r"(m) : "r"(x[c])); x[c] += m; })
SCALAR(k_div32, u32, asm volatile("div.u32 %0, %1, %0;" : "+r"(x[c]) : "r"(seed | 0x7fffffffu)))
SCALAR(k_div32c, u32, asm volatile("div.u32 %0, %0, 3;" : "+r"(x[c])))
SCALAR(k_rem32, u32, asm volatile("rem.u32 %0, %1, %0;" : "+r"(x[c]) : "r"(seed | 0x7fffffffu)))
SCALAR(k_div64, u64, asm volatile("div.u64 %0, %1, %0;" : "+l"(x[c]) : "l"(seed | 0x7fffffffffffull)))
SCALAR(k_add64, u64, asm volatile("add.u64 %0, %0, %1;" : "+l"(x[c]) : "l"(seed)))
SCALAR(k_mad64, u64, asm volatile("mad.lo.u64 %0, %0, %1, %1;" : "+l"(x[c]) : "l"(seed)))
SCALAR(k_shl64, u64, asm volatile("shf.l.wrap.b32 %0, %0, %1, 3;" : "+r"(((u32*)&x[c])[0]) : "r"(((u32*)&x[c])[1])))
SCALAR(k_min64, u64, asm volatile("min.u64 %0, %0, %1;" : "+l"(x[c]) : "l"(seed)))
SCALAR(k_clock, u32, { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t)); x[c] += t; })
SCALAR(k_clock64, u64, { u64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)); x[c] += t; })
SCALAR(k_gtimer, u64, { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); x[c] += t; })
SCALAR(k_smid, u32, { u32 t; asm volatile("mov.u32 %0, %%smid;" : "=r"(t)); x[c] += t; })
SCALAR(k_laneid, u32, { u32 t; asm volatile("mov.u32 %0, %%laneid;" : "=r"(t)); x[c] += t; })
SCALAR(k_fpa_all, u32, { asm volatile("fence.proxy.async;" ::: "memory"); x[c] += 1; })
SCALAR(k_fpa_global, u32, { asm volatile("fence.proxy.async.global;" ::: "memory"); x[c] += 1; })
SCALAR(k_fpa_cta, u32, { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); x[c] += 1; })
SCALAR(k_fpa_cluster, u32, { asm volatile("fence.proxy.async.shared::cluster;" ::: "memory"); x[c] += 1; })
SCALAR(k_fmi, u32, { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); x[c] += 1; })
SCALAR(k_fence_cluster, u32, { asm volatile("fence.acq_rel.cluster;" ::: "memory"); x[c] += 1; })
SCALAR(k_fence_sys, u32, { asm volatile("fence.acq_rel.sys;" ::: "memory"); x[c] += 1; })

template <class T, class K> int scalar(const char* name, K kernel, int chains, int warps, u64* out) {
  u64 best[2] = {~0ull, ~0ull};
  for (int k = 0; k < 2; ++k) for (int rep = 0; rep < 5; ++rep) {
    kernel<<<1, 32 * warps>>>(k ? 192 : 64, out, (T)3); CHECK(cudaDeviceSynchronize());
    u64 d; CHECK(cudaMemcpy(&d, out, 8, cudaMemcpyDeviceToHost)); best[k] = std::min(best[k], d);
  }
  printf("scalar,%s.chains-%d.warps-%d,%.4f,cyc per instruction of a warp\n", name, chains, warps, double((long long)(best[1] - best[0])) / (128.0 * 8 * chains));
  return 0;
}
#define RUN(NAME, TYPE) if (scalar<TYPE>(#NAME, NAME<1>, 1, 1, out) || scalar<TYPE>(#NAME, NAME<8>, 8, 1, out) || scalar<TYPE>(#NAME, NAME<8>, 8, 4, out) || scalar<TYPE>(#NAME, NAME<8>, 8, 16, out)) return 1;

// ---- launch: time of a grid of empty CTAs, per CTA
template <int Smem> __global__ void empty() { __shared__ char s[Smem]; if (clock() == 1) s[threadIdx.x] = 1; }
__global__ void nothing() {}

// ---- atomics: `words` distinct addresses, `step` bytes apart; lanes and warps share them as `spread` says
// spread 0: address of the lane; 1: address of the warp; 2: address of the CTA; 3: hashed over all words
enum Kind { kRedAdd, kAtomAdd, kAtomCas, kAtomExch, kRedMin, kRedF32, kRedV4, kRedRelease };
template <int KIND> __global__ void gatomics(u32* p, u32 words, u32 step, int spread, int n, u64* out) {
  const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
  const u64 t = clk();
  u32 acc = 0;
  for (int i = 0; i < n; ++i) {
    const u32 key = spread == 0 ? threadIdx.x % 32 : spread == 1 ? thread / 32 : spread == 2 ? blockIdx.x : (thread * 2654435761u + i * 40503u) >> 5;
    u32* a = p + (size_t)(key % words) * (step / 4);
    u32 r = 0;
    if (KIND == kRedAdd) asm volatile("red.global.add.u32 [%0], 1;" :: "l"(a) : "memory");
    if (KIND == kAtomAdd) asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(a) : "memory");
    if (KIND == kAtomCas) asm volatile("atom.global.cas.b32 %0, [%1], 0, 1;" : "=r"(r) : "l"(a) : "memory");
    if (KIND == kAtomExch) asm volatile("atom.global.exch.b32 %0, [%1], 1;" : "=r"(r) : "l"(a) : "memory");
    if (KIND == kRedMin) asm volatile("red.global.min.u32 [%0], 1;" :: "l"(a) : "memory");
    if (KIND == kRedF32) asm volatile("red.global.add.f32 [%0], 0f3f800000;" :: "l"(a) : "memory");
    if (KIND == kRedRelease) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(a) : "memory");
    acc += r;
  }
  if (acc == 0xdeadbeef) out[1] = acc;
  if (threadIdx.x == 0) out[2 + blockIdx.x] = clk() - t;
}
template <int KIND> __global__ void satomics(u32 words, u32 step, int spread, int n, u64* out) {
  __shared__ u32 s[8192];
  for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) s[i] = 0;
  __syncthreads();
  const u64 t = clk();
  u32 acc = 0;
  for (int i = 0; i < n; ++i) {
    const u32 key = spread == 0 ? threadIdx.x % 32 : spread == 1 ? threadIdx.x / 32 : (threadIdx.x * 2654435761u + i * 40503u) >> 5;
    const u32 a = (u32)__cvta_generic_to_shared(s + (key % words) * (step / 4) % 8192);
    u32 r = 0;
    if (KIND == kRedAdd) asm volatile("red.shared.add.u32 [%0], 1;" :: "r"(a) : "memory");
    if (KIND == kAtomAdd) asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(r) : "r"(a) : "memory");
    if (KIND == kAtomCas) asm volatile("atom.shared.cas.b32 %0, [%1], 0, 1;" : "=r"(r) : "r"(a) : "memory");
    if (KIND == kRedF32) asm volatile("red.shared.add.f32 [%0], 0f3f800000;" :: "r"(a) : "memory");
    acc += r;
  }
  __syncthreads();
  if (acc == 0xdeadbeef) out[1] = acc;
  if (threadIdx.x == 0) out[2] = clk() - t;
}
// ---- stores whose lanes are apart (ep.ptx): cycles of one warp instruction, by bytes a lane and distance
template <int BYTES> __global__ void stores(char* p, u32 pitch, int n, u64* out) {
  char* q = p + (size_t)threadIdx.x * pitch;
  __syncthreads();
  const u64 t = clk();
  for (int i = 0; i < n; ++i) {
    char* a = q + (BYTES * i) % pitch;
    if (BYTES == 4) asm volatile("st.global.u32 [%0], 1;" :: "l"(a) : "memory");
    if (BYTES == 8) asm volatile("st.global.v2.u32 [%0], {1,1};" :: "l"(a) : "memory");
    if (BYTES == 16) asm volatile("st.global.v4.u32 [%0], {1,1,1,1};" :: "l"(a) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = clk() - t;
}
template <int BYTES> __global__ void loads(const char* p, u32 pitch, int n, u64* out) {
  const char* q = p + (size_t)threadIdx.x * pitch;
  u32 x = 0, y = 0, z = 0, w = 0, s = 0;
  for (int k = 0; k < 2; ++k) {  // the first pass fills the L1
    __syncthreads();
    const u64 t = clk();
    for (int i = 0; i < n; ++i) {
      const char* a = q + (BYTES * i) % pitch;
      if (BYTES == 4) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(a));
      if (BYTES == 8) asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(x), "=r"(y) : "l"(a));
      if (BYTES == 16) asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(a));
      s ^= x ^ y ^ z ^ w;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[0] = clk() - t;
  }
  if (s == 0xdeadbeef) out[1] = s;
}
static float timed(const std::function<void()>& f) {
  cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); float best = 1e30f;
  for (int i = 0; i < 5; ++i) { cudaEventRecord(a); f(); cudaEventRecord(b); cudaEventSynchronize(b); float ms; cudaEventElapsedTime(&ms, a, b); best = std::min(best, ms); }
  return best;
}
template <int KIND> int global_family(const char* name, u32* mem, u64* out) {
  const struct { const char* what; u32 words, step; int spread; } shapes[] = {
    {"same-address", 1, 4, 0}, {"same-line-32-words", 32, 4, 0}, {"warp-32-lines", 32, 128, 0}, {"address-per-warp", 65536, 128, 1}, {"address-per-cta", 65536, 128, 2},
    {"hashed-256-words", 256, 4, 3}, {"hashed-4096-words", 4096, 4, 3}, {"hashed-1M-words", 1 << 20, 4, 3}, {"hashed-64k-lines", 65536, 128, 3}};
  for (auto& s : shapes) for (int ctas : {1, 132, 528}) for (int threads : {32, 256}) {
    const int few = 16, many = 48;
    const float a = timed([&] { gatomics<KIND><<<ctas, threads>>>(mem, s.words, s.step, s.spread, few, out); });
    const float b = timed([&] { gatomics<KIND><<<ctas, threads>>>(mem, s.words, s.step, s.spread, many, out); });
    CHECK(cudaDeviceSynchronize());
    printf("atomics,global.%s.%s.ctas-%d.threads-%d,%.5f,ns per warp instruction (chip)\n", name, s.what, ctas, threads, (b - a) * 1e6 / ((many - few) * double(ctas) * threads / 32));
  }
  return 0;
}
template <int KIND> int shared_family(const char* name, u64* out) {
  const struct { const char* what; u32 words, step; int spread; } shapes[] = {
    {"same-address", 1, 4, 0}, {"32-words", 32, 4, 0}, {"same-bank", 32, 128, 0}, {"address-per-warp", 64, 4, 1}, {"hashed-256-words", 256, 4, 2}, {"hashed-2048-words", 2048, 4, 2}};
  for (auto& s : shapes) for (int warps : {1, 4, 16}) {
    u64 d[2];
    for (int k = 0; k < 2; ++k) { d[k] = ~0ull; for (int r = 0; r < 5; ++r) { satomics<KIND><<<1, 32 * warps>>>(s.words, s.step, s.spread, k ? 96 : 32, out); u64 x; CHECK(cudaMemcpy(&x, out + 2, 8, cudaMemcpyDeviceToHost)); d[k] = std::min(d[k], x); } }
    printf("atomics,shared.%s.%s.warps-%d,%.4f,cyc per warp instruction (SM)\n", name, s.what, warps, double((long long)(d[1] - d[0])) / (64.0 * warps));
  }
  return 0;
}
template <class K, class P> int access(const char* name, K kernel, P mem, u64* out) {
  for (u32 pitch : {16u, 32u, 64u, 128u, 256u, 512u, 1024u, 4096u}) for (int warps : {1, 8}) {
    u64 d[2];
    for (int k = 0; k < 2; ++k) { d[k] = ~0ull; for (int r = 0; r < 5; ++r) { kernel<<<1, 32 * warps>>>(mem, pitch, k ? 48 : 16, out); u64 x; CHECK(cudaMemcpy(&x, out, 8, cudaMemcpyDeviceToHost)); d[k] = std::min(d[k], x); } }
    printf("access,%s.pitch-%u.warps-%d,%.4f,cyc per warp instruction (SM)\n", name, pitch, warps, double((long long)(d[1] - d[0])) / (32.0 * warps));
  }
  return 0;
}
int main() {
  cudaDeviceProp prop; CHECK(cudaGetDeviceProperties(&prop, 0)); int khz = 0; cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
  printf("family,name,value,unit\ndevice,%s,%d,kHz\n", prop.name, khz);
  u64* out; char* mem; CHECK(cudaMalloc(&out, 1 << 20)); CHECK(cudaMalloc(&mem, 64 << 20)); CHECK(cudaMemset(mem, 0, 64 << 20));
  RUN(k_match, u32) RUN(k_match_same, u32) RUN(k_match64, u64) RUN(k_matchall, u32) RUN(k_div32, u32) RUN(k_div32c, u32) RUN(k_rem32, u32) RUN(k_div64, u64)
  RUN(k_add64, u64) RUN(k_mad64, u64) RUN(k_shl64, u64) RUN(k_min64, u64) RUN(k_clock, u32) RUN(k_clock64, u64) RUN(k_gtimer, u64) RUN(k_smid, u32) RUN(k_laneid, u32)
  RUN(k_fpa_all, u32) RUN(k_fpa_global, u32) RUN(k_fpa_cta, u32) RUN(k_fpa_cluster, u32) RUN(k_fmi, u32) RUN(k_fence_cluster, u32) RUN(k_fence_sys, u32)
  for (int threads : {32, 128, 256, 1024}) {  // slope between grids
    const float a = timed([&] { nothing<<<200000, threads>>>(); }), b = timed([&] { nothing<<<1000000, threads>>>(); });
    printf("launch,empty.threads-%d,%.5f,ns per CTA\n", threads, (b - a) * 1e6 / 800000);
    const float c = timed([&] { empty<16384><<<200000, threads>>>(); }), d = timed([&] { empty<16384><<<1000000, threads>>>(); });
    printf("launch,empty.smem-16KiB.threads-%d,%.5f,ns per CTA\n", threads, (d - c) * 1e6 / 800000);
  }
  for (int ctas : {1, 32, 132, 264, 528, 1056, 4224}) {
    cudaStream_t s; CHECK(cudaStreamCreate(&s)); cudaGraph_t g; cudaGraphExec_t e[2];
    for (int k = 0; k < 2; ++k) { CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); for (int i = 0; i < (k ? 40 : 10); ++i) nothing<<<ctas, 128, 0, s>>>(); CHECK(cudaStreamEndCapture(s, &g)); CHECK(cudaGraphInstantiate(&e[k], g, 0)); }
    const float a = timed([&] { cudaGraphLaunch(e[0], 0); }), b = timed([&] { cudaGraphLaunch(e[1], 0); });
    printf("launch,graph-node.ctas-%d,%.3f,ns per launch\n", ctas, (b - a) * 1e6 / 30);
  }
  if (global_family<kRedAdd>("red.add.u32", (u32*)mem, out) || global_family<kAtomAdd>("atom.add.u32", (u32*)mem, out) || global_family<kAtomCas>("atom.cas.b32", (u32*)mem, out) ||
      global_family<kAtomExch>("atom.exch.b32", (u32*)mem, out) || global_family<kRedMin>("red.min.u32", (u32*)mem, out) || global_family<kRedF32>("red.add.f32", (u32*)mem, out) ||
      global_family<kRedRelease>("red.release.gpu.add.u32", (u32*)mem, out)) return 1;
  if (shared_family<kRedAdd>("red.add.u32", out) || shared_family<kAtomAdd>("atom.add.u32", out) || shared_family<kAtomCas>("atom.cas.b32", out) || shared_family<kRedF32>("red.add.f32", out)) return 1;
  if (access("st.4B", stores<4>, mem, out) || access("st.8B", stores<8>, mem, out) || access("st.16B", stores<16>, mem, out) || access("ld.4B", loads<4>, mem, out) || access("ld.8B", loads<8>, mem, out) ||
      access("ld.16B", loads<16>, mem, out)) return 1;
  CHECK(cudaDeviceSynchronize());
  return 0;
}
