// Transposes of float matrices: straight, through shared memory, and with 16-byte accesses.
extern "C" __global__ void transpose_naive(const float* in, float* out, int n, int m) {
  const int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(size_t)c * n + r0 + j] = in[(size_t)(r0 + j) * m + c];
}
extern "C" __global__ void transpose_tiled(const float* in, float* out, int n, int m) {
  __shared__ float t[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) t[threadIdx.y + j][threadIdx.x] = in[(size_t)(r + j) * m + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(size_t)(r + j) * n + c] = t[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_conflicts(const float* in, float* out, int n, int m) {
  __shared__ float t[32][32];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) t[threadIdx.y + j][threadIdx.x] = in[(size_t)(r + j) * m + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(size_t)(r + j) * n + c] = t[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_float4(const float4* in, float4* out, int n, int m) {
  __shared__ float t[64][65];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  for (int j = 0; j < 64; j += 16) {
    const float4 v = in[((size_t)(blockIdx.y * 64 + y + j) * m + blockIdx.x * 64) / 4 + x];
    t[y + j][4 * x] = v.x; t[y + j][4 * x + 1] = v.y; t[y + j][4 * x + 2] = v.z; t[y + j][4 * x + 3] = v.w;
  }
  __syncthreads();
  for (int j = 0; j < 64; j += 16)
    out[((size_t)(blockIdx.x * 64 + y + j) * n + blockIdx.y * 64) / 4 + x] = make_float4(t[4 * x][y + j], t[4 * x + 1][y + j], t[4 * x + 2][y + j], t[4 * x + 3][y + j]);
}
