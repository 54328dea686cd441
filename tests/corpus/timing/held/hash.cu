// A hash table with linear probes: insertion by compare-and-swap, and look-up.
extern "C" __global__ void hash_insert(const unsigned* key, unsigned* table, int n, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned k = key[i] | 1;
  unsigned at = k * 2654435761u >> 7;
  for (int probe = 0; probe < 16; ++probe, ++at) {
    const unsigned old = atomicCAS(&table[at & mask], 0u, k);
    if (old == 0 || old == k) return;
  }
}
extern "C" __global__ void hash_find(const unsigned* key, const unsigned* table, unsigned* found, int n, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned k = key[i] | 1;
  unsigned at = k * 2654435761u >> 7, hit = 0;
  for (int probe = 0; probe < 8; ++probe, ++at) {
    const unsigned t = table[at & mask];
    if (t == k) hit = at;
    if (t == k || (t & 15) == 0) break;
  }
  found[i] = hit;
}
