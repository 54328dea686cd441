// Scalar code as nvcc compiles it: the same functions for the device, whose PTX is simulated, and for the host, which prints
// the expected results. Every function makes its operands from the thread's number. Made into scalar.ptx and
// scalar_expected.txt (see README.md).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#define BOTH __host__ __device__

BOTH inline uint64_t word(uint32_t i, uint32_t k) {  // splitmix64
  uint64_t z = (uint64_t{i} << 8 | k) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}
template <class To, class From>
BOTH inline To as(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  memcpy(&to, &from, sizeof to);
  return to;
}
BOTH inline uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x100000001B3ull + (h >> 47); }
/// Floats of every size, subnormals included, but no NaN.
BOTH inline float any_float(uint32_t i, uint32_t k) {
  const uint32_t w = static_cast<uint32_t>(word(i, k));
  return as<float>((w & 0x7F800000) == 0x7F800000 ? w ^ 0x40000000 : w);
}
BOTH inline float near_one(uint32_t i, uint32_t k) { return as<float>(static_cast<uint32_t>((word(i, k) & 0x80FFFFFF) + 0x3F000000)); }
BOTH inline double any_double(uint32_t i, uint32_t k) {
  const uint64_t w = word(i, k);
  return as<double>((w & 0x7FF0000000000000) == 0x7FF0000000000000 ? w ^ 0x4000000000000000 : w);
}
BOTH inline uint64_t bits(float v) { return v != v ? 0x7FFFFFFFu : as<uint32_t>(v); }
BOTH inline uint64_t bits(double v) { return v != v ? 0x7FF8000000000000u : as<uint64_t>(v); }
BOTH inline uint64_t bits(__half v) { return as<uint16_t>(v); }
BOTH inline uint64_t bits(__nv_bfloat16 v) { return as<uint16_t>(v); }

BOTH inline uint64_t integers(uint32_t i) {
  uint64_t h = 1;
  const uint64_t a = word(i, 0) >> (i % 61), b = (word(i, 1) >> (i % 53)) | 1;
  const auto sa = static_cast<int64_t>(word(i, 0)) >> (i % 41), sb = static_cast<int64_t>(b) >> 1 | 1;
  h = mix(h, a / b + a % b * 3);
  h = mix(h, static_cast<uint64_t>(sa / sb) ^ static_cast<uint64_t>(sa % sb));
  const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b) | 1;
  const auto sx = static_cast<int32_t>(x) >> (i & 15), sy = static_cast<int32_t>(y) >> (i & 7) | 1;
  h = mix(h, x / y + x % y);
  h = mix(h, sx == INT32_MIN ? 0u : static_cast<uint32_t>(sx / sy * 7 + sx % sy));
  h = mix(h, x / 10 + x % 1000 + static_cast<uint32_t>(sx / 7) + static_cast<uint32_t>(sx % 13));
  h = mix(h, static_cast<uint16_t>(x) / static_cast<uint16_t>(y | 1) + (static_cast<int16_t>(x) >> 3));
  h = mix(h, x << (y & 31) | x >> (-y & 31));
  h = mix(h, static_cast<uint64_t>(static_cast<int8_t>(x)) + static_cast<uint8_t>(y) + static_cast<uint64_t>(static_cast<int16_t>(y)));
  h = mix(h, (a << (b & 63)) ^ static_cast<uint64_t>(sa >> (b & 63)));
  h = mix(h, sa < sb ? a : b);
  h = mix(h, (x & 0xFF00) >> 8 | (y & 0x3FF) << 20 | (x ^ (y & ~x)));
  return h;
}

BOTH inline uint64_t bit_tricks(uint32_t i) {
  const auto x = static_cast<uint32_t>(word(i, 0)) >> (i % 33 & 31), y = static_cast<uint32_t>(word(i, 1)), s = static_cast<uint32_t>(word(i, 2));
  const uint64_t w = word(i, 3) >> (i % 64);
  uint64_t h = 2;
#ifdef __CUDA_ARCH__
  h = mix(h, __popc(x) + 64 * __clz(static_cast<int>(x)) + 4096 * __ffs(static_cast<int>(x)));
  h = mix(h, __popcll(w) + 64 * __clzll(static_cast<long long>(w)));
  h = mix(h, __brev(x) ^ __brevll(w));
  h = mix(h, __byte_perm(x, y, s));
  h = mix(h, __funnelshift_l(x, y, s) ^ __funnelshift_r(x, y, s));
  h = mix(h, __funnelshift_lc(x, y, s & 63) ^ __funnelshift_rc(x, y, s & 63));
  h = mix(h, __umulhi(x, y) + __umul64hi(w, word(i, 4)));
  h = mix(h, __dp4a(static_cast<int>(x), static_cast<int>(y), static_cast<int>(s)));
  h = mix(h, __usad(x, y, s) + __umul24(x, y));
#else
  const auto clz = [](uint64_t v, int n) { int c = 0; while (c < n && !(v >> (n - 1 - c) & 1)) ++c; return c; };
  const auto reverse = [](uint64_t v, int n) { uint64_t r = 0; for (int k = 0; k < n; ++k) r |= (v >> k & 1) << (n - 1 - k); return r; };
  h = mix(h, __builtin_popcount(x) + 64 * clz(x, 32) + 4096 * __builtin_ffs(static_cast<int>(x)));
  h = mix(h, __builtin_popcountll(w) + 64 * clz(w, 64));
  h = mix(h, reverse(x, 32) ^ reverse(w, 64));
  uint32_t p = 0;
  for (int k = 0; k < 4; ++k) {
    const uint32_t n = s >> (4 * k) & 7;
    p |= ((n < 4 ? x >> (8 * n) : y >> (8 * (n - 4))) & 0xFF) << (8 * k);
  }
  h = mix(h, p);
  const uint64_t pair = static_cast<uint64_t>(y) << 32 | x;
  const auto left = [&](uint32_t n) { return static_cast<uint32_t>((pair << n) >> 32); };
  const auto right = [&](uint32_t n) { return static_cast<uint32_t>(pair >> n); };
  const uint32_t c = (s & 63) > 32 ? 32 : s & 63;
  h = mix(h, left(s & 31) ^ right(s & 31));
  h = mix(h, left(c) ^ right(c));
  h = mix(h, static_cast<uint32_t>(static_cast<uint64_t>(x) * y >> 32) + static_cast<uint64_t>(static_cast<unsigned __int128>(w) * word(i, 4) >> 64));
  auto d = static_cast<int>(s);
  for (int k = 0; k < 32; k += 8) d = static_cast<int>(static_cast<uint32_t>(d) + static_cast<uint32_t>(static_cast<int8_t>(x >> k) * static_cast<int8_t>(y >> k)));
  h = mix(h, d);
  h = mix(h, (x > y ? x - y : y - x) + s + (x & 0xFFFFFF) * (y & 0xFFFFFF));
#endif
  return h;
}

BOTH inline uint64_t wide_integers(uint32_t i) {  // carry chains
  using U = unsigned __int128;
  const U a = static_cast<U>(word(i, 0)) << 64 | word(i, 1), b = static_cast<U>(word(i, 2)) << 64 | word(i, 3);
  U s = a + b, d = a - b, p = a * b;
  s ^= d << (i & 127);
  p += static_cast<U>(static_cast<__int128>(a) >> (i & 63));
  const U r = (s > p ? s - p : p - s) + (a < b);
  return static_cast<uint64_t>(r) ^ static_cast<uint64_t>(r >> 64) * 3;
}

BOTH inline uint64_t floats(uint32_t i) {
  const float a = any_float(i, 0), b = any_float(i, 1), c = any_float(i, 2), p = near_one(i, 3), q = near_one(i, 4);
  uint64_t h = 3;
  h = mix(h, bits(a / b) ^ bits(p / q) << 1);
  h = mix(h, bits(fmaf(a, b, c)) + bits(fmaf(p, q, -1.0f)));
  h = mix(h, bits(sqrtf(fabsf(a))) + bits(1.0f / p));
  h = mix(h, bits(floorf(p * 100)) + bits(ceilf(q * 77)) + bits(truncf(p * 3)) + bits(rintf(q * 5)));
  h = mix(h, bits(fminf(a, b)) + bits(fmaxf(b, c)) + bits(copysignf(a, b)));
  h = mix(h, static_cast<uint64_t>(static_cast<int64_t>(p * 1e9f)) + static_cast<uint32_t>(q * q * 1e5f) + static_cast<uint64_t>(static_cast<int>(q * 1e4f)));
  h = mix(h, bits(static_cast<float>(word(i, 5))) + bits(static_cast<float>(static_cast<int64_t>(word(i, 6)))) + bits(static_cast<float>(static_cast<int>(word(i, 7)))));
  h = mix(h, (a < b) + 2 * (p >= q) + 4 * (a != c) + 8 * (a == a) + 16 * !(b > c));
  h = mix(h, bits((a + b) - c) + bits(p - q * 3.0f));
  return h;
}

BOTH inline uint64_t doubles(uint32_t i) {
  const double a = any_double(i, 0), b = any_double(i, 1), c = any_double(i, 2);
  const double p = near_one(i, 3) * 1.0000001, q = near_one(i, 4) / 3.0;
  uint64_t h = 4;
  h = mix(h, bits(a / b) ^ bits(p / q));
  h = mix(h, bits(fma(a, b, c)) + bits(fma(p, q, -0.3)));
  h = mix(h, bits(sqrt(fabs(a))) + bits(1.0 / p));
  h = mix(h, bits(floor(p * 1e10)) + bits(rint(q * 5)) + bits(static_cast<double>(word(i, 5))) + bits(static_cast<double>(static_cast<int64_t>(word(i, 6)))));
  h = mix(h, bits(static_cast<float>(a)) + bits(static_cast<float>(p)) + static_cast<uint64_t>(static_cast<int64_t>(q * 1e15)) + bits(static_cast<double>(any_float(i, 7))));
  h = mix(h, bits(fmin(a, b)) + bits(fmax(b, c)) + (a < b) + 2 * (p > q));
  return h;
}

// The fused forms exist for the device only; on the host the sum of these moderate values is exact in double.
BOTH inline __half fused(__half a, __half b, __half c) {
#ifdef __CUDA_ARCH__
  return __hfma(a, b, c);
#else
  return __double2half(static_cast<double>(__half2float(a)) * __half2float(b) + __half2float(c));
#endif
}
BOTH inline __half fused_relu(__half a, __half b, __half c) {
#ifdef __CUDA_ARCH__
  return __hfma_relu(a, b, c);
#else
  const __half r = fused(a, b, c);
  return __half2float(r) < 0 ? __float2half_rn(0.0f) : r;
#endif
}
BOTH inline __half2 fused(__half2 a, __half2 b, __half2 c) {
#ifdef __CUDA_ARCH__
  return __hfma2(a, b, c);
#else
  return __halves2half2(fused(__low2half(a), __low2half(b), __low2half(c)), fused(__high2half(a), __high2half(b), __high2half(c)));
#endif
}
BOTH inline __nv_bfloat16 fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#ifdef __CUDA_ARCH__
  return __hfma(a, b, c);
#else
  return __double2bfloat16(static_cast<double>(__bfloat162float(a)) * __bfloat162float(b) + __bfloat162float(c));
#endif
}
BOTH inline uint64_t halves(uint32_t i) {
  const auto f16 = [i](uint32_t k) { return __float2half_rn(near_one(i, k) * 3.0f); };
  const auto bf16 = [i](uint32_t k) { return __float2bfloat16_rn(near_one(i, k) * 5.0f); };
  uint64_t h = 5;
  const __half a = f16(0), b = f16(1), c = f16(2);
  h = mix(h, bits(__hadd(a, b)) | bits(__hsub(b, c)) << 16 | bits(__hmul(a, c)) << 32 | bits(fused(a, b, c)) << 48);
  h = mix(h, bits(__hneg(a)) | bits(__habs(b)) << 16 | bits(__hmax(a, b)) << 32 | bits(__hmin(b, c)) << 48);
  h = mix(h, bits(__hadd_sat(a, b)) | bits(fused_relu(a, b, c)) << 16 | bits(__hmul_sat(b, c)) << 32);
  h = mix(h, __hlt(a, b) + 2 * __hge(b, c) + 4 * __heq(a, c));
  h = mix(h, bits(__half2float(a)) + bits(__int2half_rn(static_cast<int>(word(i, 3)) >> 12)) + static_cast<uint64_t>(static_cast<int64_t>(__half2int_rz(c))));
  const __half2 pair = fused(__halves2half2(a, b), __halves2half2(b, c), __halves2half2(c, a));
  h = mix(h, as<uint32_t>(pair) + as<uint32_t>(__hmul2(pair, pair)));
  const __nv_bfloat16 x = bf16(4), y = bf16(5), z = bf16(6);
  h = mix(h, bits(__hadd(x, y)) | bits(__hsub(y, z)) << 16 | bits(__hmul(x, z)) << 32 | bits(fused(x, y, z)) << 48);
  h = mix(h, bits(__hmax(x, y)) | bits(__hmin(y, z)) << 16 | bits(__hneg(z)) << 32 | bits(__habs(y)) << 48);
  const __nv_bfloat162 both = __hadd2(__halves2bfloat162(x, y), __halves2bfloat162(y, z));
  h = mix(h, as<uint32_t>(both) + as<uint32_t>(__floats2bfloat162_rn(near_one(i, 7), near_one(i, 8))) + bits(__bfloat162float(x)));
  h = mix(h, bits(__float2half_rz(any_float(i, 9))) | bits(__float2half_ru(near_one(i, 9))) << 16 | bits(__float2bfloat16_rz(any_float(i, 10))) << 32);
  return h;
}

BOTH inline uint64_t narrow_formats(uint32_t i) {
  const float a = near_one(i, 0) * 4.0f, b = any_float(i, 1), c = near_one(i, 2) * 300.0f;
  uint64_t h = 6;
  h = mix(h, __nv_cvt_float_to_fp8(a, __NV_SATFINITE, __NV_E4M3) | __nv_cvt_float_to_fp8(b, __NV_SATFINITE, __NV_E5M2) << 8);
  h = mix(h, __nv_cvt_float2_to_fp8x2(make_float2(a, c), __NV_SATFINITE, __NV_E4M3) | static_cast<uint64_t>(__nv_cvt_float2_to_fp8x2(make_float2(b, c), __NV_SATFINITE, __NV_E5M2)) << 16);
  h = mix(h, __nv_cvt_float2_to_fp4x2(make_float2(a, c), __NV_E2M1, cudaRoundNearest));
  h = mix(h, __nv_cvt_float2_to_fp6x2(make_float2(a, c), __NV_E2M3, cudaRoundNearest) | static_cast<uint64_t>(__nv_cvt_float2_to_fp6x2(make_float2(c, a), __NV_E3M2, cudaRoundNearest)) << 16);
  h = mix(h, __nv_cvt_float_to_e8m0(fabsf(b), __NV_SATFINITE, cudaRoundPosInf) | static_cast<uint64_t>(__nv_cvt_float_to_e8m0(fabsf(b), __NV_SATFINITE, cudaRoundZero)) << 8);
  const auto code = static_cast<uint32_t>(word(i, 3));
  h = mix(h, as<uint16_t>(__half(__nv_cvt_fp8_to_halfraw(static_cast<uint8_t>(code & 0x7E), __NV_E4M3))));
  const __half2_raw fp4 = __nv_cvt_fp4x2_to_halfraw2(static_cast<uint8_t>(code >> 8), __NV_E2M1), fp6 = __nv_cvt_fp6x2_to_halfraw2(static_cast<uint16_t>(code >> 16 & 0x3F3F), __NV_E3M2);
  h = mix(h, fp4.x | static_cast<uint32_t>(fp4.y) << 16 | static_cast<uint64_t>(fp6.x) << 32 | static_cast<uint64_t>(fp6.y) << 48);
  return h;
}

// Enough cases for a jump table, calls through a table, and recursion.
BOTH inline int step(int op, int a, int b) {
  switch (op) {
    case 0: return a + b;
    case 1: return a - b * 3;
    case 2: return a ^ b;
    case 3: return a << (b & 7);
    case 4: return a >> (b & 7);
    case 5: return a * b + 17;
    case 6: return a & ~b;
    case 7: return a | b;
    case 8: return -a;
    default: return b;
  }
}
__host__ __device__ __noinline__ uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
using Function = uint32_t (*)(uint32_t, uint32_t);
__host__ __device__ __noinline__ uint32_t rotate(uint32_t a, uint32_t b) { return a << (b & 31) | a >> (-b & 31); }
__host__ __device__ __noinline__ uint32_t gcd(uint32_t a, uint32_t b) { return b == 0 ? a : gcd(b, a % b); }
BOTH inline uint64_t control(uint32_t i) {
  int v = static_cast<int>(i);
  for (uint32_t k = 0; k < 20; ++k) v = step(static_cast<int>(word(i, k) % 10), v, static_cast<int>(word(i, k) >> 32));
  Function f[] = {rotate, gcd, ackermann};
  uint64_t h = mix(7, static_cast<uint32_t>(v));
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t which = (i + k) % 3;
    h = mix(h, which == 2 ? f[which](2, i % 5) : f[which](static_cast<uint32_t>(word(i, 30)), static_cast<uint32_t>(word(i, 31)) | 1));
  }
  return h;
}

#define KERNEL(name) \
  extern "C" __global__ void k_##name(uint64_t* out) { out[threadIdx.x] = name(threadIdx.x); }
KERNEL(integers)
KERNEL(bit_tricks)
KERNEL(wide_integers)
KERNEL(floats)
KERNEL(doubles)
KERNEL(halves)
KERNEL(narrow_formats)
KERNEL(control)

#ifndef __CUDA_ARCH__
int main() {
  constexpr uint32_t kThreads = 256;
  const auto print = [](const char* name, uint64_t (*f)(uint32_t)) {
    std::printf("%s", name);
    for (uint32_t i = 0; i < kThreads; ++i) std::printf("%s%016llx", i % 8 == 0 ? "\n" : " ", static_cast<unsigned long long>(f(i)));
    std::printf("\n");
  };
#define PRINT(name) print("k_" #name, name);
  PRINT(integers) PRINT(bit_tricks) PRINT(wide_integers) PRINT(floats) PRINT(doubles) PRINT(halves) PRINT(narrow_formats) PRINT(control)
}
#endif
