// Mixture of experts: the best two of 64 experts by a warp, the count of tokens, the copy of rows, and the choice of beams.
extern "C" __global__ void route_top2(const float* logit, float* weight, int* expert, int tokens) {
  const int t = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (t >= tokens) return;
  float a = logit[t * 64 + lane], b = logit[t * 64 + 32 + lane], m[2];
  int w[2];
  for (int r = 0; r < 2; ++r) {
    float v = fmaxf(a, b);
    int i = a >= b ? lane : lane + 32;
    for (int d = 16; d > 0; d >>= 1) {
      const float ov = __shfl_xor_sync(~0u, v, d);
      const int oi = __shfl_xor_sync(~0u, i, d);
      if (ov > v || (ov == v && oi < i)) { v = ov; i = oi; }
    }
    m[r] = v; w[r] = i;
    if (i == lane) a = -1e30f;
    if (i == lane + 32) b = -1e30f;
  }
  if (lane < 2) {
    const float e = __expf(m[1] - m[0]);
    weight[t * 2 + lane] = (lane ? e : 1.f) / (1.f + e);
    expert[t * 2 + lane] = lane ? w[1] : w[0];
  }
}
extern "C" __global__ void expert_slots(const unsigned* expert, int* count, int* slot, int n) {
  __shared__ int local[64], base[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x, e = i < n ? expert[i] & 63 : 0;
  const int mine = i < n ? atomicAdd(&local[e], 1) : 0;
  __syncthreads();
  if (threadIdx.x < 64) base[threadIdx.x] = atomicAdd(&count[threadIdx.x], local[threadIdx.x]);
  __syncthreads();
  if (i < n) slot[i] = base[e] + mine;
}
extern "C" __global__ void combine_two(const float4* rows, const float* weight, const unsigned* slot, float4* y, int w4, int mask) {
  const int t = blockIdx.x;
  const float a = weight[t * 2], b = weight[t * 2 + 1];
  const float4 *p = rows + (size_t)(slot[t * 2] & mask) * w4, *q = rows + (size_t)(slot[t * 2 + 1] & mask) * w4;
  for (int i = threadIdx.x; i < w4; i += blockDim.x) {
    const float4 u = p[i], v = q[i];
    y[(size_t)t * w4 + i] = make_float4(a * u.x + b * v.x, a * u.y + b * v.y, a * u.z + b * v.z, a * u.w + b * v.w);
  }
}
