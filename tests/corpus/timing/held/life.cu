// Game of life: a byte a cell from global memory, and 32 cells a word.
extern "C" __global__ void life_bytes(const unsigned char* a, unsigned char* b, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int l = (x + n - 1) & (n - 1), r = (x + 1) & (n - 1), u = ((y + n - 1) & (n - 1)) * n, d = ((y + 1) & (n - 1)) * n, m = y * n;
  const int s = (a[u + l] & 1) + (a[u + x] & 1) + (a[u + r] & 1) + (a[m + l] & 1) + (a[m + r] & 1) + (a[d + l] & 1) + (a[d + x] & 1) + (a[d + r] & 1);
  b[m + x] = s == 3 || (s == 2 && (a[m + x] & 1));
}
extern "C" __global__ void life_bits(const unsigned* a, unsigned* b, int w, int h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % w, y = i / w;
  if (y >= h) return;
  unsigned one = 0, two = 0, four = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = a + ((y + dy + h) % h) * w;
    const unsigned c = row[x], l = row[(x + w - 1) % w], r = row[(x + 1) % w];
    const unsigned v[3] = {__funnelshift_l(l, c, 1), dy ? c : 0u, __funnelshift_r(c, r, 1)};
    for (int k = 0; k < 3; ++k) {
      const unsigned carry = one & v[k];
      one ^= v[k];
      four |= two & carry;
      two ^= carry;
    }
  }
  b[i] = two & ~four & (one | a[i]);
}
