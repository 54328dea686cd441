// Permutations of three axes: the last two through a tile, and the first with the last by a division for each element.
extern "C" __global__ void permute_021(const float* x, float* y, int b, int c) {
  __shared__ float t[32][33];
  const float* p = x + (size_t)blockIdx.z * b * c;
  float* q = y + (size_t)blockIdx.z * b * c;
  for (int r = threadIdx.y; r < 32; r += 8) t[r][threadIdx.x] = p[(blockIdx.y * 32 + r) * c + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) q[(blockIdx.x * 32 + r) * b + blockIdx.y * 32 + threadIdx.x] = t[threadIdx.x][r];
}
extern "C" __global__ void permute_102(const float4* x, float4* y, int a, int b, int c4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int k = i % c4, j = i / c4 % a, l = i / c4 / a;
  if (l < b) y[i] = x[(j * b + l) * c4 + k];
}
extern "C" __global__ void permute_210(const float* x, float* y, int a, int b, int c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a * b * c) return;
  const int k = i / (a * b), j = i / a % b, l = i % a;
  y[i] = x[(l * b + j) * c + k];
}
