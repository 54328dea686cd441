// Images: bilinear resizing, blending of four bytes a pixel, and pooling.
extern "C" __global__ void resize(const float* x, float* y, int w, int h, int ow, int oh) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= ow || j >= oh) return;
  const float fx = fminf((i + 0.5f) * w / ow - 0.5f, w - 1.f), fy = fminf((j + 0.5f) * h / oh - 0.5f, h - 1.f);
  const int x0 = max(0, (int)floorf(fx)), y0 = max(0, (int)floorf(fy)), x1 = min(w - 1, x0 + 1), y1 = min(h - 1, y0 + 1);
  const float a = fx - x0, b = fy - y0;
  const float top = x[y0 * w + x0] * (1 - a) + x[y0 * w + x1] * a, low = x[y1 * w + x0] * (1 - a) + x[y1 * w + x1] * a;
  y[j * ow + i] = top * (1 - b) + low * b;
}
extern "C" __global__ void blend(const uchar4* over, const uchar4* under, uchar4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar4 a = over[i], b = under[i];
  const int t = a.w, u = 255 - t;
  out[i] = make_uchar4((a.x * t + b.x * u + 127) / 255, (a.y * t + b.y * u + 127) / 255, (a.z * t + b.z * u + 127) / 255, 255);
}
extern "C" __global__ void max_pool(const float* x, float* y, int w, int ow, int oh) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ow * oh) return;
  const float* p = x + (size_t)blockIdx.y * w * oh * 2 + (i / ow) * 2 * w + i % ow * 2;
  y[(size_t)blockIdx.y * ow * oh + i] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[w], p[w + 1]));
}
