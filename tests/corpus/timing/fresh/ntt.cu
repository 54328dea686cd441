// Number-theoretic transform of 1024 words modulo 998244353 in shared memory, with Montgomery's products.
constexpr unsigned kPrime = 998244353u, kNegativeInverse = 998244351u;
__device__ __forceinline__ unsigned product(unsigned a, unsigned b) {
  const unsigned long long t = (unsigned long long)a * b;
  const unsigned m = (unsigned)t * kNegativeInverse;
  const unsigned r = (t + (unsigned long long)m * kPrime) >> 32;
  return r >= kPrime ? r - kPrime : r;
}
__device__ __forceinline__ unsigned add(unsigned a, unsigned b) { const unsigned s = a + b; return s >= kPrime ? s - kPrime : s; }
__device__ __forceinline__ unsigned sub(unsigned a, unsigned b) { return a >= b ? a - b : a + kPrime - b; }
extern "C" __global__ void __launch_bounds__(256) ntt1024(const uint4* x, const unsigned* roots, uint4* y) {
  __shared__ unsigned s[1024], w[512];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 256) w[i] = roots[i] & 0x1fffffff;
  const uint4 v = x[(size_t)blockIdx.x * 256 + t];
  reinterpret_cast<uint4*>(s)[t] = make_uint4(v.x & 0x1fffffff, v.y & 0x1fffffff, v.z & 0x1fffffff, v.w & 0x1fffffff);
  __syncthreads();
  for (int half = 512, step = 1; half > 0; half >>= 1, step <<= 1) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int i = t + k * 256, j = i & (half - 1), a = 2 * (i - j) + j;
      const unsigned p = s[a], q = s[a + half];
      s[a] = add(p, q);
      s[a + half] = product(sub(p, q), w[j * step]);
    }
    __syncthreads();
  }
  y[(size_t)blockIdx.x * 256 + t] = reinterpret_cast<uint4*>(s)[t];
}
