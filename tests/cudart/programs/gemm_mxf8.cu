// The host side of examples/cuda/gemm_mxf8.cu: 128 x 256 x 384, values and factors whose sums are exact.
#include "../../../examples/cuda/gemm_mxf8.cu"

#include <cmath>

#include "check.cuh"

namespace {

// e4m3, for the few codes used here: a normal number's value.
float value_of(unsigned char code) {
  if ((code & 0x7F) == 0) return 0;
  const float magnitude = std::ldexp(1.0f + (code & 7) / 8.0f, (code >> 3 & 15) - 7);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

std::vector<unsigned char> random_codes(size_t n, Generator& g, std::vector<unsigned char> from) {
  std::vector<unsigned char> v(n);
  for (auto& c : v) c = from[g.below(static_cast<uint32_t>(from.size()))];
  return v;
}

}  // namespace

int main() {
  constexpr int kM = 128, kN = 256, kK = 384;
  Generator g(3);
  const auto a = random_codes(kM * kK, g, {0, 0x30, 0x38, 0x3C, 0x40, 0x44, 0xB0, 0xB8, 0xC0});
  const auto b = random_codes(kN * kK, g, {0, 0x30, 0x38, 0x3C, 0x40, 0xB0, 0xB8, 0xBC, 0xC4});
  const auto sa = random_codes(kM * kK / 32, g, {126, 127, 128, 129}), sb = random_codes(kN * kK / 32, g, {126, 127, 128, 129});
  auto *da = to_device(a), *db = to_device(b), *dsa = to_device(sa), *dsb = to_device(sb);
  float* dd = nullptr;
  CHECK(cudaMalloc(&dd, kM * kN * sizeof *dd));
  const auto map = [](unsigned char* p, int rows) { return matrix_map<ptx::TensorMap>(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, p, rows, kK, Mxf8::kTileK, kTileM); };
  constexpr int kSmem = kStages * sizeof(Stage<Mxf8>) + 1024;
  CHECK(cudaFuncSetAttribute(gemm_mxf8, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  gemm_mxf8<<<dim3(kN / kTileN, kM / kTileM), kThreads, kSmem>>>(map(da, kM), map(db, kN), dsa, dsb, dd, kN, kK);
  CHECK(cudaGetLastError());
  const auto d = to_host(dd, kM * kN);
  // 128 rows x 4 factors a block of 512 bytes; one factor per 32 elements of K.
  const auto factor = [](const std::vector<unsigned char>& s, int row, int k) {
    const int block = row / 128 * (kK / 128) + k / 128, r = row % 128;
    return std::ldexp(1.0f, s[block * 512 + r % 32 * 16 + r / 32 * 4 + k % 128 / 32] - 127);
  };
  size_t wrong = 0;
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      double sum = 0;
      for (int k = 0; k < kK; ++k) sum += double(value_of(a[m * kK + k]) * factor(sa, m, k)) * (value_of(b[n * kK + k]) * factor(sb, n, k));
      wrong += d[m * kN + n] != static_cast<float>(sum);
    }
  }
  return verdict(wrong, d.size());
}
