// Locks, queues, grid barriers and rings as people write them by hand, with a mistake (`wrong`) and without it, for sm_90a. As pipelines.cu.
#include "ptx.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
#define W template <bool wrong> __global__ void
#define W2 template <bool wrong> __global__ __cluster_dims__(2) void
using Device = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto kAcquire = cuda::memory_order_acquire, kRelease = cuda::memory_order_release, kRelaxed = cuda::memory_order_relaxed;
__device__ inline uint32_t mapa(const void *p, int r) { uint32_t a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(smem(p)), "r"(r)); return a; }
__device__ inline void wait_cluster(uint64_t *b, int parity) {
  asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(smem(b)), "r"(parity) : "memory");
}
__device__ inline void arrive_at(uint64_t *b, int rank) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapa(b, rank)) : "memory"); }
template <int kId, int kCount> __device__ inline void named_sync() { asm volatile("bar.sync %0, %1;" ::"n"(kId), "n"(kCount) : "memory"); }
template <int kId, int kCount> __device__ inline void named_arrive() { asm volatile("bar.arrive %0, %1;" ::"n"(kId), "n"(kCount) : "memory"); }

// Lanes of one warp take a lock of the block in turns: acquire and release order them, too.
// expect lane_lock H7405
W lane_lock(const int *in, int *out) {
  __shared__ int lock, sum;
  int t = threadIdx.x;
  if (t == 0) lock = sum = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> l(lock);
  for (bool done = false; !done;) {
    int free = 0;
    if (!l.compare_exchange_strong(free, 1, wrong ? kRelaxed : kAcquire, kRelaxed)) continue;
    sum += in[t];  // here lane_lock
    l.store(0, wrong ? kRelaxed : kRelease);
    done = true;
  }
  __syncthreads();
  out[t] = sum;
}
// The same with the old functions: relaxed atomics and fences.
// expect lane_lock_of_fences H7405
W lane_lock_of_fences(const int *in, int *out) {
  __shared__ int lock, sum;
  int t = threadIdx.x;
  if (t == 0) lock = sum = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) != 0) continue;
    if (!wrong) __threadfence_block();
    sum += in[t];  // here lane_lock_of_fences
    if (!wrong) __threadfence_block();
    atomicExch(&lock, 0);
    done = true;
  }
  __syncthreads();
  out[t] = sum;
}
// Each lane arrives on the barrier and waits for it; threads leave it one round after another.
// expect leaves_the_barrier H7410
W leaves_the_barrier(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  s[t] = in[t];
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    if (t >= 56 - 8 * i) { bar.arrive_and_drop(); break; }
    int x = s[(t + 1) % (48 - 8 * i)];  // here leaves_the_barrier
    if (wrong) (void)bar.arrive(); else bar.arrive_and_wait();
    s[t] = x + i;
    if (wrong) (void)bar.arrive(); else bar.arrive_and_wait();
  }
  out[t] = s[t];
}
// Groups of two warps have their barrier in memory that the system clears.
// expect tiles_of_two_warps H7401
W tiles_of_two_warps(const int *in, int *out) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ int s[128];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  int t = threadIdx.x;
  int sum = cg::reduce(tile, in[t], cg::plus<int>());
  s[t] = sum + t;
  if (wrong) __syncwarp(); else tile.sync();
  out[t] = s[t ^ 32];  // here tiles_of_two_warps
}
// The flag of a partial sum is raised before all threads have stored theirs.
// expect partial_sums H7402
W partial_sums(const int *in, int *out, int *flag) {
  int t = threadIdx.x;
  if (blockIdx.x) {
    out[64 + t] = in[t];  // here partial_sums
    if (!wrong) __syncthreads();
    if (t == 0) Device(*flag).store(1, kRelease);
  } else {
    if (t == 0) while (!Device(*flag).load(kAcquire)) {}
    __syncthreads();
    out[t] = out[64 + t] + in[t];
  }
}
// Slices add in turns; a thread waits for the turn, and the others do not wait for it.
// expect own_turn H7402
W own_turn(const int *in, int *out, int *turn) {
  int t = threadIdx.x, slice = blockIdx.x;
  if (t == 0) while (Device(*turn).load(kAcquire) != slice) {}
  if (!wrong) __syncthreads();
  out[t] = (slice ? out[t] : 0) + in[64 * slice + t];  // here own_turn
  __syncthreads();
  if (t == 0) Device(*turn).store(slice + 1, kRelease);
}
// A bounded queue: the cell is given back before its value is read.
// expect cell_given_back H7402
W cell_given_back(int *out, int *cells, int *ends) {
  if (threadIdx.x) return;
  bool push = blockIdx.x & 1;
  for (int i = 0; i < 6; i++) {
    int at = Device(ends[push]).fetch_add(1, kRelaxed), *cell = cells + 2 * (at % 4);
    Device seq(cell[0]);
    while (seq.load(kAcquire) != (push ? at - at % 4 : at - at % 4 + 1)) {}
    if (push) {
      cell[1] = at * 3;
      seq.store(at - at % 4 + 1, kRelease);
    } else {
      if (wrong) seq.store(at - at % 4 + 4, kRelease);
      out[at] = *(volatile int *)(cell + 1);  // here cell_given_back
      if (!wrong) seq.store(at - at % 4 + 4, kRelease);
    }
  }
}
__device__ void grid_barrier(unsigned *bar) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned add = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    __threadfence();
    unsigned old = atomicAdd(bar, add);
    while (((old ^ *(volatile unsigned *)bar) & 0x80000000u) == 0) {}
    __threadfence();
  }
  __syncthreads();
}
// A barrier of the grid by hand; each round needs two.
// expect rounds_of_the_grid H7402
W rounds_of_the_grid(int *x, int *y, unsigned *bar) {
  int n = gridDim.x * 64, i = blockIdx.x * 64 + threadIdx.x;
  x[i] = i;
  for (int round = 0; round < 3; round++) {
    grid_barrier(bar);
    y[i] = x[(i + 97) % n] + round;  // here rounds_of_the_grid
    if (!wrong) grid_barrier(bar);
    x[i] = y[i] * 3;
  }
}
// A wavefront of tiles: the left neighbour is not waited for.
// expect left_neighbour H7402
W left_neighbour(int *grid, int *done) {
  __shared__ int block;
  int t = threadIdx.x;
  if (t == 0) block = atomicAdd(done + 9, 1);
  __syncthreads();
  const int order[9] = {0, 1, 3, 2, 4, 6, 5, 7, 8};
  int b = order[block], row = b / 3, column = b % 3;
  if (t == 0) {
    if (row) while (!Device(done[b - 3]).load(kAcquire)) {}
    if (column && !wrong) while (!Device(done[b - 1]).load(kAcquire)) {}
  }
  __syncthreads();
  int up = row ? grid[(b - 3) * 32 + t] : 1, left = column ? grid[(b - 1) * 32 + 31 - t] : 1;  // here left_neighbour
  grid[b * 32 + t] = up * 3 + left;
  __syncthreads();
  if (t == 0) Device(done[b]).store(1, kRelease);
}
// Two buffers by named barriers: the producer does not wait until a buffer is free.
// expect buffer_not_free H7409
W buffer_not_free(const int *in, int *out) {
  __shared__ int s[2][64];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < 6; i++) {
      if (i > 1 && !wrong) { if (i & 1) named_sync<4, 96>(); else named_sync<3, 96>(); }
      for (int j = t; j < 64; j += 32) s[i & 1][j] = in[64 * i + j];
      if (i & 1) named_arrive<2, 96>(); else named_arrive<1, 96>();
    }
  } else {
    int sum = 0;
    for (int i = 0; i < 6; i++) {
      if (i & 1) named_sync<2, 96>(); else named_sync<1, 96>();  // here buffer_not_free
      sum = 3 * sum + s[i & 1][95 - t];
      if (i < 4 && !wrong) { if (i & 1) named_arrive<4, 96>(); else named_arrive<3, 96>(); }
    }
    out[t - 32] = sum;
  }
}
// Two threads bring a half each; the barrier counts one of them, so that the other half belongs to the next phase.
// expect counts_one_producer F3601
W counts_one_producer(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) { bar_init(&full, wrong ? 1 : 2); fence_init(); }
  __syncthreads();
  if (t % 32 == 0) { expect(&full, 256); load(s[t / 32], in + 2 * t, 256, &full); }
  wait(&full, 0);  // here counts_one_producer
  out[t] = s[0][t] + s[1][63 - t];
}
// A tile goes on to the next CTA: stored by all threads, copied by one.
// expect passed_on H7101
W2 passed_on(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full;
  int t = threadIdx.x, rank = blockIdx.x % 2;
  if (t == 0) { bar_init(&full, 1); fence_init(); expect(&full, 256); }
  s[0][t] = in[blockIdx.x * 64 + t];
  if (!wrong) fence_async();
  cg::this_cluster().sync();
  if (t == 0)
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(mapa(s[1], rank ^ 1)), "r"(smem(s[0])), "r"(mapa(&full, rank ^ 1)) : "memory");  // here passed_on
  wait_cluster(&full, 0);
  out[blockIdx.x * 64 + t] = s[1][63 - t];
  cg::this_cluster().sync();
}
// Credits of a ring across CTAs: the slot goes back before it is read.
// expect credit_before_use H7401
W2 credit_before_use(const int *in, int *out) {
  __shared__ int box[2][32];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x, rank = blockIdx.x % 2;
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 32); bar_init(empty + i, 32); } fence_init(); }
  cg::this_cluster().sync();
  int sum = 0;
  for (int i = 0; i < 7; i++) {
    int slot = i & 1, phase = i / 2 & 1;
    if (rank == 0) {
      wait_cluster(empty + slot, phase ^ 1);
      asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(mapa(&box[slot][t], 1)), "r"(in[32 * i + t]) : "memory");
      arrive_at(full + slot, 1);
    } else {
      wait_cluster(full + slot, phase);
      if (wrong) arrive_at(empty + slot, 0);
      sum = 3 * sum + box[slot][31 - t];  // here credit_before_use
      if (!wrong) arrive_at(empty + slot, 0);
    }
  }
  out[blockIdx.x * 32 + t] = sum;
  cg::this_cluster().sync();
}
// The cluster's barrier in two halves: the arrival is relaxed, and no fence is before it.
// expect relaxed_half H7401
W2 relaxed_half(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  if (!wrong) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
  int v;
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(v) : "r"(mapa(s + 63 - t, (blockIdx.x % 2) ^ 1)) : "memory");  // here relaxed_half
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  out[blockIdx.x * 64 + t] = v;
}
// Bulk reductions into memory read the tile while it is filled again.
// expect reduced_and_refilled H7003
W reduced_and_refilled(const int *in, int *out) {
  __shared__ alignas(16) int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++) {
    s[t] = in[64 * i + t];  // here reduced_and_refilled
    fence_async();
    __syncthreads();
    if (t == 0) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;\ncp.async.bulk.commit_group;" ::"l"(out), "r"(smem(s)) : "memory");
    if (t == 0 && !wrong) store_wait_read();
    __syncthreads();
  }
  if (t == 0) store_wait();
}
// A warp of the consumers leaves early, and does not say so.
// expect leaves_in_silence F3601
W leaves_in_silence(const int *in, int *out) {
  __shared__ alignas(128) int s[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; i++) { bar_init(full + i, 1); bar_init(empty + i, 2); } fence_init(); }
  __syncthreads();
  if (t == 64) for (int i = 0; i < 6; i++) { wait(empty + i % 2, (i / 2 & 1) ^ 1); expect(full + i % 2, 256); load(s[i % 2], in + 64 * i, 256, full + i % 2); }  // here leaves_in_silence
  if (t >= 64) return;
  int sum = 0;
  for (int i = 0; i < 6; i++) {
    wait(full + i % 2, i / 2 & 1);
    sum += s[i % 2][t];
    __syncwarp();
    if (t % 32 == 0) arrive(empty + i % 2);
    if (t >= 32 && i == 2) {
      if (!wrong) for (int j = 3; j < 6; j++) { wait(full + j % 2, j / 2 & 1); if (t == 32) arrive(empty + j % 2); }
      break;
    }
  }
  out[t] = sum;
}
int *mem(int n, int step) {
  int *p, *h = (int *)malloc(4 * n);
  for (int i = 0; i < n; i++) h[i] = i * step % 64;
  cudaMalloc(&p, 4 * n);
  cudaMemcpy(p, h, 4 * n, cudaMemcpyHostToDevice);
  free(h);
  return p;
}
template <bool wrong> int go(const char *name) {
  int *in = mem(1024, 1), *out = mem(1024, 0), *x = mem(64, 0);
#define K(n, g, b, ...) if (!strcmp(name, #n)) { n<wrong><<<g, b>>>(__VA_ARGS__); return 1; }
  K(lane_lock, 1, 64, in, out) K(lane_lock_of_fences, 1, 64, in, out) K(leaves_the_barrier, 1, 64, in, out) K(tiles_of_two_warps, 1, 128, in, out)
  K(partial_sums, 2, 64, in, out, x) K(own_turn, 3, 64, in, out, x) K(cell_given_back, 2, 32, out, x, x + 16) K(rounds_of_the_grid, 4, 64, in, out, (unsigned *)x)
  K(left_neighbour, 9, 32, out, x) K(buffer_not_free, 1, 96, in, out) K(counts_one_producer, 1, 64, in, out) K(passed_on, 2, 64, in, out)
  K(credit_before_use, 2, 32, in, out) K(relaxed_half, 2, 64, in, out) K(reduced_and_refilled, 1, 64, in, out) K(leaves_in_silence, 1, 96, in, out)
  return 0;
}
int main(int n, char **a) {
  if (n < 3) return 2;
  if (!(a[2][0] == 'w' ? go<true>(a[1]) : go<false>(a[1]))) { puts("no such pair"); return 2; }
  cudaError_t e = cudaDeviceSynchronize();
  if (e) puts(cudaGetErrorString(e));
  return e ? 9 : 0;
}
