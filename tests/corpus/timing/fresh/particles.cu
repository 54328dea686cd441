// Forces of particles: all pairs in double precision, and Lennard-Jones over lists of neighbours.
extern "C" __global__ void __launch_bounds__(64) nbody_f64(const double4_16a* p, double4_16a* a, int sources) {
  __shared__ double4_16a tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const double4_16a me = p[i];
  double ax = 0, ay = 0, az = 0;
  for (int first = 0; first < sources; first += 64) {
    tile[threadIdx.x] = p[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 64; ++j) {
      const double dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      const double r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-4), w = tile[j].w * r * r * r;
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    __syncthreads();
  }
  a[i] = make_double4_16a(ax, ay, az, 0);
}
extern "C" __global__ void lj_neighbours(const float4* p, const unsigned* list, float4* force, int atoms, int most, float box, float cut2, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= atoms) return;
  const float4 me = p[i];
  const float inverse = 1.f / box;
  float fx = 0, fy = 0, fz = 0, energy = 0;
  for (int k = 0; k < most; ++k) {
    const unsigned j = (i + (list[(size_t)k * atoms + i] & mask)) & (atoms - 1);
    const float4 o = __ldg(&p[j]);
    float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z;
    dx -= box * rintf(dx * inverse);
    dy -= box * rintf(dy * inverse);
    dz -= box * rintf(dz * inverse);
    const float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < cut2 && r2 > 0) {
      const float s = 1.f / (r2 + 0.3f), s6 = s * s * s, f = s * s6 * (48.f * s6 - 24.f);
      fx += f * dx;
      fy += f * dy;
      fz += f * dz;
      energy += 4.f * s6 * (s6 - 1.f);
    }
  }
  force[i] = make_float4(fx, fy, fz, energy);
}
