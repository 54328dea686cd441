// Prices of options: the closed form, and a binomial tree in shared memory.
extern "C" __global__ void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put, float rate, float vol, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = price[i] + 1, k = strike[i] + 1, t = years[i] + 0.25f;
  const float root = vol * sqrtf(t), d1 = (logf(s / k) + (rate + 0.5f * vol * vol) * t) / root, d2 = d1 - root;
  const float n1 = normcdff(d1), n2 = normcdff(d2), e = k * expf(-rate * t);
  call[i] = s * n1 - e * n2;
  put[i] = e * (1 - n2) - s * (1 - n1);
}
extern "C" __global__ void binomial(const float* price, float* value, int steps) {
  __shared__ float v[2][257];
  const float s = price[blockIdx.x] + 1, up = 1.01f, down = 1 / 1.01f;
  int b = 0;
  v[0][threadIdx.x] = fmaxf(0, s * powf(up, 2.f * threadIdx.x - steps) - 1);
  if (threadIdx.x == 0) v[0][256] = 0;
  __syncthreads();
  for (int k = steps; k > 0; --k, b ^= 1) {
    if (threadIdx.x < k) v[b ^ 1][threadIdx.x] = 0.999f * (0.5f * v[b][threadIdx.x + 1] + 0.5f * v[b][threadIdx.x] * down * up);
    __syncthreads();
  }
  if (threadIdx.x == 0) value[blockIdx.x] = v[b][0];
}
