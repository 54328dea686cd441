// Mistakes that people have reported in public repositories, made small (`wrong`), and without the mistake, for sm_90a. As pipelines.cu; `reports` in
// docs/hazards-more.md names the report of each.
#include "ptx.cuh"
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;
#define W template <bool wrong> __global__ void
#define W2 template <bool wrong> __global__ __cluster_dims__(2) void
__device__ inline uint32_t mapa(const void *p, int r) { uint32_t a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(smem(p)), "r"(r)); return a; }
__device__ inline int peek(uint32_t a) { int v; asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); return v; }
__device__ inline void cluster_sync() { asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); }
__device__ inline void cp16(void *to, const void *from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(to)), "l"(from) : "memory"); }
__device__ inline void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ inline int elect() { int r; asm volatile("{.reg .pred p; elect.sync _|p, -1; selp.b32 %0,1,0,p;}" : "=r"(r)); return r; }

// The whole warp waits for the slot, one lane loads: a lane that is late waits for a phase that has gone. No finding; --explore finds the hang.
// expect wait_by_all none
W wait_by_all(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  __shared__ uint64_t full, empty;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&full, 1); bar_init(&empty, 32); fence_init(); }
  __syncthreads();
  if (t < 32) {
    int leader = elect();
    for (int i = 0; i < 4; i++) {
      wait(&empty, (i & 1) ^ 1);
      if (!wrong) __syncwarp();
      if (leader) { expect(&full, 256); load(s, in + 64 * i, 256, &full); }
    }
  } else {
    int sum = 0;
    for (int i = 0; i < 4; i++) { wait(&full, i & 1); sum += s[t - 32] + s[t]; arrive(&empty); }
    out[t] = sum;
  }
}
// The peers read a scalar of CTA 0, which may have ended.
// expect scalar_of_rank0 H7802
W2 scalar_of_rank0(int *lock, int *out) {
  __shared__ int old;
  int rank = blockIdx.x % 2;
  if (rank == 0 && threadIdx.x == 0) old = atomicCAS(lock, 0, 1);
  cluster_sync();
  int v = peek(mapa(&old, 0));  // here scalar_of_rank0
  if (!wrong) cluster_sync();
  out[blockIdx.x * 64 + threadIdx.x] = v;
}
// A store to the peer before the peer has begun.
// expect store_at_entry H7801
W2 store_at_entry(const int *in, int *out) {
  __shared__ int box[64];
  int t = threadIdx.x, rank = blockIdx.x % 2;
  if (!wrong) cluster_sync();
  asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(mapa(box + t, rank ^ 1)), "r"(in[t] + rank) : "memory");  // here store_at_entry
  cluster_sync();
  out[blockIdx.x * 64 + t] = box[t];
}
// All lanes store, each fences, one arrives.
// expect signals_by_one H7405
W signals_by_one(const int *in, int *out) {
  __shared__ int w[128];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&full, 1); fence_init(); }
  __syncthreads();
  if (t < 32) {
    for (int i = t; i < 100; i += 32) w[i] = in[i];
    fence_async();
    if (!wrong) __syncwarp();
    if (elect()) arrive(&full);
  } else {
    wait(&full, 0);
    out[t] = w[t - 32] + w[t % 4 + 90];  // here signals_by_one
  }
}
// expect wmma_readback H7410
W wmma_readback(const half *in, float *out) {
  using namespace nvcuda;
  __shared__ alignas(128) float c[2][256];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
  wmma::fill_fragment(d, 0.f);
  wmma::load_matrix_sync(a, in, 16);
  wmma::load_matrix_sync(b, in + 256, 16);
  wmma::mma_sync(d, a, b, d);
  wmma::store_matrix_sync(c[w], d, 16, wmma::mem_row_major);
  if (!wrong) __syncwarp();
  for (int z = lane; z < 256; z += 32) out[w * 256 + z] = c[w][z] * 2;  // here wmma_readback
}
// Tiles of surfels: the barrier behind the use is missing.
// expect tiles_without_end H7401
W tiles_without_end(const int *in, int *out) {
  __shared__ int tile[7][64];
  int t = threadIdx.x, sum = 0;
  for (int base = 0; base < 192; base += 64) {
    for (int f = 0; f < 7; f++) tile[f][t] = in[base + t] + f;  // here tiles_without_end
    __syncthreads();
    for (int j = 0; j < 64; j++) sum += tile[j % 7][j];
    if (!wrong) __syncthreads();
  }
  out[t] = sum;
}
// Threads beyond the rows go through the motions with zeros, in the scratch of the others.
// expect idle_threads H7401
W idle_threads(const int *in, int *out) {
  __shared__ int total;
  int t = threadIdx.x;
  for (int row = 0; row < 3; row++) {
    if (t == 63) total = 0;  // here idle_threads
    __syncthreads();
    if (t < 5) atomicAdd(&total, in[row * 5 + t]);
    __syncthreads();
    if (t == 0) out[row] = total;
    if (!wrong) __syncthreads();
  }
}
// The wait comes before the commit of the round's copies.
// expect wait_then_commit H7005
W wait_then_commit(const int *in, int *out) {
  __shared__ alignas(16) int s[4][128];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 3; i++) { cp16(&s[i][4 * t], in + 128 * i + 4 * t); cp_commit(); }
  cp_wait<2>(); __syncthreads();
  for (int i = 0; i < 6; i++) {
    if (i + 3 < 9) cp16(&s[(i + 3) % 4][4 * t], in + 128 * (i + 3) + 4 * t);
    if (!wrong) cp_commit();
    sum += s[i % 4][t] + s[i % 4][127 - t];  // here wait_then_commit
    cp_wait<2>();
    if (wrong) cp_commit();
    __syncthreads();
  }
  cp_wait<0>();
  out[t] = sum;
}
__device__ inline uint64_t gdesc(const void *p) { return ((uint64_t)(smem(p) & 0x3ffff) >> 4) | 0x0000001000080000ull; }
__device__ inline void wg_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ inline void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ inline void wgmma8(float (&d)[4], const void *a, const void *b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(gdesc(a)), "l"(gdesc(b)) : "memory");
}
__device__ inline void wgmma8r(float (&d)[4], const uint32_t (&a)[4], const void *b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(gdesc(b)) : "memory");
}
// Two warpgroups multiply by one B; each waits for its own product, and one stores the next B.
// expect b_of_two_warpgroups H7002
W b_of_two_warpgroups(const int *in, int *out) {
  __shared__ alignas(128) unsigned char a[2][2048], b[256];
  int t = threadIdx.x, g = t / 128;
  for (int i = t; i < 1024; i += 256) ((int *)a)[i] = 0x3f803f80;
  if (t < 64) ((int *)b)[t] = 0x3f803f80;
  fence_async(); __syncthreads();
  float d[4] = {};
  for (int k = 0; k < 2; k++) {
    wg_fence(); wgmma8(d, a[g], b); wg_commit(); wg_wait<0>();
    if (k == 1) break;
    if (!wrong) __syncthreads();
    if (t < 64) ((int *)b)[t] = in[t] & 0x40004000;  // here b_of_two_warpgroups
    fence_async(); __syncthreads();
  }
  for (int i = 0; i < 4; i++) out[t * 4 + i] = __float_as_int(d[i]);
}
// A flag of the loop is stored for the next round while others test it.
// expect one_barrier_in_loop H7401
W one_barrier_in_loop(const int *in, int *out) {
  __shared__ int vals[64];
  int t = threadIdx.x, n = 0;
  for (int i = 0; i < 4; i++) {
    vals[t] = in[64 * i + t];  // here one_barrier_in_loop
    __syncthreads();
    bool unique = true;
    for (int j = 0; j < 64; j++) unique &= j == t || vals[j] != vals[t];
    n += unique;
    if (!wrong) __syncthreads();
  }
  out[t] = n;
}
// A warp counts and stores, then reads what its other lanes stored.
// expect ids_helper H7410
W ids_helper(const int *in, int *out) {
  __shared__ int store[64];
  int lane = threadIdx.x, n = 0;
  for (int i = lane; i < 64; i += 32) {
    bool used = in[i] % 2;
    unsigned m = __ballot_sync(~0u, used);
    if (used) store[n + __popc(m & ((1u << lane) - 1))] = i;
    n += __popc(m);
  }
  if (!wrong) __syncwarp();
  for (int i = lane; i < n; i += 32) out[i] = store[i];  // here ids_helper
}
// Padding of 32 lanes over the 16 words that are there: the rest are the scales.
// expect padding_over_scales H7410
W padding_over_scales(const int *in, int *out) {
  __shared__ int block[20];
  int *q = block, *scales = block + 16, lane = threadIdx.x;
  int v = lane < 16 ? in[lane] : 0;
  if (lane < 20 && (!wrong ? lane < 16 : true)) q[lane] = v;
  if (lane % 8 == 0) scales[lane / 8] = 7 + lane;  // here padding_over_scales
  __syncwarp();
  if (lane < 20) out[lane] = block[lane];
}
// A warp fills B by hand, TMA fills A: the consumer waits for A only when it needs A.
// expect simt_producer H7401
W simt_producer(const int *in, int *out) {
  __shared__ alignas(128) int a[64], b[64];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&full, 33); fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) { expect(&full, 256); load(a, in, 256, &full); }
    b[t - 64] = in[t]; b[t - 32] = in[t + 32];
    arrive(&full);
  } else {
    if (!wrong) wait(&full, 0);
    int x = b[t];  // here simt_producer
    if (wrong) wait(&full, 0);
    out[t] = x + a[t];
  }
}
// Phases are counted anew for each tile.
// expect phase_of_the_tile F3601
W phase_of_the_tile(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 1); bar_init(empty + i, 64); } fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) for (int i = 0; i < 9; i++) { wait(empty + i % 3 % 2, 0 ^ 1 ^ ((i / 3 * (i % 3 == 1 ? 1 : 2) + i % 3 / 2) & 1)); expect(full + i % 3 % 2, 256); load(s[i % 3 % 2], in + 64 * i, 256, full + i % 3 % 2); }
  } else {
    int sum = 0;
    for (int i = 0; i < 9; i++) {
      int k = i % 3, tile = i / 3;
      wait(full + k % 2, wrong ? k / 2 & 1 : (k % 2 ? tile & 1 : k / 2 & 1));
      sum += s[k % 2][t];
      arrive(empty + k % 2);
    }
    out[t] = sum;
  }
}
// The partial sums lie where the operands lay: one barrier behind the stores, none in front.
// expect c_over_a H7401
W c_over_a(const int *in, int *out) {
  extern __shared__ int pool[];
  int *a = pool, *c = pool, t = threadIdx.x;
  a[t] = in[t];
  asm volatile("bar.sync 1, 64;" ::: "memory");
  int sum = 0;
  for (int j = 0; j < 64; j++) sum += a[j] * (j + t);
  if (!wrong) asm volatile("bar.sync 1, 64;" ::: "memory");
  c[t] = sum;  // here c_over_a
  asm volatile("bar.sync 1, 64;" ::: "memory");
  if (t < 32) out[t] = c[t] + c[t + 32];
}
// The thread that stored the tile waits, the others refill at once.
// expect refill_of_waves H7003
W refill_of_waves(const int *in, int *out) {
  __shared__ alignas(128) int c[128];
  int t = threadIdx.x;
  for (int wave = 0; wave < 3; wave++) {
    c[t] = in[wave * 128 + t];  // here refill_of_waves
    fence_async();
    asm volatile("bar.sync 4, 128;" ::: "memory");
    if (t == 0) { store(out + 128 * wave, c, 512); store_wait_read(); }
    if (!wrong) asm volatile("bar.sync 4, 128;" ::: "memory");
  }
  if (t == 0) store_wait();
}
// One slot for the input and, at the end, for the output; the next task's load does not wait for the store.
// expect output_in_the_slot H7003
W output_in_the_slot(const int *in, int *out) {
  __shared__ alignas(128) int s[3][64];
  __shared__ uint64_t full[3], empty[3], stored;
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 3; i++) { bar_init(full + i, 1); bar_init(empty + i, 64); } bar_init(&stored, 1); fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) for (int i = 0; i < 8; i++) {
      if (i == (wrong ? 7 : 4)) wait(&stored, 0);
      wait(empty + i % 3, (i / 3 & 1) ^ 1); expect(full + i % 3, 256);
      load(s[i % 3], in + 64 * i, 256, full + i % 3);  // here output_in_the_slot
    }
  } else {
    int sum = 0;
    for (int i = 0; i < 8; i++) {
      wait(full + i % 3, i / 3 & 1);
      sum += s[i % 3][t];
      if (i == 3) {
        s[0][t] = sum; fence_async();
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (t == 0) store(out + 64, s[0], 256);
        arrive(empty);
        if (t == 0) { store_wait_read(); arrive(&stored); }
      } else arrive(empty + i % 3);
    }
    out[t] = sum;
    if (t == 0) store_wait();
  }
}
// Thread 0 puts the inclusive prefix where the other warps still read the aggregate.
// expect prefix_over_aggregate H7402
W prefix_over_aggregate(const int *in, int *out, int *data) {
  int t = threadIdx.x;
  data[t] = in[t];
  __syncthreads();
  int mine = data[t] + data[0];
  if (!wrong) __syncthreads();
  if (t == 0) data[0] = mine + 100;  // here prefix_over_aggregate
  out[t] = mine;
}
// Partial results of a split, and a semaphore that only thread 0 fences.
// expect serialize_release H7402
W serialize_release(const int *in, int *out, int *part, int *sem) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    part[t] = in[t] * 3;
    if (!wrong) __threadfence();
    __syncthreads();
    if (t == 0) { if (!wrong) __threadfence(); *(volatile int *)sem = 1; }
  } else {
    if (t == 0) { while (*(volatile int *)sem != 1) {} if (!wrong) __threadfence(); }
    __syncthreads();
    out[t] = part[t] + in[t];  // here serialize_release
  }
}
// Bins of all CTAs, counted with atomics; a CTA reads them when all have arrived.
// expect radix_pass H7402
W radix_pass(const int *in, int *out, int *bins, unsigned *arrived) {
  int t = threadIdx.x;
  atomicAdd(bins + in[blockIdx.x * 64 + t] % 16, 1);
  if (!wrong) __threadfence();
  __syncthreads();
  if (t == 0) { if (!wrong) __threadfence(); atomicInc(arrived, 1000); while (*(volatile unsigned *)arrived < gridDim.x) {} if (!wrong) __threadfence(); }
  __syncthreads();
  if (t < 16) out[blockIdx.x * 16 + t] = bins[t];  // here radix_pass
}
// The flag is atomic, the aggregate an ordinary word.
// expect ordinary_aggregate H7402
W ordinary_aggregate(const int *in, int *out, int *agg, int *flags) {
  if (threadIdx.x) return;
  int b = blockIdx.x, before = 0;
  if (b) {
    while (atomicAdd(flags + b - 1, 0) == 0) {}
    if (!wrong) __threadfence();
    before = agg[b - 1];  // here ordinary_aggregate
  }
  agg[b] = before + in[b];
  if (!wrong) __threadfence();
  atomicExch(flags + b, 1);
  out[b] = before;
}
// A warp exchanges keys through its words, twice.
// expect exchange_twice H7410
W exchange_twice(const int *in, int *out) {
  __shared__ int words[2][96];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32, k[3], v[3];
  for (int i = 0; i < 3; i++) words[w][(in[i] * 0 + 3 * lane + i) % 96] = in[lane + i];
  __syncwarp();
  for (int i = 0; i < 3; i++) k[i] = words[w][i * 32 + lane];
  if (!wrong) __syncwarp();
  for (int i = 0; i < 3; i++) words[w][3 * lane + i] = in[lane + i] + 5;  // here exchange_twice
  __syncwarp();
  for (int i = 0; i < 3; i++) v[i] = words[w][i * 32 + lane];
  for (int i = 0; i < 3; i++) out[threadIdx.x * 3 + i] = k[i] - v[i];
}
// A sum over y, then one over x, in the same words.
// expect y_then_x H7401
W y_then_x(const int *in, int *out) {
  __shared__ int s[128];
  int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x, v = in[t];
  s[t] = v;
  for (int n = 2; n; n /= 2) {
    __syncthreads();
    if (y < n) s[t] = v = v + s[t + n * 32];
  }
  if (!wrong) __syncthreads();
  if (y == 1) s[x] = in[x];  // here y_then_x
  __syncthreads();
  if (y == 0) out[x] = v + s[31 - x];
}
// Each warp copies its rows, waits for its copies, and multiplies by all rows.
// expect rows_of_other_warps H7005
W rows_of_other_warps(const int *in, int *out) {
  __shared__ alignas(16) int state[512];
  int t = threadIdx.x, sum = 0;
  cp16(state + 4 * t, in + 4 * t); cp_commit();
  cp_wait<0>();
  if (wrong) __syncwarp(); else __syncthreads();
  for (int j = 0; j < 512; j += 8) sum += state[j] * t;  // here rows_of_other_warps
  out[t] = sum;
}
// Every warp finds out for itself whether the tile is skipped, and goes on to the next mask.
// expect skip_by_mask H7401
W skip_by_mask(const int *in, int *out) {
  __shared__ int mask[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 4; k++) {
    mask[t] = k == 1 ? 0 : in[k * 64 + t];  // here skip_by_mask
    __syncthreads();
    int any = mask[t % 32] | mask[t % 32 + 32];
    any = __any_sync(~0u, any);
    if (!any) { if (!wrong) __syncthreads(); continue; }
    sum += mask[63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
// One warp waits for the launch before; another one has read its output already.
// expect tile_index_early H7701
__global__ void pdl_writer(int *x) { asm volatile("griddepcontrol.launch_dependents;"); x[threadIdx.x] = threadIdx.x + 1; }
W tile_index_early(const int *x, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t >= 32 && !wrong) asm volatile("griddepcontrol.wait;" ::: "memory");
  int tile = t >= 32 ? x[40] : 0;  // here tile_index_early
  if (t < 32) { asm volatile("griddepcontrol.wait;" ::: "memory"); s[t] = x[t]; }
  __syncthreads();
  out[t] = s[t % 32] + tile;
}
// The map of the next tensor is made where a store still uses the one before.
// expect map_under_store H7106
__device__ inline void map_acquire(const void *m) { asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(m) : "memory"); }
__device__ inline void map_set(void *m, int *base) {
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;\nfence.proxy.tensormap::generic.release.gpu;" ::"l"(m), "l"(base) : "memory");
}
__device__ inline void map_store(const void *m, const void *s) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %1}], [%2];\ncp.async.bulk.commit_group;" ::"l"(m), "r"(0), "r"(smem(s)) : "memory");
}
W map_under_store(void *m, int *out) {
  __shared__ alignas(128) int s[2][64];
  int t = threadIdx.x;
  s[0][t] = s[0][t + 32] = t; s[1][t] = s[1][t + 32] = t + 1;
  fence_async(); __syncthreads();
  if (t == 0) {
    for (int i = 0; i < 2; i++) {
      map_set(m, out + i * 64);  // here map_under_store
      map_acquire(m);
      map_store(m, s[i]);
      if (!wrong) store_wait_read();
    }
    store_wait();
  }
}
// The registers of A are converted anew while the product before may read them.
// expect a_registers H7906
W a_registers(const int *in, int *out) {
  __shared__ alignas(128) unsigned char b[2][256];
  int t = threadIdx.x;
  ((int *)b)[t] = 0x3f803f80;
  fence_async(); __syncthreads();
  float d[4] = {};
  uint32_t a[4];
  for (int i = 0; i < 4; i++) a[i] = in[t + i];
  wg_fence(); wgmma8r(d, a, b[0]); wg_commit();
  if (!wrong) wg_wait<0>();
  for (int i = 0; i < 4; i++) asm volatile("add.u32 %0, %0, 3;" : "+r"(a[i]));  // here a_registers
  wg_fence(); wgmma8r(d, a, b[1]); wg_commit(); wg_wait<0>();
  for (int i = 0; i < 4; i++) out[t * 4 + i] = __float_as_int(d[i]) + a[i];
}
// CTA 1 copies with cp.async, and passes the news on with an arrival for its own CTA's eyes.
// expect trampoline H7403
W2 trampoline(const int *in, int *out) {
  __shared__ alignas(16) int s[128];
  __shared__ uint64_t both;
  int t = threadIdx.x, rank = blockIdx.x % 2;
  if (t == 0) { bar_init(&both, 32); fence_init(); }
  cluster_sync();
  if (rank == 1) {
    cp16(s + 4 * t, in + 4 * t); cp_commit(); cp_wait<0>();
    uint32_t b = mapa(&both, 0);
    if (wrong) asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory");
    else asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory");
  } else {
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(smem(&both)) : "memory");
    out[t] = peek(mapa(s + 127 - t, 1));  // here trampoline
  }
  cluster_sync();
}
// A ring's barrier has a count of one, and every lane of the consumer arrives.
// expect all_lanes_arrive F3601
W all_lanes_arrive(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 1); bar_init(empty + i, wrong ? 1 : 64); } fence_init(); }
  __syncthreads();
  if (t >= 64) {
    if (t == 64) for (int i = 0; i < 5; i++) { wait(empty + i % 2, (i / 2 & 1) ^ 1); expect(full + i % 2, 256); load(s[i % 2], in + 64 * i, 256, full + i % 2); }  // here all_lanes_arrive
  } else {
    int sum = 0;
    for (int i = 0; i < 5; i++) { wait(full + i % 2, i / 2 & 1); sum += s[i % 2][t]; arrive(empty + i % 2); }
    out[t] = sum;
  }
}
// One thread fences before the others have stored.
// expect fence_of_the_leader H7101
W fence_of_the_leader(const int *in, int *out) {
  __shared__ alignas(128) int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  if (wrong && t == 0) fence_async();
  __syncthreads();
  if (t == 0) {
    if (!wrong) fence_async();
    store(out, s, 256); store_wait();  // here fence_of_the_leader
  }
}
// The peer's data is polled with ordinary loads, then fetched by TMA.
// expect polled_then_tma H7103
W polled_then_tma(const int *in, int *out, int *data, int *flag) {
  __shared__ alignas(128) int s[64];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = in[t] + 1;
    __threadfence(); __syncthreads();
    if (t == 0) asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(flag) : "memory");
    return;
  }
  if (t == 0) {
    bar_init(&full, 1); fence_init();
    int f = 0;
    while (!f) asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(f) : "l"(flag) : "memory");
    if (!wrong) asm volatile("fence.proxy.async.global;" ::: "memory");
    expect(&full, 256); load(s, data, 256, &full);  // here polled_then_tma
  }
  __syncthreads();
  wait(&full, 0);
  out[t] = s[t];
}
#undef W
#undef W2
static int *mem(int n, int kind) {
  int *h = (int *)malloc(4 * n), *p;
  for (int i = 0; i < n; i++) h[i] = kind == 1 ? i % 7 : 0;
  cudaMalloc(&p, 4 * n);
  cudaMemcpy(p, h, 4 * n, cudaMemcpyHostToDevice);
  free(h);
  return p;
}
static CUtensorMap make_map(void *p, int columns, int rows) {
  CUtensorMap m;
  cuuint64_t dims[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)columns * 4};
  cuuint32_t box[2] = {8, 8}, one[2] = {1, 1};
  void *f = nullptr;
  cudaDriverEntryPointQueryResult q;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &q);
  ((decltype(&cuTensorMapEncodeTiled))f)(&m, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, dims, strides, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return m;
}
template <bool wrong> int go(const char *name) {
  int *in = mem(8192, 1), *out = mem(8192, 0), *x = mem(1024, 0), *y = mem(64, 0);
#define K(n, g, b, ...) if (!strcmp(name, #n)) { n<wrong><<<g, b>>>(__VA_ARGS__); return 1; }
  K(wait_by_all, 1, 64, in, out) K(scalar_of_rank0, 4, 64, y, out) K(store_at_entry, 2, 64, in, out) K(signals_by_one, 1, 64, in, out)
  K(wmma_readback, 1, 64, (half *)in, (float *)out) K(tiles_without_end, 1, 64, in, out) K(idle_threads, 1, 64, in, out) K(wait_then_commit, 1, 32, in, out)
  K(b_of_two_warpgroups, 1, 256, in, out) K(one_barrier_in_loop, 1, 64, in, out) K(ids_helper, 1, 32, in, out) K(padding_over_scales, 1, 32, in, out)
  K(simt_producer, 1, 96, in, out) K(phase_of_the_tile, 1, 96, in, out) K(refill_of_waves, 1, 128, in, out) K(output_in_the_slot, 1, 96, in, out)
  K(prefix_over_aggregate, 1, 64, in, out, x) K(serialize_release, 2, 64, in, out, x, y) K(radix_pass, 4, 64, in, out, x, (unsigned *)y)
  K(ordinary_aggregate, 4, 32, in, out, x, y) K(exchange_twice, 1, 64, in, out) K(y_then_x, 1, dim3(32, 4), in, out) K(rows_of_other_warps, 1, 128, in, out)
  K(skip_by_mask, 1, 64, in, out) K(a_registers, 1, 128, in, out) K(trampoline, 2, 32, in, out) K(all_lanes_arrive, 1, 96, in, out)
  K(fence_of_the_leader, 1, 64, in, out) K(polled_then_tma, 2, 64, in, out, x, y)
  if (!strcmp(name, "c_over_a")) { c_over_a<wrong><<<1, 64, 256>>>(in, out); return 1; }
  if (!strcmp(name, "map_under_store")) { CUtensorMap m = make_map(out, 8, 8), *d; cudaMalloc(&d, 128); cudaMemcpy(d, &m, 128, cudaMemcpyHostToDevice); map_under_store<wrong><<<1, 32>>>(d, out); return 1; }
  if (!strcmp(name, "tile_index_early")) {
    pdl_writer<<<1, 64>>>(x);
    cudaLaunchConfig_t c = {};
    c.gridDim = 1; c.blockDim = 64;
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = 1;
    c.attrs = a; c.numAttrs = 1;
    cudaLaunchKernelEx(&c, tile_index_early<wrong>, (const int *)x, out);
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
