// The host side of examples/cuda/tma_copy.cu: 150 x 96, whose last tiles reach beyond the matrix.
#include "../../../examples/cuda/tma_copy.cu"

#include "check.cuh"

int main() {
  constexpr int kAllRows = 150, kAllColumns = 96;
  Generator g(1);
  std::vector<float> x(kAllRows * kAllColumns), y(x.size(), 0);
  for (float& v : x) v = static_cast<float>(static_cast<int>(g.below(2001)) - 1000);
  float *dx = to_device(x), *dy = to_device(y);
  const auto map = [](float* p) { return matrix_map<ptx::TensorMap>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, p, kAllRows, kAllColumns, kColumns, kRows); };
  const dim3 grid(kAllColumns / kColumns, (kAllRows + kRows - 1) / kRows);
  tma_copy<<<grid, kThreads>>>(map(dx), map(dy), 2.0f);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  y = to_host(dy, y.size());
  size_t wrong = 0;
  for (size_t i = 0; i < y.size(); ++i) wrong += y[i] != 2 * x[i] + static_cast<float>(i % kAllColumns);
  return verdict(wrong, y.size());
}
