// Warp and block intrinsics, printf and assert as nvcc compiles them; on the host, loops over the lanes compute the expected
// results. Made into warp.ptx and warp_expected.txt (see README.md).
#include <cassert>
#include <cstdint>
#include <cstdio>

constexpr uint32_t kLanes = 32, kAll = 0xFFFFFFFF;

__host__ __device__ inline uint32_t value(uint32_t i) { return (i * 2654435761u) >> 7 ^ i; }
__host__ __device__ inline uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x100000001B3ull + (h >> 47); }
__host__ __device__ inline float real(uint32_t i) { return static_cast<float>(static_cast<int>(value(i) % 2001) - 1000) * 0.125f; }

extern "C" __global__ void k_warp(uint64_t* out) {
  const uint32_t i = threadIdx.x, lane = i % kLanes, v = value(i);
  uint64_t h = 1;
  uint32_t sum = v;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(kAll, sum, d);
  h = mix(h, __shfl_sync(kAll, sum, 0));
  h = mix(h, __shfl_xor_sync(kAll, v, 5, 8) + 3ull * __shfl_up_sync(kAll, v, 3, 16) + 5ull * __shfl_sync(kAll, v, lane * 7, 8));
  h = mix(h, __ballot_sync(kAll, v & 1));
  h = mix(h, __any_sync(kAll, v % 97 == 0) + 2 * __all_sync(kAll, v != 12345));
  h = mix(h, __match_any_sync(kAll, v % 5));
  int same;
  h = mix(h, __match_all_sync(kAll, i / kLanes, &same) + same);
  h = mix(h, __reduce_add_sync(kAll, v) + 3ull * __reduce_max_sync(kAll, static_cast<int>(v << 3)) + __reduce_xor_sync(kAll, v));
  if (lane < 11) {
    h = mix(h, __activemask() + __reduce_min_sync(0x7FF, v));
  } else {
    h = mix(h, __shfl_sync(0xFFFFF800, v, 20));
  }
  __syncwarp();
  float greatest = 0;
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
  asm("redux.sync.max.abs.f32 %0, %1, 0xFFFFFFFF;" : "=f"(greatest) : "f"(real(i)));
#endif
  h = mix(h, __float_as_uint(greatest));
  h = mix(h, __syncthreads_count(v & 2) + 1000 * (__syncthreads_and(v != 7) != 0) + 2000 * (__syncthreads_or(v == 3) != 0));
  const long long before = clock64();
  __nanosleep(20);
  h = mix(h, clock64() >= before);
  assert(h != 0);
  out[i] = h;
  if (i == 3) printf("%d %u %lld %#x %8.3f %s %c %e %5d|%-4d|%%\n", -5, 7u, -1234567890123ll, 255, 3.14159, "text", 'z', 12345.678, 42, 17);
}

#ifndef __CUDA_ARCH__
constexpr uint32_t kThreads = 256;
static uint64_t expected(uint32_t i) {
  const uint32_t lane = i % kLanes, first = i - lane, v = value(i);
  const auto at = [&](uint32_t l) { return value(first + l); };
  uint64_t h = 1;
  uint32_t sum = 0, ballot = 0, same = 0, all_xor = 0, least = ~0u;
  int greatest = INT32_MIN;
  bool any = false, all = true;
  float top = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t w = at(l);
    sum += w;
    all_xor ^= w;
    ballot |= (w & 1) << l;
    same |= static_cast<uint32_t>(w % 5 == v % 5) << l;
    any = any || w % 97 == 0;
    all = all && w != 12345;
    if (static_cast<int>(w << 3) > greatest) greatest = static_cast<int>(w << 3);
    if (l < 11 && w < least) least = w;
    const float r = real(first + l) < 0 ? -real(first + l) : real(first + l);
    if (r > top) top = r;
  }
  h = mix(h, sum);
  h = mix(h, at((lane & ~7u) | ((lane ^ 5) & 7)) + 3ull * at(lane % 16 >= 3 ? lane - 3 : lane) + 5ull * at((lane & ~7u) | (lane * 7 & 7)));
  h = mix(h, ballot);
  h = mix(h, any + 2 * all);
  h = mix(h, same);
  h = mix(h, kAll + 1u);  // the mask plus a true flag, in 32 bits
  h = mix(h, sum + 3ull * greatest + all_xor);
  h = mix(h, lane < 11 ? 0x7FFu + least : at(20));
  union { float f; uint32_t u; } bits{top};
  h = mix(h, bits.u);
  uint32_t count = 0;
  bool every = true, some = false;
  for (uint32_t t = 0; t < kThreads; ++t) {
    count += (value(t) & 2) != 0;
    every = every && value(t) != 7;
    some = some || value(t) == 3;
  }
  h = mix(h, count + 1000 * every + 2000 * some);
  return mix(h, 1);
}

int main() {
  std::printf("k_warp");
  for (uint32_t i = 0; i < kThreads; ++i) std::printf("%s%016llx", i % 8 == 0 ? "\n" : " ", static_cast<unsigned long long>(expected(i)));
  std::printf("\n");
}
#endif
