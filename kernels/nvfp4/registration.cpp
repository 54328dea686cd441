// Entries in the table of kernels of the kernels around the GEMM: input, launch, verification.
#include <fmt/format.h>

#include <cstring>

#include "drywell/kernels/device_arrays.h"
#include "drywell/kernels/verify.h"
#include "drywell/launch/generate.h"
#include "kernels/nvfp4/inputs.h"
#include "kernels/nvfp4/nvfp4.h"
#include "kernels/reference/nvfp4.h"
#include "kernels/reference/rht_nvfp4.h"

namespace drywell::kernels {
namespace {

using namespace nvfp4;

uint64_t number(const Params& p, std::string_view name) { return static_cast<uint64_t>(p.integer(name)); }

const std::vector<float> kZero = {0.0f};

// ---- amax

isa::Module build_amax_row(const Params&, const sim::ArchConfig& a) { return build_amax(a.target); }

KernelReport run_amax(const RunContext& c) {
  const Bf16Input in = bf16_input(c);
  const auto machine = c.open();
  DeviceArrays arrays(*machine);
  const Bf16Matrix x{arrays.make(in.values, "x"), in.rows, in.columns};
  const GmemAddr out = arrays.make(kZero, "amax");
  KernelReport r;
  r.shape = fmt::format("{} x {} bf16 -> one f32", in.rows, in.columns);
  r.launch = amax_launch(x, machine->sm_count());
  r.bytes_read = x.bytes();
  r.bytes_written = 4;
  c.enter("running");
  r.run = launch_amax(*machine, x, out, c.options);
  if (!r.run.ok()) return r;
  const auto got = arrays.read<float>(out, 1);
  r.notes.emplace_back("amax", fmt::format("{}", got[0]));
  if (c.verify) {
    const float want = reference::bf16_amax(in.values);
    compare_bits<float>(r.verify, "amax", got, std::span(&want, 1), 1);
  }
  if (c.keep_outputs) r.outputs.emplace_back("amax", NpyArray::of<float>(got, {}));
  return r;
}

// ---- rht-amax

RhtAmaxOptions rht_amax_options(const Params& p) { return {p.flag("identity"), p.flag("transformed")}; }

isa::Module build_rht_amax_row(const Params& p, const sim::ArchConfig& a) { return build_rht_amax(rht_amax_options(p), a.target); }

KernelReport run_rht_amax(const RunContext& c) {
  const RhtAmaxOptions o = rht_amax_options(c.params);
  const Bf16Input in = bf16_input(c);
  if (in.rows % 16 != 0) throw InputError(Code::E2110, fmt::format("rows = {}: must be a multiple of 16", in.rows), "the transform takes runs of 16 rows");
  const auto machine = c.open();
  DeviceArrays arrays(*machine);
  const Bf16Matrix x{arrays.make(in.values, "x"), in.rows, in.columns};
  const GmemAddr out = arrays.make(std::vector<float>{0, 0}, "amax");
  KernelReport r;
  r.shape = fmt::format("{} x {} bf16 -> two f32", in.rows, in.columns);
  r.launch = rht_amax_launch(x);
  r.bytes_read = x.bytes();
  r.bytes_written = 8;
  c.enter("running");
  r.run = launch_rht_amax(*machine, x, o, reference::kRhtSigns, out, out + 4, c.options);
  if (!r.run.ok()) return r;
  const auto got = arrays.read<float>(out, 2);
  r.notes.emplace_back("amax", fmt::format("{}, {} after the transform", got[0], got[1]));
  if (c.verify) {
    c.enter("verifying");
    reference::RhtNvfp4Options ro;
    ro.m = in.rows;
    ro.n = in.columns;
    ro.threads = c.options.threads;
    const float want[2] = {o.identity ? reference::bf16_amax(in.values) : 0, o.transformed ? reference::rht_amax(in.values, ro) : 0};
    compare_bits<float>(r.verify, "amax", got, want, 2);
  }
  if (c.keep_outputs) r.outputs.emplace_back("amax", NpyArray::of<float>(got, {2}));
  return r;
}

// ---- quantize

QuantizeOptions quantize_options(const Params& p, bool square) {
  QuantizeOptions o{arithmetic_of(p), p.flag("rowwise"), p.flag("columnwise"), square};
  if (!square) o.arithmetic.stochastic = p.text("rounding") == "stochastic";
  return o;
}

template <bool Square>
isa::Module build_quantize_row(const Params& p, const sim::ArchConfig& a) {
  const QuantizeOptions o = quantize_options(p, Square);
  check_quantize(o, number(p, "rows"), number(p, "columns"));
  return build_quantize(o, a.target);
}

struct Quantized {
  std::vector<uint8_t> codes, scales;  // scales in rows of the pitch
};

Nvfp4Matrix make_matrix(DeviceArrays& arrays, uint64_t rows, uint64_t k, GmemAddr amax, const std::string& name) {
  Nvfp4Matrix m{.amax = amax, .rows = rows, .k = k};
  m.codes = arrays.make(m.code_bytes(), name + " codes");
  m.scales = arrays.make(m.scale_bytes(), name + " scales");
  return m;
}

/// Returns rows of scales without their padding.
std::vector<uint8_t> unpadded(const std::vector<uint8_t>& scales, const Nvfp4Matrix& m) {
  std::vector<uint8_t> out;
  for (uint64_t r = 0; r < m.rows; ++r) {
    const auto row = scales.begin() + static_cast<ptrdiff_t>(r * m.scale_pitch());
    out.insert(out.end(), row, row + static_cast<ptrdiff_t>(m.scales_per_row()));
  }
  return out;
}

void finish_quantized(KernelReport& r, const RunContext& c, const DeviceArrays& arrays, const Nvfp4Matrix& m, const reference::Nvfp4Tensor* want,
                      const std::string& suffix) {
  const auto codes = arrays.read<uint8_t>(m.codes, m.code_bytes()), scales = unpadded(arrays.read<uint8_t>(m.scales, m.scale_bytes()), m);
  if (want != nullptr) {
    compare_bits<uint8_t>(r.verify, "codes" + suffix, codes, want->codes, m.k / 2);
    compare_bits<uint8_t>(r.verify, "scales" + suffix, scales, want->scales, m.scales_per_row());
  }
  if (!c.keep_outputs) return;
  r.outputs.emplace_back("codes" + suffix, NpyArray::of<uint8_t>(codes, {m.rows, m.k / 2}));
  r.outputs.emplace_back("scales" + suffix, NpyArray::of<uint8_t>(scales, {m.rows, m.scales_per_row()}));
}

template <bool Square>
KernelReport run_quantize(const RunContext& c) {
  const QuantizeOptions o = quantize_options(c.params, Square);
  const Bf16Input in = bf16_input(c);
  check_quantize(o, in.rows, in.columns);
  const float given = static_cast<float>(c.params.real("amax")), amax = given != 0 ? given : reference::bf16_amax(in.values);
  reference::Nvfp4QuantizeOptions ro{.scaling = scaling_of(c.params), .rowwise = o.rowwise, .columnwise = o.columnwise, .square_blocks = Square};
  if (o.arithmetic.stochastic) {
    ro.rounding = reference::Rounding::stochastic;
    ro.seed = number(c.params, "seed");
    ro.offset = number(c.params, "offset");
  }
  const auto machine = c.open();
  DeviceArrays arrays(*machine);
  const Bf16Matrix x{arrays.make(in.values, "x"), in.rows, in.columns};
  const GmemAddr amax_at = arrays.make(std::vector<float>{amax}, "amax"), rng = arrays.make(std::vector<uint64_t>{ro.seed, ro.offset}, "rng_state");
  const Nvfp4Matrix row = make_matrix(arrays, in.rows, in.columns, amax_at, "rowwise"),
                    column = make_matrix(arrays, in.columns, in.rows, amax_at, "columnwise");
  KernelReport r;
  r.shape = fmt::format("{} x {} bf16 -> e2m1 codes and ue4m3 scales, {}", in.rows, in.columns,
                        o.rowwise && o.columnwise ? "both orientations" : o.rowwise ? "row-wise"
                                                                                    : "column-wise");
  r.launch = quantize_launch(in.rows, in.columns);
  r.bytes_read = x.bytes();
  r.bytes_written = (uint64_t{o.rowwise} + uint64_t{o.columnwise}) * (row.code_bytes() + in.rows * in.columns / kBlockSize);
  c.enter("running");
  r.run = launch_quantize(*machine, x, o, row, column, rng, c.options);
  if (!r.run.ok()) return r;
  reference::Nvfp4Pair want;
  if (c.verify) {
    c.enter("verifying");
    want = reference::quantize_nvfp4(in.values, in.rows, in.columns, ro, amax, amax);
  }
  if (o.rowwise) finish_quantized(r, c, arrays, row, c.verify ? &want.row : nullptr, "");
  if (o.columnwise) finish_quantized(r, c, arrays, column, c.verify ? &want.column : nullptr, "-transposed");
  return r;
}

// ---- swizzle-sf

isa::Module build_swizzle_row(const Params&, const sim::ArchConfig& a) { return build_swizzle_sf(a.target); }

std::vector<uint8_t> random_bytes(uint64_t count, uint64_t seed) {
  std::vector<uint8_t> out(count);
  for (uint64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(random_word(seed, i));
  return out;
}

KernelReport run_swizzle(const RunContext& c) {
  const uint64_t rows = number(c.params, "rows"), columns = number(c.params, "columns"), bytes = swizzled_sf_bytes(rows, columns);
  const auto scales = random_bytes(rows * columns, number(c.params, "input-seed"));
  const auto machine = c.open();
  DeviceArrays arrays(*machine);
  const GmemAddr in = arrays.make(scales, "scales"), out = arrays.make(bytes, "swizzled");
  KernelReport r;
  r.shape = fmt::format("{} x {} scales -> {} atoms of 32 x 16", rows, columns, bytes / 512);
  r.launch = swizzle_sf_launch(rows, columns);
  r.bytes_read = rows * columns;
  r.bytes_written = bytes;
  c.enter("running");
  r.run = launch_swizzle_sf(*machine, in, rows, columns, columns, out, c.options);
  if (!r.run.ok()) return r;
  const auto got = arrays.read<uint8_t>(out, bytes);
  if (c.verify) compare_bits<uint8_t>(r.verify, "swizzled", got, reference::to_blockscale_format(scales, rows, columns), 16);
  if (c.keep_outputs) r.outputs.emplace_back("swizzled", NpyArray::of<uint8_t>(got, {bytes / 16, 16}));
  return r;
}

// ---- interleave-shards

ShardCopy shard_copy(const Params& p) {
  ShardCopy s;
  s.shards = number(p, "shards");
  s.rows = s.out_rows = number(p, "rows");
  s.width = s.in_pitch = number(p, "width");
  s.in_shard = s.rows * s.width;
  s.out_width = s.out_pitch = s.shards * s.width;
  return s;
}

isa::Module build_interleave_row(const Params& p, const sim::ArchConfig& a) { return build_interleave_shards(shard_copy_unit(shard_copy(p)), a.target); }

KernelReport run_interleave(const RunContext& c) {
  const ShardCopy s = shard_copy(c.params);
  const auto gathered = random_bytes(s.shards * s.in_shard, number(c.params, "input-seed"));
  const auto machine = c.open();
  DeviceArrays arrays(*machine);
  const GmemAddr in = arrays.make(gathered, "gathered"), out = arrays.make(gathered.size(), "interleaved");
  KernelReport r;
  r.shape = fmt::format("[{} * {}, {}] bytes -> [{}, {} * {}]", s.shards, s.rows, s.width, s.rows, s.shards, s.width);
  r.launch = interleave_shards_launch(s);
  r.bytes_read = r.bytes_written = gathered.size();
  r.notes.emplace_back("access", fmt::format("{} bytes a thread", shard_copy_unit(s)));
  c.enter("running");
  r.run = launch_interleave_shards(*machine, s, in, out, c.options);
  if (!r.run.ok()) return r;
  const auto got = arrays.read<uint8_t>(out, gathered.size());
  if (c.verify) {
    std::vector<uint8_t> want(gathered.size());
    for (uint64_t i = 0; i < gathered.size(); ++i) {
      const uint64_t shard = i / s.in_shard, row = i % s.in_shard / s.width, at = i % s.width;
      want[(row * s.shards + shard) * s.width + at] = gathered[i];
    }
    compare_bits<uint8_t>(r.verify, "interleaved", got, want, s.out_width);
  }
  if (c.keep_outputs) r.outputs.emplace_back("interleaved", NpyArray::of<uint8_t>(got, {s.rows, s.out_width}));
  return r;
}

Parameter flag(std::string_view name, std::string_view on, std::string_view doc) {
  return {.name = name, .type = ParamType::flag, .default_value = on, .doc = doc};
}

}  // namespace

Kernel amax_kernel() {
  return {.name = "amax",
          .doc = "largest magnitude of a bf16 tensor; the plain reduction TransformerEngine runs on weights",
          .parameters = matrix_parameters("2048", "768"),
          .build = build_amax_row,
          .run = run_amax};
}

Kernel rht_amax_kernel() {
  return {.name = "rht-amax",
          .doc = "largest magnitudes around a random Hadamard transform; before and after it (HadamardAmaxTmaKernel)",
          .parameters = join_parameters(matrix_parameters("1024", "768"), {flag("identity", "true", "the maximum before the transform"),
                                                                           flag("transformed", "true", "the maximum after it")}),
          .build = build_rht_amax_row,
          .run = run_rht_amax};
}

Kernel quantize_nvfp4_kernel() {
  return {.name = "quantize-nvfp4",
          .doc = "NVFP4 quantization in blocks of 16; row-wise and transposed (quantize_transpose_nvfp4)",
          .parameters = join_parameters(join_parameters(matrix_parameters("1024", "768"), {flag("rowwise", "true", "blocks along rows"),
                                                                                           flag("columnwise", "false", "blocks along columns, transposed")}),
                                        quantize_parameters(false)),
          .build = build_quantize_row<false>,
          .run = run_quantize<false>};
}

Kernel quantize_nvfp4_2d_kernel() {
  return {.name = "quantize-nvfp4-2d",
          .doc = "NVFP4 quantization in blocks of 16 x 16; both orientations (quantize_transpose_nvfp4_2D_kernel)",
          .parameters = join_parameters(join_parameters(matrix_parameters("2048", "768"), {flag("rowwise", "true", "codes along rows"),
                                                                                           flag("columnwise", "true", "codes along columns, transposed")}),
                                        quantize_parameters(true)),
          .build = build_quantize_row<true>,
          .run = run_quantize<true>};
}

Kernel swizzle_sf_kernel() {
  return {.name = "swizzle-sf",
          .doc = "scale factors to the layout of the block-scaled GEMM; atoms of 128 x 4, padded with zeros",
          .parameters = {{.name = "rows", .default_value = "1024", .doc = "of scale factors", .least = 1, .greatest = 1 << 23},
                         {.name = "columns", .default_value = "48", .doc = "scale factors of a row", .least = 1, .greatest = 1 << 20},
                         {.name = "input-seed", .default_value = "1", .doc = "seed of generated scale factors", .least = 0}},
          .build = build_swizzle_row,
          .run = run_swizzle};
}

Kernel interleave_shards_kernel() {
  return {.name = "interleave-shards",
          .doc = "reorders an all-gather of transposed shards; [shards * rows, width] to [rows, shards * width]",
          .parameters = {{.name = "shards", .default_value = "4", .doc = "ranks", .least = 1, .greatest = 1024},
                         {.name = "rows", .default_value = "768", .doc = "of each shard", .least = 1, .greatest = 65535},
                         {.name = "width", .default_value = "128", .doc = "bytes of a shard's row", .least = 1, .greatest = 1 << 20},
                         {.name = "input-seed", .default_value = "1", .doc = "seed of generated bytes", .least = 0}},
          .build = build_interleave_row,
          .run = run_interleave};
}

}  // namespace drywell::kernels
