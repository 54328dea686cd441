// Kernels of many fields, written before the model was changed.
#include <cuda_bf16.h>
#include <mma.h>

// 4-bit weights by a codebook in constant memory, a scale for 64.
__constant__ float codebook[16] = {-1.f, -.6962f, -.5251f, -.3949f, -.2844f, -.1848f, -.0911f, 0.f, .0796f, .1609f, .2461f, .3379f, .4407f, .5626f, .723f, 1.f};
extern "C" __global__ void nf4_dequant(const unsigned* packed, const float* scale, __nv_bfloat16* out, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  const unsigned p = packed[i];
  const float s = scale[i / 8];
  __nv_bfloat162 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = __floats2bfloat162_rn(codebook[p >> 8 * k & 15] * s, codebook[p >> (8 * k + 4) & 15] * s);
  reinterpret_cast<uint4*>(out)[i] = *reinterpret_cast<uint4*>(v);
}

// Noise of two dimensions with the permutation in constant memory.
__constant__ unsigned char permutation[512];
__device__ float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
__device__ float slope(int h, float x, float y) { return (h & 1 ? -x : x) + (h & 2 ? -y : y); }
extern "C" __global__ void noise(float* out, int w, int h, float step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0, a = 1, f = step;
#pragma unroll 1
  for (int o = 0; o < 4; ++o, f *= 2, a *= .5f) {
    const float px = x * f, py = y * f;
    const int ix = (int)floorf(px) & 255, iy = (int)floorf(py) & 255;
    const float fx = px - floorf(px), fy = py - floorf(py), u = fade(fx), v = fade(fy);
    const int a0 = permutation[ix] + iy, b0 = permutation[ix + 1] + iy;
    const float l = slope(permutation[a0 & 511], fx, fy), r = slope(permutation[b0 & 511], fx - 1, fy);
    const float t = slope(permutation[(a0 + 1) & 511], fx, fy - 1), q = slope(permutation[(b0 + 1) & 511], fx - 1, fy - 1);
    sum += a * (l + u * (r - l) + v * (t + u * (q - t) - l - u * (r - l)));
  }
  out[y * w + x] = sum;
}

// Rounds of table lookups in shared memory, as in AES.
extern "C" __global__ void rounds(const unsigned* tables, const uint4* in, uint4* out, int n, int count) {
  __shared__ unsigned t[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) t[i] = tables[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  uint4 s = in[i];
  for (int r = 0; r < n; ++r) {
    const uint4 o = s;
    s.x = t[o.x & 255] ^ t[256 + (o.y >> 8 & 255)] ^ t[512 + (o.z >> 16 & 255)] ^ t[768 + (o.w >> 24)] ^ r;
    s.y = t[o.y & 255] ^ t[256 + (o.z >> 8 & 255)] ^ t[512 + (o.w >> 16 & 255)] ^ t[768 + (o.x >> 24)] ^ r;
    s.z = t[o.z & 255] ^ t[256 + (o.w >> 8 & 255)] ^ t[512 + (o.x >> 16 & 255)] ^ t[768 + (o.y >> 24)] ^ r;
    s.w = t[o.w & 255] ^ t[256 + (o.x >> 8 & 255)] ^ t[512 + (o.y >> 16 & 255)] ^ t[768 + (o.z >> 24)] ^ r;
  }
  out[i] = s;
}

// A row of a sparse matrix a warp, by a dense matrix of 64 columns.
extern "C" __global__ void spmm64(const unsigned* columns, const float* values, const float* dense, float* out, int rows, int each, unsigned mask) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float2 s = {0, 0};
  for (int k = 0; k < each; ++k) {
    const float v = values[row * each + k];
    const float2 d = reinterpret_cast<const float2*>(dense + (size_t)(columns[row * each + k] & mask) * 64)[lane];
    s.x += v * d.x;
    s.y += v * d.y;
  }
  reinterpret_cast<float2*>(out + (size_t)row * 64)[lane] = s;
}

extern "C" __global__ void swiglu(const __nv_bfloat162* gate, const __nv_bfloat162* up, __nv_bfloat162* out, int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    uint4 g = reinterpret_cast<const uint4*>(gate)[i], u = reinterpret_cast<const uint4*>(up)[i], r;
    __nv_bfloat162 *pg = (__nv_bfloat162*)&g, *pu = (__nv_bfloat162*)&u, *pr = (__nv_bfloat162*)&r;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 a = __bfloat1622float2(pg[k]), b = __bfloat1622float2(pu[k]);
      pr[k] = __floats2bfloat162_rn(a.x / (1.f + __expf(-a.x)) * b.x, a.y / (1.f + __expf(-a.y)) * b.y);
    }
    reinterpret_cast<uint4*>(out)[i] = r;
  }
}

extern "C" __global__ void rotate_pairs(const __nv_bfloat162* in, __nv_bfloat162* out, int heads, int half, int positions, float base) {
  const int p = blockIdx.x, h = blockIdx.y;
  for (int k = threadIdx.x; k < half; k += blockDim.x) {
    const float angle = p * exp2f(-base * k / half);
    float s, c;
    __sincosf(angle, &s, &c);
    const size_t at = ((size_t)p * heads + h) * half + k;
    const float2 v = __bfloat1622float2(in[at]);
    out[at] = __floats2bfloat162_rn(v.x * c - v.y * s, v.x * s + v.y * c);
  }
}

// Mean and variance of a row in one pass, joined by Welford's rule.
__device__ void join(float& m, float& v, float& n, float m2, float v2, float n2) {
  const float t = n + n2, d = m2 - m;
  if (t == 0) return;
  m += d * n2 / t;
  v += v2 + d * d * n * n2 / t;
  n = t;
}
extern "C" __global__ void welford_norm(const float* x, const float* w, float* y, int columns) {
  __shared__ float ms[8], vs[8], ns[8];
  const float* row = x + (size_t)blockIdx.x * columns;
  float m = 0, v = 0, n = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    n += 1;
    const float d = row[i] - m;
    m += d / n;
    v += d * (row[i] - m);
  }
  for (int d = 16; d > 0; d /= 2) {
    const float m2 = __shfl_xor_sync(~0u, m, d), v2 = __shfl_xor_sync(~0u, v, d), n2 = __shfl_xor_sync(~0u, n, d);
    join(m, v, n, m2, v2, n2);
  }
  if (threadIdx.x % 32 == 0) ms[threadIdx.x / 32] = m, vs[threadIdx.x / 32] = v, ns[threadIdx.x / 32] = n;
  __syncthreads();
  m = v = n = 0;
  for (int k = 0; k < blockDim.x / 32; ++k) join(m, v, n, ms[k], vs[k], ns[k]);
  const float scale = rsqrtf(v / n + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[(size_t)blockIdx.x * columns + i] = (row[i] - m) * scale * w[i];
}

// The eight least of a thread's values, kept in order.
extern "C" __global__ void eight_least(const float* in, float* out, int each, int threads) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float best[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) best[k] = 1e30f;
  for (int i = 0; i < each; ++i) {
    float v = in[(size_t)i * threads + t];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float low = fminf(best[k], v);
      v = fmaxf(best[k], v);
      best[k] = low;
    }
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) out[(size_t)k * threads + t] = best[k];
}

// A step of waves in a plane, a tile in shared memory.
extern "C" __global__ void wave_tile(const float* e, const float* before, float* after, int w, int h, float c) {
  __shared__ float tile[18][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 34; i += 32) tile[j][i] = e[min(max((int)blockIdx.y * 16 + j - 1, 0), h - 1) * w + min(max((int)blockIdx.x * 32 + i - 1, 0), w - 1)];
  __syncthreads();
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  const float middle = tile[j][i];
  after[y * w + x] = 2 * middle - before[y * w + x] + c * (tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i] - 4 * middle);
}

// Edit distance of a pair a block, by antidiagonals in shared memory.
extern "C" __global__ void edit_distance(const unsigned char* a, const unsigned char* b, int* out, int n) {
  __shared__ int d[3][257];
  __shared__ unsigned char s[256], t[256];
  const int k = threadIdx.x;
  s[k] = a[blockIdx.x * n + k] & 3;
  t[k] = b[blockIdx.x * n + k] & 3;
  for (int r = 0; r < 3; ++r) d[r][k] = 0, d[r][256] = 0;
  __syncthreads();
  for (int g = 0; g <= 2 * n; ++g) {
    int* now = d[g % 3];
    const int *last = d[(g + 2) % 3], *before = d[(g + 1) % 3];
    for (int i = k; i <= n; i += n) {
      const int j = g - i;
      if (j < 0 || j > n) continue;
      now[i] = i == 0 ? j : j == 0 ? i : min(min(last[i - 1], last[i]) + 1, before[i - 1] + (s[i - 1] != t[j - 1]));
    }
    __syncthreads();
  }
  if (k == 0) out[blockIdx.x] = d[2 * n % 3][n];
}

// Products of bytes by four, a tile of 64 by 64.
extern "C" __global__ void gemm_dp4a(const int* a, const int* b, int* c, int n, int k4) {
  __shared__ int as[64][17], bs[64][17];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
  int sum[4][4] = {};
  for (int k = 0; k < k4; k += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      as[i / 16][i % 16] = a[(size_t)(row + i / 16) * k4 + k + i % 16];
      bs[i / 16][i % 16] = b[(size_t)(column + i / 16) * k4 + k + i % 16];
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; ++q)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = __dp4a(as[ty * 4 + i][q], bs[tx * 4 + j][q], sum[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(size_t)(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}

// One query for each head: a warp takes its share of the keys, then all join.
extern "C" __global__ void one_query(const float* q, const __nv_bfloat162* keys, const __nv_bfloat162* values, float* out, int length) {
  __shared__ float ms[8], ls[8], os[8][64];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, head = blockIdx.x;
  const float2 mine = reinterpret_cast<const float2*>(q)[head * 32 + lane];
  float m = -1e30f, l = 0;
  float2 o = {0, 0};
  for (int k = warp; k < length; k += 8) {
    const size_t at = ((size_t)head * length + k) * 32 + lane;
    const float2 key = __bfloat1622float2(keys[at]);
    float s = mine.x * key.x + mine.y * key.y;
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    const float top = fmaxf(m, s), old = __expf(m - top), p = __expf(s - top);
    const float2 v = __bfloat1622float2(values[at]);
    o.x = o.x * old + p * v.x;
    o.y = o.y * old + p * v.y;
    l = l * old + p;
    m = top;
  }
  if (lane == 0) ms[warp] = m, ls[warp] = l;
  os[warp][2 * lane] = o.x;
  os[warp][2 * lane + 1] = o.y;
  __syncthreads();
  if (threadIdx.x < 64) {
    float top = ms[0], sum = 0, r = 0;
    for (int w = 1; w < 8; ++w) top = fmaxf(top, ms[w]);
    for (int w = 0; w < 8; ++w) {
      const float f = __expf(ms[w] - top);
      sum += ls[w] * f;
      r += os[w][threadIdx.x] * f;
    }
    out[head * 64 + threadIdx.x] = r / sum;
  }
}

extern "C" __global__ void lorenz(float* state, int n, int steps, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = state[i], y = state[n + i], z = state[2 * n + i];
  for (int s = 0; s < steps; ++s) {
    float kx = 0, ky = 0, kz = 0, sx = 0, sy = 0, sz = 0;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float f = r == 0 ? 0 : r == 3 ? dt : dt / 2, g = r == 0 || r == 3 ? 1 : 2;
      const float ax = x + f * kx, ay = y + f * ky, az = z + f * kz;
      kx = 10 * (ay - ax), ky = ax * (28 - az) - ay, kz = ax * ay - 8.f / 3 * az;
      sx += g * kx, sy += g * ky, sz += g * kz;
    }
    x += dt / 6 * sx, y += dt / 6 * sy, z += dt / 6 * sz;
  }
  state[i] = x, state[n + i] = y, state[2 * n + i] = z;
}

extern "C" __global__ void hash_strings(const unsigned* text, unsigned* out, int words, int strings) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= strings) return;
  unsigned h = 42;
  for (int k = 0; k < words; ++k) {
    unsigned v = text[(size_t)i * words + k] * 0xcc9e2d51u;
    v = (v << 15 | v >> 17) * 0x1b873593u;
    h ^= v;
    h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
  }
  h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13;
  out[i] = h;
}

extern "C" __global__ void bilateral(const float* in, float* out, int w, int h, float near, float alike) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float middle = in[y * w + x];
  float sum = 0, weight = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) {
      const float v = in[min(max(y + j, 0), h - 1) * w + min(max(x + i, 0), w - 1)];
      const float e = __expf(-(i * i + j * j) * near - (v - middle) * (v - middle) * alike);
      sum += e * v;
      weight += e;
    }
  out[y * w + x] = sum / weight;
}

// Tensor core through wmma, a tile of 64 by 64 for four warps, both operands through shared memory.
extern "C" __global__ void gemm_wmma(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  using namespace nvcuda;
  __shared__ __align__(16) __nv_bfloat16 as[64][40], bs[64][40];
  const int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4];
  for (auto& f : acc) wmma::fill_fragment(f, 0.f);
  for (int at = 0; at < k; at += 32) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      *(uint4*)&as[i / 4][i % 4 * 8] = *(const uint4*)&a[(size_t)(row + i / 4) * k + at + i % 4 * 8];
      *(uint4*)&bs[i / 4][i % 4 * 8] = *(const uint4*)&b[(size_t)(column + i / 4) * k + at + i % 4 * 8];
    }
    __syncthreads();
    for (int q = 0; q < 32; q += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
      wmma::load_matrix_sync(fa, &as[warp * 16][q], 40);
      for (int j = 0; j < 4; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
        wmma::load_matrix_sync(fb, &bs[j * 16][q], 40);
        wmma::mma_sync(acc[j], fa, fb, acc[j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) wmma::store_matrix_sync(&c[(size_t)(row + warp * 16) * n + column + j * 16], acc[j], n, wmma::mem_row_major);
}

// Blocks count digits in shared memory, then add to the whole.
extern "C" __global__ void count_digits(const unsigned* keys, unsigned* counts, int n, int shift) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&bins[keys[i] >> shift & 255], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
