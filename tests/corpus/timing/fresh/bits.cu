// Bits: products of binary matrices by exclusive or and counts, and matrices of 32 x 32 bits transposed by shuffles.
extern "C" __global__ void __launch_bounds__(256) xnor_gemm(const uint4* a, const uint4* b, int* c, int n, int k128) {
  __shared__ unsigned as[64][17], bs[64][17];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  a += (size_t)blockIdx.y * 64 * k128;
  b += (size_t)blockIdx.x * 64 * k128;
  int acc[4][4] = {};
  for (int k = 0; k < k128; k += 4) {
    const uint4 u = a[(size_t)(t / 4) * k128 + k + t % 4], v = b[(size_t)(t / 4) * k128 + k + t % 4];
    unsigned *pa = &as[t / 4][t % 4 * 4], *pb = &bs[t / 4][t % 4 * 4];
    pa[0] = u.x, pa[1] = u.y, pa[2] = u.z, pa[3] = u.w;
    pb[0] = v.x, pb[1] = v.y, pb[2] = v.z, pb[3] = v.w;
    __syncthreads();
#pragma unroll 4
    for (int w = 0; w < 16; ++w) {
      unsigned p[4], q[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) { p[i] = as[ty + 16 * i][w]; q[i] = bs[tx + 16 * i][w]; }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += __popc(p[i] ^ q[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) c[(size_t)(blockIdx.y * 64 + ty + 16 * i) * n + blockIdx.x * 64 + tx + 16 * j] = k128 * 128 - 2 * acc[i][j];
}
extern "C" __global__ void bit_transpose(const unsigned* x, unsigned* y, int matrices) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * (blockDim.x / 32);
  for (int m = (blockIdx.x * blockDim.x + threadIdx.x) / 32; m < matrices; m += warps) {
    unsigned v = x[(size_t)m * 32 + lane];
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      const int d = 16 >> k;
      const unsigned low = k == 0 ? 0x0000ffffu : k == 1 ? 0x00ff00ffu : k == 2 ? 0x0f0f0f0fu : k == 3 ? 0x33333333u : 0x55555555u;
      const unsigned o = __shfl_xor_sync(~0u, v, d);
      v = lane & d ? (v & ~low) | (o >> d & low) : (v & low) | (o << d & ~low);
    }
    y[(size_t)m * 32 + lane] = v;
  }
}
