// Copies in bulk: a y of tiles that one thread fetches and stores while the others compute, and rows added to a table by reducing copies.
#include <cstdint>
constexpr int kTile = 1024;
__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void fetch(void* to, const void* from, unsigned bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}
__device__ __forceinline__ void expect(uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void begin(uint64_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void wait(uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone:\n}" ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}
extern "C" __global__ void __launch_bounds__(256) bulk_axpy(const float* x, const float* y, float* z, float a, int tiles) {
  __shared__ __align__(128) float xs[2][kTile], ys[2][kTile], zs[2][kTile];
  __shared__ uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    begin(&full[0]);
    begin(&full[1]);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  auto load = [&](int stage, int tile) {
    expect(&full[stage], 2 * kTile * 4);
    fetch(xs[stage], x + (size_t)tile * kTile, kTile * 4, &full[stage]);
    fetch(ys[stage], y + (size_t)tile * kTile, kTile * 4, &full[stage]);
  };
  if (t == 0 && blockIdx.x < tiles) load(0, blockIdx.x);
  int k = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++k) {
    const int stage = k % 2;
    if (t == 0) {
      if (tile + gridDim.x < tiles) load(stage ^ 1, tile + gridDim.x);
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    }
    __syncthreads();
    wait(&full[stage], k / 2 % 2);
#pragma unroll
    for (int i = t; i < kTile / 4; i += 256) {
      const float4 u = reinterpret_cast<float4*>(xs[stage])[i], v = reinterpret_cast<float4*>(ys[stage])[i];
      reinterpret_cast<float4*>(zs[stage])[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(z + (size_t)tile * kTile), "r"(shared_address(zs[stage])), "r"(kTile * 4) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
extern "C" __global__ void __launch_bounds__(128) bulk_add_rows(const float4* x, const unsigned* index, float* table, int rows_each, unsigned mask) {
  __shared__ __align__(128) float4 s[4][128];
  const int t = threadIdx.x;
  for (int r = 0; r < rows_each; ++r) {
    const int row = blockIdx.x * rows_each + r, slot = r % 4;
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
    __syncthreads();
    const float4 v = x[(size_t)row * 128 + t];
    s[slot][t] = make_float4(0.5f * v.x, 0.5f * v.y, 0.5f * v.z, 0.5f * v.w);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(table + (size_t)(index[row] & mask) * 512), "r"(shared_address(s[slot])), "r"(2048)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
