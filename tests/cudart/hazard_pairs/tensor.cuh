// What the kernels of tensor.cu and reported_tensor.cu have in common, for sm_100a: tensor memory and its products.
#pragma once
#include "ptx.cuh"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define W template <bool wrong> __global__ void
constexpr uint32_t kIdesc = 0x08040490;  // 128 x 16, bf16 -> fp32
__device__ inline uint64_t desc(const void *p) { return (uint64_t)((smem(p) & 0x3ffff) >> 4) | 0x0000401000080000ull; }
__device__ inline void mma(uint32_t d, const void *a, const void *b, bool acc) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d), "l"(desc(a)), "l"(desc(b)), "r"(kIdesc), "r"((int)acc) : "memory");
}
__device__ inline void commit(uint64_t *b) { asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(smem(b)) : "memory"); }
__device__ inline void alloc(uint32_t *p, int n) { asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(smem(p)), "r"(n) : "memory"); }
__device__ inline void dealloc(uint32_t d, int n) { asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(d), "r"(n) : "memory"); }
__device__ inline void fbefore() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ inline void fafter() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ inline void tld8(uint32_t (&r)[8], uint32_t a) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) : "r"(a) : "memory");
}
__device__ inline void twait() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ inline void wait_tld8(uint32_t (&r)[8]) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]), "+r"(r[4]), "+r"(r[5]), "+r"(r[6]), "+r"(r[7]) :: "memory");
}
struct Tile { unsigned char a[4096], b[512]; };
__device__ inline int lane0() { return threadIdx.x % 32 == 0; }

// warps: 0 loads, 1 multiplies, 4..7 epilogue (256 threads)
struct Shared { uint64_t full[3], empty[3], accf[2], acce[2]; uint32_t tmem; };
__device__ inline uint32_t open(Shared &s, int columns, int epilogue) {
  if (threadIdx.x / 32 == 2) alloc(&s.tmem, columns);
  if (threadIdx.x == 0) { for (int i = 0; i < 3; i++) { bar_init(s.full + i, 1); bar_init(s.empty + i, 1); } for (int i = 0; i < 2; i++) { bar_init(s.accf + i, 1); bar_init(s.acce + i, epilogue); } fence_init(); }
  fbefore(); __syncthreads(); fafter();
  return s.tmem;
}
__device__ inline void close(Shared &s, int columns) { fbefore(); __syncthreads(); fafter(); if (threadIdx.x / 32 == 2) dealloc(s.tmem, columns); }
