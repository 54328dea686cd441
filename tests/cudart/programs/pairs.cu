// Pairs of wrong and right CUDA kernels, mistakes as people make them: pairs NAME right|wrong. Without words: the names, each with the
// code that its wrong kernel is reported with. The finding of a wrong kernel is at the line that ends with "here NAME".
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstring>

#include "check.cuh"

namespace cg = cooperative_groups;

namespace {

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void expect(uint64_t* bar, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory"); }

__device__ void wait(uint64_t* bar, int parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN; }" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}

__device__ void load(void* to, const void* from, int bytes, uint64_t* bar) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(bar)) : "memory");
}

__device__ void store(void* to, const void* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// A tree of sums whose rounds have no barrier between them.
template <bool kRight>
__global__ void tree(int* p) {
  __shared__ int s[128];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    int sum = 0;
    if (threadIdx.x < half) sum = s[threadIdx.x] + s[threadIdx.x + half];  // here tree
    if (kRight) __syncthreads();
    if (threadIdx.x < half) s[threadIdx.x] = sum;
    if (kRight) __syncthreads();
  }
  if (threadIdx.x == 0) p[0] = s[0];
}

// Tiles in one buffer: the barrier behind the last use of a tile is missing.
template <bool kRight>
__global__ void tiles(int* p) {
  __shared__ int s[128];
  int sum = 0;
  for (int tile = 0; tile < 4; ++tile) {
    s[threadIdx.x] = p[128 * tile + threadIdx.x];  // here tiles
    __syncthreads();
    sum += s[127 - threadIdx.x];
    if (kRight) __syncthreads();
  }
  p[threadIdx.x] = sum;
}

// A histogram that counts with ordinary additions.
template <bool kRight>
__global__ void histogram(int* p) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  int* const bin = &bins[p[threadIdx.x] & 7];
  if (kRight) atomicAdd(bin, 1);
  else *bin = *bin + 1;  // here histogram
  __syncthreads();
  if (threadIdx.x < 8) p[threadIdx.x] = bins[threadIdx.x];
}

// A neighbour's value of the same warp, without __syncwarp.
template <bool kRight>
__global__ void neighbour(int* p) {
  __shared__ int s[128];
  const int lane = threadIdx.x & 31;
  if (lane == 0) s[threadIdx.x] = p[threadIdx.x];
  if (kRight) __syncwarp();
  else asm volatile("" ::: "memory");
  p[threadIdx.x] = s[threadIdx.x - lane];  // here neighbour
}

// Two stages of copies; the wait leaves the stage that is read in flight.
template <bool kRight>
__global__ void stages(int* p) {
  __shared__ int s[2][128];
  __pipeline_memcpy_async(&s[0][threadIdx.x], &p[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][threadIdx.x], &p[128 + threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(kRight ? 0 : 1);
  p[threadIdx.x] = s[1][threadIdx.x];  // here stages
}

// Each thread waits for its own copies, and reads another's.
template <bool kRight>
__global__ void copied_by_others(int* p) {
  __shared__ int s[128];
  __pipeline_memcpy_async(&s[threadIdx.x], &p[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (kRight) __syncthreads();
  p[threadIdx.x] = s[127 - threadIdx.x];  // here copied_by_others
}

// A tile by TMA, read before the wait for it.
template <bool kRight>
__global__ void unwaited(int* p) {
  __shared__ alignas(128) int s[32];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) init(&bar, 1);
  __syncwarp();
  if (threadIdx.x == 0) {
    expect(&bar, sizeof s);
    load(s, p, sizeof s, &bar);
  }
  __syncwarp();
  if (kRight) wait(&bar, 0);
  const int v = s[threadIdx.x];  // here unwaited
  wait(&bar, 0);
  p[threadIdx.x] = v;
}

// More bytes expected than copied: nobody goes on.
template <bool kRight>
__global__ void bytes(int* p) {
  __shared__ alignas(128) int s[128];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&bar, kRight ? 512 : 516);
    load(s, p, 512, &bar);
  }
  wait(&bar, 0);  // here bytes
  p[threadIdx.x] = s[threadIdx.x];
}

// Results are stored by TMA without a fence behind the ordinary stores.
template <bool kRight>
__global__ void fence(int* p) {
  __shared__ alignas(128) int s[128];
  s[threadIdx.x] = p[threadIdx.x] + 1;
  if (kRight) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  store(p, s, sizeof s);  // here fence
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// The staging buffer is written again while its store may still read it.
template <bool kRight>
__global__ void staging(int* p) {
  __shared__ alignas(128) int s[32];
  for (int i = 0; i < 2; ++i) {
    if (kRight && threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncwarp();
    s[threadIdx.x] = i;  // here staging
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) store(p + 32 * i, s, sizeof s);
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// A peer's shared memory is read before it is known to run.
template <bool kRight>
__global__ void __cluster_dims__(2, 1, 1) peer_starts(int* p) {
  __shared__ int s[128];
  s[threadIdx.x] = p[threadIdx.x];
  cg::cluster_group cluster = cg::this_cluster();
  if (kRight) cluster.sync();
  const int v = *cluster.map_shared_rank(&s[threadIdx.x], cluster.block_rank() ^ 1);  // here peer_starts
  cluster.sync();
  p[threadIdx.x] = v;
}

// A CTA ends while its peer may still read its shared memory.
template <bool kRight>
__global__ void __cluster_dims__(2, 1, 1) peer_ends(int* p) {
  __shared__ int s[128];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  const int v = *cluster.map_shared_rank(&s[threadIdx.x], cluster.block_rank() ^ 1);  // here peer_ends
  p[128 * blockIdx.x + threadIdx.x] = v;
  if (kRight) cluster.sync();
}

// The last block adds up what all blocks stored: their stores are not ordered before their tickets.
template <bool kRight>
__global__ void last_block(int* p) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p[1 + blockIdx.x] = static_cast<int>(blockIdx.x);
    if (kRight) __threadfence();
    last = atomicAdd(p, 1) == static_cast<int>(gridDim.x) - 1;
    if (kRight) __threadfence();
  }
  __syncthreads();
  if (!last || threadIdx.x >= gridDim.x) return;
  p[128 + threadIdx.x] = p[1 + threadIdx.x];  // here last_block
}

// Two halves of a block meet at a named barrier that counts one half only.
template <bool kRight>
__global__ void halves(int* p) {
  __shared__ int s[128];
  s[threadIdx.x] = p[threadIdx.x];
  if (kRight) asm volatile("bar.sync 1, 128;" ::: "memory");
  else asm volatile("bar.sync 1, 64;" ::: "memory");
  p[threadIdx.x] = s[127 - threadIdx.x];  // here halves
}

using Kernel = void (*)(int*);
struct Pair {
  const char* name;
  const char* code;
  Kernel right, wrong;
  int ctas;
  int threads;
};
const Pair kPairs[] = {{"tree", "H7401", tree<true>, tree<false>, 1, 128},
                       {"tiles", "H7401", tiles<true>, tiles<false>, 1, 128},
                       {"histogram", "H7401", histogram<true>, histogram<false>, 1, 128},
                       {"neighbour", "H7405", neighbour<true>, neighbour<false>, 1, 128},
                       {"stages", "H7005", stages<true>, stages<false>, 1, 128},
                       {"copied_by_others", "H7005", copied_by_others<true>, copied_by_others<false>, 1, 128},
                       {"unwaited", "H7001", unwaited<true>, unwaited<false>, 1, 32},
                       {"bytes", "F3601", bytes<true>, bytes<false>, 1, 128},
                       {"fence", "H7101", fence<true>, fence<false>, 1, 128},
                       {"staging", "H7003", staging<true>, staging<false>, 1, 32},
                       {"peer_starts", "H7801", peer_starts<true>, peer_starts<false>, 2, 128},
                       {"peer_ends", "H7802", peer_ends<true>, peer_ends<false>, 2, 128},
                       {"last_block", "H7402", last_block<true>, last_block<false>, 8, 128},
                       {"halves", "H7401", halves<true>, halves<false>, 1, 128}};

}  // namespace

int main(int n, char** words) {
  for (const Pair& p : kPairs) {
    if (n != 3) std::printf("%s %s\n", p.name, p.code);
    if (n != 3 || std::strcmp(words[1], p.name) != 0) continue;
    int* const memory = to_device(std::vector<int>(1024, 0));
    (std::strcmp(words[2], "right") == 0 ? p.right : p.wrong)<<<p.ctas, p.threads>>>(memory);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
  }
  return n == 3 ? 2 : 0;
}
