// Integral images: sums along rows of bytes with a scan a CTA, then along columns in place.
extern "C" __global__ void __launch_bounds__(256) integral_rows(const unsigned* in, uint4* out, int w4) {
  __shared__ unsigned part[8];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned carry = 0;
  for (int first = 0; first < w4; first += 256) {
    const int i = first + t;
    const unsigned v = i < w4 ? in[(size_t)blockIdx.x * w4 + i] : 0;
    const unsigned a = v & 255, b = a + (v >> 8 & 255), c = b + (v >> 16 & 255), d = c + (v >> 24);
    unsigned n = d;
#pragma unroll
    for (int k = 1; k < 32; k *= 2) {
      const unsigned o = __shfl_up_sync(~0u, n, k);
      if (lane >= k) n += o;
    }
    if (lane == 31) part[warp] = n;
    __syncthreads();
    unsigned before = carry + n - d, all = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      if (w < warp) before += part[w];
      all += part[w];
    }
    carry += all;
    if (i < w4) out[(size_t)blockIdx.x * w4 + i] = make_uint4(before + a, before + b, before + c, before + d);
    __syncthreads();
  }
}
extern "C" __global__ void integral_columns(unsigned* sums, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  unsigned s = 0;
#pragma unroll 8
  for (int y = 0; y < h; ++y) {
    s += sums[(size_t)y * w + x];
    sums[(size_t)y * w + x] = s;
  }
}
