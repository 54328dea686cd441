// Blocks of 8 x 8: a cosine transform with its coefficients in registers, and sums of absolute differences of two images.
__device__ void dct8(float* v) {
  float t[8];
  for (int k = 0; k < 4; ++k) { t[k] = v[k] + v[7 - k]; t[7 - k] = v[k] - v[7 - k]; }
  v[0] = 0.3535534f * (t[0] + t[1] + t[2] + t[3]);
  v[4] = 0.3535534f * (t[0] - t[1] - t[2] + t[3]);
  v[2] = 0.4619398f * (t[0] - t[3]) + 0.1913417f * (t[1] - t[2]);
  v[6] = 0.1913417f * (t[0] - t[3]) - 0.4619398f * (t[1] - t[2]);
  v[1] = 0.4903926f * t[7] + 0.4157348f * t[6] + 0.2777851f * t[5] + 0.0975452f * t[4];
  v[3] = 0.4157348f * t[7] - 0.0975452f * t[6] - 0.4903926f * t[5] - 0.2777851f * t[4];
  v[5] = 0.2777851f * t[7] - 0.4903926f * t[6] + 0.0975452f * t[5] + 0.4157348f * t[4];
  v[7] = 0.0975452f * t[7] - 0.2777851f * t[6] + 0.4157348f * t[5] - 0.4903926f * t[4];
}
extern "C" __global__ void dct_blocks(const float* x, float* y, int w) {
  __shared__ float s[32][9 * 8 + 1];
  const int b = threadIdx.x / 8, r = threadIdx.x % 8, block = blockIdx.x * 32 + b, per = w / 8;
  const size_t at = (size_t)(block / per * 8 + r) * w + block % per * 8;
  float v[8];
  for (int k = 0; k < 8; ++k) v[k] = x[at + k];
  dct8(v);
  for (int k = 0; k < 8; ++k) s[b][r * 9 + k] = v[k];
  __syncthreads();
  for (int k = 0; k < 8; ++k) v[k] = s[b][k * 9 + r];
  dct8(v);
  for (int k = 0; k < 8; ++k) y[at + k] = v[k];
}
extern "C" __global__ void differences(const unsigned* a, const unsigned* b, unsigned* out, int w4) {
  const int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y;
  unsigned best = ~0u;
  for (int d = 0; d < 4; ++d) {
    unsigned s = 0;
    for (int r = 0; r < 8; ++r)
      for (int k = 0; k < 2; ++k) s = __vsadu4(a[(by * 8 + r) * w4 + bx * 2 + k], b[(by * 8 + r) * w4 + min(bx * 2 + k + d, w4 - 1)]) + s;
    best = min(best, s * 4 + d);
  }
  out[by * gridDim.x * blockDim.x + bx] = best;
}
