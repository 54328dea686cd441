// Recurrent networks: the gates of an LSTM cell, and a linear recurrence over time, a thread a channel.
__device__ float gate(float x) { return 1 / (1 + __expf(-x)); }
extern "C" __global__ void lstm_cell(const float* z, float* c, float* h, int width, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* p = z + (size_t)(i / width) * 4 * width + i % width;
  const float f = gate(p[0]), g = gate(p[width]), o = gate(p[2 * width]), u = tanhf(p[3 * width]);
  const float s = f * c[i] + g * u;
  c[i] = s;
  h[i] = o * tanhf(s);
}
extern "C" __global__ void recurrence(const float* a, const float* x, float* y, int channels, int steps) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t base = (size_t)blockIdx.y * channels * steps + c;
  float s = 0;
  for (int t = 0; t < steps; ++t) {
    s = a[base + (size_t)t * channels] * s + x[base + (size_t)t * channels];
    y[base + (size_t)t * channels] = s;
  }
}
