// The host side of examples/cuda/gemm_bf16.cu: M x N x K from the command line; small integers make every sum exact.
#include "../../../examples/cuda/gemm_bf16.cu"

#include <algorithm>

#include "check.cuh"

int main(int argc, char** argv) {
  const int m = argc > 1 ? std::atoi(argv[1]) : 256, n = argc > 2 ? std::atoi(argv[2]) : 128, k = argc > 3 ? std::atoi(argv[3]) : 256;
  Generator g(7);
  const auto random = [&](size_t count, int range) {
    std::vector<__nv_bfloat16> v(count);
    for (auto& e : v) e = __float2bfloat16(static_cast<float>(static_cast<int>(g.below(2 * range + 1)) - range));
    return v;
  };
  const auto a = random(size_t(m) * k, 3), b = random(size_t(n) * k, 2);
  std::vector<float> bias(n);
  for (float& v : bias) v = static_cast<float>(g.below(64)) - 32;
  auto *da = to_device(a), *db = to_device(b);
  auto* dbias = to_device(bias);
  __nv_bfloat16* dd = nullptr;
  CHECK(cudaMalloc(&dd, size_t(m) * n * sizeof *dd));
  const auto ma = matrix_map<ptx::TensorMap>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, da, m, k, kTileK, kTileM);
  const auto mb = matrix_map<ptx::TensorMap>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, db, n, k, kTileK, kTileN);
  constexpr int kSmem = kStages * sizeof(Stage) + 1024;
  CHECK(cudaFuncSetAttribute(gemm_bf16, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  gemm_bf16<<<dim3(n / kTileN, m / kTileM), kThreads, kSmem>>>(ma, mb, dbias, dd, n, k);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  std::printf("%.6f ms, %.3f TFLOP/s\n", ms, 2e-9 * m * n * k / ms);
  const auto d = to_host(dd, size_t(m) * n);
  size_t wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = bias[j];
      for (int q = 0; q < k; ++q) sum += __bfloat162float(a[size_t(i) * k + q]) * __bfloat162float(b[size_t(j) * k + q]);
      wrong += __bfloat162float(d[size_t(i) * n + j]) != __bfloat162float(__float2bfloat16(std::max(sum, 0.0f)));
    }
  }
  return verdict(wrong, d.size());
}
