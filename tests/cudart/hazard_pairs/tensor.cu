// Kernels with a mistake (`wrong`) and without it, for sm_100a: tensor memory and its products. As pipelines.cu.
#include "tensor.cuh"

// expect release_by_arrive H7002
W release_by_arrive(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int w = threadIdx.x / 32;
  if (w == 0 && lane0()) {
    for (int i = 0; i < 7; i++) { wait(s.empty + i % 3, (i / 3 & 1) ^ 1); expect(s.full + i % 3, sizeof(Tile));
      load(ring + i % 3, in, sizeof(Tile), s.full + i % 3); }  // here release_by_arrive
    for (int i = 7; i < 10; i++) wait(s.empty + i % 3, (i / 3 & 1) ^ 1);
  } else if (w == 1 && lane0()) {
    for (int i = 0; i < 7; i++) {
      wait(s.full + i % 3, i / 3 & 1); fafter();
      mma(d, ring[i % 3].a, ring[i % 3].b, i > 0);
      if (wrong) arrive(s.empty + i % 3); else commit(s.empty + i % 3);
    }
    commit(s.accf);
  } else if (w >= 4) {
    wait(s.accf, 0); fafter();
    uint32_t r[8]; tld8(r, d + ((w - 4) << 21)); wait_tld8(r);
    for (int i = 0; i < 8; i++) out[(threadIdx.x - 128) * 8 + i] = r[i];
  }
  __syncwarp();
  close(s, 32);
}
// Two accumulators, six tiles.
// expect acc_released_early H7203
// expect always_parity H7201
template <int wrong> __global__ void persistent(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 64, 128);
  int w = threadIdx.x / 32;
  if (w == 0 && lane0()) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); }
  else if (w == 1 && lane0()) {
    wait(s.full, 0); fafter();
    for (int i = 0; i < 6; i++) {
      wait(s.acce + i % 2, (i / 2 & 1) ^ 1); fafter();
      mma(d + 32 * (i % 2), ring->a, ring->b, false);  // here acc_released_early
      commit(s.accf + i % 2);
    }
  } else if (w >= 4) {
    for (int i = 0; i < 6; i++) {
      wait(s.accf + i % 2, wrong == 2 ? 0 : i / 2 & 1); fafter();
      uint32_t r[8]; tld8(r, d + 32 * (i % 2) + ((w - 4) << 21));  // here always_parity
      if (wrong == 1) { fbefore(); arrive(s.acce + i % 2); }
      wait_tld8(r);
      if (wrong != 1) { fbefore(); arrive(s.acce + i % 2); }
      for (int j = 0; j < 8; j++) out[(i * 128 + threadIdx.x - 128) * 8 + j] = r[j];
    }
  }
  __syncwarp();
  if (w == 0) for (int i = 0; i < 2; i++) wait(s.accf + i, 0);
  close(s, 64);
}
// expect alloc_too_few F3213
W alloc_too_few(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, wrong ? 32 : 64, 128);
  int w = threadIdx.x / 32;
  if (threadIdx.x == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); }
  if (w == 1 && lane0()) {
    wait(s.full, 0); fafter();
    mma(d, ring->a, ring->b, false);
    mma(d + 32, ring->a, ring->b, false);  // here alloc_too_few
    commit(s.accf);
  }
  __syncwarp();
  wait(s.accf, 0); fafter();
  if (w >= 4) { uint32_t r[8]; tld8(r, d + 32 + ((w - 4) << 21)); wait_tld8(r); out[threadIdx.x - 128] = r[0]; }
  close(s, wrong ? 32 : 64);
}
// expect two_issuers H7201
W two_issuers(const int *in, int *out) {  // two threads issue, the epilogue waits for one of them
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 64, 128);
  int w = threadIdx.x / 32;
  if (threadIdx.x == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); }
  if ((w == 1 || w == 3) && lane0()) {
    wait(s.full, 0); fafter();
    mma(d + 32 * (w / 2), ring->a, ring->b, false);
    commit(s.accf + w / 2);
  }
  __syncwarp();
  if (w >= 4) {
    wait(s.accf, 0); if (!wrong) wait(s.accf + 1, 0); fafter();
    uint32_t r[8], q[8]; tld8(r, d + ((w - 4) << 21)); tld8(q, d + 32 + ((w - 4) << 21)); wait_tld8(r); wait_tld8(q);  // here two_issuers
    out[threadIdx.x - 128] = r[0] + q[0];
  }
  if (wrong) wait(s.accf + 1, 0);
  close(s, 64);
}
// expect lane_quarter F3209
W lane_quarter(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int w = threadIdx.x / 32;
  if (threadIdx.x == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); wait(s.full, 0); mma(d, ring->a, ring->b, false); commit(s.accf); }
  __syncwarp();
  wait(s.accf, 0); fafter();
  if (w < 4) { uint32_t r[8]; tld8(r, d + ((wrong ? w / 2 : w) << 21)); wait_tld8(r); out[threadIdx.x] = r[0]; }  // here lane_quarter
  close(s, 32);
}
// expect more_columns H7503
W more_columns(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int w = threadIdx.x / 32;
  if (threadIdx.x == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); wait(s.full, 0); mma(d, ring->a, ring->b, false); commit(s.accf); }
  __syncwarp();
  wait(s.accf, 0); fafter();
  if (w < 4) for (int c = 0; c < (wrong ? 24 : 16); c += 8) { uint32_t r[8]; tld8(r, d + c + (w << 21)); wait_tld8(r); out[threadIdx.x * 32 + c] = r[0]; }  // here more_columns
  close(s, 32);
}
// expect used_early H7218
W used_early(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int w = threadIdx.x / 32;
  if (threadIdx.x == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); wait(s.full, 0); mma(d, ring->a, ring->b, false); commit(s.accf); }
  __syncwarp();
  wait(s.accf, 0); fafter();
  if (w < 4) { uint32_t r[8]; tld8(r, d + (w << 21)); if (!wrong) wait_tld8(r); int v = r[0] + r[1]; if (wrong) twait(); out[threadIdx.x] = v; }  // here used_early
  close(s, 32);
}
// expect pair_free_early H7206
W __cluster_dims__(2) pair_free_early(const int *in, int *out) {
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ uint64_t full, done; __shared__ uint32_t tm;
  int t = threadIdx.x, w = t / 32, r = cg::this_cluster().block_rank();
  if (w == 0) asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(smem(&tm)) : "memory");
  if (t == 0) { bar_init(&full, 1); bar_init(&done, 1); fence_init(); }
  fbefore(); cg::this_cluster().sync(); fafter();
  uint32_t d = tm;
  if (t == 0) { expect(&full, sizeof(Tile)); load(ring, in, sizeof(Tile), &full); }
  wait(&full, 0);
  cg::this_cluster().sync();
  if (r == 0 && t == 0) {
    uint32_t id = 0x10080490;  // 256 x 32
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 1; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d), "l"(desc(ring->a)), "l"(desc(ring->b)), "r"(id) : "memory");
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(smem(&done)), "h"((short)3) : "memory");
  }
  __syncwarp();
  if (!wrong || r == 0) wait(&done, 0);
  fafter();
  if (!wrong || r == 0) { uint32_t q[8]; tld8(q, d + (w << 21)); wait_tld8(q); out[r * 128 + t] = q[0]; }
  fbefore(); __syncthreads();
  if (w == 0) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 32;" ::"r"(d) : "memory");  // here pair_free_early
  if (wrong && r == 1) wait(&done, 0);
  cg::this_cluster().sync();
}
// expect clc_reuse H7006
W clc_reuse(const int *in, int *out) {
  __shared__ alignas(16) uint4 answer;
  __shared__ uint64_t b;
  int t = threadIdx.x, sum = 0;
  if (t == 0) { bar_init(&b, 1); fence_init(); }
  __syncthreads();
  int x = blockIdx.x;
  for (int phase = 0;; phase ^= 1) {
    sum += in[x * 64 + t];
    out[x * 64 + t] = sum;
    if (!wrong) __syncthreads();
    if (t == 0) {
      if (!wrong) fence_async();
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(smem(&b)) : "memory");
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(smem(&answer)), "r"(smem(&b)) : "memory");  // here clc_reuse
    }
    wait(&b, phase);
    int ok, cx;
    asm volatile("{.reg .pred p; .reg .b128 q; ld.shared.b128 q, [%2]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q; selp.b32 %0, 1, 0, p; mov.b32 %1, 0; @p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, q;}" : "=r"(ok), "=r"(cx) : "r"(smem(&answer)) : "memory");
    if (!ok) break;
    x = cx;
  }
}
// expect one_barrier_of_two H7002
W one_barrier_of_two(const int *in, int *out) {  // A and B on two barriers, the product waits for A's
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int w = threadIdx.x / 32;
  if (threadIdx.x == 0) { expect(s.full, 4096); load(ring->a, in, 4096, s.full); expect(s.full + 1, 512); load(ring->b, in + 1024, 512, s.full + 1); }
  if (w == 1 && lane0()) {
    wait(s.full, 0); if (!wrong) wait(s.full + 1, 0); fafter();
    mma(d, ring->a, ring->b, false);  // here one_barrier_of_two
    commit(s.accf);
  }
  __syncwarp();
  wait(s.accf, 0); fafter();
  if (wrong) wait(s.full + 1, 0);
  if (w >= 4) { uint32_t r[8]; tld8(r, d + ((w - 4) << 21)); wait_tld8(r); out[threadIdx.x - 128] = r[0]; }
  close(s, 32);
}
// expect st_over_ld H7203
W st_over_ld(const int *in, int *out) {  // accumulator is corrected in place by another warp
  extern __shared__ __align__(1024) Tile ring[];
  __shared__ Shared s;
  uint32_t d = open(s, 32, 128);
  int w = threadIdx.x / 32;
  if (threadIdx.x == 0) { expect(s.full, sizeof(Tile)); load(ring, in, sizeof(Tile), s.full); wait(s.full, 0); mma(d, ring->a, ring->b, false); commit(s.accf); }
  __syncwarp();
  wait(s.accf, 0); fafter();
  uint32_t r[8];
  if (w < 4) { tld8(r, d + (w << 21)); if (!wrong) wait_tld8(r); fbefore(); }
  asm volatile("bar.sync 1, 256;" ::: "memory");
  if (w >= 4) {
    fafter();
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};\ntcgen05.wait::st.sync.aligned;" ::"r"(d + ((w - 4) << 21)), "r"(w) : "memory");  // here st_over_ld
  }
  if (w < 4) { if (wrong) wait_tld8(r); out[threadIdx.x] = r[0]; }
  close(s, 32);
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
  K(release_by_arrive, 1, 256, 16384)
  K(alloc_too_few, 1, 256, 8192)
  K(two_issuers, 1, 256, 8192)
  K(lane_quarter, 1, 256, 8192)
  K(more_columns, 1, 256, 8192)
  K(used_early, 1, 256, 8192)
  K(pair_free_early, 2, 128, 8192)
  K(clc_reuse, 6, 64, 0)
  K(one_barrier_of_two, 1, 256, 8192)
  K(st_over_ld, 1, 256, 8192)
  if (!strcmp(name, "acc_released_early")) { persistent<wrong ? 1 : 0><<<1, 256, 8192>>>(in, out); return 1; }
  if (!strcmp(name, "always_parity")) { persistent<wrong ? 2 : 0><<<1, 256, 8192>>>(in, out); return 1; }
  return 0;
}
int main(int n, char **a) {
  if (n < 3) return 2;
  if (!(a[2][0] == 'w' ? go<true>(a[1]) : go<false>(a[1]))) { puts("no such pair"); return 2; }
  cudaError_t e = cudaDeviceSynchronize();
  if (e) puts(cudaGetErrorString(e));
  return e ? 9 : 0;
}
