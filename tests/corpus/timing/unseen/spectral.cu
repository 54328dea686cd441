// Fourier transforms: 1024 points a CTA in five radix-4 passes with a table of twiddles, and 64 points a warp by shuffles.
__device__ __forceinline__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
extern "C" __global__ void __launch_bounds__(256) fft1024(const float2* x, const float2* twiddle, float2* y) {
  __shared__ float re[1024], im[1024];
  const int j = threadIdx.x;
  x += (size_t)blockIdx.x * 1024;
  y += (size_t)blockIdx.x * 1024;
  float2 v[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) v[r] = x[j + r * 256];
#pragma unroll
  for (int ns = 1; ns < 1024; ns *= 4) {
    const int k = j & (ns - 1);
    if (ns > 1)
#pragma unroll
      for (int r = 1; r < 4; ++r) v[r] = times(v[r], __ldg(twiddle + r * k * (256 / ns)));
    const float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    const float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    v[0] = make_float2(a.x + c.x, a.y + c.y);
    v[1] = make_float2(b.x + d.x, b.y + d.y);
    v[2] = make_float2(a.x - c.x, a.y - c.y);
    v[3] = make_float2(b.x - d.x, b.y - d.y);
    if (ns < 256) {
      const int to = (j - k) * 4 + k;
      if (ns > 1) __syncthreads();
#pragma unroll
      for (int r = 0; r < 4; ++r) { re[to + r * ns] = v[r].x; im[to + r * ns] = v[r].y; }
      __syncthreads();
#pragma unroll
      for (int r = 0; r < 4; ++r) v[r] = make_float2(re[j + r * 256], im[j + r * 256]);
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) y[j + r * 256] = v[r];
}
extern "C" __global__ void fft64_warp(const float2* x, float2* y, int count) {
  const int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (w >= count) return;
  float2 a = x[(size_t)w * 64 + lane], b = x[(size_t)w * 64 + 32 + lane];
  float s, c;
  __sincosf(-0.09817477f * lane, &s, &c);
  const float2 d = make_float2(a.x - b.x, a.y - b.y);
  a = make_float2(a.x + b.x, a.y + b.y);
  b = times(d, make_float2(c, s));
#pragma unroll
  for (int n = 16; n > 0; n >>= 1) {
    const bool high = lane & n;
    __sincosf(-3.14159265f / n * (lane & (n - 1)), &s, &c);
    const float2 t = high ? make_float2(c, s) : make_float2(1, 0);
    const float sign = high ? -1.f : 1.f;
    const float2 p = make_float2(__shfl_xor_sync(~0u, a.x, n), __shfl_xor_sync(~0u, a.y, n)), q = make_float2(__shfl_xor_sync(~0u, b.x, n), __shfl_xor_sync(~0u, b.y, n));
    a = times(make_float2(fmaf(sign, a.x, p.x), fmaf(sign, a.y, p.y)), t);
    b = times(make_float2(fmaf(sign, b.x, q.x), fmaf(sign, b.y, q.y)), t);
  }
  const int k = __brev(lane) >> 26;
  y[(size_t)w * 64 + k] = a;
  y[(size_t)w * 64 + k + 1] = b;
}
