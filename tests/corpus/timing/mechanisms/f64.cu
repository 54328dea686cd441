// Doubles: chains of products, with constants and without; conversions; functions of the library. And rows of W words that a thread loads or stores.
#define LOOP(name, ...)                                                            \
  extern "C" __global__ void f64_##name(double* y, int n, double b, double c) {     \
    double x = threadIdx.x * 1e-3, z = x + b;                                       \
    for (int i = 0; i < n; ++i) { __VA_ARGS__ }                                         \
    y[blockIdx.x * blockDim.x + threadIdx.x] = x + z;                               \
  }
#define R8(s) s s s s s s s s
LOOP(fma1, R8(x = fma(x, b, c);))
LOOP(fma4, { double u = x + 1, v = x + 2; R8(x = fma(x, b, c); z = fma(z, b, c); u = fma(u, b, c); v = fma(v, b, c);) x += u + v; })
LOOP(add1, R8(x = __dadd_rn(x, b);))
LOOP(mul1, R8(x = __dmul_rn(x, b);))
LOOP(horner, { double p = 1.234567e-3; p = fma(p, x, 2.345671e-2); p = fma(p, x, 3.456712e-1); p = fma(p, x, 4.567123e-1); p = fma(p, x, 5.671234e-2); p = fma(p, x, 6.712345e-1); p = fma(p, x, 7.123456e-2); x = fma(p, x, 0.1234567); })
LOOP(horner_pair, { double p = 1.234567e-3, q = 9.2345e-3; p = fma(p, x, 2.345671e-2); q = fma(q, z, 2.145671e-2); p = fma(p, x, 3.456712e-1); q = fma(q, z, 3.156712e-1); p = fma(p, x, 4.567123e-1); q = fma(q, z, 4.167123e-1); x = fma(p, x, 0.1234567); z = fma(q, z, 0.2345671); })
LOOP(horner_short, { double p = 0.5; p = fma(p, x, 0.25); p = fma(p, x, 0.375); p = fma(p, x, 0.125); p = fma(p, x, 0.625); p = fma(p, x, 0.75); p = fma(p, x, 0.875); x = fma(p, x, 0.0625); })
LOOP(f2i, { int k; asm volatile("cvt.rni.s32.f64 %0, %1;" : "=r"(k) : "d"(x)); asm volatile("cvt.rn.f64.s32 %0, %1;" : "=d"(x) : "r"(k)); asm volatile("cvt.rni.s32.f64 %0, %1;" : "=r"(k) : "d"(z)); asm volatile("cvt.rn.f64.s32 %0, %1;" : "=d"(z) : "r"(k)); })
LOOP(f2f, { float k; asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(k) : "d"(x)); asm volatile("cvt.f64.f32 %0, %1;" : "=d"(x) : "f"(k)); asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(k) : "d"(z)); asm volatile("cvt.f64.f32 %0, %1;" : "=d"(z) : "f"(k)); })
LOOP(select, R8(x = x < b ? x + c : x - c;))
LOOP(min, R8(asm volatile("min.f64 %0, %0, %1;" : "+d"(x) : "d"(b)); asm volatile("max.f64 %0, %0, %1;" : "+d"(x) : "d"(c));))
LOOP(sin, x = sin(x);)
LOOP(sincos, { double s, k; sincos(x, &s, &k); x = s + k; })
LOOP(exp, x = exp(x);)
LOOP(log, x = log(x + 2.5);)
LOOP(sqrt, x = sqrt(x + 2.5);)
LOOP(div, x = b / (x + 2.5);)
LOOP(rsqrt, x = rsqrt(x + 2.5);)
LOOP(tanh, x = tanh(x);)
LOOP(pow, x = pow(x + 1.5, b);)
template <int W, bool LOAD> __device__ __forceinline__ void dense(const float* a, float* y, int n, int span) {
  float s = 0;
  for (int i = 0; i < n; ++i) {
    const size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * W + (size_t)i * span;
#pragma unroll
    for (int k = 0; k < W; ++k) if (LOAD) s += a[at + k]; else y[at + k] = k;
  }
  if (LOAD) y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
#define DENSE(w) extern "C" __global__ void dense_store_##w(const float* a, float* y, int n, int span) { dense<w, false>(a, y, n, span); } \
  extern "C" __global__ void dense_load_##w(const float* a, float* y, int n, int span) { dense<w, true>(a, y, n, span); }
DENSE(2) DENSE(3) DENSE(5) DENSE(7) DENSE(9) DENSE(12) DENSE(16)
