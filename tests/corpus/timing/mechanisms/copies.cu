// cp.async of 8 KiB tiles: rows of ROW bytes, PITCH bytes apart in shared memory and `span` bytes apart in global memory, DST and SRC bytes from where they
// are aligned; STAGES tiles are under way. Each CTA has 64 KiB of its own, read again and again.
__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
template <bool CA> __device__ __forceinline__ void fetch(unsigned to, const void* from) {
  if (CA) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
  else asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}
template <bool CA, int STAGES, int ROW, int PITCH, int DST, int SRC> __device__ __forceinline__ void tiles(const char* a, float* y, int n, int span) {
  extern __shared__ char s[];
  constexpr int kRows = 8192 / ROW, kPieces = ROW / 16, kStage = kRows * PITCH + (DST ? 128 : 0);
  const char* base = a + (size_t)blockIdx.x * 65536 + SRC;
  const unsigned to = shared_address(s) + DST;
  const int along = 65536 / kRows >= span * 1 ? 8192 / kRows : ROW;
  for (int i = 0; i < n; ++i) {
    const char* from = base + (span == ROW ? i % 7 * 8192 : i % 7 * ROW);
#pragma unroll
    for (int j = threadIdx.x; j < kRows * kPieces; j += 128)
      fetch<CA>(to + i % STAGES * kStage + j / kPieces * PITCH + j % kPieces * 16, from + (size_t)(j / kPieces) * span + j % kPieces * 16);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  if (n < 0) y[0] = s[threadIdx.x] + along;
}
#define TILES(ca, st, r, p, d, sr) extern "C" __global__ void __launch_bounds__(128) tiles_##ca##_##st##_##r##_##p##_##d##_##sr(const char* a, float* y, int n, int span) { tiles<ca, st, r, p, d, sr>(a, y, n, span); }
TILES(0, 1, 128, 128, 0, 0) TILES(0, 2, 128, 128, 0, 0) TILES(0, 3, 128, 128, 0, 0) TILES(0, 4, 128, 128, 0, 0) TILES(0, 6, 128, 128, 0, 0)
TILES(1, 1, 128, 128, 0, 0) TILES(1, 3, 128, 128, 0, 0)
TILES(0, 3, 128, 128, 16, 0) TILES(0, 3, 128, 128, 32, 0) TILES(0, 3, 128, 128, 64, 0) TILES(0, 3, 128, 128, 0, 16) TILES(0, 3, 128, 128, 0, 32) TILES(0, 3, 128, 128, 16, 16) TILES(0, 3, 128, 128, 32, 32)
TILES(1, 3, 128, 128, 16, 0) TILES(1, 3, 128, 144, 0, 0)
TILES(0, 3, 128, 144, 0, 0) TILES(0, 3, 128, 160, 0, 0) TILES(0, 3, 64, 64, 0, 0) TILES(0, 3, 64, 80, 0, 0) TILES(0, 3, 64, 96, 0, 0) TILES(0, 3, 32, 32, 0, 0) TILES(0, 3, 32, 48, 0, 0) TILES(0, 3, 32, 64, 0, 0) TILES(0, 3, 16, 16, 0, 0) TILES(0, 3, 16, 32, 0, 0) TILES(0, 3, 16, 48, 0, 0) TILES(0, 3, 16, 128, 0, 0)
// Loads of 16 bytes a lane, as far ahead, for comparison.
template <int STAGES> __device__ __forceinline__ void loads(const float4* a, float* y, int n, int span) {
  const float4* base = a + (size_t)blockIdx.x * 4096 + threadIdx.x;
  float4 r[STAGES][4];
  float s = 0;
#pragma unroll
  for (int k = 0; k < STAGES; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j) r[k][j] = __ldcg(base + k * 512 + j * 128);
  for (int i = STAGES; i < n; i += STAGES) {
#pragma unroll
    for (int k = 0; k < STAGES; ++k)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        s += r[k][j].x + r[k][j].y + r[k][j].z + r[k][j].w;
        r[k][j] = __ldcg(base + (i + k) % 7 * 512 + j * 128);
      }
  }
#pragma unroll
  for (int k = 0; k < STAGES; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j) s += r[k][j].x;
  y[blockIdx.x * 128 + threadIdx.x] = s;
}
extern "C" __global__ void __launch_bounds__(128) loads_1(const float4* a, float* y, int n, int span) { loads<1>(a, y, n, span); }
extern "C" __global__ void __launch_bounds__(128) loads_2(const float4* a, float* y, int n, int span) { loads<2>(a, y, n, span); }
extern "C" __global__ void __launch_bounds__(128) loads_3(const float4* a, float* y, int n, int span) { loads<3>(a, y, n, span); }
