// Kernels with a mistake (`wrong`) and without it, one of which the command line names: tests/cudart/hazard_pairs_test.cpp.
#include "ptx.cuh"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define W template <bool wrong> __global__ void

W reduce_tree(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    if (!wrong || d > 64) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
W reduce_last_warp(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncwarp();
  for (int d = 32; d > 0; d /= 2) {
    int v = t < d ? s[t + d] : 0;
    if (!wrong) __syncwarp();
    if (t < d) s[t] += v;
    if (!wrong) __syncwarp();
  }
  if (t == 0) out[0] = s[0];
}
W shuffle_mask(const int *in, int *out) {  // the mask leaves the source out
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    int n = wrong ? __shfl_down_sync(0xffff, v, 1) : __shfl_down_sync(0xffff, v, 1, 16);
    out[t] = v + n;
  }
}
W shuffle_exited(const int *in, int *out, int n) {  // lanes >= n have left
  int t = threadIdx.x;
  if (t >= n) return;
  int v = in[t];
  for (int d = 16; d > 0; d /= 2) {
    int o = __shfl_down_sync(0xffffffff, v, d);
    if (wrong || t + d < n) v += o;
  }
  if (t == 0) out[0] = v;
}
W shuffle_divergent(const int *in, int *out) {  // one half calls, with the full mask
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    v += __shfl_xor_sync(0xffffffffu, v, wrong ? 16 : 8);
    out[t] = v;
  } else {
    out[t] = v * 2;
  }
}
W shuffle_predicated(const int *in, int *out, int n) {  // lanes off by a guard, others read them
  int t = threadIdx.x, v = in[t], r = 0;
  if (wrong)
    asm volatile("{.reg .pred p; setp.lt.s32 p, %1, %3; @p shfl.sync.bfly.b32 %0, %2, 1, 31, 0xffffffff;}" : "+r"(r) : "r"(t), "r"(v), "r"(n));
  else
    asm volatile("shfl.sync.bfly.b32 %0, %2, 1, 31, 0xffffffff;" : "+r"(r) : "r"(t), "r"(v), "r"(n));
  if (t < n) out[t] = r;
}
W barrier_divergent(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  if (wrong) {
    if (s[t] % 2) __syncthreads();
  } else {
    __syncthreads();
  }
  out[t] = s[63 - t];
}
W proxy_store(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  int t = threadIdx.x;
  s[t] = in[t] * 3;
  if (!wrong) fence_async();
  __syncthreads();
  if (t == 0) { store(out, s, 256); store_wait(); }
}
W early_read(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  __shared__ uint64_t b;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&b, 1); fence_init(); }
  __syncthreads();
  if (t == 0) { expect(&b, 256); load(s, in, 256, &b); }
  if (!wrong) wait(&b, 0);
  if (wrong) __syncthreads();
  out[t] = s[t];
  wait(&b, 0);
}
W expect_bytes(const int *in, int *out) {  // two copies, the bytes of one
  __shared__ alignas(128) int s[128];
  __shared__ uint64_t b;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&b, 1); fence_init(); }
  __syncthreads();
  if (t == 0) { expect(&b, wrong ? 256 : 512); load(s, in, 256, &b); load(s + 64, in + 64, 256, &b); }
  wait(&b, 0);
  out[t] = s[t] + s[t + 64];
}
W parity_wrap(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 1); bar_init(empty + i, 64); } fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64)
      for (int i = 0; i < 8; i++) {
        wait(empty + i % 2, ((i / 2) & 1) ^ 1);
        expect(full + i % 2, 256);
        load(s[i % 2], in + 64 * i, 256, full + i % 2);
      }
  } else {
    int sum = 0;
    for (int i = 0; i < 8; i++) {
      wait(full + i % 2, wrong ? (i & 1) : (i / 2) & 1);
      sum += s[i % 2][t];
      arrive(empty + i % 2);
    }
    out[t] = sum;
  }
}
W stage_reuse(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 1); bar_init(empty + i, 2); } fence_init(); }
  __syncthreads();
  if (t == 64) {
    for (int i = 0; i < 6; i++) {
      wait(empty + i % 2, ((i / 2) & 1) ^ 1);
      expect(full + i % 2, 256);
      load(s[i % 2], in + 64 * i, 256, full + i % 2);
    }
  } else if (t < 64) {
    int sum = 0;
    for (int i = 0; i < 6; i++) {
      wait(full + i % 2, (i / 2) & 1);
      if (wrong) { if (t % 32 == 0) arrive(empty + i % 2); }
      sum += s[i % 2][t];
      if (!wrong) { __syncwarp(); if (t % 32 == 0) arrive(empty + i % 2); }
    }
    out[t] = sum;
  }
}
W cp_async_tail(const int *in, int *out) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  cp4(&s[0][t], in + t);
  for (int i = 0; i < 4; i++) {
    if (i < 3) cp4(&s[(i + 1) % 2][t], in + 64 * (i + 1) + t);
    if (!wrong && i == 3) cp_wait<0>(); else cp_wait<1>();
    __syncthreads();
    sum += s[i % 2][63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
__device__ inline uint64_t descriptor(const void *p) { return (uint64_t)(smem(p) >> 4) | (uint64_t)8 << 16 | (uint64_t)16 << 32; }
W wgmma_early(const int *in, float *out) {
  __shared__ alignas(1024) int s[2048];
  int t = threadIdx.x;
  for (int i = t; i < 2048; i += 128) s[i] = in[i] & 0x3f803f80;
  fence_async();
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(s)), "l"(descriptor(s + 1024)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  if (wrong) asm volatile("wgmma.wait_group.sync.aligned 1;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
  else asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
  for (int i = 0; i < 4; i++) out[t * 4 + i] = d[i];
}
W wgmma_operand(const int *in, float *out) {  // operand written over before the product is complete
  __shared__ alignas(1024) int s[2048];
  int t = threadIdx.x;
  float d[4] = {0, 0, 0, 0};
  for (int r = 0; r < 2; r++) {
    for (int i = t; i < 2048; i += 128) s[i] = (in[i] + r) & 0x3f803f80;
    fence_async();
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(s)), "l"(descriptor(s + 1024)));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (wrong) asm volatile("wgmma.wait_group.sync.aligned 1;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
    else asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
    __syncthreads();
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
  for (int i = 0; i < 4; i++) out[t * 4 + i] = d[i];
}
__global__ void pdl_first(const int *in, int *mid) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  mid[threadIdx.x] = in[threadIdx.x] + 1;
}
W pdl_second(const int *mid, int *out) {
  int t = threadIdx.x;
  if (wrong) { if (t == 0) asm volatile("griddepcontrol.wait;" ::: "memory"); }
  else asm volatile("griddepcontrol.wait;" ::: "memory");
  out[t] = mid[t];
}
W __cluster_dims__(2) dsmem_exit(const int *in, int *out) {
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  c.sync();
  out[blockIdx.x * 64 + t] = c.map_shared_rank(s, c.block_rank() ^ 1)[t];
  if (!wrong) c.sync();
}
W atomic_mixed(const int *in, int *out) {  // a counter is cleared beside its atomics
  int t = threadIdx.x;
  if (wrong && blockIdx.x == 0 && t == 0) out[0] = 0;
  atomicAdd(out + (wrong ? 0 : 1), in[t]);
}
W atomic_read(const int *in, int *out) {  // a plain read among atomics
  int t = threadIdx.x;
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  if (in[t] > 2) atomicAdd(&n, 1);
  if (!wrong) __syncthreads();
  out[t] = n;
}
W atomic_clear(const int *in, int *out) {  // the counter is cleared for the next round too early
  int t = threadIdx.x;
  __shared__ int n;
  if (t == 0) n = 0;
  __syncthreads();
  for (int r = 0; r < 3; r++) {
    if (in[t] > r) atomicAdd(&n, 1);
    __syncthreads();
    int v = n;
    if (!wrong) __syncthreads();
    out[64 * r + t] = v;
    if (t == 0) n = 0;
    __syncthreads();
  }
}
W flag_handover(const int *in, int *out, volatile int *flag, int *mid) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    mid[t] = in[t] * 5;
    if (!wrong) __threadfence();
    __syncthreads();
    if (t == 0) *flag = 1;
  } else {
    if (t == 0) { while (*flag == 0); if (!wrong) __threadfence(); }
    __syncthreads();
    out[t] = mid[t];
  }
}
W local_hole(const int *in, int *out, int k) {
  int a[16];
  int t = threadIdx.x;
  for (int i = 0; i < 16; i++) if (!wrong || i != 7) a[(i * k) & 15] = in[t + i];
  int sum = 0;
  for (int i = 0; i < 16; i++) sum += a[(i * k + in[i] * 0) & 15];
  out[t] = sum;
}
W shared_halo(const int *in, int *out) {
  __shared__ int s[66];
  int t = threadIdx.x;
  s[t + 1] = in[t];
  if (!wrong && t == 0) s[0] = s[65] = 0;
  __syncthreads();
  out[t] = s[t] + s[t + 1] + s[t + 2];
}
W global_unwritten(const int *in, int *out, int *sums) { atomicAdd(sums + threadIdx.x % 4, in[threadIdx.x]); out[threadIdx.x] = 0; }
W copy_n(const int *in, int *out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (wrong ? t <= n : t < n) out[t] = in[t];
}
W local_bounds(const int *in, int *out, int k) {
  int a[8], b[8];
  int t = threadIdx.x;
  for (int i = 0; i < 8; i++) { a[(i * k) & 7] = in[t + i]; b[(i + k) & 7] = i; }
  int sum = 0;
  for (int i = 0; i < (wrong ? 9 : 8); i++) sum += a[i * k];
  out[t] = sum + b[k & 7];
}
W shared_bounds(const int *in, int *out, int n) {
  extern __shared__ int d[];
  int t = threadIdx.x;
  d[wrong ? t + 1 : t] = in[t];
  __syncthreads();
  out[t] = d[wrong ? t + 1 : t];
}
W double_buffer(const int *in, int *out) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 4; i++) {
    s[wrong ? 0 : i % 2][t] = in[64 * i + t];
    __syncthreads();
    sum += s[wrong ? 0 : i % 2][63 - t];
  }
  out[t] = sum;
}
W named_barriers(const int *in, int *out) {  // full on 1, empty on 2
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 64) {
    for (int i = 0; i < 3; i++) {
      if (!wrong) asm volatile("bar.sync 2, 128;" ::: "memory");
      s[t] = in[64 * i + t];
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
    if (wrong) return;
  } else {
    int sum = 0;
    for (int i = 0; i < 3; i++) {
      if (!wrong) asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += s[127 - t];
    }
    out[t - 64] = sum;
  }
}
W early_return(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[wrong ? t + 1 : n - 1 - t];
}
W last_block(const int *in, int *out, int *partial, unsigned *count) {
  __shared__ bool last;
  int t = threadIdx.x;
  if (t == 0) {
    partial[blockIdx.x] = in[blockIdx.x] * 2;
    if (!wrong) __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    if (!wrong) __threadfence();
    if (t < gridDim.x) out[t] = partial[t];
  }
}
W look_back(const int *in, int *out, volatile int *value, volatile int *state, int *ticket) {
  __shared__ int mine, before;
  int t = threadIdx.x;
  if (t == 0) mine = atomicAdd(ticket, 1);
  __syncthreads();
  int b = mine;
  if (t == 0) {
    value[b] = in[b];
    if (!wrong) __threadfence();
    state[b] = 1;
    int sum = 0;
    for (int i = b - 1; i >= 0; i--) {
      while (state[i] == 0);
      if (!wrong) __threadfence();
      sum += value[i];
    }
    before = sum;
  }
  __syncthreads();
  out[b * 32 + t] = before + t;
}
W look_back_packed(const int *in, int *out, unsigned long long *state) {  // RIGHT: value and flag in one word
  __shared__ int before;
  int t = threadIdx.x, b = blockIdx.x;
  if (t == 0) {
    *(volatile unsigned long long *)(state + b) = (1ull << 32) | (unsigned)in[b];
    int sum = 0;
    for (int i = b - 1; i >= 0; i--) {
      unsigned long long v;
      do v = *(volatile unsigned long long *)(state + i); while (!(v >> 32));
      sum += (int)v;
    }
    before = sum;
  }
  if (!wrong) __syncthreads();
  out[b * 32 + t] = before + t;
}
W spin_lock(const int *in, int *out, int *lock) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0);
    if (!wrong) __threadfence();
    out[0] += in[blockIdx.x];
    if (!wrong) __threadfence();
    atomicExch(lock, 0);
  }
}
W spin_lock_store(const int *in, int *out, int *lock) {  // fences, but released with a plain store (wrong)
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0);
    __threadfence();
    out[0] += in[blockIdx.x];
    __threadfence();
    if (wrong) *lock = 0; else *(volatile int *)lock = 0;
  }
}
W work_counter(const int *in, int *out, int *next) {
  __shared__ int tile;
  int t = threadIdx.x;
  while (true) {
    if (t == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int i = tile;
    if (!wrong) __syncthreads();
    if (i >= 16) return;
    out[i * 64 + t] = in[t] + i;
  }
}
W grid_barrier(const int *in, int *out, int *mid, int *count) {
  int t = threadIdx.x;
  mid[blockIdx.x * 32 + t] = in[t] + blockIdx.x;
  __syncthreads();
  if (t == 0) {
    if (!wrong) __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x);
    if (!wrong) __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 32 + t] = mid[((blockIdx.x + 1) % gridDim.x) * 32 + t];
}
W store_reuse(const int *in, int *out) {  // staging buffer is written again before the store has read it
  __shared__ alignas(128) int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++) {
    s[t] = in[t] + i;
    fence_async();
    __syncthreads();
    if (t == 0) { store(out + 64 * i, s, 256); if (!wrong) store_wait_read(); }
    __syncthreads();
  }
  if (t == 0) store_wait();
}
W cg_reduce(const int *in, int *out, int n) {  // tiles of 16 lanes; wrong: a coalesced part shuffles beyond
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += wrong ? __shfl_xor_sync(0xffff, v, 2 * d) : tile.shfl_xor(v, d);
    out[t] = v;
  }
}
W shuffle_clamped(const int *in, int *out) {  // inclusive scan; wrong adds what came from no lane
  int t = threadIdx.x;
  if (t < 24) {
    int v = in[t];
    for (int d = 1; d < 32; d *= 2) {
      int o = __shfl_up_sync(0xffffff, v, d);
      if (t >= d) v += o;
    }
    int last = __shfl_sync(0xffffff, v, wrong ? 31 : 23);
    out[t] = v * last;
  }
}
W shuffle_branch(const int *in, int *out) {  // what came from a lane outside decides a branch
  int t = threadIdx.x;
  if (t < 8) {
    int n = __shfl_sync(0xff, in[t], wrong ? 9 : 3);
    if (n > 5) out[t] = 1; else out[t] = 2;
  }
}
W shuffle_address(const int *in, int *out) {
  int t = threadIdx.x;
  if (t < 8) {
    int n = __shfl_sync(0xff, in[t], wrong ? 9 : 3) & 63;
    out[n] = 1;
  }
}
#undef W

static int *mem(size_t n, int fill) {
  int *p;
  cudaMalloc(&p, n * 4);
  if (fill >= 0) {
    int *h = (int *)malloc(n * 4);
    for (size_t i = 0; i < n; i++) h[i] = fill ? (int)(i % 7) : 0;
    cudaMemcpy(p, h, n * 4, cudaMemcpyHostToDevice);
    free(h);
  }
  return p;
}
template <bool wrong> int go(const char *name) {
  int *in = mem(2048, 1), *out = mem(2048, 0), *z = mem(64, 0), *y = mem(1024, 0), *x = mem(64, 0);
#define K(n, g, b, s, ...) if (!strcmp(name, #n)) { n<wrong><<<g, b, s>>>(__VA_ARGS__); return 1; }
  K(reduce_tree, 2, 256, 0, in, out)
  K(reduce_last_warp, 1, 32, 0, in, out)
  K(shuffle_mask, 1, 32, 0, in, out)
  K(shuffle_exited, 1, 32, 0, in, out, 20)
  K(shuffle_divergent, 1, 32, 0, in, out)
  K(shuffle_predicated, 1, 32, 0, in, out, 21)
  K(barrier_divergent, 1, 64, 0, in, out)
  K(proxy_store, 1, 64, 0, in, out)
  K(early_read, 1, 64, 0, in, out)
  K(expect_bytes, 1, 64, 0, in, out)
  K(parity_wrap, 1, 96, 0, in, out)
  K(stage_reuse, 1, 96, 0, in, out)
  K(cp_async_tail, 1, 64, 0, in, out)
  K(wgmma_early, 1, 128, 0, in, (float *)out)
  K(wgmma_operand, 1, 128, 0, in, (float *)out)
  K(dsmem_exit, 2, 64, 0, in, out)
  K(atomic_mixed, 2, 32, 0, in, out)
  K(atomic_read, 1, 64, 0, in, out)
  K(atomic_clear, 1, 64, 0, in, out)
  K(flag_handover, 2, 64, 0, in, out, z, y)
  K(local_hole, 1, 32, 0, in, out, 1)
  K(shared_halo, 1, 64, 0, in, out)
  K(local_bounds, 1, 32, 0, in, out, 1)
  K(shared_bounds, 1, 64, 256, in, out, 1)
  K(double_buffer, 1, 64, 0, in, out)
  K(named_barriers, 1, 128, 0, in, out)
  K(early_return, 1, 128, 0, in, out, 100)
  K(last_block, 4, 32, 0, in, out, y, (unsigned *)z)
  K(look_back, 4, 32, 0, in, out, y, x, z)
  K(look_back_packed, 4, 32, 0, in, out, (unsigned long long *)z)
  K(spin_lock, 4, 32, 0, in, out, z)
  K(spin_lock_store, 4, 32, 0, in, out, z)
  K(work_counter, 3, 64, 0, in, out, z)
  K(grid_barrier, 4, 32, 0, in, out, y, z)
  K(store_reuse, 1, 64, 0, in, out)
  K(cg_reduce, 1, 32, 0, in, out, 1)
  K(shuffle_clamped, 1, 32, 0, in, out)
  K(shuffle_branch, 1, 32, 0, in, out)
  K(shuffle_address, 1, 32, 0, in, out)
  if (!strcmp(name, "global_unwritten")) {
    int *s = mem(4, -1);
    if (!wrong) cudaMemset(s, 0, 16);
    global_unwritten<wrong><<<1, 32>>>(in, out, s);
    return 1;
  }
  if (!strcmp(name, "use_after_free")) {
    if (wrong) cudaFree(out);
    copy_n<false><<<1, 64>>>(in, out, 64);
    return 1;
  }
  if (!strcmp(name, "bounds_by_one")) {
    int *o = mem(250, 0);
    copy_n<wrong><<<1, 256>>>(in, o, 250);
    return 1;
  }
  if (!strcmp(name, "pdl")) {
    pdl_first<<<1, 64>>>(in, y);
    cudaLaunchConfig_t c = {};
    c.gridDim = 1; c.blockDim = 64;
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = 1;
    c.attrs = a; c.numAttrs = 1;
    cudaLaunchKernelEx(&c, pdl_second<wrong>, (const int *)y, out);
    return 1;
  }
  return 0;
}
int main(int n, char **a) {
  if (n < 3) return 2;
  if (!(a[2][0] == 'w' ? go<true>(a[1]) : go<false>(a[1]))) { puts("no such pair"); return 2; }
  cudaError_t e = cudaDeviceSynchronize();
  if (e) puts(cudaGetErrorString(e));
  return e ? 9 : 0;
}
