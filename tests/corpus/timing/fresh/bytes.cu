// Text as bytes: where a JSON document's structure is outside of strings, 32 bytes a thread, and bytes written as Base64.
__device__ __forceinline__ unsigned is(unsigned w, unsigned char c) {
  const unsigned same = __vcmpeq4(w, c * 0x01010101u) & 0x08040201u;
  return (same * 0x01010101u) >> 24 & 15;
}
extern "C" __global__ void __launch_bounds__(256) json_mask(const uint4* text, unsigned* structure, unsigned* quotes) {
  __shared__ unsigned odd[8];
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint4 in[2] = {text[2 * i], text[2 * i + 1]};
  unsigned quote = 0, marks = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const unsigned w = reinterpret_cast<const unsigned*>(in)[k] & 0x7f7f7f7f;
    quote |= is(w, '"') << (4 * k);
    marks |= (is(w, '{') | is(w, '}') | is(w, '[') | is(w, ']') | is(w, ':') | is(w, ',')) << (4 * k);
  }
  unsigned inside = quote;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) inside ^= inside << d;
  const unsigned ballot = __ballot_sync(~0u, __popc(quote) & 1);
  if (lane == 0) odd[warp] = __popc(ballot) & 1;
  __syncthreads();
  unsigned parity = __popc(ballot & ((1u << lane) - 1)) & 1;
  for (int w = 0; w < warp; ++w) parity ^= odd[w];
  if (parity) inside = ~inside;
  structure[i] = marks & ~inside;
  quotes[i] = quote;
}
__device__ __forceinline__ unsigned letters(const unsigned char* table, unsigned v) {
  return table[v >> 18 & 63] | table[v >> 12 & 63] << 8 | table[v >> 6 & 63] << 16 | table[v & 63] << 24;
}
extern "C" __global__ void base64(const unsigned* x, uint4* y, const unsigned char* alphabet, int n) {
  __shared__ unsigned char table[64];
  if (threadIdx.x < 64) table[threadIdx.x] = alphabet[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
    y[i] = make_uint4(letters(table, __byte_perm(a, 0, 0x4012)), letters(table, __byte_perm(a, b, 0x0345) & 0xffffff),
                      letters(table, __byte_perm(b, c, 0x0234) & 0xffffff), letters(table, __byte_perm(c, 0, 0x4123)));
  }
}
