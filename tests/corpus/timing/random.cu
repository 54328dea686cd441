// Random numbers: Philox words, normal values, and dropout by a counter.
__device__ uint4 philox(unsigned c, unsigned key) {
  unsigned x = c, y = 0, z = 7, w = 1, k0 = key, k1 = 0x1234567;
#pragma unroll
  for (int i = 0; i < 10; ++i) {
    const unsigned h0 = __umulhi(0xD2511F53u, x), l0 = 0xD2511F53u * x, h1 = __umulhi(0xCD9E8D57u, z), l1 = 0xCD9E8D57u * z;
    x = h1 ^ y ^ k0; y = l1; z = h0 ^ w ^ k1; w = l0;
    k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
  }
  return make_uint4(x, y, z, w);
}
extern "C" __global__ void philox_words(uint4* out, int n, unsigned key) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = philox(i, key);
}
extern "C" __global__ void philox_normal(float4* out, int n, unsigned key) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint4 r = philox(i, key);
    const float a = sqrtf(-2 * __logf((r.x + 0.5f) * 2.3283064e-10f)), b = sqrtf(-2 * __logf((r.z + 0.5f) * 2.3283064e-10f));
    float s, c, u, v;
    __sincosf(6.2831853f * r.y * 2.3283064e-10f, &s, &c); __sincosf(6.2831853f * r.w * 2.3283064e-10f, &u, &v);
    out[i] = make_float4(a * s, a * c, b * u, b * v);
  }
}
extern "C" __global__ void dropout(const float4* x, float4* y, int n, unsigned key) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint4 r = philox(i, key);
  const float4 v = x[i];
  y[i] = make_float4(r.x < 0x80000000u ? 0 : 2 * v.x, r.y < 0x80000000u ? 0 : 2 * v.y, r.z < 0x80000000u ? 0 : 2 * v.z, r.w < 0x80000000u ? 0 : 2 * v.w);
}
