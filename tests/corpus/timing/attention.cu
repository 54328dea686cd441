// Attention without tensor cores: a thread a query, keys and values by tiles in shared memory; and one new token against a cache of keys.
extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* o, int n) {
  __shared__ float ks[32][32], vs[32][32];
  const int row = blockIdx.x * 128 + threadIdx.x;
  const size_t head = (size_t)blockIdx.y * n * 32;
  float qr[32], acc[32] = {}, m = -3e38f, l = 0;
#pragma unroll
  for (int d = 0; d < 32; ++d) qr[d] = q[head + (size_t)row * 32 + d] * 0.17677669f;
  for (int t = 0; t < n; t += 32) {
    for (int i = threadIdx.x; i < 1024; i += 128) { (&ks[0][0])[i] = k[head + (size_t)t * 32 + i]; (&vs[0][0])[i] = v[head + (size_t)t * 32 + i]; }
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      float s = 0;
#pragma unroll
      for (int d = 0; d < 32; ++d) s += qr[d] * ks[j][d];
      const float top = fmaxf(m, s), f = __expf(m - top), p = __expf(s - top);
      l = l * f + p; m = top;
#pragma unroll
      for (int d = 0; d < 32; ++d) acc[d] = acc[d] * f + p * vs[j][d];
    }
    __syncthreads();
  }
#pragma unroll
  for (int d = 0; d < 32; ++d) o[head + (size_t)row * 32 + d] = acc[d] / l;
}
extern "C" __global__ void decode(const float4* q, const float4* k, const float4* v, float4* o, int n) {
  __shared__ float4 sum[4];
  __shared__ float part[4][2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const size_t head = (size_t)blockIdx.x * n * 32;
  const float4 a = q[blockIdx.x * 32 + lane];
  float4 acc = make_float4(0, 0, 0, 0);
  float m = -3e38f, l = 0;
  for (int t = warp; t < n; t += 4) {
    const float4 b = k[head + (size_t)t * 32 + lane];
    float s = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    const float top = fmaxf(m, s), f = __expf(m - top), p = __expf(s - top);
    const float4 c = v[head + (size_t)t * 32 + lane];
    acc = make_float4(acc.x * f + p * c.x, acc.y * f + p * c.y, acc.z * f + p * c.z, acc.w * f + p * c.w);
    l = l * f + p; m = top;
  }
  if (lane == 0) { part[warp][0] = m; part[warp][1] = l; }
  __syncthreads();
  float top = part[0][0], total = 0;
  for (int w = 1; w < 4; ++w) top = fmaxf(top, part[w][0]);
  for (int w = 0; w < 4; ++w) total += part[w][1] * __expf(part[w][0] - top);
  const float f = __expf(m - top) / total;
  for (int w = 0; w < 4; ++w) {
    if (warp == w) {
      float4 r = make_float4(acc.x * f, acc.y * f, acc.z * f, acc.w * f);
      float4* out = o + blockIdx.x * 32 + lane;
      if (w != 0) { const float4 b = *out; r = make_float4(r.x + b.x, r.y + b.y, r.z + b.z, r.w + b.w); }
      *out = r;
    }
    __syncthreads();
  }
  if (threadIdx.x < 4) sum[threadIdx.x] = acc;
}
