// Reported mistakes made small, for sm_100a: tensor memory and its products. As reported.cu.
#include "tensor.cuh"

__device__ inline void st_bulk_zero(void *p, int bytes) { asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(smem(p)), "l"((unsigned long long)bytes) : "memory"); }
__device__ inline uint32_t mapa(const void *p, int r) { uint32_t a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(smem(p)), "r"(r)); return a; }
// Half of the lanes use what they load, nobody waits for the load; the other warp frees.
// expect unused_lanes H7210
W unused_lanes(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int t = threadIdx.x, w = t / 32;
  if (t == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); wait(s.full, 0); mma(d, ring->a, ring->b, false); commit(s.accf); }
  __syncwarp();
  if (w >= 4) {
    wait(s.accf, 0); fafter();
    uint32_t r[8]; tld8(r, d + ((w - 4) << 21));
    if (!wrong) wait_tld8(r);
    if (t % 32 < 16) out[t] = r[0];
    fbefore(); arrive(s.acce);
  }
  if (w == 2) { wait(s.acce, 0); fafter(); dealloc(d, 32); }  // here unused_lanes
}
// The stage goes back to the producer before the load is complete.
// expect stage_goes_back H7203
W stage_goes_back(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int t = threadIdx.x, w = t / 32;
  if (t == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); }
  if (w == 1 && lane0()) {
    wait(s.full, 0);
    for (int i = 0; i < 4; i++) {
      wait(s.acce, (i & 1) ^ 1); fafter();
      mma(d, ring->a, ring->b, false);  // here stage_goes_back
      commit(s.accf);
    }
  } else if (w >= 4) {
    for (int i = 0; i < 4; i++) {
      wait(s.accf, i & 1); fafter();
      uint32_t r[8]; tld8(r, d + ((w - 4) << 21));
      if (!wrong) wait_tld8(r);
      fbefore(); arrive(s.acce);
      if (wrong) wait_tld8(r);
      out[(i * 128 + t - 128)] = r[0] + r[7];
    }
  }
  __syncwarp();
  close(s, 32);
}
__device__ inline void alloc2(uint32_t *p) { asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(smem(p)) : "memory"); }
__device__ inline void free2(uint32_t d) { asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 32;" ::"r"(d) : "memory"); }
// One CTA of the pair frees while the other may not have its allocation yet.
// expect freed_at_once H7219
W __cluster_dims__(2) freed_at_once(const int *in, int *out) {
  __shared__ uint32_t tm;
  cg::this_cluster().sync();
  if (threadIdx.x < 32) alloc2(&tm);
  if (wrong) __syncthreads(); else cg::this_cluster().sync();
  if (threadIdx.x < 32) free2(tm);  // here freed_at_once
  out[blockIdx.x * 64 + threadIdx.x] = 1;
  cg::this_cluster().sync();
}
// The commit releases the slot in both CTAs, and nobody waits for the last release: the peer may be gone.
// expect commit_to_the_gone H7802
W __cluster_dims__(2) commit_to_the_gone(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ uint64_t full, done, slot; __shared__ uint32_t tm;
  int t = threadIdx.x, w = t / 32;
  if (w == 0) alloc(&tm, 32);
  if (t == 0) { bar_init(&full, 1); bar_init(&done, 1); bar_init(&slot, 2); fence_init(); }
  fbefore(); cg::this_cluster().sync(); fafter();
  uint32_t d = tm;
  if (t == 0) {
    expect(&full, sizeof(Tile)); load(ring, in, sizeof(Tile), &full); wait(&full, 0);
    mma(d, ring->a, ring->b, false);
    commit(&done);
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(smem(&slot)), "h"((short)3) : "memory");  // here commit_to_the_gone
  }
  __syncwarp();
  wait(&done, 0); fafter();
  uint32_t q[8]; tld8(q, d + (w << 21)); wait_tld8(q); out[blockIdx.x * 128 + t] = q[0];
  fbefore(); __syncthreads();
  if (w == 0) dealloc(d, 32);
  if (!wrong) { wait(&slot, 0); cg::this_cluster().sync(); }
}
// A is stored by a warp; the lane that multiplies has fenced before the others stored.
// expect fence_by_elected H7101
W fence_by_elected(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int t = threadIdx.x, w = t / 32;
  for (int i = t; i < (int)sizeof(Tile) / 4; i += 256) ((int *)ring)[i] = 0;
  if (wrong ? t == 32 : true) fence_async();
  __syncthreads();
  if (t == 32) { mma(d, ring->a, ring->b, false); commit(s.accf); }  // here fence_by_elected
  __syncwarp();
  wait(s.accf, 0); fafter();
  if (w >= 4) { uint32_t r[8]; tld8(r, d + ((w - 4) << 21)); wait_tld8(r); out[t - 128] = r[0]; }
  close(s, 32);
}
// Zeros for the next tile over what the other warps still read.
// expect cleared_too_early H7401
W cleared_too_early(const int *in, int *out) {
  __shared__ alignas(16) int q[64];
  int t = threadIdx.x, sum = 0;
  q[t] = in[t];
  __syncthreads();
  for (int i = 0; i < 64; i += 7) sum += q[i];
  if (!wrong) __syncthreads();
  if (t == 0) st_bulk_zero(q, 256);  // here cleared_too_early
  __syncthreads();
  out[t] = sum + q[63 - t];
}
// A thread of the epilogue waits for the accumulator, the other warps load behind a barrier of the warp.
// expect waited_by_one_warp H7203
W waited_by_one_warp(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int t = threadIdx.x, w = t / 32;
  if (t == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); wait(s.full, 0); mma(d, ring->a, ring->b, false); commit(s.accf); }
  __syncwarp();
  if (w >= 4) {
    if (w == 4) { wait(s.accf, 0); fafter(); fbefore(); }
    if (wrong) __syncwarp(); else asm volatile("bar.sync 1, 128;" ::: "memory");
    fafter();
    uint32_t r[8]; tld8(r, d + ((w - 4) << 21)); wait_tld8(r); out[t - 128] = r[0];  // here waited_by_one_warp
  }
  if (t == 0) wait(s.accf, 0);
  close(s, 32);
}
// P is stored to tensor memory over S, which the product of the other half still reads as A.
// expect p_over_running_a H7201
W p_over_running_a(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 64, 128);
  int t = threadIdx.x, w = t / 32;
  if (t == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); }
  wait(s.full, 0);
  for (int i = 0; i < 2; i++) {
    if (w >= 4) {
      if (i && !wrong) { wait(s.accf, 0); fafter(); }
      asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1,%1,%1,%1,%1,%1,%1,%1};\ntcgen05.wait::st.sync.aligned;" ::"r"(d + 32 + ((w - 4) << 21)), "r"(i) : "memory");  // here p_over_running_a
    }
    fbefore(); __syncthreads(); fafter();
    if (t == 32) {
      asm volatile("{.reg .pred p; setp.ne.b32 p, %3, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %4, p;}" ::"r"(d), "r"(d + 32), "l"(desc(ring->b)), "r"(i), "r"(kIdesc) : "memory");
      commit(s.accf);
    }
    __syncwarp();
  }
  wait(s.accf, 1); fafter();
  if (w >= 4) { uint32_t r[8]; tld8(r, d + ((w - 4) << 21)); wait_tld8(r); out[t - 128] = r[0]; }
  close(s, 64);
}
#undef W
static int *mem(int n, int kind) {
  int *h = (int *)malloc(4 * n), *p;
  for (int i = 0; i < n; i++) h[i] = kind == 1 ? i % 7 : 0;
  cudaMalloc(&p, 4 * n);
  if (kind >= 0) cudaMemcpy(p, h, 4 * n, cudaMemcpyHostToDevice);
  free(h);
  return p;
}
template <bool wrong> int go(const char *name) {
  int *in = mem(8192, 1), *out = mem(8192, 0);
#define K(n, g, b, m) if (!strcmp(name, #n)) { n<wrong><<<g, b, m>>>(in, out); return 1; }
  K(unused_lanes, 1, 256, 8192)
  K(stage_goes_back, 1, 256, 8192)
  K(freed_at_once, 2, 64, 0)
  K(commit_to_the_gone, 2, 128, 8192)
  K(fence_by_elected, 1, 256, 8192)
  K(cleared_too_early, 1, 64, 0)
  K(waited_by_one_warp, 1, 256, 8192)
  K(p_over_running_a, 1, 256, 8192)
  return 0;
}
int main(int n, char **a) {
  if (n < 3) return 2;
  if (!(a[2][0] == 'w' ? go<true>(a[1]) : go<false>(a[1]))) { puts("no such pair"); return 2; }
  cudaError_t e = cudaDeviceSynchronize();
  if (e) puts(cudaGetErrorString(e));
  return e ? 9 : 0;
}
