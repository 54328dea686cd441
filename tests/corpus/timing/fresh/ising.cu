// Half a sweep of the Ising model: spins of one colour are turned by Metropolis's rule from the spins of the other, four a thread.
__device__ __forceinline__ unsigned mixed(unsigned x) {
  x = x * 747796405u + 2891336453u;
  x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
  return x >> 22 ^ x;
}
extern "C" __global__ void ising_half(uchar4* mine, const unsigned char* other, int w4, int h, int colour, float beta, unsigned seed) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w4) return;
  const int w = 4 * w4, up = (y + h - 1) % h, down = (y + 1) % h, shift = (y + colour) % 2 ? 1 : -1;
  const uchar4 s = mine[y * w4 + x];
  unsigned char spin[4] = {s.x, s.y, s.z, s.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int i = 4 * x + k, side = (i + shift + w) % w;
    const int n = (other[y * w + i] & 1) + (other[y * w + side] & 1) + (other[up * w + i] & 1) + (other[down * w + i] & 1);
    const int field = (2 * n - 4) * ((spin[k] & 1) ? 1 : -1);
    const float u = (mixed((y * w + i) ^ seed) >> 8) * 5.9604645e-8f;
    if (u < __expf(-2.f * beta * field)) spin[k] ^= 1;
  }
  mine[y * w4 + x] = make_uchar4(spin[0], spin[1], spin[2], spin[3]);
}
