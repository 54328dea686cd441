// Sparse blocks: rows of 4 x 4 blocks by a vector, a warp a block row, and products of dense rows sampled at given places.
extern "C" __global__ void bsr_vector(const unsigned* cols, const float* blocks, const float* x, float* y, int rows, int each, unsigned mask) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, half = lane / 16, e = lane % 16;
  if (r >= rows) return;
  float s = 0;
  for (int k = half; k < each; k += 2) {
    const size_t b = (size_t)r * each + k;
    const unsigned c = cols[b] & mask;
    s += blocks[b * 16 + e] * x[c * 4 + e % 4];
  }
  s += __shfl_xor_sync(~0u, s, 1);
  s += __shfl_xor_sync(~0u, s, 2);
  s += __shfl_xor_sync(~0u, s, 16);
  if (half == 0 && e % 4 == 0) y[r * 4 + e / 4] = s;
}
extern "C" __global__ void sampled_product(const float4* a, const float4* b, const unsigned* cols, const float* values, float* out, int each, unsigned mask) {
  const int z = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  const float4 *p = a + (size_t)(z / each) * 16, *q = b + (size_t)(cols[z] & mask) * 16;
  float s = 0;
#pragma unroll
  for (int k = lane; k < 16; k += 8) {
    const float4 u = p[k], v = q[k];
    s += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
#pragma unroll
  for (int d = 4; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (lane == 0) out[z] = s * values[z];
}
