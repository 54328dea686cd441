// Multiply-accumulates per second of the tensor core's arithmetic, by kind, and of OpenBLAS sgemm on the same core in the
// same process. Compare the ratios, not the figures.
//
//   sgemm          OpenBLAS, one thread
//   tile/KIND      sim/numeric alone: operands decoded, one tile of 128 x 256
//   executed/KIND  tcgen05.mma by the functional driver: descriptors, shared memory, tensor memory
#include <benchmark/benchmark.h>
#ifdef DRYWELL_BENCH_OPENBLAS
#include <cblas.h>
#endif

#include <map>
#include <string>
#include <vector>

#include "drywell/launch/generate.h"
#include "drywell/sim/device.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "tests/bench/umma_data.h"

namespace {

using namespace drywell;
using namespace drywell::bench;
using namespace drywell::kernels::conformance;

/// Instructions of one sum over k: enough for values of C as in a real product.
constexpr unsigned kSteps = 16;

void count_macs(benchmark::State& state, double macs) {
  state.counters["mac"] = benchmark::Counter(macs, benchmark::Counter::kIsRate);
}

#ifdef DRYWELL_BENCH_OPENBLAS
void sgemm(benchmark::State& state) {
  openblas_set_num_threads(1);
  const auto n = static_cast<int>(state.range(0));
  const std::vector<float> a = kernels::generate_floats(n, n, {}), b = a;
  std::vector<float> c(a.size());
  double macs = 0;
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    benchmark::DoNotOptimize(c.data());
    macs += double(n) * n * n;
  }
  count_macs(state, macs);
}
BENCHMARK(sgemm)->Arg(1024)->Unit(benchmark::kMillisecond);
#endif

/// A or B of one instruction as the numeric layer takes it.
struct Codes {
  std::vector<uint32_t> codes;
  std::vector<uint8_t> packed, scales;

  Codes(const std::vector<std::vector<uint32_t>>& rows, const std::vector<std::vector<uint32_t>>& factors) {
    for (const auto& row : rows) codes.insert(codes.end(), row.begin(), row.end());
    for (const auto& row : factors) scales.insert(scales.end(), row.begin(), row.end());
  }
};

numeric::OperandSource source(Codes& c, unsigned rows, unsigned k, unsigned factors,
                              numeric::Format format, numeric::Format scale) {
  static const std::map<numeric::Format, unsigned> kBits = {
      {numeric::Format::e2m1, 4}, {numeric::Format::f16, 16}, {numeric::Format::bf16, 16}, {numeric::Format::tf32, 32}};
  const auto it = kBits.find(format);
  const unsigned bits = it == kBits.end() ? 8 : it->second;
  c.packed.assign(size_t{rows} * k * bits / 8, 0);
  for (size_t i = 0; i < c.codes.size(); ++i)
    for (unsigned b = 0; b < bits; b += 4)
      c.packed[(i * bits + b) / 8] |= static_cast<uint8_t>((c.codes[i] >> b & 0xF) << (i * bits + b) % 8);
  numeric::OperandSource s;
  s.format = format;
  s.rows = rows;
  s.k = k;
  s.codes = c.packed.data();
  s.row_stride = size_t{k} * bits / 8;
  s.storage = bits == 4    ? numeric::CodeStorage::nibbles
              : bits == 8  ? numeric::CodeStorage::bytes
              : bits == 16 ? numeric::CodeStorage::halves
                           : numeric::CodeStorage::words;
  s.scale_format = scale;
  s.scales_per_row = factors;
  s.scales = c.scales.data();
  s.scale_stride = factors;
  return s;
}

numeric::Format format_of(const std::string& type) {
  static const std::map<std::string, numeric::Format> kFormats = {
      {"e2m1", numeric::Format::e2m1}, {"e2m3", numeric::Format::e2m3}, {"e4m3", numeric::Format::e4m3}, {"e5m2", numeric::Format::e5m2}, {"f16", numeric::Format::f16}, {"bf16", numeric::Format::bf16}, {"tf32", numeric::Format::tf32}};
  return kFormats.at(type);
}

numeric::MmaKind kind_of(const std::string& kind) {
  static const std::map<std::string, numeric::MmaKind> kKinds = {
      {"f16", numeric::MmaKind::f16}, {"tf32", numeric::MmaKind::tf32}, {"f8f6f4", numeric::MmaKind::f8f6f4}, {"mxf8f6f4", numeric::MmaKind::mxf8f6f4}, {"mxf4", numeric::MmaKind::mxf4}, {"mxf4nvf4", numeric::MmaKind::mxf4nvf4}};
  return kKinds.at(kind);
}

void tile(benchmark::State& state, const UmmaKind& kind) {
  const MmaCase c = umma_case(kind);
  numeric::MmaQuery q;
  q.kind = kind_of(kind.kind);
  q.a = q.b = format_of(kind.type);
  q.d = std::string(kind.d_type) == "f16" ? numeric::Format::f16 : numeric::Format::f32;
  if (c.factors != 0) q.scale = c.scale_type == "ue8m0" ? numeric::Format::ue8m0 : numeric::Format::ue4m3;
  const numeric::MmaParams& params = numeric::find_mma(q)->params;
  std::vector<Codes> a, b;
  std::vector<numeric::OperandSource> sa, sb;
  a.reserve(kSteps);
  b.reserve(kSteps);
  for (unsigned i = 0; i < kSteps; ++i) {
    const MmaData data = umma_data(c, i + 1);
    sa.push_back(source(a.emplace_back(data.a, data.sfa), c.m, c.k(), c.factors, q.a, q.scale));
    sb.push_back(source(b.emplace_back(data.b, data.sfb), c.n, c.k(), c.factors, q.b, q.scale));
  }
  numeric::MmaOperand lanes, rows;
  std::vector<uint32_t> d(size_t{c.m} * c.n);
  double macs = 0;
  for (auto _ : state) {
    for (unsigned i = 0; i < kSteps; ++i) {
      mma_tile(params, sb[i], sa[i], {i == 0 ? nullptr : d.data(), c.m, d.data(), c.m});
      macs += double(c.m) * c.n * c.k();
    }
    benchmark::DoNotOptimize(d.data());
  }
  count_macs(state, macs);
}

void executed(benchmark::State& state, const UmmaKind& kind) {
  MmaCase c = umma_case(kind);
  MmaSetup setup = place(c, umma_data(c, 1));
  constexpr uint32_t kTileBytes = 12 * 1024;  // A and B: rows of 32 bytes
  std::vector<SmemOperands> places;
  setup.images[0].smem.assign(kSteps * kTileBytes, 0);
  for (unsigned i = 0; i < kSteps; ++i) places.push_back(store_smem(c, umma_data(c, i + 1), setup.images, i * kTileBytes));
  constexpr int kRounds = 256;  // enough that the time to fill shared memory before and to read D after is negligible
  const auto program = [&](int rounds) {
    TensorProgram p;
    p.steps = {[&, rounds](const TensorOperands& o) {
      o.k.for_range(0, rounds, 1, [&](isa::Reg) {
        for (unsigned i = 0; i < kSteps; ++i) {
          MmaCase step = c;
          step.accumulate = i != 0;
          MmaSetup at = setup;
          at.a_desc = places[i].a_desc;
          at.b_desc = places[i].b_desc;
          emit_mma(step, at, o);
        }
      });
    }};
    return p;
  };
  sim::Device device;
  const TensorImage& image = setup.images[0];
  const auto smem_bytes = static_cast<uint32_t>(image.smem.size());
  const GmemAddr smem = device.allocate(smem_bytes), tmem_in = device.allocate(4 * image.tmem.size()),
                 tmem_out = device.allocate(4 * image.tmem.size()), none = device.allocate(16);
  device.write(smem, image.smem.data(), smem_bytes);
  device.write(tmem_in, image.tmem.data(), 4 * image.tmem.size());
  const sim::LoadedModule m = device.load(tensor_kernel(program(kRounds), smem_bytes));
  const sim::LaunchConfig launch{.grid = {1}, .block = {kTensorThreads}, .cluster = {1}, .dynamic_smem = smem_bytes};
  sim::RunOptions options;
  options.threads = 1;
  double macs = 0;
  for (auto _ : state) {
    const sim::RunResult r = device.launch(
        m, "tensor", launch, sim::Args().add(smem).add(tmem_in).add(tmem_out).add(none).add(none), options);
    if (!r.ok()) state.SkipWithError(r.fault->to_string().c_str());
    macs += double(c.m) * c.n * c.k() * kSteps * kRounds;
  }
  count_macs(state, macs);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const UmmaKind& kind : kUmmaKinds) {
    const std::string name = kind.name;
    if (name != "i8") benchmark::RegisterBenchmark(("tile/" + name).c_str(), tile, kind)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("executed/" + name).c_str(), executed, kind)->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
