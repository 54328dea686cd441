// Launches of a microsecond: what a CTA's first parameter, load, chain of loads, sum and store add to them, from one CTA to two on each SM.
// Each CTA works on its own part; nothing is done for `i >= n`, and nothing is stored by the loads alone.
// nvcc -arch=compute_90 -ptx
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x
extern "C" __global__ void empty(float* y, const float* x, unsigned n) {}
extern "C" __global__ void guard(float* y, const float* x, unsigned n) { INDEX; if (i < n) return; y[i] = 1; }
extern "C" __global__ void st_one(float* y, const float* x, unsigned n) { if (threadIdx.x == 0 && blockIdx.x == 0) y[0] = 1; }
extern "C" __global__ void st_all(float* y, const float* x, unsigned n) { INDEX; if (i < n) y[i] = 1; }
extern "C" __global__ void ld_one(float* y, const float* x, unsigned n) { INDEX; if (i < n) { float v = x[0]; if (v == 12345.f) y[i] = v; } }
extern "C" __global__ void ld_own(float* y, const float* x, unsigned n) { INDEX; if (i < n) { float v = x[i]; if (v == 12345.f) y[i] = v; } }
extern "C" __global__ void ld_page(float* y, const float* x, unsigned n) { INDEX; if (i < n) { float v = x[(blockIdx.x << 15) + threadIdx.x]; if (v == 12345.f) y[i] = v; } }
extern "C" __global__ void copy(float* y, const float* x, unsigned n) { INDEX; if (i < n) y[i] = x[i]; }
extern "C" __global__ void inplace(float* y, const float* x, unsigned n) { INDEX; if (i < n) y[i] = y[i] * 2.f; }
extern "C" __global__ void add3(float* y, const float* x, unsigned n) { INDEX; if (i < n) y[i] = y[i] + x[i] * x[i + n]; }
extern "C" __global__ void chain(float* y, const unsigned* x, unsigned n) { INDEX; if (i < n) { unsigned a = x[i] & 1023; unsigned b = x[a] & 1023; y[i] = x[b + 1]; } }
extern "C" __global__ void block_sum(float* y, const float* x, unsigned n) {
  __shared__ float s[32]; INDEX; float v = i < n ? x[i] : 0.f;
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) { v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0.f; for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d); if (threadIdx.x == 0) y[blockIdx.x] = v; }
}
