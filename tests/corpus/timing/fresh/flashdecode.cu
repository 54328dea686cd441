// Decode attention over a cache of signed bytes: four query heads share a head of keys, the tokens of a sequence are split over CTAs.
#include <cuda_fp16.h>
constexpr int kShare = 4;
extern "C" __global__ void __launch_bounds__(128) decode_split(const uint2* q, const char4* keys, const char4* values, const float* key_scale, const float* value_scale,
                                                               float* out, float2* stats, int length, int each, float scale) {
  __shared__ float sums[4][kShare][128], tops[4][kShare], totals[4][kShare];
  const int group = blockIdx.x, split = blockIdx.y, seq = blockIdx.z, groups = gridDim.x, splits = gridDim.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float qf[kShare][4], acc[kShare][4] = {}, top[kShare], total[kShare];
#pragma unroll
  for (int h = 0; h < kShare; ++h) {
    const uint2 w = q[((size_t)(seq * groups + group) * kShare + h) * 32 + lane];
    const float2 a = __half22float2(reinterpret_cast<const __half2&>(w.x)), b = __half22float2(reinterpret_cast<const __half2&>(w.y));
    qf[h][0] = a.x * scale, qf[h][1] = a.y * scale, qf[h][2] = b.x * scale, qf[h][3] = b.y * scale;
    top[h] = -INFINITY;
    total[h] = 0;
  }
  const size_t row = (size_t)(seq * groups + group) * length;
  const int first = split * each, last = min(first + each, length);
  for (int t = first + warp; t < last; t += 4) {
    const char4 k = keys[(row + t) * 32 + lane], v = values[(row + t) * 32 + lane];
    const float ks = fabsf(key_scale[row + t]) * 0.0078f, vs = fabsf(value_scale[row + t]) * 0.0078f;
#pragma unroll
    for (int h = 0; h < kShare; ++h) {
      float s = qf[h][0] * k.x + qf[h][1] * k.y + qf[h][2] * k.z + qf[h][3] * k.w;
#pragma unroll
      for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
      s *= ks;
      const float m = fmaxf(top[h], s), keep = __expf(top[h] - m), p = __expf(s - m);
      top[h] = m;
      total[h] = total[h] * keep + p;
      acc[h][0] = acc[h][0] * keep + p * vs * v.x;
      acc[h][1] = acc[h][1] * keep + p * vs * v.y;
      acc[h][2] = acc[h][2] * keep + p * vs * v.z;
      acc[h][3] = acc[h][3] * keep + p * vs * v.w;
    }
  }
#pragma unroll
  for (int h = 0; h < kShare; ++h) {
    *reinterpret_cast<float4*>(&sums[warp][h][lane * 4]) = make_float4(acc[h][0], acc[h][1], acc[h][2], acc[h][3]);
    if (lane == 0) tops[warp][h] = top[h], totals[warp][h] = total[h];
  }
  __syncthreads();
  for (int h = 0; h < kShare; ++h) {
    float m = tops[0][h], l = 0, s = 0;
    for (int w = 1; w < 4; ++w) m = fmaxf(m, tops[w][h]);
    for (int w = 0; w < 4; ++w) {
      const float f = __expf(tops[w][h] - m);
      l += totals[w][h] * f;
      s += sums[w][h][threadIdx.x] * f;
    }
    const size_t head = ((size_t)(seq * groups + group) * kShare + h) * splits + split;
    out[head * 128 + threadIdx.x] = s / l;
    if (threadIdx.x == 0) stats[head] = make_float2(m, l);
  }
}
