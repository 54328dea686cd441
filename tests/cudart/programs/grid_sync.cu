// Cooperative groups: a barrier over the grid, tiles of several warps, and launches that must be refused.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.cuh"

namespace cg = cooperative_groups;

constexpr int kBlocks = 12, kThreads = 64, kRounds = 3;

__global__ void hand_round(int* a, int* b) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = grid.thread_rank(), n = grid.size();
  for (int r = 0; r < kRounds; ++r) {
    b[i] = a[(i + 37) % n] + 1;
    grid.sync();
    a[i] = b[(i + 411) % n] + 1;
    grid.sync();
  }
}

__global__ void sum_of_tiles(int* out) {
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const int sum = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
}

int main() {
  constexpr int kN = kBlocks * kThreads;
  std::vector<int> start(kN);
  for (int i = 0; i < kN; ++i) start[i] = 5 * i;
  int *a = to_device(start), *b = to_device(start);
  void* arguments[] = {&a, &b};
  CHECK(cudaLaunchCooperativeKernel(hand_round, kBlocks, kThreads, arguments));
  CHECK(cudaDeviceSynchronize());
  const auto end = to_host(a, kN);
  size_t wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += end[i] != 5 * ((i + kRounds * 448) % kN) + 2 * kRounds;

  sum_of_tiles<<<1, 256>>>(a);
  CHECK(cudaDeviceSynchronize());
  const auto sums = to_host(a, 4);
  for (int t = 0; t < 4; ++t) wrong += sums[t] != 64 * (64 * t) + 63 * 32;

  int per_sm = 0, sms = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, hand_round, kThreads, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  wrong += cudaLaunchCooperativeKernel(hand_round, per_sm * sms + 1, kThreads, arguments) != cudaErrorCooperativeLaunchTooLarge;
  wrong += cudaGetLastError() != cudaErrorCooperativeLaunchTooLarge;
  hand_round<<<kBlocks, kThreads>>>(a, b);  // not cooperative: cooperative groups stop it
  wrong += cudaDeviceSynchronize() != cudaErrorLaunchFailure;
  return verdict(wrong, kN);
}
