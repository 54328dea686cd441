// Causal attention with mma.sync, heads of 64 halves: 64 queries a CTA in registers, keys and values fetched a block of 64 ahead.
#include <cuda_fp16.h>
__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void fetch16(unsigned to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory"); }
__device__ __forceinline__ void matrices(unsigned (&r)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void turned(unsigned (&r)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned place(int row, int chunk) { return row * 128 + ((chunk ^ (row & 7)) << 4); }
__device__ __forceinline__ unsigned packed(float x, float y) {
  const __half2 h = __floats2half2_rn(x, y);
  return reinterpret_cast<const unsigned&>(h);
}
__device__ __forceinline__ void fetch_tile(unsigned to, const __half* from) {
#pragma unroll
  for (int i = threadIdx.x; i < 512; i += 128) fetch16(to + place(i / 8, i % 8), from + (size_t)(i / 8) * 64 + i % 8 * 8);
}
extern "C" __global__ void __launch_bounds__(128) flash64(const __half* q, const __half* k, const __half* v, __half* o, int n, float scale) {
  __shared__ __align__(128) unsigned char memory[5 * 8192];
  const unsigned sq = shared_address(memory), sk = sq + 8192, sv = sq + 3 * 8192;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, block = gridDim.x - 1 - blockIdx.x;
  const size_t head = (size_t)blockIdx.y * n * 64;
  fetch_tile(sq, q + head + (size_t)block * 4096);
  fetch_tile(sk, k + head);
  fetch_tile(sv, v + head);
  asm volatile("cp.async.commit_group;" ::: "memory");
  unsigned fq[4][4];
  float out[8][4] = {}, top[2] = {-1e30f, -1e30f}, total[2] = {};
  for (int j = 0; j <= block; ++j) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (j < block) {
      fetch_tile(sk + (j + 1) % 2 * 8192, k + head + (size_t)(j + 1) * 4096);
      fetch_tile(sv + (j + 1) % 2 * 8192, v + head + (size_t)(j + 1) * 4096);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (j == 0)
#pragma unroll
      for (int i = 0; i < 4; ++i) matrices(fq[i], sq + place(warp * 16 + lane % 16, i * 2 + lane / 16));
    const unsigned bk = sk + j % 2 * 8192, bv = sv + j % 2 * 8192;
    float s[8][4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        unsigned f[4];
        matrices(f, bk + place(c * 16 + lane % 8 + lane / 16 * 8, i * 2 + lane / 8 % 2));
        multiply(s[2 * c], fq[i], f[0], f[1]);
        multiply(s[2 * c + 1], fq[i], f[2], f[3]);
      }
    float high[2] = {top[0], top[1]};
#pragma unroll
    for (int c = 0; c < 8; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        s[c][e] *= scale;
        if (j == block && c * 8 + lane % 4 * 2 + e % 2 > warp * 16 + lane / 4 + e / 2 * 8) s[c][e] = -1e30f;
        high[e / 2] = fmaxf(high[e / 2], s[c][e]);
      }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      high[r] = fmaxf(high[r], __shfl_xor_sync(~0u, high[r], 1));
      high[r] = fmaxf(high[r], __shfl_xor_sync(~0u, high[r], 2));
      const float keep = exp2f(top[r] - high[r]);
      top[r] = high[r];
      total[r] *= keep;
#pragma unroll
      for (int c = 0; c < 8; ++c) { out[c][2 * r] *= keep; out[c][2 * r + 1] *= keep; }
    }
#pragma unroll
    for (int c = 0; c < 8; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        s[c][e] = exp2f(s[c][e] - top[e / 2]);
        total[e / 2] += s[c][e];
      }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned p[4] = {packed(s[2 * i][0], s[2 * i][1]), packed(s[2 * i][2], s[2 * i][3]), packed(s[2 * i + 1][0], s[2 * i + 1][1]), packed(s[2 * i + 1][2], s[2 * i + 1][3])};
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        unsigned f[4];
        turned(f, bv + place(i * 16 + lane % 16, c * 2 + lane / 16));
        multiply(out[2 * c], p, f[0], f[1]);
        multiply(out[2 * c + 1], p, f[2], f[3]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    total[r] += __shfl_xor_sync(~0u, total[r], 1);
    total[r] += __shfl_xor_sync(~0u, total[r], 2);
    const float inverse = 1.f / total[r];
    __half* to = o + head + (size_t)(block * 64 + warp * 16 + lane / 4 + r * 8) * 64 + lane % 4 * 2;
#pragma unroll
    for (int c = 0; c < 8; ++c) *reinterpret_cast<__half2*>(to + c * 8) = __floats2half2_rn(out[c][2 * r] * inverse, out[c][2 * r + 1] * inverse);
  }
}
