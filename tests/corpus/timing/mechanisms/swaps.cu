// Loops of compare-and-swap, as products, minima of floats and sums of halves are made, at hashed words.
// nvcc -arch=sm_90a -ptx
__device__ __forceinline__ unsigned hashed(unsigned x, unsigned words) { x *= 2654435761u; x ^= x >> 15; x *= 2246822519u; x ^= x >> 13; return x % words; }
#define KERNEL(name) extern "C" __global__ void name(unsigned* y, unsigned words, unsigned rounds)
#define EACH for (unsigned r = 0; r < rounds; ++r) { unsigned* at = y + hashed((r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x, words);
KERNEL(product) { EACH unsigned old = *(volatile unsigned*)at, was; do { was = old; old = atomicCAS(at, was, was * 3 + 1); } while (old != was); } }
KERNEL(swap_once) { EACH atomicCAS(at, 7u, r); } }
KERNEL(swap_used) { unsigned s = 0; EACH s += atomicCAS(at, 7u, r); } if (s == 12345) y[0] = s; }
KERNEL(add_used) { unsigned s = 0; EACH s += atomicAdd(at, r); } if (s == 12345) y[0] = s; }
KERNEL(load_add) { EACH unsigned old = *(volatile unsigned*)at; atomicAdd(at, old); } }
KERNEL(load_cas) { EACH unsigned old = *(volatile unsigned*)at; atomicCAS(at, old, old * 3); } }
