// Matrix products with mma.sync: 128 x 128 tiles of bf16 with four stages in swizzled shared memory, and 64 x 128 tiles of e4m3.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void fetch16(unsigned to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory"); }
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void matrices(unsigned (&r)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void turned(unsigned (&r)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
// Bytes from the start of a tile to a chunk of 16 bytes, in rows of 64 and of 256 bytes.
__device__ __forceinline__ unsigned place64(int row, int chunk) { return row * 64 + ((chunk ^ (row >> 1 & 3)) << 4); }
__device__ __forceinline__ unsigned place256(int row, int chunk) { return row * 256 + ((chunk ^ (row & 7)) << 4); }
extern "C" __global__ void __launch_bounds__(256) gemm_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int n, int k) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr int kStages = 4, kA = 128 * 64, kStage = kA + 32 * 256;
  const unsigned base = shared_address(memory);
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, wm = warp / 4 * 64, wn = warp % 4 * 32, steps = k / 32;
  const __nv_bfloat16 *pa = a + (size_t)blockIdx.y * 128 * k, *pb = b + blockIdx.x * 128;
  auto fetch = [&](int stage, int step) {
    const unsigned to = base + stage * kStage;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int ra = t / 4 + 64 * i, ca = t % 4, rb = t / 16 + 16 * i, cb = t % 16;
      fetch16(to + place64(ra, ca), pa + (size_t)ra * k + step * 32 + ca * 8);
      fetch16(to + kA + place256(rb, cb), pb + (size_t)(step * 32 + rb) * n + cb * 8);
    }
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < steps) fetch(s, s);
    commit();
  }
  float acc[4][4][4] = {};
  for (int step = 0; step < steps; ++step) {
    wait<kStages - 2>();
    __syncthreads();
    const unsigned at = base + step % kStages * kStage;
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      unsigned fa[4][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) matrices(fa[i], at + place64(wm + i * 16 + lane % 16, kk * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; ++j) turned(fb[j], at + kA + place256(kk * 16 + lane % 16, wn / 8 + j * 2 + lane / 16));
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j / 2][j % 2 * 2]), "r"(fb[j / 2][j % 2 * 2 + 1]));
    }
    if (step + kStages - 1 < steps) fetch((step + kStages - 1) % kStages, step + kStages - 1);
    commit();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      __nv_bfloat16* to = c + (size_t)(blockIdx.y * 128 + wm + i * 16 + lane / 4) * n + blockIdx.x * 128 + wn + j * 8 + lane % 4 * 2;
      *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(acc[i][j][0], acc[i][j][1]);
      *reinterpret_cast<__nv_bfloat162*>(to + (size_t)8 * n) = __floats2bfloat162_rn(acc[i][j][2], acc[i][j][3]);
    }
}
extern "C" __global__ void __launch_bounds__(128) gemm_e4m3(const unsigned char* a, const unsigned char* b, __half* c, const float* scale, int n, int k) {
  constexpr int kStages = 3, kA = 64 * 64, kStage = kA + 128 * 64;
  __shared__ __align__(128) unsigned char memory[kStages * kStage];
  const unsigned base = shared_address(memory);
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, wm = warp / 2 * 32, wn = warp % 2 * 64, steps = k / 64;
  const unsigned char *pa = a + (size_t)blockIdx.y * 64 * k + t % 4 * 16, *pb = b + (size_t)blockIdx.x * 128 * k + t % 4 * 16;
  auto fetch = [&](int stage, int step) {
    const unsigned to = base + stage * kStage;
#pragma unroll
    for (int i = 0; i < 2; ++i) fetch16(to + place64(t / 4 + 32 * i, t % 4), pa + (size_t)(t / 4 + 32 * i) * k + step * 64);
#pragma unroll
    for (int i = 0; i < 4; ++i) fetch16(to + kA + place64(t / 4 + 32 * i, t % 4), pb + (size_t)(t / 4 + 32 * i) * k + step * 64);
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < steps) fetch(s, s);
    commit();
  }
  float acc[2][8][4] = {};
  for (int step = 0; step < steps; ++step) {
    wait<kStages - 2>();
    __syncthreads();
    if (step + kStages - 1 < steps) fetch((step + kStages - 1) % kStages, step + kStages - 1);
    commit();
    const unsigned at = base + step % kStages * kStage;
#pragma unroll
    for (int kk = 0; kk < 2; ++kk) {
      unsigned fa[2][4], fb[4][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) matrices(fa[i], at + place64(wm + i * 16 + lane % 16, kk * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < 4; ++j) matrices(fb[j], at + kA + place64(wn + j * 16 + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j / 2][j % 2 * 2]), "r"(fb[j / 2][j % 2 * 2 + 1]));
    }
  }
  const float s = scale[0];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      __half* to = c + (size_t)(blockIdx.y * 64 + wm + i * 16 + lane / 4) * n + blockIdx.x * 128 + wn + j * 8 + lane % 4 * 2;
      *reinterpret_cast<__half2*>(to) = __floats2half2_rn(acc[i][j][0] * s, acc[i][j][1] * s);
      *reinterpret_cast<__half2*>(to + (size_t)8 * n) = __floats2half2_rn(acc[i][j][2] * s, acc[i][j][3] * s);
    }
}
