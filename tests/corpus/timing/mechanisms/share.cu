extern "C" __global__ void share(const float4* x, float* y, int n, int delay, int group) {
  const unsigned c = clock64() & 0xffffffff;
  if (blockIdx.x % 2) while ((unsigned)(clock64() & 0xffffffff) - c < (unsigned)delay);
  const float4* p = x + (size_t)(blockIdx.x / group) * n + threadIdx.x;
  float s = 0;
#pragma unroll 4
  for (int i = 0; i < n; i += blockDim.x) { float4 v; asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p + i)); s += v.x + v.y + v.z + v.w; }
  if (s == 12345.f) y[0] = s;
}
