// Rotations in batches: points turned by quaternions that are interpolated on the sphere, and the nearest rotation to 3 x 3 matrices by iteration.
extern "C" __global__ void slerp_turn(const float4* from, const float4* to, const float* when, const float* p, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a = from[i], b = to[i];
  const float ra = rsqrtf(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w + 1e-12f), rb = rsqrtf(b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w + 1e-12f);
  float d = (a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) * ra * rb;
  const float sign = d < 0 ? -rb : rb;
  d = fminf(fabsf(d), 0.9995f);
  const float t = when[i], angle = acosf(d), inv = rsqrtf(1.f - d * d), u = __sinf((1.f - t) * angle) * inv * ra, v = __sinf(t * angle) * inv * sign;
  const float x = u * a.x + v * b.x, y = u * a.y + v * b.y, z = u * a.z + v * b.z, w = u * a.w + v * b.w;
  const float px = p[i * 3], py = p[i * 3 + 1], pz = p[i * 3 + 2];
  const float cx = 2 * (y * pz - z * py), cy = 2 * (z * px - x * pz), cz = 2 * (x * py - y * px);
  out[i * 3] = px + w * cx + y * cz - z * cy;
  out[i * 3 + 1] = py + w * cy + z * cx - x * cz;
  out[i * 3 + 2] = pz + w * cz + x * cy - y * cx;
}
extern "C" __global__ void polar3(const float* m, float* r, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) a[k] = m[i * 9 + k];
  for (int s = 0; s < steps; ++s) {
    const float c[9] = {a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6], a[2] * a[7] - a[1] * a[8], a[0] * a[8] - a[2] * a[6],
                        a[1] * a[6] - a[0] * a[7], a[1] * a[5] - a[2] * a[4], a[2] * a[3] - a[0] * a[5], a[0] * a[4] - a[1] * a[3]};
    const float det = a[0] * c[0] + a[1] * c[1] + a[2] * c[2];
    float p = 0, q = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) { p += a[k] * a[k]; q += c[k] * c[k]; }
    const float g = sqrtf(sqrtf(q / (p * det * det + 1e-20f))), f = 0.5f / (g * det + 1e-20f);
#pragma unroll
    for (int k = 0; k < 9; ++k) a[k] = 0.5f * g * a[k] + f * c[k];
  }
#pragma unroll
  for (int k = 0; k < 9; ++k) r[i * 9 + k] = a[k];
}
