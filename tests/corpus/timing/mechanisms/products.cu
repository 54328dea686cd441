// A product by mma.sync in its pieces, and mma.sync alone.
#include <cuda_fp16.h>
__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
template <int BYTES> __device__ __forceinline__ void fetch(unsigned to, const void* from) {
  if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES));
}
// The pieces of gemm_mma of ../unseen/pipelined.cu: FETCH, LOAD (ldmatrix), PRODUCT, SYNC.
__device__ __forceinline__ void matrices(unsigned (&r)[4], unsigned p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p));
}
template <bool FETCH, bool LOAD, bool PRODUCT, bool SYNC> __device__ __forceinline__ void parts(const __half* a, const __half* b, float* c, int n, int k) {
  __shared__ __align__(16) __half as[3][64][40], bs[3][64][40];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  a += (size_t)(blockIdx.x % 16) * 64 * k;
  b += (size_t)(blockIdx.x / 16) * 64 * k;
  float acc[2][4][4] = {};
  unsigned fa[2][4] = {}, fb[2][4] = {};
  auto get = [&](int stage, int at) {
    if (FETCH) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = t / 4 + i * 32, col = t % 4 * 8;
        fetch<16>(shared_address(&as[stage][row][col]), a + (size_t)row * k + at + col);
        fetch<16>(shared_address(&bs[stage][row][col]), b + (size_t)row * k + at + col);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
  get(0, 0);
  get(1, 32);
  int stage = 0, ahead = 2;
  for (int at = 0; at < n * 32; at += 32) {
    asm volatile("cp.async.wait_group 1;");
    if (SYNC) __syncthreads();
    get(ahead, (at + 64) % k);
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      if (LOAD) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          matrices(fa[i], shared_address(&as[stage][wm + i * 16 + lane % 16][kk + lane / 16 * 8]));
          matrices(fb[i], shared_address(&bs[stage][wn + i * 16 + lane % 8 + lane / 16 * 8][kk + lane / 8 % 2 * 8]));
        }
      }
      if (PRODUCT) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                         : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j / 2][j % 2 * 2]), "r"(fb[j / 2][j % 2 * 2 + 1]));
      }
    }
    stage = stage == 2 ? 0 : stage + 1;
    ahead = ahead == 2 ? 0 : ahead + 1;
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) sum += acc[i / 16][i / 4 % 4][i % 4];
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += fa[i / 4][i % 4] + fb[i / 4][i % 4];
  c[blockIdx.x * 128 + t] = sum;
}
#define PARTS(f, l, p, s) extern "C" __global__ void __launch_bounds__(128) parts_##f##l##p##s(const __half* a, const __half* b, float* c, int n, int k) { parts<f, l, p, s>(a, b, c, n, k); }
PARTS(1, 1, 1, 1) PARTS(0, 1, 1, 1) PARTS(1, 0, 1, 1) PARTS(1, 1, 0, 1) PARTS(0, 0, 1, 1) PARTS(0, 1, 0, 1) PARTS(1, 0, 0, 1) PARTS(0, 1, 1, 0) PARTS(0, 0, 1, 0) PARTS(0, 1, 0, 0)
// Products alone: shapes and types, eight accumulators.
#define PRODUCTS(name, instruction, NA, NB, TC, CC)                                                                        \
  extern "C" __global__ void product_##name(float* c, int n) {                                                             \
    unsigned a[4] = {threadIdx.x, 1, 2, 3}, b[4] = {threadIdx.x, 5, 6, 7};                                                 \
    TC d[8][4] = {};                                                                                                       \
    for (int i = 0; i < n; ++i)                                                                                            \
      for (int j = 0; j < 8; ++j)                                                                                          \
        asm volatile(instruction : CC(d[j][0]), CC(d[j][1]), CC(d[j][2]), CC(d[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
    float s = 0;                                                                                                           \
    for (int j = 0; j < 32; ++j) s += d[j / 4][j % 4];                                                                     \
    c[blockIdx.x * blockDim.x + threadIdx.x] = s;                                                                          \
  }
#define F4 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#define F2 "{%0, %1, %2, %3}, {%4, %5}, {%8}, {%0, %1, %2, %3};"
#define F3 "{%0, %1, %2, %3}, {%4, %5}, {%8, %9}, {%0, %1, %2, %3};"
PRODUCTS(f16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " F4, 4, 2, float, "+f")
PRODUCTS(f16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 " F2, 2, 1, float, "+f")
PRODUCTS(bf16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " F4, 4, 2, float, "+f")
PRODUCTS(tf32_k8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " F4, 4, 2, float, "+f")
PRODUCTS(tf32_k4, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 " F2, 2, 1, float, "+f")
PRODUCTS(s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " F4, 4, 2, int, "+r")
PRODUCTS(s8_k16, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 " F2, 2, 1, int, "+r")
PRODUCTS(e4m3_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 " F4, 4, 2, float, "+f")
