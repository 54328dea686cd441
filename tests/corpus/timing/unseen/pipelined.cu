// Tensor cores by hand: 64 x 64 tiles of half precision with three stages of cp.async and ldmatrix, and sixteen rows of bytes against a matrix of bytes.
#include <cuda_fp16.h>
__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void fetch16(void* to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)); }
__device__ __forceinline__ void matrices(unsigned (&r)[4], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)));
}
extern "C" __global__ void __launch_bounds__(128) gemm_mma(const __half* a, const __half* b, __half* c, int n, int k) {
  __shared__ __align__(16) __half as[3][64][40], bs[3][64][40];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  a += (size_t)blockIdx.y * 64 * k;
  b += (size_t)blockIdx.x * 64 * k;
  float acc[2][4][4] = {};
  auto fetch = [&](int stage, int at) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = t / 4 + i * 32, col = t % 4 * 8;
      fetch16(&as[stage][row][col], a + (size_t)row * k + at + col);
      fetch16(&bs[stage][row][col], b + (size_t)row * k + at + col);
    }
    asm volatile("cp.async.commit_group;");
  };
  fetch(0, 0);
  fetch(1, 32);
  int stage = 0, ahead = 2;
  for (int at = 0; at < k; at += 32) {
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();
    if (at + 64 < k) fetch(ahead, at + 64); else asm volatile("cp.async.commit_group;");
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      unsigned fa[2][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        matrices(fa[i], &as[stage][wm + i * 16 + lane % 16][kk + lane / 16 * 8]);
        matrices(fb[i], &bs[stage][wn + i * 16 + lane % 8 + lane / 16 * 8][kk + lane / 8 % 2 * 8]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j / 2][j % 2 * 2]), "r"(fb[j / 2][j % 2 * 2 + 1]));
    }
    stage = stage == 2 ? 0 : stage + 1;
    ahead = ahead == 2 ? 0 : ahead + 1;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const size_t at = (size_t)(blockIdx.y * 64 + wm + i * 16 + lane / 4) * n + blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2;
      *reinterpret_cast<__half2*>(c + at) = __floats2half2_rn(acc[i][j][0], acc[i][j][1]);
      *reinterpret_cast<__half2*>(c + at + (size_t)8 * n) = __floats2half2_rn(acc[i][j][2], acc[i][j][3]);
    }
}
extern "C" __global__ void __launch_bounds__(256) w8a8(const unsigned* a, const unsigned* b, const float* scale, float* c, int n, int k4) {
  __shared__ int sums[8][16][33];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4, tig = lane % 4;
  b += (size_t)blockIdx.x * 32 * k4;
  int acc[4][4] = {};
#pragma unroll 2
  for (int k = warp * 8; k < k4; k += 64) {
    const unsigned a0 = a[(size_t)row * k4 + k + tig], a1 = a[(size_t)(row + 8) * k4 + k + tig], a2 = a[(size_t)row * k4 + k + 4 + tig], a3 = a[(size_t)(row + 8) * k4 + k + 4 + tig];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned b0 = b[(size_t)(j * 8 + row) * k4 + k + tig], b1 = b[(size_t)(j * 8 + row) * k4 + k + 4 + tig];
      asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+r"(acc[j][0]), "+r"(acc[j][1]), "+r"(acc[j][2]), "+r"(acc[j][3])
                   : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[warp][row + i / 2 * 8][j * 8 + tig * 2 + i % 2] = acc[j][i];
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += 256) {
    int s = 0;
    for (int w = 0; w < 8; ++w) s += sums[w][i / 32][i % 32];
    c[(size_t)(i / 32) * n + blockIdx.x * 32 + i % 32] = s * scale[blockIdx.x * 32 + i % 32];
  }
}
