// The host side of examples/cuda/gemm_nvf4.cu: 256 x 128 x 768, every code of e2m1 and factors whose sums are exact.
#include "../../../examples/cuda/gemm_nvf4.cu"

#include <cmath>
#include <cstring>

#include "check.cuh"

namespace {

constexpr int kM = 256, kN = 128, kK = 768;

// e2m1 by its eight magnitudes (OCP MX 1.0).
float value_of(unsigned char code) {
  constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return (code & 8) != 0 ? -kMagnitudes[code & 7] : kMagnitudes[code & 7];
}
// ue4m3: a normal number's value.
float factor_of(unsigned char code) { return std::ldexp(1.0f + (code & 7) / 8.0f, (code >> 3) - 7); }

unsigned short bf16_bits(float f) {
  uint32_t word;
  std::memcpy(&word, &f, sizeof word);
  return static_cast<unsigned short>((word + 0x7FFF + (word >> 16 & 1)) >> 16);  // to nearest, ties to even
}

std::vector<unsigned char> random_bytes(size_t n, Generator& g, const std::vector<unsigned char>& from) {
  std::vector<unsigned char> v(n);
  for (auto& c : v) c = from.empty() ? static_cast<unsigned char>(g.below(256)) : from[g.below(static_cast<uint32_t>(from.size()))];
  return v;
}

}  // namespace

int main() {
  Generator g(5);
  const std::vector<unsigned char> factors = {0x30, 0x38, 0x40, 0x44, 0x48};
  const auto a = random_bytes(kM * kK / 2, g, {}), b = random_bytes(kN * kK / 2, g, {});
  const auto sa = random_bytes(kM * kK / 16, g, factors), sb = random_bytes(kN * kK / 16, g, factors);
  auto *da = to_device(a), *db = to_device(b), *dsa = to_device(sa), *dsb = to_device(sb);
  __nv_bfloat16* dd = nullptr;
  CHECK(cudaMalloc(&dd, kM * kN * sizeof *dd));
  const auto map = [](unsigned char* p, int rows) { return matrix_map<ptx::TensorMap>(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, p, rows, kK / 2, kRowBytes, kTileM); };
  constexpr float kAlpha = 0.75f;
  constexpr int kSmem = kStages * sizeof(Stage<Nvf4>);
  CHECK(cudaFuncSetAttribute(gemm_nvf4, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  gemm_nvf4<<<dim3(kN / kTileN, kM / kTileM), kThreads, kSmem>>>(map(da, kM), map(db, kN), dsa, dsb, kAlpha, dd, kN, kK);
  CHECK(cudaGetLastError());
  const auto d = to_host(reinterpret_cast<unsigned short*>(dd), kM * kN);
  const auto element = [](const std::vector<unsigned char>& v, int row, int k) { return value_of(v[(row * kK + k) / 2] >> (k % 2 * 4) & 15); };
  // 128 rows x 4 factors a block of 512 bytes; one factor per 16 elements of K.
  const auto factor = [](const std::vector<unsigned char>& s, int row, int k) {
    const int block = row / 128 * (kK / 64) + k / 64, r = row % 128;
    return factor_of(s[block * 512 + r % 32 * 16 + r / 32 * 4 + k % 64 / 16]);
  };
  size_t wrong = 0;
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      double sum = 0;
      for (int k = 0; k < kK; ++k) sum += double(element(a, m, k) * factor(sa, m, k)) * (element(b, n, k) * factor(sb, n, k));
      wrong += d[m * kN + n] != bf16_bits(kAlpha * static_cast<float>(sum));
    }
  }
  return verdict(wrong, d.size());
}
