// Sampling: paths of a random walk, a token by the sum of probabilities, and rejection in a disc.
__device__ unsigned xorshift(unsigned& s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
extern "C" __global__ void walks(float* out, float drift, float vol, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = i * 747796405u + 1;
  float v = 0;
  for (int t = 0; t < steps; ++t) {
    const float a = (xorshift(s) >> 8) * 5.9604645e-8f + 1e-7f, b = (xorshift(s) >> 8) * 5.9604645e-8f;
    v += drift + vol * sqrtf(-2 * __logf(a)) * __cosf(6.2831853f * b);
  }
  out[i] = expf(v);
}
extern "C" __global__ void draw_token(const float* p, const float* u, int* token, int n) {
  __shared__ float sums[256];
  const float* row = p + (size_t)blockIdx.x * n;
  const int per = n / 256, t = threadIdx.x;
  float s = 0;
  for (int k = 0; k < per; ++k) s += fabsf(row[k * 256 + t]);
  sums[t] = s;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const float o = t >= d ? sums[t - d] : 0;
    __syncthreads();
    sums[t] += o;
    __syncthreads();
  }
  const float goal = fabsf(u[blockIdx.x]) * 0.5f * sums[255], low = t ? sums[t - 1] : 0;
  if (low <= goal && goal < sums[t]) token[blockIdx.x] = t;
}
extern "C" __global__ void disc(unsigned* hits, int rounds) {
  unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 7, n = 0;
  for (int r = 0; r < rounds; ++r) {
    float x, y;
    do {
      x = (xorshift(s) >> 8) * 1.1920929e-7f - 1;
      y = (xorshift(s) >> 8) * 1.1920929e-7f - 1;
    } while (x * x + y * y > 1);
    n += x * y > 0;
  }
  hits[blockIdx.x * blockDim.x + threadIdx.x] = n;
}
