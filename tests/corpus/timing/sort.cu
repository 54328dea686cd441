// Sorting inside CTAs: bitonic in shared memory, and one pass of a radix sort by ballots.
extern "C" __global__ void bitonic(unsigned* x) {
  __shared__ unsigned t[1024];
  const int b = blockIdx.x * 1024;
  t[threadIdx.x] = x[b + threadIdx.x]; t[threadIdx.x + 512] = x[b + threadIdx.x + 512];
  for (int k = 2; k <= 1024; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      const int i = 2 * threadIdx.x - (threadIdx.x & (j - 1)), o = i + j;
      const unsigned a = t[i], c = t[o];
      if ((a > c) == ((i & k) == 0)) { t[i] = c; t[o] = a; }
    }
  __syncthreads();
  x[b + threadIdx.x] = t[threadIdx.x]; x[b + threadIdx.x + 512] = t[threadIdx.x + 512];
}
extern "C" __global__ void radix_pass(const unsigned* in, unsigned* out, int shift) {
  __shared__ unsigned count[16][9], keys[256];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned key = in[blockIdx.x * 256 + threadIdx.x], digit = key >> shift & 15;
  unsigned same = ~0u;
  for (int b = 0; b < 4; ++b) { const unsigned v = __ballot_sync(~0u, digit >> b & 1); same &= digit >> b & 1 ? v : ~v; }
  if (threadIdx.x < 144) (&count[0][0])[threadIdx.x] = 0;
  __syncthreads();
  const unsigned before = __popc(same & ((1u << lane) - 1));
  if (before == 0) count[digit][warp] = __popc(same);
  __syncthreads();
  if (threadIdx.x == 0) { unsigned s = 0; for (int d = 0; d < 16; ++d) for (int w = 0; w < 8; ++w) { const unsigned c = count[d][w]; count[d][w] = s; s += c; } }
  __syncthreads();
  keys[count[digit][warp] + before] = key;
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = keys[threadIdx.x];
}
