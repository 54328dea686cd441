// Lanes of a warp that really go different ways. Each kernel has a twin in which all lanes go one of the ways (`mode`: bits of the lane's number that
// choose it; 0: all lanes go the same way). `step` keeps the compiler from knowing anything.
// nvcc -arch=sm_90a -ptx
template <int K> __device__ __forceinline__ void chain(unsigned& x, unsigned u, unsigned v) {
#pragma unroll
  for (int k = 0; k < K; ++k) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(u), "r"(v));
}
#define KERNEL(name) extern "C" __global__ void name(unsigned* y, unsigned mode, unsigned u, unsigned v)
#define START unsigned x = threadIdx.x, way = threadIdx.x & mode
#define END y[blockIdx.x * blockDim.x + threadIdx.x] = x
// One side, K operations; a fence keeps it a branch.
template <int K> __device__ __forceinline__ void one(unsigned* y, unsigned mode, unsigned u, unsigned v) {
  START;
#pragma unroll 1
  for (int i = 0; i < 128; ++i) {
    chain<4>(x, u, v);
    if (way == 0) { asm volatile("membar.cta;"); chain<K>(x, u, v); }
  }
  END;
}
KERNEL(one_2) { one<2>(y, mode, u, v); }
KERNEL(one_8) { one<8>(y, mode, u, v); }
KERNEL(one_32) { one<32>(y, mode, u, v); }
// Two sides of K operations.
template <int K> __device__ __forceinline__ void two(unsigned* y, unsigned mode, unsigned u, unsigned v) {
  START;
#pragma unroll 1
  for (int i = 0; i < 128; ++i) {
    chain<4>(x, u, v);
    if (way == 0) chain<K>(x, u, v);
    else chain<K>(x, v, u);
  }
  END;
}
KERNEL(two_16) { two<16>(y, mode, u, v); }
KERNEL(two_32) { two<32>(y, mode, u, v); }
// Inside each other.
KERNEL(deep_16) {
  START;
#pragma unroll 1
  for (int i = 0; i < 128; ++i) {
    chain<4>(x, u, v);
    if ((way & 1) == 0) {
      chain<16>(x, u, v);
      if ((way & 2) == 0) {
        chain<16>(x, v, u);
        if ((way & 4) == 0) chain<16>(x, u, v);
      }
    }
  }
  END;
}
// Lanes loop 1 + way times.
template <int K> __device__ __forceinline__ void times(unsigned* y, unsigned mode, unsigned u, unsigned v) {
  START;
#pragma unroll 1
  for (int i = 0; i < 32; ++i) {
#pragma unroll 1
    for (unsigned j = 0; j <= way; ++j) chain<K>(x, u, v);
  }
  END;
}
KERNEL(times_4) { times<4>(y, mode, u, v); }
KERNEL(times_16) { times<16>(y, mode, u, v); }
// 8 ways.
KERNEL(eight_16) {
  START;
#pragma unroll 1
  for (int i = 0; i < 64; ++i) {
    switch (way) {
      case 0: chain<16>(x, u, v); break;
      case 1: chain<16>(x, v, u); x ^= u; break;
      case 2: chain<16>(x, u, v); x += v; break;
      case 3: chain<16>(x, v, u); x *= u; break;
      case 4: chain<16>(x, u, v); x -= v; break;
      case 5: chain<16>(x, v, u); x |= u; break;
      case 6: chain<16>(x, u, v); x &= v; break;
      default: chain<16>(x, v, u); x ^= v; break;
    }
  }
  END;
}
// An early return of some lanes, then a loop.
KERNEL(ended_16) {
  START;
  if (way != 0) { END; return; }
#pragma unroll 1
  for (int i = 0; i < 128; ++i) chain<16>(x, u, v);
  END;
}
// Exchanges after lanes were apart, as in a sort within a warp.
KERNEL(sorted) {
  START;
  x = x * 2654435761u & (mode << 8);
#pragma unroll 1
  for (int i = 0; i < 64; ++i) {
    const unsigned other = __shfl_xor_sync(~0u, x, 1 + (i & 15));
    if (x < other) { asm volatile("membar.cta;"); x += u; }
    x ^= other & v;
  }
  END;
}
// Remainders of 64 bits: lanes with way == 0 have small numbers.
KERNEL(rest) {
  START;
  unsigned long long a = way == 0 ? x + 1000 : (unsigned long long)(x + 77) << 33 | 12345;
#pragma unroll 1
  for (int i = 0; i < 32; ++i) {
    const unsigned long long r = a % (v + 3ull);
    a = (way == 0 ? 1000 : 1ull << 40) + (r & u);
  }
  x = (unsigned)a;
  END;
}
KERNEL(quotient) {
  START;
  unsigned long long a = way == 0 ? x + 1000 : (unsigned long long)(x + 77) << 33 | 12345;
#pragma unroll 1
  for (int i = 0; i < 32; ++i) {
    const unsigned long long r = a / (v + 3ull);
    a = (way == 0 ? 1000 : 1ull << 40) + (r & u);
  }
  x = (unsigned)a;
  END;
}
// A routine out of line, called by some lanes.
__device__ __noinline__ unsigned routine(unsigned x, unsigned u, unsigned v) { chain<32>(x, u, v); return x; }
KERNEL(called) {
  START;
#pragma unroll 1
  for (int i = 0; i < 128; ++i) {
    chain<4>(x, u, v);
    if (way == 0) x = routine(x, u, v);
  }
  END;
}
KERNEL(called_all) {
  START;
#pragma unroll 1
  for (int i = 0; i < 128; ++i) {
    chain<4>(x, u, v);
    x = routine(x, u, v + way);
  }
  END;
}
