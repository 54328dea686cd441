// Stores of parts of sectors: who completes a sector, and when. A warp's store has LINES lines; its lanes k write word k / LINES * GAP of
// line k % LINES, and the warps that share sectors write the words beside. `own`: the same warp completes its sectors itself, in the next store;
// otherwise the next warp of the CTA does, `wait` dependent operations later.
// nvcc -arch=sm_90a -ptx
template <int LINES, bool OWN> __device__ __forceinline__ void partner(unsigned* y, unsigned rounds, unsigned pitch, unsigned shared_by, int wait, unsigned u) {
  constexpr unsigned kWords = 32 / LINES;  // of a line by one store
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned x = threadIdx.x;
  const unsigned groups = warps / shared_by, group = warp / shared_by, part = warp % shared_by;
  for (int k = 0; k < wait * (int)part; ++k) asm volatile("lop3.b32 %0, %0, %1, %1, 0x6a;" : "+r"(x) : "r"(u));
  for (unsigned r = 0; r < rounds; ++r) {
    const size_t tile = OWN ? ((size_t)blockIdx.x * rounds + r) * warps + warp : ((size_t)blockIdx.x * rounds + r) * groups + group;
    unsigned* at = y + (tile * LINES + lane % LINES) * pitch + lane / LINES;
    if (OWN) {
      for (unsigned j = 0; j < shared_by; ++j) at[j * kWords] = x + j;
    } else {
      at[part * kWords] = x;
    }
  }
}
#define PARTNER(l)                                                                                                                                              \
  extern "C" __global__ void own_##l(unsigned* y, unsigned rounds, unsigned pitch, unsigned by, int wait, unsigned u) { partner<l, true>(y, rounds, pitch, by, wait, u); } \
  extern "C" __global__ void next_##l(unsigned* y, unsigned rounds, unsigned pitch, unsigned by, int wait, unsigned u) { partner<l, false>(y, rounds, pitch, by, wait, u); }
PARTNER(32) PARTNER(16) PARTNER(8) PARTNER(4)
// Records of four words, a word a store, by one warp after another (arrays of structures); with `loaded` the values come from memory.
extern "C" __global__ void records(unsigned* y, const unsigned* x, unsigned rounds, unsigned words, unsigned loaded) {
  for (unsigned r = 0; r < rounds; ++r) {
    const size_t i = ((size_t)r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    const unsigned v = loaded ? x[i] : (unsigned)i;
    unsigned* at = y + i * words;
    at[0] = v; at[1] = v + 1; at[2] = v + 2; if (words > 3) at[3] = v + 3;
  }
}
// A tile of 16 x 16 words, transposed without shared memory, and 32 x 8 threads for comparison.
extern "C" __global__ void turned(unsigned* y, const unsigned* x, unsigned width, unsigned loaded) {
  const unsigned c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  y[(size_t)c * width + r] = loaded ? x[(size_t)r * width + c] : r;
}
