// Rotary embedding: halves of a head in float, pairs in bf16 with the append to a cache.
#include <cuda_bf16.h>
extern "C" __global__ void rope_halves(float* q, const float* cosines, const float* sines, int heads, int dim) {
  const int token = blockIdx.x, half = dim / 2;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    const int head = i / half, d = i % half;
    float* p = q + ((size_t)token * heads + head) * dim;
    const float c = cosines[token * half + d], s = sines[token * half + d], a = p[d], b = p[d + half];
    p[d] = a * c - b * s;
    p[d + half] = b * c + a * s;
  }
}
extern "C" __global__ void rope_angles(float2* q, int pairs, float step) {
  const int token = blockIdx.x;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float s, c;
    __sincosf(token * exp2f(-step * (i & 63)), &s, &c);
    const float2 v = q[(size_t)token * pairs + i];
    q[(size_t)token * pairs + i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
  }
}
extern "C" __global__ void rope_append(const __nv_bfloat162* k, const __nv_bfloat162* v, const float* cosines, const float* sines, __nv_bfloat162* cache,
                                       const unsigned* slot, int heads) {
  const int token = blockIdx.x, lane = threadIdx.x;
  const size_t place = (size_t)(slot[token] & 2047) * heads * 128;
  for (int h = threadIdx.y; h < heads; h += blockDim.y) {
    const size_t from = ((size_t)token * heads + h) * 64 + lane;
    const float2 a = __bfloat1622float2(k[from]);
    const float c = cosines[token * 64 + lane], s = sines[token * 64 + lane];
    cache[place + h * 128 + lane] = __floats2bfloat162_rn(a.x * c - a.y * s, a.x * s + a.y * c);
    cache[place + h * 128 + 64 + lane] = v[from];
  }
}
