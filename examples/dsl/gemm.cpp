// Runs the kernel of gemm_kernel.h: checked for hazards, timed, and every value compared.
#include <cstdio>
#include <vector>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"
#include "drywell/sim/dump.h"
#include "drywell/sim/numeric/narrow.h"
#include "drywell/sim/report.h"
#include "gemm_kernel.h"

using namespace dsl_example;
using numeric::bf16;

namespace {

/// Small integers: every product and sum is exact, so that the order of additions does not matter.
std::vector<bf16> small_integers(size_t count, uint32_t seed) {
  std::vector<bf16> out(count);
  for (bf16& v : out) {
    seed = seed * 1664525 + 1013904223;
    v = bf16(static_cast<float>(seed >> 24 & 15) - 7);
  }
  return out;
}

size_t count_wrong(const std::vector<bf16>& a, const std::vector<bf16>& b, const std::vector<float>& d, uint32_t m, uint32_t n, uint32_t k) {
  size_t wrong = 0;
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      float sum = 0;
      for (uint32_t l = 0; l < k; ++l) sum += float(a[i * k + l]) * float(b[j * k + l]);
      wrong += d[i * n + j] != sum;
    }
  }
  return wrong;
}

/// Runs the kernel, of one CTA a tile or of pairs of CTAs. Returns true if all values are right and there are no hazards.
bool run(bool pair, const char* dump) {
  const uint32_t m = 256, n = 128, k = 512;
  const std::vector<bf16> a = small_integers(m * k, 1), b = small_integers(n * k, 2);
  std::vector<float> d(m * n);
  sim::Device device;
  const GmemAddr da = device.allocate(2 * a.size(), "a"), db = device.allocate(2 * b.size(), "b"),
                 dd = device.allocate(4 * d.size(), "d");
  device.write(da, a.data(), 2 * a.size());
  device.write(db, b.data(), 2 * b.size());

  const sim::LoadedModule module = device.load(build_gemm(pair));
  const TensorMapFields map_b = operand_fields(db, n, k, pair ? kTile / 2 : kTile);
  const sim::Args args = sim::Args().add(encode(operand_fields(da, m, k))).add(encode(map_b)).add(dd).add(n).add(k / kTileK);
  sim::HazardChecker checker;
  sim::RunOptions options{.driver = sim::DriverKind::timed};
  options.listeners.push_back(checker.listener());
  const sim::LaunchConfig config{
      .grid = {m / kTile, n / kTile}, .block = {kThreads}, .cluster = {pair ? 2u : 1u}, .dynamic_smem = kSmemBytes};
  if (dump != nullptr) std::printf("%s\n", sim::dump_launch(device, module, "gemm", config, args, dump).c_str());
  const sim::RunResult r = device.launch(module, "gemm", config, args, options);
  if (!r.ok()) {
    std::printf("%s\n", r.fault->to_string().c_str());
    return false;
  }

  device.read(d.data(), dd, 4 * d.size());
  const size_t wrong = count_wrong(a, b, d, m, n, k);
  for (const sim::Finding& f : checker.findings()) std::printf("%s\n", f.to_string().c_str());
  std::printf("%s\n%zu values, %zu wrong, %zu hazards\n", sim::to_text(*r.timing, 5).c_str(), d.size(), wrong,
              checker.findings().size());
  return wrong == 0 && checker.findings().empty();
}

}  // namespace

int main(int argc, char** argv) {
  const bool one = run(false, argc > 1 ? argv[1] : nullptr);
  const bool two = run(true, argc > 2 ? argv[2] : nullptr);
  return one && two ? 0 : 1;
}
