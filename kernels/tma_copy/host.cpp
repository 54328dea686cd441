// The host side: input, tensor maps, launch, reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drywell/core/bits.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/kernels/verify.h"
#include "drywell/launch/generate.h"
#include "kernels/tma_copy/tma_copy.h"

namespace drywell::kernels {
namespace {

using namespace tma_copy;

isa::Swizzle parse_swizzle(const std::string& text) {
  if (text == "32") return isa::Swizzle::b32;
  if (text == "64") return isa::Swizzle::b64;
  return text == "128" ? isa::Swizzle::b128 : isa::Swizzle::none;
}

TmaCopyOptions options_of(const Params& p) {
  return {static_cast<uint64_t>(p.integer("rows")), static_cast<uint64_t>(p.integer("columns")),
          static_cast<float>(p.real("scale")), parse_swizzle(p.text("swizzle"))};
}

std::vector<float> input_of(const RunContext& c, TmaCopyOptions& o) {
  if (c.input.empty()) {
    c.enter("generating input");
    GenerateOptions g;
    g.distribution = *parse_distribution(c.params.text("distribution"));
    g.seed = static_cast<uint64_t>(c.params.integer("input-seed"));
    return generate_floats(o.rows, o.columns, g);
  }
  const NpyArray a = read_npy(c.input);
  if (a.shape.size() != 2)
    throw InputError(Code::E2201, fmt::format("{}: {} is not two-dimensional", c.input, a.describe()));
  o.rows = a.shape[0];
  o.columns = a.shape[1];
  const auto v = a.values<float>();
  return {v.begin(), v.end()};
}

void check(const TmaCopyOptions& o) {
  if (o.rows == 0 || o.columns == 0 || o.columns % 4 != 0) {
    throw InputError(
        Code::E2201,
        fmt::format("tma-copy takes no {} x {} array: columns must be a multiple of 4", o.rows, o.columns),
        "a tensor map's strides are multiples of 16 bytes (CUDA driver API, cuTensorMapEncodeTiled)");
  }
}

isa::TensorMap map_of(Accelerator& device, GmemAddr address, const TmaCopyOptions& o) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::f32;
  f.rank = 2;
  f.address = address.value();
  f.dim = {o.columns, o.rows, 1, 1, 1};
  f.stride = {4 * o.columns};
  f.box = {tile_columns(o.swizzle), kTileRows, 1, 1, 1};
  f.swizzle = o.swizzle;
  return device.encode(f);
}

void verify(KernelReport& r, const TmaCopyOptions& o, const std::vector<float>& x,
            const std::vector<float>& y) {
  std::vector<float> want(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    want[i] = x[i] * o.scale;
    if (std::isnan(want[i]))
      want[i] = std::bit_cast<float>(0x7FFFFFFFu);  // the NaN result of PTX's mul.f32 (9.7.3.5)
  }
  compare_bits<float>(r.verify, "y", y, want, o.columns);
}

isa::Module build(const Params& p, const sim::ArchConfig& arch) {
  return build_tma_copy(options_of(p), arch.target);
}

KernelReport run(const RunContext& c) {
  TmaCopyOptions o = options_of(c.params);
  const std::vector<float> x = input_of(c, o);
  check(o);
  const uint64_t bytes = 4 * o.rows * o.columns, tiles_x = ceil_div(o.columns, tile_columns(o.swizzle));
  const uint64_t tiles = tiles_x * ceil_div(o.rows, kTileRows);
  const std::unique_ptr<Accelerator> machine = c.open();
  Accelerator& device = *machine;
  const GmemAddr in = device.allocate(bytes, "x"), out = device.allocate(bytes, "y");
  device.write(in, x.data(), bytes);
  device.load(build_tma_copy(o, device.arch().target));

  KernelReport r;
  r.shape = fmt::format("{} x {} float32, {} tiles of {} x {}", o.rows, o.columns, tiles, kTileRows,
                        tile_columns(o.swizzle));
  r.launch = {.grid = {static_cast<uint32_t>(std::min<uint64_t>(tiles, device.sm_count()))},
              .block = {kThreads}};
  r.bytes_read = r.bytes_written = bytes;
  c.enter("running");
  r.run = device.launch("tma_copy", r.launch,
                        sim::Args()
                            .add(map_of(device, in, o))
                            .add(map_of(device, out, o))
                            .add(static_cast<uint32_t>(tiles_x))
                            .add(static_cast<uint32_t>(tiles))
                            .add(o.scale),
                        c.options);
  if (!r.run.ok()) return r;
  std::vector<float> y(x.size());
  device.read(y.data(), out, bytes);
  if (c.verify) {
    c.enter("verifying");
    verify(r, o, x, y);
  }
  if (c.keep_outputs) r.outputs.emplace_back("y", NpyArray::of<float>(y, {o.rows, o.columns}));
  return r;
}

}  // namespace

Kernel tma_copy_kernel() {
  constexpr int64_t kMaxSide = 1 << 24;
  return {
      .name = "tma-copy",
      .doc = "y = scale * x in float32, by TMA; a 2-D array through swizzled shared memory",
      .parameters =
          {
              {.name = "rows", .default_value = "1024", .doc = "rows of x", .least = 1, .greatest = kMaxSide},
              {.name = "columns",
               .default_value = "1024",
               .doc = "columns of x, a multiple of 4",
               .least = 1,
               .greatest = kMaxSide},
              {.name = "scale", .type = ParamType::real, .default_value = "1", .doc = "factor"},
              {.name = "swizzle",
               .type = ParamType::choice,
               .default_value = "128",
               .doc = "shared-memory swizzle span in bytes",
               .allowed = {"none", "32", "64", "128"}},
              {.name = "distribution",
               .type = ParamType::choice,
               .default_value = "normal",
               .doc = "of generated input",
               .allowed = {"normal", "uniform", "heavy-tailed"}},
              {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0},
          },
      .build = build,
      .run = run,
  };
}

}  // namespace drywell::kernels
