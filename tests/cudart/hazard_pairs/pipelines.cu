// A third set of kernels with a mistake (`wrong`) and without it, for sm_90a: rings, clusters, flags and lanes. `expect NAME CODE` comes before each;
// the finding is at the line marked `here`. `none`: both are right.
#include "ptx.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;
#define W template <bool wrong> __global__ void
__device__ inline void arrive_remote(uint64_t *b, int rank) {
  asm volatile("{.reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a];}" ::"r"(smem(b)), "r"(rank) : "memory");
}
__device__ inline void wait_cluster(uint64_t *b, int parity) {
  asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(smem(b)), "r"(parity) : "memory");
}
__device__ inline int elect() { int r; asm volatile("{.reg .pred p; elect.sync _|p, -1; selp.b32 %0,1,0,p;}" : "=r"(r)); return r; }

__device__ inline uint32_t mapa(const void *p, int r) { uint32_t a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(smem(p)), "r"(r)); return a; }
// expect lookahead H7006
W lookahead(const int *in, int *out) {
  __shared__ alignas(128) int s[4][64];
  __shared__ uint64_t full[4], empty[4];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 4; i++) { bar_init(full + i, 1); bar_init(empty + i, 64); } fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) for (int i = 0; i < 9; i++) { wait(empty + i % 4, (i / 4 & 1) ^ 1); expect(full + i % 4, 256); load(s[i % 4], in + 64 * i, 256, full + i % 4); }
  } else {
    int sum = 0;
    for (int i = 0; i < 9; i++) {
      wait(full + i % 4, i / 4 & 1);
      sum += s[i % 4][t];
      if (wrong && i < 3) sum += s[(i + 1) % 4][t];  // here lookahead
      arrive(empty + i % 4);
    }
    out[t] = sum;
  }
}
// expect one_tile_more H7008
W one_tile_more(const int *in, int *out) {
  __shared__ alignas(128) int s[3][64];
  __shared__ uint64_t full[3], empty[3];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 3; i++) { bar_init(full + i, 1); bar_init(empty + i, 2); } fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) for (int i = 0; i < (wrong ? 8 : 7); i++) { wait(empty + i % 3, (i / 3 & 1) ^ 1); expect(full + i % 3, 256);
      load(s[i % 3], in + 64 * i, 256, full + i % 3); }  // here one_tile_more
  } else {
    int sum = 0;
    for (int i = 0; i < 7; i++) { wait(full + i % 3, i / 3 & 1); sum += s[i % 3][t]; __syncwarp(); if (t % 32 == 0) arrive(empty + i % 3); }
    out[t] = sum;
  }
}
// expect empty_count F3601
W empty_count(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 1); bar_init(empty + i, wrong ? 1 : 2); } fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) for (int i = 0; i < 4; i++) { wait(empty + i % 2, (i / 2 & 1) ^ 1); expect(full + i % 2, 256);
      load(s[i % 2], in + 64 * i, 256, full + i % 2); }  // here empty_count
  } else {
    int sum = 0;
    for (int i = 0; i < 4; i++) { wait(full + i % 2, i / 2 & 1); sum += s[i % 2][t]; __syncwarp(); if (t % 32 == 0 && (!wrong || i < 2 || t == 0)) arrive(empty + i % 2); }
    out[t] = sum;
  }
}
// expect multicast_half H7001
W __cluster_dims__(2) multicast_half(const int *in, int *out) {  // each CTA loads one half into both
  __shared__ alignas(128) int s[128];
  __shared__ uint64_t full;
  int t = threadIdx.x, r = cg::this_cluster().block_rank();
  if (t == 0) { bar_init(&full, 1); fence_init(); }
  cg::this_cluster().sync();
  if (t == 0) {
    expect(&full, wrong ? 256 : 512);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(smem(s + 64 * r)), "l"(in + 64 * r), "r"(smem(&full)), "h"((short)3) : "memory");
  }
  wait(&full, 0);
  out[128 * r + t] = s[t];  // here multicast_half
  cg::this_cluster().sync();
}
// expect flag_then_tma H7103
W flag_then_tma(const int *in, int *out, int *mid, int *flag) {  // another CTA's stores, read by a bulk copy
  __shared__ alignas(128) int s[64];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    mid[t] = in[t] * 3;
    if (!wrong) asm volatile("fence.proxy.async.global;" ::: "memory");
    __threadfence();
    __syncthreads();
    if (t == 0) { __threadfence(); atomicExch(flag, 1); }
  } else {
    if (t == 0) {
      bar_init(&full, 1); fence_init();
      while (atomicAdd(flag, 0) == 0);
      __threadfence();
      if (!wrong) asm volatile("fence.proxy.async.global;" ::: "memory");
      expect(&full, 256);
      load(s, mid, 256, &full);  // here flag_then_tma
    }
    __syncthreads();
    wait(&full, 0);
    out[t] = s[t];
  }
}
// expect zfill_twice H7005
W zfill_twice(const int *in, int *out, int n) {  // the padding is stored by threads and by cp.async
  __shared__ int s[64];
  int t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(smem(s + t)), "l"(in + t), "r"(t < n ? 4 : 0) : "memory");
  if (wrong && t >= n) s[t] = 0;  // here zfill_twice
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = s[63 - t];
}
// expect commit_in_branch H7005
W commit_in_branch(const int *in, int *out) {
  __shared__ int s[3][64];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 2; i++) cp4(&s[i][t], in + 64 * i + t);
  for (int i = 0; i < 5; i++) {
    cp_wait<1>();
    __syncthreads();
    sum += s[i % 3][63 - t];  // here commit_in_branch
    if (i + 2 < 5) cp4(&s[(i + 2) % 3][t], in + 64 * (i + 2) + t);
    else if (!wrong) asm volatile("cp.async.commit_group;" ::: "memory");
  }
  out[t] = sum;
}
__device__ inline uint64_t desc(const void *p) { return (uint64_t)((smem(p) & 0x3ffff) >> 4) | (uint64_t)8 << 16 | (uint64_t)16 << 32; }
__device__ inline void wg_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ inline void wg_wait(float (&d)[4]) { asm volatile("wgmma.wait_group.sync.aligned %4;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "n"(N) : "memory"); }
__device__ inline void wgmma(float (&d)[4], uint64_t a, uint64_t b, int acc) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(acc) : "memory");
}
// expect release_current H7002
W release_current(const int *in, float *out) {  // wait_group 1: the stage of the product before is free, not this one
  __shared__ alignas(1024) int s[3][768];
  __shared__ uint64_t full[3], empty[3];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 3; i++) { bar_init(full + i, 1); bar_init(empty + i, 1); } fence_init(); }
  __syncthreads();
  if (t >= 128) {
    if (t == 128) for (int i = 0; i < 8; i++) { wait(empty + i % 3, (i / 3 & 1) ^ 1); expect(full + i % 3, 2304);
      load(s[i % 3], in, 2304, full + i % 3); }  // here release_current
    return;
  }
  float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < 8; i++) {
    wait(full + i % 3, i / 3 & 1);
    wg_fence();
    wgmma(d, desc(s[i % 3]), desc(s[i % 3] + 512), 1);
    wg_commit();
    wg_wait<1>(d);
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (t == 0) { if (wrong) arrive(empty + i % 3); else if (i > 0) arrive(empty + (i - 1) % 3); }
  }
  wg_wait<0>(d);
  for (int i = 0; i < 4; i++) out[t * 4 + i] = d[i];
}
// expect epilogue_over_operand H7002
W epilogue_over_operand(const int *in, float *out) {  // two warpgroups; the first to finish stages its result over A
  __shared__ alignas(1024) int s[1024];
  int t = threadIdx.x, g = t / 128;
  for (int i = t; i < 1024; i += 256) s[i] = in[i] & 0x3f803f80;
  fence_async();
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  wg_fence();
  wgmma(d, desc(s), desc(s + 512 + 128 * g), 0);
  wg_commit();
  wg_wait<0>(d);
  if (!wrong) __syncthreads();
  float *c = (float *)s + 512 * g;
  for (int i = 0; i < 4; i++) c[t % 128 * 4 + i] = d[i];  // here epilogue_over_operand
  __syncthreads();
  for (int i = t; i < 1024; i += 256) out[i] = ((float *)s)[i];
}
// expect st_async_bytes H7001
W __cluster_dims__(2) st_async_bytes(const int *in, int *out) {
  __shared__ alignas(16) int s[64];
  __shared__ uint64_t full;
  int t = threadIdx.x, r = cg::this_cluster().block_rank();
  if (t == 0) { bar_init(&full, 1); fence_init(); expect(&full, wrong ? 128 : 256); }
  cg::this_cluster().sync();
  asm volatile("{.reg .b32 a, b; mapa.shared::cluster.u32 a, %0, %2; mapa.shared::cluster.u32 b, %1, %2;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [a], %3, [b];}" ::"r"(smem(s + t)), "r"(smem(&full)), "r"(r ^ 1), "r"(in[t]) : "memory");
  wait_cluster(&full, 0);
  out[64 * r + t] = s[63 - t];  // here st_async_bytes
  cg::this_cluster().sync();
}
// expect split_barrier H7401
W __cluster_dims__(2) split_barrier(const int *in, int *out) {  // stores behind the arrival are not released by it
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x, r = c.block_rank();
  c.sync();
  int *p = c.map_shared_rank(s, r ^ 1);
  if (!wrong) p[t] = in[t];
  c.barrier_arrive();
  if (wrong) p[t] = in[t];  // there split_barrier
  c.barrier_wait();
  out[64 * r + t] = s[t];  // here split_barrier
  c.sync();
}
// expect dsmem_rounds H7401
W __cluster_dims__(2) dsmem_rounds(const int *in, int *out) {
  __shared__ int part;
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x, r = c.block_rank(), total = 0;
  for (int i = 0; i < 3; i++) {
    if (t == 0) part = in[i * 2 + r];  // here dsmem_rounds
    c.sync();
    total += *c.map_shared_rank(&part, 0) + *c.map_shared_rank(&part, 1);
    if (!wrong) c.sync();
  }
  c.sync();
  out[64 * r + t] = total;
}
// expect block_scope_flag H7402
W block_scope_flag(const int *in, int *out, int *mid, int *flag) {
  int t = threadIdx.x;
  constexpr auto scope = wrong ? cuda::thread_scope_block : cuda::thread_scope_device;
  cuda::atomic_ref<int, scope> f(*flag);
  if (blockIdx.x == 0) {
    mid[t] = in[t];
    __syncthreads();
    if (t == 0) f.store(1, cuda::memory_order_release);
  } else {
    if (t == 0) while (f.load(cuda::memory_order_acquire) == 0);
    __syncthreads();
    out[t] = mid[t];  // here block_scope_flag
  }
}
// expect fixup H7402
W fixup(const int *in, int *out, int *mid, int *flag) {  // stream-K: a partial tile, and a flag without the CTA's barrier
  int t = threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    mid[t] = in[t];
    if (!wrong) __syncthreads();
    if (t == 0) f.fetch_add(1, cuda::memory_order_release);
  } else {
    if (t == 0) while (f.load(cuda::memory_order_acquire) == 0);
    __syncthreads();
    out[t] = in[t] + mid[t];  // here fixup
  }
}
// expect semaphore H7402
W semaphore(const int *in, int *out, int *state) {  // serial split-K
  int t = threadIdx.x, k = blockIdx.x, v = 0;
  while (__syncthreads_and(v != k)) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(state) : "memory");
  out[t] = in[64 * k + t] + (k > 0 ? out[t] : 0);  // here semaphore
  if (!wrong) __syncthreads();
  if (t == 0) asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(state), "r"(k + 1) : "memory");
}
// expect queue H7402
W queue(const int *in, int *out, int *items, int *tail) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (t < 8) { int v = in[t] + 1; items[t] = v; if (!wrong) __threadfence(); }
    __syncwarp();
    if (t == 0) { if (!wrong) __threadfence(); atomicAdd(tail, 8); }
  } else if (t < 32) {
    if (t == 0) { while (atomicAdd(tail, 0) < 8); __threadfence(); }
    __syncwarp();
    if (t < 8) out[t] = items[t];  // here queue
  }
}
// expect pdl_overwrite H7701
__global__ void pdl_reader(const int *mid, int *out) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  out[threadIdx.x] = mid[threadIdx.x];
}
W pdl_overwrite(const int *in, int *mid) {  // writes what the launch before reads
  if (!wrong) asm volatile("griddepcontrol.wait;" ::: "memory");
  mid[threadIdx.x] = in[threadIdx.x] * 5;  // here pdl_overwrite
  if (wrong) asm volatile("griddepcontrol.wait;" ::: "memory");
}
// expect histogram_add H7402
W histogram_add(const int *in, int *out) {
  int t = threadIdx.x, b = in[t] & 7;
  if (wrong) out[b]++;  // here histogram_add
  else atomicAdd(out + b, 1);
}
// expect grid_pass H7402
W grid_pass(const int *in, int *out, int *mid) {
  int t = threadIdx.x, n = gridDim.x * 64, i = blockIdx.x * 64 + t;
  mid[i] = in[i];
  if (!wrong) cg::this_grid().sync();
  out[i] = mid[n - 1 - i];  // here grid_pass
}
// expect warp_scan H7410
W warp_scan(const int *in, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncwarp();
  for (int d = 1; d < 32; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    if (!wrong) __syncwarp();
    s[t] += v;  // here warp_scan
    __syncwarp();
  }
  out[t] = s[t];
}
// expect compact H7410
W compact(const int *in, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x, v = in[t];
  unsigned m = __ballot_sync(~0u, v > 2);
  s[t] = 0;
  __syncwarp();
  if (v > 2) s[__popc(m & ((1u << t) - 1))] = v;
  if (!wrong) __syncwarp();
  out[t] = s[t];  // here compact
}
// expect leader_writes H7410
W leader_writes(const int *in, int *out) {
  __shared__ int s[8];
  int t = threadIdx.x, v = in[t] & 7;
  unsigned m = __match_any_sync(~0u, v);
  if (t == __ffs(m) - 1) s[v] = __popc(m);
  if (!wrong) __syncwarp();
  out[t] = s[v];  // here leader_writes
}
// expect warp_transpose H7410
W warp_transpose(const int *in, int *out) {
  __shared__ int s[4][8][33];
  int l = threadIdx.x % 32, w = threadIdx.x / 32;
  for (int i = 0; i < 8; i++) s[w][i][l] = in[i * 32 + l];
  if (!wrong) __syncwarp();
  for (int i = 0; i < 8; i++) out[w * 256 + l * 8 + i] = s[w][i][31 - l];  // here warp_transpose
}
// expect fetch_work H7410
W fetch_work(const int *in, int *out, int *counter) {
  __shared__ int next[2];
  int l = threadIdx.x % 32, w = threadIdx.x / 32;
  for (int n = 0; n < 4; n++) {
    if (l == 0) next[w] = atomicAdd(counter, 1);  // here fetch_work
    if (!wrong) __syncwarp();
    int i = next[w];
    __syncwarp();
    out[i * 32 + l] = in[i * 32 + l];
  }
}
// expect stale_token H7401
W stale_token(const int *in, int *out) {
  __shared__ int s[64];
  __shared__ uint64_t b;
  int t = threadIdx.x, sum = 0;
  if (t == 0) bar_init(&b, 64);
  __syncthreads();
  uint64_t tok = 0;
  for (int i = 0; i < 3; i++) {
    s[t] = in[64 * i + t];
    uint64_t now;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(now) : "r"(smem(&b)) : "memory");
    if (!wrong || i == 0) tok = now;
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(smem(&b)), "l"(tok) : "memory");
    sum += s[63 - t];  // here stale_token
    __syncthreads();
  }
  out[t] = sum;
}
// expect barrier_no_wait H7001
W barrier_no_wait(const int *in, int *out) {  // libcu++
  __shared__ alignas(16) int s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  int t = threadIdx.x;
  if (t == 0) init(&b, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(s + 4 * t, in + 4 * t, cuda::aligned_size_t<16>(16), b);
  auto tok = b.arrive();
  if (!wrong) b.wait(std::move(tok));
  if (wrong) __syncthreads();
  out[t] = s[255 - t];  // here barrier_no_wait
  if (wrong) b.wait(std::move(tok));
}
// expect shared_neighbour H7501
W shared_neighbour(const int *in, int *out) {  // t + 1 at the end of an array
  __shared__ int s[68];
  int t = threadIdx.x;
  if (t < 64) s[t] = in[t];
  if (!wrong && t == 0) s[64] = 0;
  __syncthreads();
  out[t] = s[t] - s[t + 1];  // here shared_neighbour
}
// expect vector_tail F3001
W vector_tail(const int *in, int *out, int n) {
  int t = threadIdx.x;
  if (wrong ? 4 * t < n : 4 * t + 3 < n) { int4 v = ((const int4 *)in)[t]; out[t] = v.x + v.y + v.z + v.w; }  // here vector_tail
}
// expect index_before F3001
W index_before(const int *in, int *out) {
  int t = threadIdx.x;
  out[t] = in[wrong ? t - 1 : (t > 0 ? t - 1 : 0)];  // here index_before
}
// expect misaligned F3002
W misaligned(const int *in, int *out) {
  int t = threadIdx.x;
  if (wrong) out[t] = (int)((const long long *)(in + 1))[t];  // here misaligned
  else out[t] = in[2 * t + 1];
}
// expect ring_mcast_release H7006
W __cluster_dims__(2) ring_mcast_release(const int *in, int *out) {  // rank 0 loads for both; the other CTA must release its slot, too
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x, r = cg::this_cluster().block_rank();
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 1); bar_init(empty + i, wrong ? 2 : 4); } fence_init(); }
  cg::this_cluster().sync();
  if (t >= 64) {
    if (t == 64) for (int i = 0; i < 6; i++) {
      if (r == 0) wait_cluster(empty + i % 2, (i / 2 & 1) ^ 1);
      else if (i >= 2) wait(full + i % 2, (i / 2 & 1) ^ 1);
      expect(full + i % 2, 256);
      if (r == 0) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(smem(s[i % 2])), "l"(in + 64 * i), "r"(smem(full + i % 2)), "h"((short)3) : "memory");  // here ring_mcast_release
    }
  } else {
    int sum = 0;
    for (int i = 0; i < 6; i++) {
      wait(full + i % 2, i / 2 & 1);
      sum += s[i % 2][t];
      __syncwarp();
      if (t % 32 == 0 && (!wrong || r == 0)) arrive_remote(empty + i % 2, 0);
    }
    out[64 * r + t] = sum;
  }
  cg::this_cluster().sync();
}
// expect lane_lock none
W lane_lock(const int *in, int *out, int *lock) {
  int t = threadIdx.x;
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      volatile int *o = out; *o = *o + in[t];
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
// expect last_ticket H7402
W last_ticket(const int *in, int *out, int *part, unsigned *count) {  // atomicInc wraps; the last CTA sums, the fence is missing
  __shared__ bool last;
  int t = threadIdx.x;
  if (t == 0) part[blockIdx.x] = in[blockIdx.x];
  if (t == 0) { if (!wrong) __threadfence(); last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1; if (!wrong) __threadfence(); }
  __syncthreads();
  if (last && t < gridDim.x) out[t] = part[t];  // here last_ticket
}
// expect staged_rows none
W staged_rows(const int *in, int *out) {  // a warp stages rows, its elected lane stores them; fence by that lane only
  __shared__ alignas(128) int s[4][32];
  int l = threadIdx.x % 32, w = threadIdx.x / 32;
  s[w][l] = in[threadIdx.x];
  if (!wrong) fence_async();
  __syncwarp();
  if (elect()) { if (wrong) fence_async(); store(out + 32 * w, s[w], 128); store_wait(); }
}
// expect reduce_twice H7003
W reduce_twice(const int *in, int *out) {  // two staging buffers, wait_group.read 1, and the third round uses the wrong one
  __shared__ alignas(128) int s[2][64];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) {
    int b = wrong ? i / 2 : i % 2;
    s[b][t] = in[64 * i + t];  // here reduce_twice
    fence_async();
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;\ncp.async.bulk.commit_group;" ::"l"(out), "r"(smem(s[b])) : "memory");
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) store_wait();
}
// expect named_order H7401
W named_order(const int *in, int *out) {  // two warps hand over with named barriers; the consumer's barrier is an arrive
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) { s[t] = in[t]; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
  else {
    if (wrong) asm volatile("bar.arrive 1, 64;" ::: "memory"); else asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t - 32] = s[t - 32];  // here named_order
  }
}
// expect relaxed_arrive H7401
W relaxed_arrive(const int *in, int *out) {  // mbarrier.arrive.relaxed releases nothing
  __shared__ int s[64];
  __shared__ uint64_t b;
  int t = threadIdx.x;
  if (t == 0) bar_init(&b, 64);
  __syncthreads();
  s[t] = in[t];
  if (wrong) asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(smem(&b)) : "memory");
  else arrive(&b);
  wait(&b, 0);
  out[t] = s[63 - t];  // here relaxed_arrive
}
// expect done_flags H7402
W done_flags(const int *in, int *out, int *mid, int *flags) {  // every CTA sets its own flag; all are read
  int t = threadIdx.x, b = blockIdx.x;
  mid[64 * b + t] = in[64 * b + t];
  __syncthreads();
  if (t == 0) asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(flags + b) : "memory");
  if (t < (wrong ? (int)gridDim.x - 1 : (int)gridDim.x)) { int v; do asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(flags + t) : "memory"); while (v == 0); }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < gridDim.x; i++) sum += mid[64 * i + 63 - t];  // here done_flags
  out[64 * b + t] = sum;
}
// expect epilogue_reuse H7401
W epilogue_reuse(const int *in, int *out) {  // mma.sync, ldmatrix; the epilogue stages over the operands of slow warps
  __shared__ alignas(128) unsigned short a[64][24], b[8][24];
  int t = threadIdx.x, w = t / 32, l = t % 32;
  for (int i = t; i < 64 * 16; i += 128) a[i / 16][i % 16] = in[i] * 64;
  for (int i = t; i < 8 * 16; i += 128) b[i / 16][i % 16] = in[i] * 64;
  __syncthreads();
  unsigned ra[4], rb[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(smem(&a[16 * w + l % 16][l / 16 * 8])) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(smem(&b[l % 8][l / 8 % 2 * 8])) : "memory");
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  if (!wrong) __syncthreads();
  float *c = (float *)&a[0][0];
  for (int i = 0; i < 4; i++) c[t * 4 + i] = d[i];  // here epilogue_reuse
  __syncthreads();
  for (int i = t; i < 512; i += 128) ((float *)out)[i] = c[511 - i];
}
// expect dsmem_bulk H7101
W __cluster_dims__(2) dsmem_bulk(const int *in, int *out) {  // a bulk copy to the peer's shared memory
  __shared__ alignas(128) int s[64], r[64];
  __shared__ uint64_t full;
  int t = threadIdx.x, me = cg::this_cluster().block_rank();
  if (t == 0) { bar_init(&full, 1); fence_init(); expect(&full, 256); }
  s[t] = in[64 * me + t];
  if (!wrong) fence_async();
  cg::this_cluster().sync();
  if (t == 0) asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(mapa(r, me ^ 1)), "r"(smem(s)), "r"(mapa(&full, me ^ 1)) : "memory");  // here dsmem_bulk
  wait_cluster(&full, 0);
  out[64 * me + t] = r[63 - t];
  cg::this_cluster().sync();
}
// expect early_return none
W early_return(const int *in, int *out, int n) {  // exited threads do not count at a barrier
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[n - 1 - t];
}
// expect coalesced none
W coalesced(const int *in, int *out) {
  int t = threadIdx.x, v = in[t];
  if (v > 2) {
    auto g = cg::coalesced_threads();
    int base = 0;
    if (g.thread_rank() == 0) base = atomicAdd(out, (int)g.size());
    base = g.shfl(base, 0);
    out[1 + base + g.thread_rank()] = v + cg::reduce(g, v, cg::plus<int>());
  }
}
// expect pipeline_release H7005
W pipeline_release(const int *in, int *out) {  // cuda::pipeline: the stage is released before it is read
  __shared__ alignas(16) int s[2][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto p = cuda::make_pipeline(block, &state);
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 2; i++) { p.producer_acquire(); cuda::memcpy_async(s[i] + 4 * t, in + 256 * i + 4 * t, cuda::aligned_size_t<16>(16), p); p.producer_commit(); }
  for (int i = 0; i < 5; i++) {
    p.consumer_wait();
    if (wrong) p.consumer_release();
    if (!wrong) { sum += s[i % 2][255 - t]; p.consumer_release(); }
    if (i + 2 < 5) { p.producer_acquire(); cuda::memcpy_async(s[i % 2] + 4 * t, in + 256 * (i + 2) + 4 * t, cuda::aligned_size_t<16>(16), p); p.producer_commit(); }
    if (wrong) sum += s[i % 2][255 - t];  // here pipeline_release
  }
  out[t] = sum;
}
// expect volatile_flag none
W volatile_flag(const int *in, int *out, int *mid, volatile int *flag) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    mid[t] = in[t];
    __threadfence();
    __syncthreads();
    if (t == 0) { __threadfence(); *flag = 1; }
  } else {
    if (t == 0) { while (*flag == 0); __threadfence(); }
    __syncthreads();
    out[t] = mid[t];
  }
}
// expect packed none
W packed(const int *in, int *out, unsigned long long *word) {  // data and flag in one word
  int t = threadIdx.x;
  if (blockIdx.x == 0) { if (t == 0) atomicExch(word, 1ull << 32 | (unsigned)in[5]); }
  else if (t == 0) { unsigned long long v; do v = atomicAdd(word, 0ull); while (v >> 32 == 0); out[0] = (int)v; }
}
// expect cas_lock H7402
W cas_lock(const int *in, int *out, int *lock) {
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> l(*lock);
    int e = 0;
    while (!l.compare_exchange_weak(e, 1, cuda::memory_order_acquire)) { e = 0; __nanosleep(20); }
    out[0] += in[blockIdx.x];  // here cas_lock
    l.store(0, wrong ? cuda::memory_order_relaxed : cuda::memory_order_release);
  }
}
// expect nc_read H7411
W nc_read(const int *in, int *out, int *mid) {
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  mid[i] = in[i];
  cg::this_grid().sync();
  out[i] = wrong ? __ldg(mid + 255 - i) : __ldcg(mid + 255 - i);  // here nc_read
}
// expect cluster_scope H7402
W __cluster_dims__(2) cluster_scope(const int *in, int *out, int *mid, int *flag) {  // two clusters; the fences reach one
  int t = threadIdx.x, c = blockIdx.x / 2;
  if (blockIdx.x == 0) {
    mid[t] = in[t];
    __syncthreads();
    if (t == 0) {
      if (wrong) asm volatile("fence.acq_rel.cluster;" ::: "memory"); else __threadfence();
      atomicExch(flag, 1);
    }
  } else if (c == 1) {
    if (t == 0) { while (atomicAdd(flag, 0) == 0); __threadfence(); }
    __syncthreads();
    out[t + 64 * (blockIdx.x - 2)] = mid[t];  // here cluster_scope
  }
}
// expect smem_counter H7501
W smem_counter(const int *in, int *out) {
  __shared__ int n;
  int t = threadIdx.x;
  if (!wrong) { if (t == 0) n = 0; __syncthreads(); }
  atomicAdd(&n, in[t]);  // here smem_counter
  __syncthreads();
  out[t] = n;
}
// expect stencil_top H7401
W stencil_top(const int *in, int *out) {  // a barrier before the reads, none before the next round's stores
  __shared__ int s[66];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 3; i++) {
    s[t + 1] = in[64 * i + t];  // here stencil_top
    if (t < 2) s[t * 65] = 0;
    __syncthreads();
    sum += s[t] + s[t + 2];
    if (!wrong) __syncthreads();
  }
  out[t] = sum;
}
// expect store_then_load none : bulk store, wait_group 0, bulk load of the same place
W store_then_load(const int *in, int *out, int *mid) {
  __shared__ alignas(128) int s[64], r[64];
  __shared__ uint64_t b;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&b, 1); fence_init(); }
  s[t] = in[t] + 1;
  fence_async();
  __syncthreads();
  if (t == 0) { store(mid, s, 256); store_wait(); expect(&b, 256); load(r, mid, 256, &b); }
  wait(&b, 0);
  out[t] = r[t];
}
// expect four_ranks H7401
W __cluster_dims__(4) four_ranks(const int *in, int *out) {  // all-to-all; a rank reads behind its own arrival only
  __shared__ int s[4][16];
  __shared__ uint64_t got;
  int t = threadIdx.x, me = cg::this_cluster().block_rank();
  if (t == 0) { bar_init(&got, wrong ? 3 : 4); fence_init(); }
  cg::this_cluster().sync();
  for (int p = 0; p < 4; p++) {
    if (t < 16) cg::this_cluster().map_shared_rank(&s[me][t], p)[0] = in[16 * me + t + p];
    __syncwarp();
    if (t == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapa(&got, p)) : "memory");
  }
  wait_cluster(&got, 0);
  if (t < 16) { int sum = 0; for (int p = 0; p < 4; p++) sum += s[p][t]; out[16 * me + t] = sum; }  // here four_ranks
  cg::this_cluster().sync();
}
// expect ordered_roles H7401
W ordered_roles(const int *in, int *out) {  // named barriers full 1, 2 and empty 3, 4
  __shared__ int s[2][32];
  int t = threadIdx.x, sum = 0;
  if (t < 32) {
    for (int i = 0; i < 6; i++) {
      if (i >= 2) { if (i % 2) asm volatile("bar.sync 4, 64;" ::: "memory"); else asm volatile("bar.sync 3, 64;" ::: "memory"); }
      s[i % 2][t] = in[32 * i + t];  // here ordered_roles
      if (i % 2) asm volatile("bar.arrive 2, 64;" ::: "memory"); else asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    for (int i = 0; i < 6; i++) {
      if (i % 2) asm volatile("bar.sync 2, 64;" ::: "memory"); else asm volatile("bar.sync 1, 64;" ::: "memory");
      if (wrong && i < 4) { if (i % 2) asm volatile("bar.arrive 4, 64;" ::: "memory"); else asm volatile("bar.arrive 3, 64;" ::: "memory"); }
      sum += s[i % 2][63 - t];
      if (!wrong && i < 4) { if (i % 2) asm volatile("bar.arrive 4, 64;" ::: "memory"); else asm volatile("bar.arrive 3, 64;" ::: "memory"); }
    }
    out[t] = sum;
  }
}
// expect box_bytes F3601 : a box that reaches beyond the tensor brings all of its bytes
W box_bytes(const __grid_constant__ CUtensorMap m, int *out) {
  __shared__ alignas(128) int s[16][32];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&full, 1); fence_init(); }
  __syncthreads();
  if (t == 0) {
    expect(&full, wrong ? 12 * 128 : 16 * 128);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(s)), "l"(&m), "r"(0), "r"(16), "r"(smem(&full)) : "memory");
  }
  wait(&full, 0);  // here box_bytes
  out[t] = s[t / 4][t % 4];
}
// expect map_flag H7105
W map_flag(const CUtensorMap *src, CUtensorMap *map, int *flag, int *out) {  // one CTA makes the map, another uses it
  __shared__ alignas(128) CUtensorMap sm;
  __shared__ alignas(128) int s[8][32];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    for (int i = t; i < 32; i += 32) ((int *)&sm)[i] = ((const int *)src)[i];
    __syncwarp();
    if (t == 0) asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, 20;" ::"r"(smem(&sm)) : "memory");
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(map), "r"(smem(&sm)) : "memory");
    __syncwarp();
    if (t == 0) asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    if (t == 0) {
      bar_init(&full, 1); fence_init();
      int v; do asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); while (v == 0);
      if (!wrong) asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
      expect(&full, 1024);
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(s)), "l"(map), "r"(0), "r"(16), "r"(smem(&full)) : "memory");  // here map_flag
    }
    __syncwarp();
    wait(&full, 0);
    out[t] = s[3][t];
  }
}
// expect block_atomics H7403
W block_atomics(const int *in, int *out) { if (wrong) atomicAdd_block(out, in[threadIdx.x]); else atomicAdd(out, in[threadIdx.x]); }  // here block_atomics
// expect block_fence H7402
W block_fence(const int *in, int *out, int *mid, int *flag) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    mid[t] = in[t];
    __syncthreads();
    if (t == 0) { if (wrong) __threadfence_block(); else __threadfence(); atomicExch(flag, 1); }
  } else {
    if (t == 0) { while (atomicAdd(flag, 0) == 0); __threadfence(); }
    __syncthreads();
    out[t] = mid[t];  // here block_fence
  }
}
// expect half_word H7402
W half_word(const int *in, int *out) {  // one half of a 64-bit counter is stored
  int t = threadIdx.x + blockIdx.x * 32;
  if (wrong && t == 40) out[1] = 0;  // here half_word
  atomicAdd((unsigned long long *)out, (unsigned long long)in[t]);
}
// expect group_copy H7005
W group_copy(const int *in, int *out) {
  __shared__ alignas(16) int s[64];
  auto g = cg::this_thread_block();
  cg::memcpy_async(g, s, in, 256);
  if (!wrong) cg::wait(g); else g.sync();
  out[threadIdx.x] = s[63 - threadIdx.x];  // here group_copy
  if (wrong) cg::wait(g);
}
// expect before_sync H7801
W __cluster_dims__(2) before_sync(const int *in, int *out) {
  __shared__ int s[32];
  cg::cluster_group c = cg::this_cluster();
  if (!wrong) c.sync();
  c.map_shared_rank(s, c.block_rank() ^ 1)[threadIdx.x] = in[threadIdx.x];  // here before_sync
  c.sync();
  out[threadIdx.x + 32 * c.block_rank()] = s[threadIdx.x];
}
// expect aliased H7401
W aliased(const int *in, int *out) {  // two names of dynamic shared memory
  extern __shared__ int a[];
  int t = threadIdx.x;
  int *b = wrong ? a + 32 : a + 64;
  a[t] = in[t];
  b[t] = in[t] * 2;  // here aliased
  __syncthreads();
  out[t] = a[t] + b[63 - t];
}
// expect wmma_tile H7401
W wmma_tile(const half *in, float *out) {
  using namespace nvcuda;
  __shared__ alignas(32) half s[2][256];
  __shared__ alignas(32) float c[2][256];
  int t = threadIdx.x, w = t / 32;
  for (int i = t; i < 512; i += 64) s[i / 256][i % 256] = in[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
  wmma::fill_fragment(d, 0.f);
  wmma::load_matrix_sync(a, s[w], 16);
  wmma::load_matrix_sync(b, s[0], 16);
  wmma::mma_sync(d, a, b, d);
  wmma::store_matrix_sync(c[w], d, 16, wmma::mem_row_major);
  if (!wrong) __syncthreads();
  for (int i = t; i < 512; i += 64) out[i] = c[i / 256][i % 256];  // here wmma_tile
}
// expect wmma_next H7401
W wmma_next(const half *in, float *out) {  // the next tile is stored while a warp still loads
  using namespace nvcuda;
  __shared__ alignas(32) half s[256];
  int t = threadIdx.x, w = t / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
  wmma::fill_fragment(d, 0.f);
  for (int k = 0; k < 3; k++) {
    for (int i = t; i < 256; i += 64) s[i] = in[i + k * 256];  // here wmma_next
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::load_matrix_sync(a, s, 16);
    wmma::load_matrix_sync(b, s, 16);
    wmma::mma_sync(d, a, b, d);
    if (!wrong) __syncthreads();
  }
  wmma::store_matrix_sync(out + 256 * w, d, 16, wmma::mem_row_major);
}
// expect wmma_global H7402
W wmma_global(const half *in, float *out) {  // CTAs store one tile
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
  wmma::fill_fragment(d, 0.f);
  wmma::load_matrix_sync(a, in + 256 * blockIdx.x, 16);
  wmma::load_matrix_sync(b, in, 16);
  wmma::mma_sync(d, a, b, d);
  wmma::store_matrix_sync(out + (wrong ? 0 : 256 * blockIdx.x), d, 16, wmma::mem_row_major);  // here wmma_global
}
// expect pool F3601
template <bool wrong> __global__ void __launch_bounds__(384, 1) pool(const int *in, int *out) {
  if (threadIdx.x < 128) { if (!wrong) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }
  else asm volatile("setmaxnreg.inc.sync.aligned.u32 208;");  // here pool
  out[threadIdx.x] = in[threadIdx.x];
}
// expect red_async_init H7006
W __cluster_dims__(2) red_async_init(const int *in, int *out) {  // the sum is cleared behind the cluster's barrier
  __shared__ int sum;
  __shared__ uint64_t b;
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x, r = c.block_rank();
  if (t == 0) { bar_init(&b, 1); fence_init(); expect(&b, 128); if (!wrong) sum = 0; }
  c.sync();
  if (wrong && t == 0) sum = 0;  // there
  asm volatile("{.reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %2; mapa.shared::cluster.u32 m, %1, %2;\n"
               "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [a], %3, [m];}" ::"r"(smem(&sum)), "r"(smem(&b)), "r"(r ^ 1), "r"(in[t]) : "memory");  // here red_async_init
  asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(smem(&b)) : "memory");
  out[32 * r + t] = sum;
  c.sync();
}
// expect two_rings none
W two_rings(const int *in, int *out) {
  __shared__ alignas(128) int s[2][2][32];
  __shared__ uint64_t full[2][2];
  int t = threadIdx.x, w = t / 32, l = t % 32, sum = 0;
  if (l == 0) { bar_init(&full[w][0], 1); bar_init(&full[w][1], 1); fence_init(); }
  __syncwarp();
  for (int i = 0; i < 2; i++) if (l == 0) { expect(&full[w][i], 128); load(s[w][i], in + 64 * i + 32 * w, 128, &full[w][i]); }
  for (int i = 0; i < 5; i++) {
    wait(&full[w][i % 2], i / 2 & 1);
    sum += s[w][i % 2][31 - l];
    __syncwarp();
    if (i + 2 < 5 && l == 0) { expect(&full[w][i % 2], 128); load(s[w][i % 2], in + 64 * (i + 2) + 32 * w, 128, &full[w][i % 2]); }
  }
  out[t] = sum;
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
static CUtensorMap make_map(void *p, int rows, int box) {
  void *f = nullptr; cudaDriverEntryPointQueryResult q;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &q);
  CUtensorMap m;
  cuuint64_t dims[2] = {32, (cuuint64_t)rows}, strides[1] = {128};
  cuuint32_t boxes[2] = {32, (cuuint32_t)box}, es[2] = {1, 1};
  ((CUresult(*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))f)(&m, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, dims, strides, boxes, es, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return m;
}
template <bool wrong> int go(const char *name) {
  int *in = mem(4096, 1), *out = mem(4096, 0), *x = mem(1024, 0), *y = mem(64, 0);
#define K(n, g, b, ...) if (!strcmp(name, #n)) { n<wrong><<<g, b>>>(__VA_ARGS__); return 1; }
  K(lookahead, 1, 96, in, out)
  K(one_tile_more, 1, 96, in, out)
  K(empty_count, 1, 96, in, out)
  K(multicast_half, 2, 128, in, out)
  K(flag_then_tma, 2, 64, in, out, x, y)
  K(zfill_twice, 1, 64, in, out, 50)
  K(commit_in_branch, 1, 64, in, out)
  K(release_current, 1, 160, in, (float *)out)
  K(epilogue_over_operand, 1, 256, in, (float *)out)
  K(st_async_bytes, 2, 64, in, out)
  K(split_barrier, 2, 64, in, out)
  K(dsmem_rounds, 2, 64, in, out)
  K(block_scope_flag, 2, 64, in, out, x, y)
  K(fixup, 2, 64, in, out, x, y)
  K(semaphore, 3, 64, in, out, y)
  K(queue, 2, 64, in, out, x, y)
  K(histogram_add, 1, 64, in, out)
  K(warp_scan, 1, 32, in, out)
  K(compact, 1, 32, in, out)
  K(leader_writes, 1, 32, in, out)
  K(warp_transpose, 1, 128, in, out)
  K(fetch_work, 2, 64, in, out, y)
  K(stale_token, 1, 64, in, out)
  K(barrier_no_wait, 1, 64, in, out)
  K(shared_neighbour, 1, 64, in, out)
  K(misaligned, 1, 32, in, out)
  K(ring_mcast_release, 2, 96, in, out)
  K(lane_lock, 2, 32, in, out, y)
  K(last_ticket, 4, 32, in, out, x, (unsigned *)y)
  K(staged_rows, 1, 128, in, out)
  K(reduce_twice, 1, 64, in, out)
  K(named_order, 1, 64, in, out)
  K(relaxed_arrive, 1, 64, in, out)
  K(done_flags, 4, 64, in, out, x, y)
#define M(n, g, b, m, ...) if (!strcmp(name, #n)) { n<wrong><<<g, b, m>>>(__VA_ARGS__); return 1; }
  M(block_atomics, 2, 32, 0, in, out) M(block_fence, 2, 64, 0, in, out, x, y) M(half_word, 2, 32, 0, in, out) M(group_copy, 1, 64, 0, in, out) M(before_sync, 2, 32, 0, in, out)
  M(aliased, 1, 64, 1024, in, out) M(wmma_tile, 1, 64, 0, (half *)in, (float *)out) M(wmma_next, 1, 64, 0, (half *)in, (float *)out)
  M(wmma_global, 2, 32, 0, (half *)in, (float *)out) M(pool, 1, 384, 0, in, out) M(red_async_init, 2, 32, 0, in, out) M(two_rings, 1, 64, 0, in, out)
  if (!strcmp(name, "vector_tail")) { int *v = mem(250, 1); vector_tail<wrong><<<1, 64>>>(v, out, 250); return 1; }
  if (!strcmp(name, "index_before")) { int *v = mem(64, 1); index_before<wrong><<<1, 64>>>(v, out); return 1; }
  if (!strcmp(name, "grid_pass")) { int *m = mem(4096, 0); void *a[] = {&in, &out, &m}; cudaLaunchCooperativeKernel((void *)grid_pass<wrong>, 4, 64, a, 0, 0); return 1; }
  if (!strcmp(name, "pdl_overwrite")) {
    pdl_reader<<<1, 64>>>(x, out);
    cudaLaunchConfig_t c = {};
    c.gridDim = 1; c.blockDim = 64;
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = 1;
    c.attrs = a; c.numAttrs = 1;
    cudaLaunchKernelEx(&c, pdl_overwrite<wrong>, (const int *)in, x);
    return 1;
  }
  K(epilogue_reuse, 1, 128, in, out) K(dsmem_bulk, 2, 64, in, out) K(early_return, 1, 128, in, out, 70) K(coalesced, 1, 64, in, out)
  K(pipeline_release, 1, 64, in, out) K(volatile_flag, 2, 64, in, out, x, y) K(packed, 2, 32, in, out, (unsigned long long *)y) K(cas_lock, 4, 32, in, out, y)
  K(cluster_scope, 4, 64, in, out, x, y) K(smem_counter, 1, 64, in, out) K(stencil_top, 1, 64, in, out) K(store_then_load, 1, 64, in, out, x) K(four_ranks, 4, 32, in, out)
  K(ordered_roles, 1, 64, in, out)
  if (!strcmp(name, "nc_read")) { void *a[] = {&in, &out, &x}; cudaLaunchCooperativeKernel((void *)nc_read<wrong>, 4, 64, a, 0, 0); return 1; }
  if (!strcmp(name, "box_bytes")) { CUtensorMap m = make_map(in, 28, 16); box_bytes<wrong><<<1, 64>>>(m, out); return 1; }
  if (!strcmp(name, "map_flag")) {
    CUtensorMap m = make_map(in, 28, 8), *d; cudaMalloc(&d, 256); cudaMemcpy(d, &m, 128, cudaMemcpyHostToDevice); cudaMemcpy(d + 1, &m, 128, cudaMemcpyHostToDevice);
    map_flag<wrong><<<2, 32>>>(d, d + 1, y, out); return 1;
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
