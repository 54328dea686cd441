// Dynamic programming: local alignment by antidiagonals, a CTA a pair of strings, and the most probable path of a hidden Markov model.
extern "C" __global__ void smith_waterman(const unsigned char* a, const unsigned char* b, int* score, int n) {
  __shared__ short h[3][258];
  __shared__ int best;
  const int t = threadIdx.x;
  for (int k = t; k < 3 * 258; k += blockDim.x) (&h[0][0])[k] = 0;
  if (t == 0) best = 0;
  __syncthreads();
  const unsigned char mine = a[blockIdx.x * blockDim.x + t] & 3;
  int top = 0;
  for (int d = 0; d < n + (int)blockDim.x - 1; ++d) {
    const int j = d - t;
    int v = 0;
    if (j >= 0 && j < n) {
      const int match = (b[blockIdx.x * n + j] & 3) == mine ? 3 : -2;
      v = max(max(0, h[(d + 1) % 3][t] + match), max(h[(d + 2) % 3][t] - 1, h[(d + 2) % 3][t + 1] - 1));
      top = max(top, v);
    }
    h[d % 3][t + 1] = v;
    __syncthreads();
  }
  atomicMax(&best, top);
  __syncthreads();
  if (t == 0) score[blockIdx.x] = best;
}
extern "C" __global__ void viterbi(const float* emit, const float* step, float* out, int steps) {
  __shared__ float p[2][64], w[64 * 65];
  const int s = threadIdx.x;
  for (int k = s; k < 64 * 64; k += 64) w[k / 64 * 65 + k % 64] = step[k];
  p[0][s] = emit[(size_t)blockIdx.x * steps * 64 + s];
  __syncthreads();
  for (int t = 1; t < steps; ++t) {
    float best = -1e30f;
    for (int k = 0; k < 64; ++k) best = fmaxf(best, p[(t - 1) & 1][k] + w[s * 65 + k]);
    p[t & 1][s] = best + emit[((size_t)blockIdx.x * steps + t) * 64 + s];
    __syncthreads();
  }
  out[blockIdx.x * 64 + s] = p[(steps - 1) & 1][s];
}
