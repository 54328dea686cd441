// Integer quotients and remainders of 64 bits by an unknown divisor: numbers below 2^32 have a short way, others a routine; lanes of a warp may go both.
// nvcc -arch=sm_90a -ptx
#define LOOP(name, T, op)                                                                                            \
  extern "C" __global__ void name(T* y, T small, T large, T divisor, unsigned mode, T keep) {                        \
    T a = (threadIdx.x & mode) == 0 ? small + threadIdx.x : large + threadIdx.x;                                     \
    const T back = (threadIdx.x & mode) == 0 ? small : large;                                                        \
    _Pragma("unroll 1") for (int i = 0; i < 32; ++i) a = back + ((a op divisor) & keep);                              \
    y[blockIdx.x * blockDim.x + threadIdx.x] = a;                                                                    \
  }
LOOP(div_u64, unsigned long long, /)
LOOP(rem_u64, unsigned long long, %)
LOOP(div_s64, long long, /)
LOOP(rem_s64, long long, %)
LOOP(div_s32, int, /)
LOOP(rem_s32, int, %)
LOOP(rem_u32, unsigned, %)
