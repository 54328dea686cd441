// Stores of words at a distance, one sector's words one after another (J of them), or with R other sectors between.
extern "C" __global__ void strided(unsigned* y, unsigned step, unsigned words, unsigned rounds, unsigned span) {
  unsigned* base = y + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * step;
  for (unsigned r = 0; r < rounds; ++r)
    for (unsigned j = 0; j < words; ++j) base[(size_t)r * span + j] = r + j;
}
extern "C" __global__ void strided_later(unsigned* y, unsigned step, unsigned words, unsigned rounds, unsigned span) {
  unsigned* base = y + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * step;
  for (unsigned j = 0; j < words; ++j)
    for (unsigned r = 0; r < rounds; ++r) base[(size_t)r * span + j] = r + j;
}
extern "C" __global__ void strided2(uint2* y, unsigned step, unsigned words, unsigned rounds, unsigned span) {
  uint2* base = y + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * step;
  for (unsigned r = 0; r < rounds; ++r)
    for (unsigned j = 0; j < words; ++j) base[(size_t)r * span + j] = make_uint2(r, j);
}
// Pieces of a sector from neighbouring lanes: lanes k at word k / share * pitch + k % share.
extern "C" __global__ void pieces(unsigned* y, unsigned share, unsigned pitch, unsigned rounds, unsigned span) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* base = y + (size_t)(t / share) * pitch + t % share;
  for (unsigned r = 0; r < rounds; ++r) base[(size_t)r * span] = r;
}
