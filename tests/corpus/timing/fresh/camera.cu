// Pictures from a sensor: colours between a Bayer mosaic's by filters of 5 x 5, and medians of 3 x 3 bytes, four pixels a thread.
extern "C" __global__ void __launch_bounds__(256) demosaic(const unsigned short* raw, uchar4* out, int w, int h) {
  __shared__ int s[12][36];
  const int x0 = blockIdx.x * 32 - 2, y0 = blockIdx.y * 8 - 2, t = threadIdx.y * 32 + threadIdx.x;
  for (int i = t; i < 12 * 36; i += 256) {
    const int x = min(max(x0 + i % 36, 0), w - 1), y = min(max(y0 + i / 36, 0), h - 1);
    s[i / 36][i % 36] = raw[(size_t)y * w + x] & 1023;
  }
  __syncthreads();
  const int cx = threadIdx.x + 2, cy = threadIdx.y + 2, c = s[cy][cx];
  const int n = s[cy - 1][cx], o = s[cy + 1][cx], l = s[cy][cx - 1], r = s[cy][cx + 1];
  const int nn = s[cy - 2][cx], oo = s[cy + 2][cx], ll = s[cy][cx - 2], rr = s[cy][cx + 2];
  const int corners = s[cy - 1][cx - 1] + s[cy - 1][cx + 1] + s[cy + 1][cx - 1] + s[cy + 1][cx + 1];
  const int cross = (4 * c + 2 * (n + o + l + r) - (nn + oo + ll + rr)) / 8;
  const int across = (10 * c + 8 * (l + r) - 2 * (ll + rr) - 2 * corners + nn + oo) / 16;
  const int along = (10 * c + 8 * (n + o) - 2 * (nn + oo) - 2 * corners + ll + rr) / 16;
  const int other = (12 * c + 4 * corners - 3 * (nn + oo + ll + rr)) / 16;
  const int x = x0 + cx, y = y0 + cy;
  int red, green, blue;
  if (y % 2 == 0) {
    if (x % 2 == 0) { red = c; green = cross; blue = other; } else { red = across; green = c; blue = along; }
  } else {
    if (x % 2 == 0) { red = along; green = c; blue = across; } else { red = other; green = cross; blue = c; }
  }
  out[(size_t)y * w + x] = make_uchar4(min(max(red, 0), 1023) >> 2, min(max(green, 0), 1023) >> 2, min(max(blue, 0), 1023) >> 2, 255);
}
__device__ __forceinline__ void order(unsigned& a, unsigned& b) {
  const unsigned low = __vminu4(a, b);
  b = __vmaxu4(a, b);
  a = low;
}
extern "C" __global__ void median3_bytes(const unsigned* in, unsigned* out, int w4, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w4 || y >= h) return;
  unsigned p[9];
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    const unsigned* row = in + (size_t)min(max(y + j - 1, 0), h - 1) * w4;
    const unsigned mid = row[x], left = x > 0 ? row[x - 1] : mid << 24, right = x + 1 < w4 ? row[x + 1] : mid >> 24;
    p[3 * j] = __byte_perm(left, mid, 0x6543);
    p[3 * j + 1] = mid;
    p[3 * j + 2] = __byte_perm(mid, right, 0x4321);
  }
  order(p[1], p[2]); order(p[4], p[5]); order(p[7], p[8]);
  order(p[0], p[1]); order(p[3], p[4]); order(p[6], p[7]);
  order(p[1], p[2]); order(p[4], p[5]); order(p[7], p[8]);
  order(p[0], p[3]); order(p[5], p[8]); order(p[4], p[7]);
  order(p[3], p[6]); order(p[1], p[4]); order(p[2], p[5]);
  order(p[4], p[7]); order(p[4], p[2]); order(p[6], p[4]);
  order(p[4], p[2]);
  out[(size_t)y * w4 + x] = p[4];
}
