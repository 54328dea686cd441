// MX block scaling: A, B e4m3, one ue8m0 factor per 32 elements along K, D fp32.
#include "block_scaled.cuh"

struct Mxf8 {
  static constexpr int kTileK = kRowBytes, kScaleBlocks = 1;
  // Four MMAs of 32 elements share a block; MMA j takes factor j of each word.
  static __device__ constexpr int block_of(int) { return 0; }
  static __device__ constexpr uint32_t instruction(int j) {
    return static_cast<uint32_t>(j) << 4 | (kTileN >> 3) << 17 | 1u << 23 | (kTileM >> 7) << 27 | static_cast<uint32_t>(j) << 29;
  }
  static __device__ void mma(uint32_t d, uint64_t a, uint64_t b, uint32_t idesc, uint32_t scale_a, uint32_t scale_b, bool accumulate) {
    ptx::mma_mxf8f6f4(d, a, b, idesc, scale_a, scale_b, accumulate);
  }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_mxf8(const __grid_constant__ ptx::TensorMap a, const __grid_constant__ ptx::TensorMap b, const unsigned char* scale_a,
              const unsigned char* scale_b, float* d, int n, int k) {
  float* row = d + static_cast<size_t>(blockIdx.y * kTileM + threadIdx.x) * n + blockIdx.x * kTileN;
  block_scaled_tile<Mxf8>({&a, &b, scale_a, scale_b}, k / Mxf8::kTileK, [&](int c, const float(&v)[16]) {
    for (int i = 0; i < 16; i += 4) *reinterpret_cast<float4*>(row + c + i) = make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]);
  });
}
