// Products whose operands change: each iteration makes new fragments of A, and new ones of B for each of eight products. In product_* of
// products.cu they do not, and ptxas moves all of an 8-bit float product but its four sums out of the loop.
// nvcc -arch=sm_90a -ptx
#define MOVING(name, instruction, TC, CC, STEP)                                                                            \
  extern "C" __global__ void moving_##name(float* c, int n, unsigned mask) {                                               \
    unsigned a[4] = {threadIdx.x, 1, 2, 3}, b[8][2];                                                                       \
    for (int j = 0; j < 16; ++j) b[j / 2][j % 2] = threadIdx.x * 5 + j;                                                    \
    TC d[8][4] = {};                                                                                                       \
    _Pragma("unroll 1") for (int i = 0; i < n; ++i) {                                                                      \
      _Pragma("unroll") for (int j = 0; j < 4; ++j) a[j] ^= i & mask;                                                      \
      _Pragma("unroll") for (int j = 0; j < 8; ++j) {                                                                      \
        b[j][0] ^= i & mask, b[j][1] ^= i & mask;                                                                          \
        asm volatile(instruction : CC(d[j][0]), CC(d[j][1]), CC(d[j][2]), CC(d[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[j][0]), "r"(b[j][1])); \
      }                                                                                                                    \
    }                                                                                                                      \
    float s = 0;                                                                                                           \
    for (int j = 0; j < 32; ++j) s += d[j / 4][j % 4];                                                                     \
    c[blockIdx.x * blockDim.x + threadIdx.x] = s;                                                                          \
  }
#define F4 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#define F2 "{%0, %1, %2, %3}, {%4, %5}, {%8}, {%0, %1, %2, %3};"
#define H4 "{%0, %1}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1};"
MOVING(f16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " F4, float, "+f", 1)
MOVING(e4m3_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 " F4, float, "+f", 1)
MOVING(e5m2_k16, "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 " F2, float, "+f", 1)
MOVING(e4m3_half, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 " H4, unsigned, "+r", 1)
MOVING(s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " F4, int, "+r", 1)
MOVING(u4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 " F4, int, "+r", 1)
MOVING(s4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 " F4, int, "+r", 1)
MOVING(s4_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 " F2, int, "+r", 1)
MOVING(b1_k256, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc " F4, int, "+r", 1)
// One accumulator: each product waits for the one before.
#define CHAIN(name, instruction, TC, CC)                                                                                   \
  extern "C" __global__ void after_##name(float* c, int n, unsigned mask) {                                                \
    unsigned a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {threadIdx.x * 5, 7};                                                   \
    TC d[4] = {};                                                                                                          \
    _Pragma("unroll 1") for (int i = 0; i < n; ++i) {                                                                      \
      _Pragma("unroll") for (int j = 0; j < 4; ++j) {                                                                      \
        b[0] ^= i & mask, b[1] ^= i & mask;                                                                                \
        asm volatile(instruction : CC(d[0]), CC(d[1]), CC(d[2]), CC(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
      }                                                                                                                    \
    }                                                                                                                      \
    c[blockIdx.x * blockDim.x + threadIdx.x] = d[0] + d[1] + d[2] + d[3];                                                  \
  }
CHAIN(f16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " F4, float, "+f")
CHAIN(e4m3_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 " F4, float, "+f")
CHAIN(e5m2_k16, "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 " F2, float, "+f")
CHAIN(s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " F4, int, "+r")
CHAIN(u4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 " F4, int, "+r")
CHAIN(s4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 " F4, int, "+r")
// A table in constant memory: read at the loop's counter, equal for all lanes; at a lane's own place; and by a chain.
__constant__ unsigned table[1024];
extern "C" __global__ void table_counted(unsigned* c, int n, unsigned mask) {
  unsigned s = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; ++i) s = (s ^ table[i & mask]) * 5;
  c[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void table_unrolled(unsigned* c, int n, unsigned mask) {
  unsigned s = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; ++j) s = (s ^ table[(i + j) & mask]) * 5;
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void table_chain(unsigned* c, int n, unsigned mask) {
  unsigned s = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) s = (table[s & mask] + i) & 255;
  c[blockIdx.x * blockDim.x + threadIdx.x] = s + threadIdx.x;
}
extern "C" __global__ void table_lanes(unsigned* c, int n, unsigned mask) {
  unsigned s = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; ++i) s = (s ^ table[(threadIdx.x * mask + i) & 1023]) * 5;
  c[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void table_whole(unsigned* c, int n, unsigned mask) {  // 64 words at fixed places, once
  unsigned s = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int j = 0; j < 64; ++j) s = (s ^ table[j]) * 5;
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
