// Rows by index: gather, scatter-add, and single words from random places.
extern "C" __global__ void gather_rows(const float4* table, const unsigned* index, float4* out, int cols4, unsigned mask) {
  const unsigned row = index[blockIdx.x] & mask;
  for (int i = threadIdx.x; i < cols4; i += blockDim.x) out[(size_t)blockIdx.x * cols4 + i] = table[(size_t)row * cols4 + i];
}
extern "C" __global__ void scatter_add(const float* x, const unsigned* index, float* table, int cols, unsigned mask) {
  const unsigned row = index[blockIdx.x] & mask;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) atomicAdd(table + (size_t)row * cols + i, x[(size_t)blockIdx.x * cols + i]);
}
extern "C" __global__ void gather_words(const float* table, const unsigned* index, float* out, int n, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i] & mask];
}
