// What published programs do right and the checker once called wrong, and the same with a mistake (`wrong`), for sm_90a. As pipelines.cu.
#include "ptx.cuh"
#define W template <bool wrong> __global__ void
__device__ inline int load_acquire(const int *p) { int v; asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ inline void add_relaxed(int *p) { asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(p) : "memory"); }
__device__ inline void store_release(int *p) { asm volatile("st.global.release.gpu.b32 [%0], 1;" ::"l"(p) : "memory"); }

// Blocks add to one tile in turns, by a counter that each waits for; the last one clears it, with an ordinary store (Marlin).
// expect turns_by_counter H7402
W turns_by_counter(const int *in, int *out, int *turn) {
  int t = threadIdx.x, mine = gridDim.x - 1 - blockIdx.x;
  if (t == 0) while (load_acquire(turn) != mine);
  __syncthreads();
  out[t] = (mine == 0 ? 0 : out[t]) + in[64 * mine + t];  // here turns_by_counter
  if (!wrong) __syncthreads();
  if (t != 0) return;
  if (blockIdx.x == 0) { *turn = 0; return; }
  __threadfence();
  add_relaxed(turn);
}
// Each lane waits for the flag of another block and clears it, with an ordinary store.
// expect flags_of_lanes H7402
W flags_of_lanes(const int *in, int *out, int *flags) {
  int t = threadIdx.x;
  if (blockIdx.x != 0) {
    out[64 * blockIdx.x + t] = in[64 * blockIdx.x + t];
    __syncthreads();
    if (t == 0) store_release(flags + blockIdx.x - 1);
    return;
  }
  if (t < 3) {
    while (load_acquire(flags + t) == 0);
    flags[t] = 0;
  }
  if (!wrong) __syncthreads();
  out[t] = out[64 + t] + out[128 + t] + out[192 + t];  // here flags_of_lanes
}
// Blocks count themselves, and the first one clears the counter when all have: or without waiting for that.
// expect cleared_too_early H7402
W cleared_too_early(int *count) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x != 0) { add_relaxed(count); return; }
  while (load_acquire(count) != 3 && !wrong);
  *count = 0;  // here cleared_too_early
}
// The rows of a tile beyond the end of its matrix hold what the memory held: they are multiplied, and their results are not stored (CUTLASS, Marlin).
// expect rows_beyond_the_end H7501
W rows_beyond_the_end(const int *in, int *out) {
  __shared__ alignas(16) int a[16][8], b[8][8];  // A: 16 x 16 halves, of which five rows are there; B: 16 x 8
  int t = threadIdx.x, row = t / 4, pair = t % 4;
  for (int i = 0; i < 2; i++)
    if (row < 5) a[row][pair + 4 * i] = in[8 * row + pair + 4 * i] & 0x3C003C00;
  b[t / 4][t % 4] = b[t / 4][t % 4 + 4] = 0x3C003C00;
  __syncwarp();
  uint32_t r[4], s[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem(&a[t % 16][t / 16 * 4])) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(s[0]), "=r"(s[1]) : "r"(smem(&b[t % 8][t / 8 % 2 * 4])) : "memory");
  float d[4] = {};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(s[0]), "r"(s[1]));
  if (row < 5 + wrong) out[2 * t] = d[0], out[2 * t + 1] = d[1];  // here rows_beyond_the_end
}
// Two stages of registers: the last round loads a step that does not come, from memory that nothing has filled, and does not use it.
// expect step_that_does_not_come H7501
W step_that_does_not_come(const int *in, int *out) {
  __shared__ alignas(16) int a[3][32][4];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 4; k++) a[i][t][k] = in[64 * i + t + k];
  __syncwarp();
  uint32_t r[2][4];
  auto load = [&](int i) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[i % 2][0]), "=r"(r[i % 2][1]), "=r"(r[i % 2][2]), "=r"(r[i % 2][3]) : "r"(smem(a[i][t])) : "memory");
  };
  load(0);
#pragma unroll
  for (int i = 0; i < 2 + wrong; i++) {
    if (i < 2) load(i + 1);
    sum += r[i % 2][0] ^ r[i % 2][3];
  }
  out[t] = sum;  // here step_that_does_not_come
}
int *mem(int n, int step) {
  int *p, *h = (int *)malloc(4 * n);
  for (int i = 0; i < n; i++) h[i] = i * step % 64;
  cudaMalloc(&p, 4 * n);
  cudaMemcpy(p, h, 4 * n, cudaMemcpyHostToDevice);
  free(h);
  return p;
}
template <bool wrong> int go(const char *name) {
  int *in = mem(1024, 1), *out = mem(1024, 0), *x = mem(64, 0);
#define K(n, g, b, ...) if (!strcmp(name, #n)) { n<wrong><<<g, b>>>(__VA_ARGS__); return 1; }
  K(turns_by_counter, 4, 64, in, out, x) K(flags_of_lanes, 4, 64, in, out, x) K(cleared_too_early, 4, 32, x) K(rows_beyond_the_end, 1, 32, in, out)
  K(step_that_does_not_come, 1, 32, in, out)
  return 0;
}
int main(int n, char **a) {
  if (n < 3) return 2;
  if (!(a[2][0] == 'w' ? go<true>(a[1]) : go<false>(a[1]))) { puts("no such pair"); return 2; }
  cudaError_t e = cudaDeviceSynchronize();
  if (e) puts(cudaGetErrorString(e));
  return e ? 9 : 0;
}
