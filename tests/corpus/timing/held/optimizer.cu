// Steps of optimizers: Adam by element and by four, momentum, and the squared norm of a gradient.
extern "C" __global__ void adam(float* w, const float* g, float* m, float* v, int n, float lr, float c1, float c2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = g[i], p = 0.9f * m[i] + 0.1f * a, q = 0.999f * v[i] + 0.001f * a * a;
  m[i] = p;
  v[i] = q;
  w[i] -= lr * ((p / c1) / (sqrtf(fabsf(q) / c2) + 1e-8f) + 0.01f * w[i]);
}
extern "C" __global__ void adam4(float4* w, const float4* g, float4* m, float4* v, int n4, float lr) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 a = g[i], p = m[i], q = v[i], x = w[i];
    float *A = &a.x, *P = &p.x, *Q = &q.x, *X = &x.x;
    for (int k = 0; k < 4; ++k) {
      P[k] = 0.9f * P[k] + 0.1f * A[k];
      Q[k] = 0.999f * Q[k] + 0.001f * A[k] * A[k];
      X[k] -= lr * P[k] * rsqrtf(fabsf(Q[k]) + 1e-8f);
    }
    m[i] = p; v[i] = q; w[i] = x;
  }
}
extern "C" __global__ void momentum(float* w, const float* g, float* m, int n, float lr) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  for (int i = first; i < first + 2 && i < n; ++i) {
    m[i] = 0.9f * m[i] + g[i];
    w[i] -= lr * m[i];
  }
}
