// Bytes mixed in registers: SHA-256 of messages of 64-byte blocks, a thread each, and the ChaCha20 stream laid over a buffer.
__constant__ unsigned round_k[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
  0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
  0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
  0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
  0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ __forceinline__ unsigned rotr(unsigned x, int n) { return __funnelshift_r(x, x, n); }
extern "C" __global__ void sha256(const uint4* message, uint4* digest, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int b = 0; b < blocks; ++b) {
    unsigned w[16];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint4 q = message[((size_t)i * blocks + b) * 4 + k];
      w[k * 4] = __byte_perm(q.x, 0, 0x0123);
      w[k * 4 + 1] = __byte_perm(q.y, 0, 0x0123);
      w[k * 4 + 2] = __byte_perm(q.z, 0, 0x0123);
      w[k * 4 + 3] = __byte_perm(q.w, 0, 0x0123);
    }
    unsigned s[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) s[k] = h[k];
#pragma unroll 1
    for (int r = 0; r < 64; r += 16) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        if (r) {
          const unsigned x = w[(k + 1) & 15], y = w[(k + 14) & 15];
          w[k] += (rotr(x, 7) ^ rotr(x, 18) ^ (x >> 3)) + w[(k + 9) & 15] + (rotr(y, 17) ^ rotr(y, 19) ^ (y >> 10));
        }
        const unsigned t = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_k[r + k] + w[k];
        const unsigned u = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t + u;
      }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) h[k] += s[k];
  }
  digest[i * 2] = make_uint4(h[0], h[1], h[2], h[3]);
  digest[i * 2 + 1] = make_uint4(h[4], h[5], h[6], h[7]);
}
__device__ __forceinline__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
  a += b; d = __byte_perm(d ^ a, 0, 0x1032);
  c += d; b ^= c; b = __funnelshift_l(b, b, 12);
  a += b; d = __byte_perm(d ^ a, 0, 0x2103);
  c += d; b ^= c; b = __funnelshift_l(b, b, 7);
}
extern "C" __global__ void chacha20(const uint4* in, uint4* out, const unsigned* key, unsigned first, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
#pragma unroll
  for (int k = 0; k < 8; ++k) s[4 + k] = key[k];
  s[12] = first + i; s[13] = key[8]; s[14] = key[9]; s[15] = key[10];
#pragma unroll
  for (int k = 0; k < 16; ++k) x[k] = s[k];
#pragma unroll 2
  for (int r = 0; r < 10; ++r) {
    quarter(x[0], x[4], x[8], x[12]); quarter(x[1], x[5], x[9], x[13]); quarter(x[2], x[6], x[10], x[14]); quarter(x[3], x[7], x[11], x[15]);
    quarter(x[0], x[5], x[10], x[15]); quarter(x[1], x[6], x[11], x[12]); quarter(x[2], x[7], x[8], x[13]); quarter(x[3], x[4], x[9], x[14]);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint4 m = in[(size_t)i * 4 + k];
    out[(size_t)i * 4 + k] = make_uint4(m.x ^ (x[4 * k] + s[4 * k]), m.y ^ (x[4 * k + 1] + s[4 * k + 1]), m.z ^ (x[4 * k + 2] + s[4 * k + 2]), m.w ^ (x[4 * k + 3] + s[4 * k + 3]));
  }
}
