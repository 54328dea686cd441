// NVFP4: A, B e2m1, two per byte, one ue4m3 factor per 16 elements along K; the epilogue applies the factor of the whole tensors,
// alpha, and stores bf16.
#include <cuda_bf16.h>

#include "block_scaled.cuh"

struct Nvf4 {
  static constexpr int kTileK = 2 * kRowBytes, kScaleBlocks = 4;
  // An MMA of 64 elements takes all four factors of its own block's words.
  static __device__ constexpr int block_of(int j) { return j; }
  static __device__ constexpr uint32_t instruction(int) {
    constexpr uint32_t kE2m1 = 1;
    return kE2m1 << 7 | kE2m1 << 10 | (kTileN >> 3) << 17 | (kTileM >> 7) << 27;
  }
  static __device__ void mma(uint32_t d, uint64_t a, uint64_t b, uint32_t idesc, uint32_t scale_a, uint32_t scale_b, bool accumulate) {
    ptx::mma_mxf4nvf4(d, a, b, idesc, scale_a, scale_b, accumulate);
  }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_nvf4(const __grid_constant__ ptx::TensorMap a, const __grid_constant__ ptx::TensorMap b, const unsigned char* scale_a,
              const unsigned char* scale_b, float alpha, __nv_bfloat16* d, int n, int k) {
  __nv_bfloat16* row = d + static_cast<size_t>(blockIdx.y * kTileM + threadIdx.x) * n + blockIdx.x * kTileN;
  block_scaled_tile<Nvf4>({&a, &b, scale_a, scale_b}, k / Nvf4::kTileK, [&](int c, const float(&v)[16]) {
    for (int i = 0; i < 16; i += 2) *reinterpret_cast<__nv_bfloat162*>(row + c + i) = __floats2bfloat162_rn(alpha * v[i], alpha * v[i + 1]);
  });
}
