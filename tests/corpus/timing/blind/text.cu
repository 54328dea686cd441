// Text: a checksum of blocks by table, characters counted in classes, and lines found by ballots.
extern "C" __global__ void crc_blocks(const unsigned* data, const unsigned* table, unsigned* out, int words) {
  __shared__ unsigned t[256];
  t[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const unsigned* p = data + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * words;
  unsigned c = ~0u;
  for (int i = 0; i < words; ++i) {
    const unsigned v = p[i];
    for (int k = 0; k < 4; ++k) c = t[(c ^ (v >> (8 * k))) & 255] ^ (c >> 8);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = ~c;
}
extern "C" __global__ void classes(const uint4* text, unsigned* count, int n) {
  __shared__ unsigned s[4];
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  unsigned c[4] = {};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint4 v = text[i];
    const unsigned w[4] = {v.x, v.y, v.z, v.w};
    for (int k = 0; k < 4; ++k) {
      c[0] += __popc(__vcmpleu4(w[k], 0x2f2f2f2f) & 0x01010101);
      c[1] += __popc(__vcmpgtu4(w[k], 0x60606060) & 0x01010101);
      c[2] += __popc(w[k] & 0x80808080);
    }
  }
  for (int k = 0; k < 3; ++k) atomicAdd(&s[k], __reduce_add_sync(~0u, c[k]));
  __syncthreads();
  if (threadIdx.x < 3) atomicAdd(&count[threadIdx.x], s[threadIdx.x]);
}
extern "C" __global__ void compact(const unsigned* x, unsigned* y, unsigned* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned v = i < n ? x[i] : 1;
  const unsigned m = __ballot_sync(~0u, (v & 3) == 0);
  unsigned at = 0;
  if (lane == 0 && m) at = atomicAdd(count, __popc(m));
  at = __shfl_sync(~0u, at, 0) + __popc(m & ((1u << lane) - 1));
  if ((v & 3) == 0) y[at & 1048575] = v;
}
