// A paged cache of keys and values in half precision: tokens appended to pages, and one query a sequence against its pages.
#include <cuda_fp16.h>
extern "C" __global__ void append_pages(const uint4* k, const uint4* v, uint4* keys, uint4* values, const unsigned* salt, unsigned mask) {
  const unsigned token = blockIdx.x, page = ((token / 16 * 40503u) ^ salt[0]) & mask;
  const int head = threadIdx.y, lane = threadIdx.x;
  const size_t from = ((size_t)token * blockDim.y + head) * 16 + lane, to = (((size_t)page * blockDim.y + head) * 16 + token % 16) * 16 + lane;
  keys[to] = k[from];
  values[to] = v[from];
}
extern "C" __global__ void __launch_bounds__(128) paged_decode(const uint4* q, const uint4* keys, const uint4* values, const unsigned* table, float* out, int pages,
                                                               unsigned mask, float scale) {
  __shared__ float sums[4][128], tops[4], totals[4];
  const int head = blockIdx.x, heads = gridDim.x, seq = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = lane % 16, which = lane / 16;
  const uint4 mine = q[((size_t)seq * heads + head) * 16 + part];
  float2 qf[4], acc[4] = {};
  const __half2* qh = reinterpret_cast<const __half2*>(&mine);
#pragma unroll
  for (int i = 0; i < 4; ++i) qf[i] = __half22float2(qh[i]);
  float top = -1e30f, total = 0;
  for (int p = warp; p < pages; p += 4) {
    const unsigned page = table[(size_t)seq * pages + p] & mask;
    const uint4 *kp = keys + ((size_t)page * heads + head) * 256, *vp = values + ((size_t)page * heads + head) * 256;
#pragma unroll 4
    for (int t = which; t < 16; t += 2) {
      const uint4 kw = kp[t * 16 + part], vw = vp[t * 16 + part];
      const __half2 *kh = reinterpret_cast<const __half2*>(&kw), *vh = reinterpret_cast<const __half2*>(&vw);
      float s = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 f = __half22float2(kh[i]);
        s += qf[i].x * f.x + qf[i].y * f.y;
      }
#pragma unroll
      for (int d = 8; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
      s *= scale;
      const float m = fmaxf(top, s), keep = exp2f(top - m), e = exp2f(s - m);
      total = total * keep + e;
      top = m;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 f = __half22float2(vh[i]);
        acc[i].x = acc[i].x * keep + e * f.x;
        acc[i].y = acc[i].y * keep + e * f.y;
      }
    }
  }
  const float other = __shfl_xor_sync(~0u, top, 16), m = fmaxf(top, other), keep = exp2f(top - m);
  total *= keep;
  total += __shfl_xor_sync(~0u, total, 16);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    acc[i].x *= keep;
    acc[i].y *= keep;
    acc[i].x += __shfl_xor_sync(~0u, acc[i].x, 16);
    acc[i].y += __shfl_xor_sync(~0u, acc[i].y, 16);
    if (which == 0) { sums[warp][part * 8 + 2 * i] = acc[i].x; sums[warp][part * 8 + 2 * i + 1] = acc[i].y; }
  }
  if (lane == 0) { tops[warp] = m; totals[warp] = total; }
  __syncthreads();
  const float high = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
  float a = 0, t = 0;
  for (int w = 0; w < 4; ++w) {
    const float f = exp2f(tops[w] - high);
    a += f * sums[w][threadIdx.x];
    t += f * totals[w];
  }
  out[((size_t)seq * heads + head) * 128 + threadIdx.x] = a / t;
}
