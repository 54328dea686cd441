// The host side: input, launch, reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drywell/core/bits.h"
#include "drywell/kernels/device_arrays.h"
#include "drywell/kernels/verify.h"
#include "kernels/nvfp4/inputs.h"
#include "kernels/quantize_fp8/quantize_fp8.h"
#include "kernels/reference/formats.h"

namespace drywell::kernels {
namespace {

using namespace quantize_fp8;

isa::Module build_kernel(const Params&, const sim::ArchConfig& arch) { return build_quantize_fp8(arch.target); }

void verify(KernelReport& r, const nvfp4::Bf16Input& in, const std::vector<uint8_t>& codes, const std::vector<float>& factors) {
  std::vector<uint8_t> want_codes(in.values.size());
  std::vector<float> want_factors(in.values.size() / kRun);
  for (size_t run = 0; run < want_factors.size(); ++run) {
    float largest = 0;
    for (size_t i = run * kRun; i < (run + 1) * kRun; ++i) largest = std::fmax(largest, std::fabs(reference::bf16_to_float(in.values[i])));
    const float up = largest == 0 ? 1.0f : 448.0f / largest;
    want_factors[run] = largest / 448.0f;
    for (size_t i = run * kRun; i < (run + 1) * kRun; ++i) want_codes[i] = reference::float_to_e4m3(reference::bf16_to_float(in.values[i]) * up);
  }
  compare_bits<uint8_t>(r.verify, "codes", codes, want_codes, in.columns);
  compare_bits<float>(r.verify, "factors", factors, want_factors, in.columns / kRun);
}

KernelReport run_kernel(const RunContext& c) {
  const nvfp4::Bf16Input in = nvfp4::bf16_input(c);
  if (in.columns % kRun != 0) throw InputError(Code::E2110, fmt::format("columns = {}: must be a multiple of {}", in.columns, kRun), "a run that shares a factor does not span rows");
  const auto machine = c.open();
  DeviceArrays arrays(*machine);
  const uint64_t runs = in.values.size() / kRun;
  const GmemAddr x = arrays.make(in.values, "x"), codes = arrays.make(in.values.size(), "codes"), factors = arrays.make(4 * runs, "factors");
  KernelReport r;
  r.shape = fmt::format("{} x {} bf16 -> e4m3, a factor for every {}", in.rows, in.columns, kRun);
  r.launch = {.grid = {static_cast<uint32_t>(ceil_div(runs, kRuns))}, .block = {kThreads}};
  r.bytes_read = 2 * in.values.size();
  r.bytes_written = in.values.size() + 4 * runs;
  machine->load(build_quantize_fp8(machine->arch().target));
  c.enter("running");
  r.run = machine->launch("quantize_fp8", r.launch, sim::Args().add(x).add(codes).add(factors).add(static_cast<uint32_t>(runs)), c.options);
  if (!r.run.ok()) return r;
  const auto got_codes = arrays.read<uint8_t>(codes, in.values.size());
  const auto got_factors = arrays.read<float>(factors, runs);
  if (c.verify) {
    c.enter("verifying");
    verify(r, in, got_codes, got_factors);
  }
  if (c.keep_outputs) {
    r.outputs.emplace_back("codes", NpyArray::of<uint8_t>(got_codes, {in.rows, in.columns}));
    r.outputs.emplace_back("factors", NpyArray::of<float>(got_factors, {in.rows, in.columns / kRun}));
  }
  return r;
}

}  // namespace

Kernel quantize_fp8_kernel() {
  constexpr int64_t kMaxSide = 1 << 24;
  return {.name = "quantize-fp8",
          .doc = "e4m3 quantization of bf16 in runs of 128; each with its f32 factor; Hopper and Blackwell",
          .parameters = {{.name = "rows", .default_value = "1024", .doc = "of the bf16 input", .least = 1, .greatest = kMaxSide},
                         {.name = "columns", .default_value = "1024", .doc = "of the bf16 input, a multiple of 128", .least = 128, .greatest = kMaxSide},
                         {.name = "distribution", .type = ParamType::choice, .default_value = "heavy-tailed", .doc = "of generated input", .allowed = {"normal", "uniform", "heavy-tailed"}},
                         {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0}},
          .build = build_kernel,
          .run = run_kernel};
}

}  // namespace drywell::kernels
