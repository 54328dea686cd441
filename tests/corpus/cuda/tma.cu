// Inline assembly as Blackwell kernels write it: tensor maps as parameters, mbarrier wait loops whose labels repeat in
// every block, elect, clusters, tensor memory. Made into tma.ptx (see README.md).
#include <cstdint>

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ bool elected() {
  uint32_t yes;
  asm volatile(
      "{\n\t.reg .pred P1;\n\telect.sync _|P1, 0xFFFFFFFF;\n\tselp.b32 %0, 1, 0, P1;\n\t}"
      : "=r"(yes));
  return yes != 0;
}

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t phase) {
  asm volatile(
      "{\n\t.reg .pred P1;\n\tLAB_WAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n\t@P1 bra DONE;\n\t"
      "bra LAB_WAIT;\n\tDONE:\n\t}" ::"r"(barrier), "r"(phase));
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) copy_tile(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out, int rows) {
  extern __shared__ __align__(1024) uint8_t tile[];
  __shared__ __align__(8) uint64_t full;
  __shared__ uint32_t tensor_memory;
  const uint32_t bar = shared_address(&full), dst = shared_address(tile), slot = shared_address(&tensor_memory);
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(slot) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    if (elected()) {
      asm volatile("prefetch.tensormap [%0];" ::"l"(&in));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
      asm volatile("fence.mbarrier_init.release.cluster;");
    }
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;");
  uint32_t phase = 0;
#pragma unroll 1
  for (int y = blockIdx.y; y < rows; y += gridDim.y) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 8192;" ::"r"(bar) : "memory");
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(dst),
          "l"(&in), "r"(0), "r"(y * 64), "r"(bar)
          : "memory");
    }
    wait(bar, phase);
    phase ^= 1;
    uint32_t a, b;
    asm volatile("ld.shared.v2.u32{%0,%1},[%2+8];" : "=r"(a), "=r"(b) : "r"(dst));
    asm volatile("{ .reg .b64 pair; mov.b64 pair, {%0, %1}; st.shared.b64 [%2], pair; }" ::"r"(b), "r"(a), "r"(dst) : "memory");
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(0), "r"(y * 64), "r"(dst)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;");
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    asm volatile("{ .reg .b32 %%r0, %%r1; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%%r0, %%r1}, [%0]; tcgen05.wait::ld.sync.aligned; }" ::"r"(tensor_memory));
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(tensor_memory));
  }
}
