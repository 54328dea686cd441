// Parts of a training step: AdamW on bf16 weights with f32 masters, and the gradient through a bias and GELU with the bias's own gradient.
#include <cuda_bf16.h>
struct alignas(16) Eight { __nv_bfloat162 pair[4]; };
__device__ __forceinline__ void adamw_one(float& w, float& m, float& v, float g, float lr, float beta1, float beta2, float eps, float decay, float fix1, float fix2) {
  m = beta1 * m + (1.f - beta1) * g;
  v = beta2 * v + (1.f - beta2) * g * g;
  const float update = (m * fix1) / (sqrtf(v * fix2) + eps);
  w -= lr * (update + decay * w);
}
extern "C" __global__ void adamw_mixed(Eight* weights, float4* masters, const Eight* grads, float4* firsts, float4* seconds, const float* norm, float lr, float beta1, float beta2,
                                       float eps, float decay, float fix1, float fix2, int n8) {
  const float total = fabsf(norm[0]) + 0.5f, clip = total > 1.f ? 1.f / total : 1.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n8; i += gridDim.x * blockDim.x) {
    const Eight g8 = grads[i];
    Eight w8;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float4 w = masters[2 * i + h], m = firsts[2 * i + h], v = seconds[2 * i + h];
      const float2 ga = __bfloat1622float2(g8.pair[2 * h]), gb = __bfloat1622float2(g8.pair[2 * h + 1]);
      adamw_one(w.x, m.x, v.x, ga.x * clip, lr, beta1, beta2, eps, decay, fix1, fix2);
      adamw_one(w.y, m.y, v.y, ga.y * clip, lr, beta1, beta2, eps, decay, fix1, fix2);
      adamw_one(w.z, m.z, v.z, gb.x * clip, lr, beta1, beta2, eps, decay, fix1, fix2);
      adamw_one(w.w, m.w, v.w, gb.y * clip, lr, beta1, beta2, eps, decay, fix1, fix2);
      masters[2 * i + h] = w;
      firsts[2 * i + h] = m;
      seconds[2 * i + h] = v;
      w8.pair[2 * h] = __floats2bfloat162_rn(w.x, w.y);
      w8.pair[2 * h + 1] = __floats2bfloat162_rn(w.z, w.w);
    }
    weights[i] = w8;
  }
}
__device__ __forceinline__ float gelu_slope(float x) {
  const float t = tanhf(0.7978845608f * (x + 0.044715f * x * x * x));
  return 0.5f * (1.f + t) + 0.5f * x * (1.f - t * t) * 0.7978845608f * (1.f + 0.134145f * x * x);
}
extern "C" __global__ void __launch_bounds__(256) bias_gelu_back(const __nv_bfloat162* x, const float2* bias, const __nv_bfloat162* dy, __nv_bfloat162* dx, float* dbias, int cols2, int rows_each) {
  __shared__ float2 part[8][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, col = blockIdx.x * 32 + lane;
  const float2 b = bias[col];
  float2 sum = make_float2(0.f, 0.f);
  for (int r = warp; r < rows_each; r += 8) {
    const size_t at = (size_t)(blockIdx.y * rows_each + r) * cols2 + col;
    const float2 v = __bfloat1622float2(x[at]), d = __bfloat1622float2(dy[at]);
    const float2 g = make_float2(d.x * gelu_slope(v.x + b.x), d.y * gelu_slope(v.y + b.y));
    dx[at] = __floats2bfloat162_rn(g.x, g.y);
    sum.x += g.x;
    sum.y += g.y;
  }
  part[warp][lane] = sum;
  __syncthreads();
  if (threadIdx.x < 64) {
    float s = 0;
    for (int w = 0; w < 8; ++w) s += threadIdx.x % 2 ? part[w][threadIdx.x / 2].y : part[w][threadIdx.x / 2].x;
    atomicAdd(&dbias[blockIdx.x * 64 + threadIdx.x], s);
  }
}
