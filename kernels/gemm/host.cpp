// Device memory, tensor maps, launch.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/kernels/device_arrays.h"
#include "kernels/gemm/device.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/maps.h"

namespace drywell::kernels {
namespace {

using gemm::GemmConfig;
using gemm::GemmPlan;
using gemm::OperandPlan;

uint64_t scales_per_row(const QuantizedMatrix& q) { return q.k / q.block; }

std::vector<uint8_t> bytes_of(const std::vector<uint32_t>& codes, uint32_t width) {
  std::vector<uint8_t> out(codes.size() * width);
  for (size_t i = 0; i < codes.size(); ++i) std::memcpy(out.data() + i * width, &codes[i], width);
  return out;
}

}  // namespace

isa::Module build_gemm(const GemmPlan& plan, isa::Target target) {
  return gemm::GemmDevice(plan, target).build();
}

void check_gemm(const GemmConfig& config, uint64_t m, uint64_t n, uint64_t k) {
  const GemmPlan p(config);
  Diagnostics problems;
  const auto need_multiple = [&](const char* what, uint64_t value, uint64_t of, const char* why) {
    if (value != 0 && value % of == 0) return;
    std::string message = fmt::format("{} = {}: must be a positive multiple of {}", what, value, of);
    const bool said = std::any_of(problems.list().begin(), problems.list().end(), [&](const Diagnostic& d) { return d.message == message; });
    if (!said) problems.error(Code::E2302, {}, std::move(message), why);
  };
  const auto operand = [&](const char* rows_name, uint64_t rows, const OperandPlan& o) {
    const bool padded = isa::is_padded(o.type), k_major = o.major == isa::Major::k;
    const uint64_t unit = padded ? 128 : 128 / isa::element_bits(o.type);
    need_multiple(k_major ? "k" : rows_name, k_major ? k : rows, unit,
                  padded ? "TMA takes padded 4- and 6-bit types in runs of 128"
                         : "a tensor map's strides are multiples of 16 bytes");
  };
  need_multiple("m", m, 1, "");
  need_multiple("k", k, config.scaled() ? p.mma_k / static_cast<uint32_t>(config.scale) : 1,
                "whole blocks of the scale factors");
  if (p.column_major_d()) {
    need_multiple("m", m, 16 / p.output_bytes(), "columns of D are multiples of 16 bytes");
  } else {
    need_multiple("n", n, 16 / p.output_bytes(), "rows of D are multiples of 16 bytes");
  }
  operand("m", m, p.a);
  operand("n", n, p.b);
  if (p.cluster > (config.blockwise() ? 16 : 8))  // more than 8: a device needs the non-portable cluster size
    problems.error(Code::E2302, {}, fmt::format("a cluster of {} CTAs; at most {}", p.cluster, config.blockwise() ? 16 : 8));
  if (std::max({m, n, k}) > uint64_t{1} << 24) problems.error(Code::E2302, {}, "m, n and k are at most 2^24");
  if (problems.has_errors()) throw InputError(std::move(problems));
}

uint64_t operand_bytes(const QuantizedMatrix& q) { return ceil_div(q.rows * q.k * numeric::format_info(q.format).bits(), 8); }

std::vector<uint8_t> operand_image(const QuantizedMatrix& q, isa::Major major) {
  const unsigned bits = numeric::format_info(q.format).bits();
  std::vector<uint8_t> out(operand_bytes(q));
  uint64_t at = 0;  // bit
  const auto put = [&](uint16_t code) {
    for (unsigned done = 0; done < bits;) {
      const unsigned room = 8 - at % 8, n = std::min(room, bits - done);
      out[at / 8] = static_cast<uint8_t>(out[at / 8] | (code >> done & ((1u << n) - 1)) << at % 8);
      at += n;
      done += n;
    }
  };
  if (major == isa::Major::k) {
    for (const uint16_t code : q.codes) put(code);
  } else {
    for (uint64_t k = 0; k < q.k; ++k) {
      for (uint64_t row = 0; row < q.rows; ++row) put(q.codes[row * q.k + k]);
    }
  }
  return out;
}

uint64_t scale_bytes(const QuantizedMatrix& q) { return ceil_div(q.rows, GemmPlan::kAtomRows) * ceil_div(scales_per_row(q), 4) * GemmPlan::kAtomBytes; }

std::vector<uint8_t> scale_image(const QuantizedMatrix& q) {
  const uint64_t per_row = scales_per_row(q), atoms_k = ceil_div(per_row, 4);
  std::vector<uint8_t> out(scale_bytes(q));
  for (uint64_t r = 0; r < q.rows; ++r) {
    for (uint64_t s = 0; s < per_row; ++s) {
      const uint64_t atom = r / GemmPlan::kAtomRows * atoms_k + s / 4;
      out[atom * GemmPlan::kAtomBytes + r % 32 * 16 + r / 32 % 4 * 4 + s % 4] = q.scales[r * per_row + s];
    }
  }
  return out;
}

sim::LaunchConfig gemm_launch(const GemmPlan& p, uint64_t m, uint64_t n, uint32_t sm_count) {
  const uint64_t tiles = ceil_div(m, p.tile_m) * ceil_div(ceil_div(n, p.config.bn), p.config.cluster_n);
  sim::LaunchConfig c;
  c.cluster = {p.cluster};
  const uint32_t ctas = p.config.ctas == 0 ? sm_count : std::min(p.config.ctas, sm_count);
  c.grid = {static_cast<uint32_t>(std::min<uint64_t>(tiles, std::max(1u, ctas / p.cluster))) * p.cluster};
  c.block = {p.threads()};
  c.dynamic_smem = p.smem_bytes;
  return c;
}

sim::RunResult launch_gemm(Accelerator& device, const GemmPlan& p, const GemmTensors& x,
                           const sim::RunOptions& options) {
  const GemmConfig& c = p.config;
  sim::Args args;
  args.add(gemm::operand_map(device, p.a, x.a, x.m, x.k, p.tile_k, c.cluster_n))
      .add(gemm::operand_map(device, p.b, x.b, x.n, x.k, p.tile_k, 1));
  if (c.scaled()) {
    const uint64_t block = p.mma_k / static_cast<uint32_t>(c.scale), atoms_k = ceil_div(x.k / block, 4);
    args.add(gemm::scale_map(device, x.sfa, atoms_k, ceil_div(x.m, GemmPlan::kAtomRows), p.scale_atoms_k));
    args.add(gemm::scale_map(device, x.sfb, atoms_k, ceil_div(x.n, GemmPlan::kAtomRows), p.scale_atoms_k));
  }
  if (c.reads_c) args.add(gemm::output_map(device, p, x.c, x.m, x.n));
  const uint64_t tiles_m = ceil_div(x.m, p.tile_m),
                 tiles = tiles_m * ceil_div(ceil_div(x.n, c.bn), c.cluster_n);
  args.add(gemm::output_map(device, p, x.d, x.m, x.n))
      .add(static_cast<uint32_t>(tiles_m))
      .add(static_cast<uint32_t>(tiles))
      .add(static_cast<uint32_t>(ceil_div(x.k, p.tile_k)));
  if (c.alpha_in_memory) {
    args.add(x.alpha_at);
  } else {
    args.add(x.alpha);
  }
  if (c.reads_c) args.add(x.beta);
  device.load(build_gemm(p, device.arch().target));
  return device.launch(p.entry_name(), gemm_launch(p, x.m, x.n, device.sm_count()), args, options);
}

GemmResult run_gemm(Accelerator& device, const GemmPlan& p, const GemmProblem& x,
                    const sim::RunOptions& options) {
  const GemmConfig& c = p.config;
  DeviceArrays arrays(device);
  const uint64_t d_bytes = x.m * x.n * p.output_bytes();
  GemmTensors t{.m = x.m, .n = x.n, .k = x.k, .alpha = x.total_alpha(), .beta = x.beta};
  const auto operand = [&](const QuantizedMatrix& q, isa::Major major, const char* name) {
    return q.has_elements() ? arrays.make(operand_image(q, major), name) : arrays.make(operand_bytes(q), name);
  };
  const auto scales = [&](const QuantizedMatrix& q, const char* name) { return q.has_elements() ? arrays.make(scale_image(q), name) : arrays.make(scale_bytes(q), name); };
  t.a = operand(x.a, c.a.major, "A");
  t.b = operand(x.b, c.b.major, "B");
  t.d = arrays.make(d_bytes, "D");
  if (c.scaled()) {
    t.sfa = scales(x.a, "SFA");
    t.sfb = scales(x.b, "SFB");
  }
  if (c.reads_c) t.c = x.c.empty() ? arrays.make(d_bytes, "C") : arrays.make(bytes_of(x.c, p.output_bytes()), "C");
  GemmResult r;
  r.run = launch_gemm(device, p, t, options);
  if (!options.values) return r;
  std::vector<uint8_t> bytes(d_bytes);
  device.read(bytes.data(), t.d, d_bytes);
  r.d.assign(x.m * x.n, 0);
  for (size_t i = 0; i < r.d.size(); ++i)
    std::memcpy(&r.d[i], bytes.data() + i * p.output_bytes(), p.output_bytes());
  return r;
}

}  // namespace drywell::kernels
