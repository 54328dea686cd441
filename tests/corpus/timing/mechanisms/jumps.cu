// Chains of K logic operations, and a jump after each: one that all lanes skip or take together (skip), and one of which the compiler cannot know it (lane).
template <int K> __device__ __forceinline__ void chain(unsigned& x, unsigned u, unsigned v) {
#pragma unroll
  for (int k = 0; k < K; ++k) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(u), "r"(v));
}
template <int K, bool LANE> __device__ __forceinline__ void jumps(unsigned* y, int n, unsigned u, unsigned v) {
  unsigned x = threadIdx.x, z = 0;
#pragma unroll 1
  for (int i = 0; i < 512 / K; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      chain<K>(x, u, v);
      if (LANE ? x == 12345u + j : n == 12345 + j) { asm volatile("membar.cta;"); z += x; }
    }
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = x + z;
}
#define JUMPS(k)                                                                                                                  \
  extern "C" __global__ void jump_skip_##k(unsigned* y, int n, unsigned u, unsigned v) { jumps<k, false>(y, n, u, v); }          \
  extern "C" __global__ void jump_lane_##k(unsigned* y, int n, unsigned u, unsigned v) { jumps<k, true>(y, n, u, v); }
JUMPS(2) JUMPS(4) JUMPS(8) JUMPS(16) JUMPS(32)
