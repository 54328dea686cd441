// Half of the warps of each sub-partition execute one kind of instruction, the other half another: what two kinds share.
enum Kind { kNone, kLogic, kShift, kFma, kImad, kMufu, kConvert, kHalf, kI2f };
template <int K> __device__ __forceinline__ void step(unsigned (&v)[8]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (K == kLogic) asm volatile("lop3.b32 %0, %0, 0x1234567, %1, 0x96;" : "+r"(v[j]) : "r"(v[j]));
    if (K == kShift) asm volatile("shr.u32 %0, %0, 1;" : "+r"(v[j]));
    if (K == kFma) asm volatile("fma.rn.f32 %0, %0, 0f3F800001, 0f3F000000;" : "+f"(reinterpret_cast<float&>(v[j])));
    if (K == kImad) asm volatile("mad.lo.u32 %0, %0, %0, 77;" : "+r"(v[j]));
    if (K == kMufu) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(reinterpret_cast<float&>(v[j])));
    if (K == kConvert) asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(v[j]) : "f"(__uint_as_float(v[j])));
    if (K == kHalf) asm volatile("fma.rn.f16x2 %0, %0, %0, %0;" : "+r"(v[j]));
    if (K == kI2f) asm volatile("cvt.rn.f32.u32 %0, %1;" : "=f"(reinterpret_cast<float&>(v[j])) : "r"(v[j]));
  }
}
template <int K> __device__ __forceinline__ void work(unsigned* y, int n) {
  unsigned v[8];
  for (int j = 0; j < 8; ++j) v[j] = threadIdx.x * 8 + j;
  for (int i = 0; i < n; ++i) { step<K>(v); step<K>(v); step<K>(v); step<K>(v); }
  unsigned s = 0;
  for (int j = 0; j < 8; ++j) s ^= v[j];
  y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
template <int A, int B> __device__ __forceinline__ void pair(unsigned* y, int na, int nb) {
  if ((threadIdx.x / 128) % 2 == 0) work<A>(y, na);
  else work<B>(y, nb);
}
#define P(NAME, A, B) extern "C" __global__ void NAME(unsigned* y, int na, int nb) { pair<A, B>(y, na, nb); }
P(logic_logic, kLogic, kLogic) P(fma_fma, kFma, kFma) P(imad_imad, kImad, kImad) P(mufu_mufu, kMufu, kMufu) P(half_half, kHalf, kHalf) P(i2f_i2f, kI2f, kI2f) P(convert_convert, kConvert, kConvert) P(shift_shift, kShift, kShift)
P(logic_fma, kLogic, kFma) P(logic_imad, kLogic, kImad) P(logic_mufu, kLogic, kMufu) P(fma_imad, kFma, kImad) P(fma_mufu, kFma, kMufu) P(fma_convert, kFma, kConvert) P(fma_half, kFma, kHalf) P(logic_half, kLogic, kHalf) P(fma_i2f, kFma, kI2f) P(logic_i2f, kLogic, kI2f) P(logic_shift, kLogic, kShift) P(imad_half, kImad, kHalf)
// One warp executes both, in turn or in bursts of eight.
template <int A, int B, int BURST> __device__ __forceinline__ void both(unsigned* y, int n) {
  unsigned v[8], u[8];
  for (int j = 0; j < 8; ++j) { v[j] = threadIdx.x * 8 + j; u[j] = v[j] + 5; }
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      if (BURST) { step<A>(v); step<B>(u); continue; }
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        if (A == kLogic) asm volatile("lop3.b32 %0, %0, 0x1234567, %1, 0x96;" : "+r"(v[j]) : "r"(v[j]));
        if (A == kImad) asm volatile("mad.lo.u32 %0, %0, %0, 77;" : "+r"(v[j]));
        asm volatile("fma.rn.f32 %0, %0, 0f3F800001, 0f3F000000;" : "+f"(reinterpret_cast<float&>(u[j])));
      }
    }
  unsigned s = 0;
  for (int j = 0; j < 8; ++j) s ^= v[j] ^ u[j];
  y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void turns_logic_fma(unsigned* y, int n) { both<kLogic, kFma, 0>(y, n); }
extern "C" __global__ void bursts_logic_fma(unsigned* y, int n) { both<kLogic, kFma, 1>(y, n); }
extern "C" __global__ void turns_imad_fma(unsigned* y, int n) { both<kImad, kFma, 0>(y, n); }
extern "C" __global__ void bursts_imad_fma(unsigned* y, int n) { both<kImad, kFma, 1>(y, n); }
extern "C" __global__ void bursts_mufu_fma(unsigned* y, int n) { both<kMufu, kFma, 1>(y, n); }
extern "C" __global__ void bursts_logic_imad(unsigned* y, int n) { both<kLogic, kImad, 1>(y, n); }
// Words of a table, each lane its own.
template <int ILP> __device__ __forceinline__ void scattered(const unsigned* t, unsigned* y, unsigned mask, int n) {
  unsigned at[ILP], s = 0;
  for (int k = 0; k < ILP; ++k) at[k] = ((blockIdx.x * blockDim.x + threadIdx.x) * ILP + k) * 2654435761u;
  for (int i = 0; i < n; ++i) {
    unsigned v[ILP];
#pragma unroll
    for (int k = 0; k < ILP; ++k) v[k] = t[at[k] >> 3 & mask];
#pragma unroll
    for (int k = 0; k < ILP; ++k) { at[k] = at[k] * 1664525u + 1013904223u + (v[k] & 1); s += v[k]; }
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void scattered1(const unsigned* t, unsigned* y, unsigned mask, int n) { scattered<1>(t, y, mask, n); }
extern "C" __global__ void scattered4(const unsigned* t, unsigned* y, unsigned mask, int n) { scattered<4>(t, y, mask, n); }
