// Thirty missing __syncthreads, each in its own line.
#include "check.cuh"

#define TURN(N_) s[N_][threadIdx.x] = p[threadIdx.x]; p[threadIdx.x] = s[N_][(threadIdx.x + 32) % 128]

__global__ void rotate(int* p) {
  __shared__ int s[30][128];
  TURN(0);
  TURN(1);
  TURN(2);
  TURN(3);
  TURN(4);
  TURN(5);
  TURN(6);
  TURN(7);
  TURN(8);
  TURN(9);
  TURN(10);
  TURN(11);
  TURN(12);
  TURN(13);
  TURN(14);
  TURN(15);
  TURN(16);
  TURN(17);
  TURN(18);
  TURN(19);
  TURN(20);
  TURN(21);
  TURN(22);
  TURN(23);
  TURN(24);
  TURN(25);
  TURN(26);
  TURN(27);
  TURN(28);
  TURN(29);
}

int main() {
  int* p = to_device(std::vector<int>(128, 1));
  rotate<<<1, 128>>>(p);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
