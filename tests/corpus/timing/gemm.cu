// Matrix products: float by tiles of 32 in shared memory, float with 8 x 8 a thread, half by mma through wmma.
#include <mma.h>
#include <cuda_fp16.h>
extern "C" __global__ void gemm_tile32(const float* a, const float* b, float* c, int n) {
  __shared__ float s[32][32], t[32][32];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
  float acc = 0;
  for (int k = 0; k < n; k += 32) {
    s[y][x] = a[(size_t)row * n + k + x]; t[y][x] = b[(size_t)(k + y) * n + col];
    __syncthreads();
    for (int i = 0; i < 32; ++i) acc += s[y][i] * t[i][x];
    __syncthreads();
  }
  c[(size_t)row * n + col] = acc;
}
extern "C" __global__ void gemm_8x8(const float* a, const float* b, float* c, int n) {
  __shared__ float s[8][128], t[8][128];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  float acc[8][8] = {};
  for (int k = 0; k < n; k += 8) {
    const float4 v = *(const float4*)(a + (size_t)(blockIdx.y * 128 + threadIdx.x / 2) * n + k + threadIdx.x % 2 * 4);
    const float4 w = *(const float4*)(b + (size_t)(k + threadIdx.x / 32) * n + blockIdx.x * 128 + threadIdx.x % 32 * 4);
    const int kk = threadIdx.x % 2 * 4, r = threadIdx.x / 2;
    s[kk][r] = v.x; s[kk + 1][r] = v.y; s[kk + 2][r] = v.z; s[kk + 3][r] = v.w;
    *(float4*)&t[threadIdx.x / 32][threadIdx.x % 32 * 4] = w;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float p[8], q[8];
      *(float4*)p = *(float4*)&s[i][y * 4]; *(float4*)(p + 4) = *(float4*)&s[i][64 + y * 4];
      *(float4*)q = *(float4*)&t[i][x * 4]; *(float4*)(q + 4) = *(float4*)&t[i][64 + x * 4];
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int l = 0; l < 8; ++l) acc[j][l] += p[j] * q[l];
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; ++j)
    for (int l = 0; l < 8; l += 4)
      *(float4*)(c + (size_t)(blockIdx.y * 128 + (j / 4) * 64 + y * 4 + j % 4) * n + blockIdx.x * 128 + (l / 4) * 64 + x * 4) = make_float4(acc[j][l], acc[j][l + 1], acc[j][l + 2], acc[j][l + 3]);
}
extern "C" __global__ void gemm_wmma(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  __shared__ __half s[64][40], t[32][72];
  const int warp = threadIdx.x / 32, wy = warp / 2, wx = warp % 2;
  fragment<accumulator, 16, 16, 16, float> acc[2][2];
  for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) fill_fragment(acc[i][j], 0.0f);
  for (int k = 0; k < n; k += 32) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      *(uint4*)&s[i / 4][i % 4 * 8] = *(const uint4*)(a + (size_t)(blockIdx.y * 64 + i / 4) * n + k + i % 4 * 8);
      *(uint4*)&t[i / 8][i % 8 * 8] = *(const uint4*)(b + (size_t)(k + i / 8) * n + blockIdx.x * 64 + i % 8 * 8);
    }
    __syncthreads();
    for (int kk = 0; kk < 32; kk += 16) {
      fragment<matrix_a, 16, 16, 16, __half, row_major> fa[2];
      fragment<matrix_b, 16, 16, 16, __half, row_major> fb[2];
      for (int i = 0; i < 2; ++i) { load_matrix_sync(fa[i], &s[wy * 32 + i * 16][kk], 40); load_matrix_sync(fb[i], &t[kk][wx * 32 + i * 16], 72); }
      for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j)
    store_matrix_sync(c + (size_t)(blockIdx.y * 64 + wy * 32 + i * 16) * n + blockIdx.x * 64 + wx * 32 + j * 16, acc[i][j], n, mem_row_major);
}
