// C++ features of calls, memory and wide integers: the same functions for the device, whose PTX is simulated, and for the host, which
// prints the expected results. Made into language.ptx and language_expected.txt (see README.md).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
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
BOTH inline uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x100000001B3ull + (h >> 47); }

// nvcc's code for it reads the borrow of a subtraction as a carry.
BOTH uint64_t division128(uint32_t i) {
  using U = unsigned __int128;
  using S = __int128;
  const U a = (static_cast<U>(word(i, 0)) << 64 | word(i, 1)) >> (i % 90), b = (static_cast<U>(word(i, 2)) << 64 | word(i, 3)) >> (i * 7 % 121) | 1;
  const U q = a / b, r = a % b;
  const S sq = static_cast<S>(a) / (static_cast<S>(b) >> 1 | 1), sr = static_cast<S>(a) % (-static_cast<S>(b >> 2) - 1);
  uint64_t h = 1;
  for (const U v : {q, r, static_cast<U>(sq), static_cast<U>(sr)}) h = mix(mix(h, static_cast<uint64_t>(v)), static_cast<uint64_t>(v >> 64));
  return h;
}

BOTH __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
BOTH __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
BOTH uint64_t recursion(uint32_t i) { return static_cast<uint64_t>(fibonacci(static_cast<int>(i % 11))) << 32 | ackermann(i % 3, i % 5); }

BOTH __noinline__ int first(int x) { return x + 10; }
BOTH __noinline__ int second(int x) { return x * x; }
BOTH __noinline__ int third(int x) { return x ^ 0x55; }
using Unary = int (*)(int);
BOTH uint64_t pointers(uint32_t i) {
  const Unary table[] = {first, second, third};
  uint64_t h = 2;
  for (uint32_t k = 0; k < 4; ++k) h = mix(h, table[(i + k * k) % 3](static_cast<int>(i)));
  return h;
}

struct Shape {
  BOTH virtual int area(int x) const { return x + 1; }
  BOTH virtual ~Shape() {}
};
struct Square : Shape {
  int k;
  BOTH explicit Square(int k) : k(k) {}
  BOTH int area(int x) const override { return x * k; }
};
struct Ring : Square {
  BOTH Ring() : Square(5) {}
  BOTH int area(int x) const override { return Square::area(x) - 7; }
};
BOTH uint64_t virtuals(uint32_t i) {
  const Shape a;
  const Square b(3);
  const Ring c;
  const Shape* s = i % 3 == 0 ? &a : i % 3 == 1 ? static_cast<const Shape*>(&b) : &c;
  return static_cast<uint64_t>(s->area(static_cast<int>(i)));
}

struct Record {
  int a[7];
  double d;
  char c;
  short s;
};
struct __align__(16) Vector {
  float x, y, z;
};
struct Bits {
  unsigned a : 3;
  int b : 7;
  uint64_t c : 40;
};
BOTH __noinline__ Record changed(int i, Record r, Vector v, char c) {
  r.a[i % 7] += i;
  r.d *= v.y;
  r.c = c;
  r.s = static_cast<short>(r.s - i);
  return r;
}
BOTH uint64_t structures(uint32_t i) {
  Record r = {};
  for (int j = 0; j < 7; ++j) r.a[j] = static_cast<int>(i) * j;
  r.d = i;
  r.s = 3;
  r = changed(static_cast<int>(i), r, Vector{1, 2.5f, 3}, static_cast<char>(i));
  Bits b = {};
  b.a = i;
  b.b = -static_cast<int>(i % 60);
  b.c = word(i, 0) + b.a * b.b;
  uint64_t h = mix(b.c, static_cast<uint64_t>(r.d * 2));
  for (const int x : r.a) h = mix(h, x);
  return mix(mix(h, r.c), r.s);
}

BOTH uint64_t cases(uint32_t i) {
  const int x = static_cast<int>(i);
  switch (i % 23) {  // dense enough for brx.idx
    case 0: return 5;
    case 1: return x;
    case 2: return x * 3;
    case 3: return ~x;
    case 4: return x << 3;
    case 5: return x / 3;
    case 6: return x % 5;
    case 7: return fibonacci(x % 10);
    case 8: return 77;
    case 9: return x - 4;
    case 10: return x * x;
    case 12: return -x;
    case 13: return x | 64;
    case 14: return x & 12;
    case 15: return second(x);
    case 16: return third(x);
    case 20: return 9;
    default: return 1;
  }
}

BOTH uint64_t local_arrays(uint32_t i) {
  int t[37];
  for (int j = 0; j < 37; ++j) t[j] = j * static_cast<int>(i);
  uint64_t h = 3;
  for (uint32_t j = 0; j < 37; ++j) h = mix(h, t[(j * i + 5) % 37]);
  char from[50], to[50];
  memset(from, static_cast<int>(i), 50);
  memcpy(to, from + 3, 40);
  to[7] = 9;
  for (int j = 0; j < 40; ++j) h = mix(h, to[j]);
  return h;
}

// Tiles of eight lanes: one instruction, four member masks.
constexpr uint32_t kTile = 8;
BOTH inline uint32_t tile_value(uint32_t i) { return static_cast<uint32_t>(word(i, 9)) % 1000; }
#ifdef __CUDA_ARCH__
__device__ uint64_t tiles(uint32_t i) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
  const uint32_t v = tile_value(i);
  uint64_t h = mix(4, cg::reduce(tile, v, cg::plus<uint32_t>()));
  h = mix(h, cg::reduce(tile, v, cg::greater<uint32_t>()));
  h = mix(h, cg::inclusive_scan(tile, v, cg::plus<uint32_t>()));
  h = mix(h, tile.shfl_xor(v, 5));
  h = mix(h, tile.ballot(v % 3 == 0));
  tile.sync();
  return mix(h, tile.match_any(v % 4));
}
#else
uint64_t tiles(uint32_t i) {
  const uint32_t begin = i / kTile * kTile, me = i % kTile;
  uint32_t sum = 0, most = 0, prefix = 0, votes = 0, same = 0;
  for (uint32_t k = 0; k < kTile; ++k) {
    const uint32_t v = tile_value(begin + k);
    sum += v;
    most = std::max(most, v);
    if (k <= me) prefix += v;
    votes |= static_cast<uint32_t>(v % 3 == 0) << k;
    same |= static_cast<uint32_t>(v % 4 == tile_value(i) % 4) << k;
  }
  uint64_t h = mix(mix(mix(4, sum), most), prefix);
  return mix(mix(mix(h, tile_value(begin + (me ^ 5))), votes), same);
}
#endif

#define KERNEL(name) \
  extern "C" __global__ void k_##name(uint64_t* out) { out[threadIdx.x] = name(threadIdx.x); }
#define EACH(do) do(division128) do(recursion) do(pointers) do(virtuals) do(structures) do(cases) do(local_arrays) do(tiles)
EACH(KERNEL)

int main() {
#define PRINT(name) \
  std::printf("k_" #name "\n"); \
  for (uint32_t i = 0; i < 256; ++i) std::printf("%llx%c", static_cast<unsigned long long>(name(i)), i % 8 == 7 ? '\n' : ' ');
  EACH(PRINT)
}
