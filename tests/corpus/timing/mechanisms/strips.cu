// A thread walks down a column: a load, a sum and perhaps a store each row.
extern "C" __global__ void sum_rows(const unsigned* in, unsigned* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = 0;
#pragma unroll 1
  for (int y = 0; y < h; ++y) s = (s ^ in[(size_t)y * w + x]) * 3;
  out[x] = s;
}
// The same, stored row by row elsewhere: the compiler may not move a load before the store.
extern "C" __global__ void scan_apart(const unsigned* in, unsigned* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = 0;
#pragma unroll 1
  for (int y = 0; y < h; ++y) {
    s += in[(size_t)y * w + x];
    out[(size_t)y * w + x] = s;
  }
}
extern "C" __global__ void scan_in_place(unsigned* io, unsigned*, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = 0;
#pragma unroll 1
  for (int y = 0; y < h; ++y) {
    s += io[(size_t)y * w + x];
    io[(size_t)y * w + x] = s;
  }
}
extern "C" __global__ void scan_by_eight(unsigned* io, unsigned*, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = 0;
#pragma unroll 8
  for (int y = 0; y < h; ++y) {
    s += io[(size_t)y * w + x];
    io[(size_t)y * w + x] = s;
  }
}
// The next load's address is in the value: no row is in flight beside another.
extern "C" __global__ void walk(const unsigned* in, unsigned* out, int w, int h) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int y = 0; y < h; ++y) x += in[(size_t)y * w + x] & 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
// A division and two products follow each other in each row, of values that are there.
extern "C" __global__ void divide_rows(const float* in, float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  float c = 0, d = 0;
#pragma unroll 1
  for (int y = 0; y < h; ++y) {
    const float v = in[(size_t)y * w + x], inverse = 1.f / (12.f + v - v * c);
    c = v * inverse;
    d = (v - v * d) * inverse;
  }
  out[x] = c + d;
}
// Each block reads what another one has written in the launch before.
extern "C" __global__ void scan_others(unsigned* io, unsigned*, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned s = 0;
#pragma unroll 1
  for (int y = 0; y < h; ++y) {
    s += io[(size_t)y * w + other];
    io[(size_t)y * w + x] = s;
  }
}
// Rows of two arrays in turns: what is read was written by the launch before, or never.
extern "C" __global__ void scan_twice(unsigned* io, unsigned* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = 0;
#pragma unroll 1
  for (int y = 0; y < h; ++y) {
    s += io[(size_t)y * w + x] + out[(size_t)y * w + x];
    out[(size_t)y * w + x] = s;
  }
}
