// The kernel of gemm_kernel.h as a shared object that the command takes: `drywell run build/libgemm_kernels.so --m=512 --verify`.
// docs/dsl.md, "A kernel for the command", explains it.
#include <fmt/format.h>

#include "drywell/kernels/device_arrays.h"
#include "drywell/kernels/gemm_output.h"
#include "drywell/kernels/quantize.h"
#include "drywell/kernels/reference_gemm.h"
#include "drywell/kernels/verify.h"
#include "drywell/launch/generate.h"
#include "drywell/launch/kernel_library.h"
#include "gemm_kernel.h"

using namespace dsl_example;
using namespace drywell::kernels;

namespace {

isa::Module build(const Params&, const sim::ArchConfig&) { return build_gemm(); }

/// Normally distributed numbers, rounded to bf16.
QuantizedMatrix random_matrix(uint32_t rows, uint32_t k, uint64_t seed) {
  const GenerateOptions options{.distribution = Distribution::normal, .seed = seed};
  return quantize_matrix(generate_floats(rows, k, options), rows, k, {.format = numeric::Format::bf16});
}

KernelReport run(const RunContext& c) {
  const auto size = [&](const char* name) { return static_cast<uint32_t>(c.params.integer(name)); };
  const uint32_t m = size("m"), n = size("n"), k = size("k");
  if (m % kTile != 0 || n % kTile != 0 || k % kTileK != 0)
    throw InputError(Code::E2201, "m and n are multiples of 128, and k of 64", "this kernel has no edges");
  c.enter("generating input");
  const auto seed = static_cast<uint64_t>(c.params.integer("seed"));
  const QuantizedMatrix a = random_matrix(m, k, seed), b = random_matrix(n, k, ~seed);

  const std::unique_ptr<Accelerator> machine = c.open();  // simulated, or a GPU
  DeviceArrays arrays(*machine);
  const GmemAddr da = arrays.make(a.codes, "a"), db = arrays.make(b.codes, "b"), dd = arrays.make(4ull * m * n, "d");
  machine->load(build_gemm());

  KernelReport r;
  r.shape = fmt::format("{} x {} x {} bf16", m, n, k);
  r.launch = {.grid = {m / kTile, n / kTile}, .block = {kThreads}, .dynamic_smem = kSmemBytes};
  r.bytes_read = 2ull * k * (m + n);
  r.bytes_written = 4ull * m * n;
  c.enter("running");
  const auto map = [&](GmemAddr at, uint32_t rows) { return machine->encode(operand_fields(at, rows, k)); };
  r.run = machine->launch("gemm", r.launch, sim::Args().add(map(da, m)).add(map(db, n)).add(dd).add(n).add(k / kTileK), c.options);
  if (!r.run.ok()) return r;

  const std::vector<float> d = arrays.read<float>(dd, uint64_t{m} * n);
  if (c.verify) {  // the same sums in the same order, by exact integers: every bit must be equal
    c.enter("verifying");
    const std::vector<float> want = reference::gemm_accumulators(gemm::reference_operand(a), gemm::reference_operand(b), {});
    compare_bits<float>(r.verify, "d", d, want, n);
  }
  if (c.keep_outputs) r.outputs.emplace_back("d", NpyArray::of<float>(d, {m, n}));
  return r;
}

}  // namespace

extern "C" void drywell_register(KernelList& list) {
  static const Kernel kKernels[] = {{.name = "gemm",
                                     .doc = "D = A x B^T in bf16, the kernel of docs/dsl.md",
                                     .parameters = {size_parameter("m", "256", "rows of A and D"), size_parameter("n", "128", "rows of B"), size_parameter("k", "512", "columns of A and B"), {.name = "seed", .default_value = "1", .doc = "of the random inputs", .least = 0}},
                                     .build = build,
                                     .run = run}};
  list.add(kKernels);
}
