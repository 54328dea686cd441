#include "kernels/linear_nvfp4/linear.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/kernels/device_arrays.h"
#include "kernels/fused_rht/fused_rht.h"
#include "kernels/gemm/gemm.h"
#include "kernels/linear_nvfp4/collective.h"
#include "kernels/reference/nvfp4_linear.h"
#include "kernels/reference/rht_nvfp4.h"

namespace drywell::kernels::nvfp4 {
namespace {

/// x or dy on one rank: the tensor, its maxima before and after the transform, and its two quantized orientations.
struct Activation {
  std::string name;
  bool gradient = false;
  Bf16Matrix source;
  Nvfp4Matrix row, column;
};

/// One device's tensors and launches. After a fault it launches nothing more.
class Rank {
 public:
  /// `launches`: of all ranks so far.
  Rank(Accelerator& device, const LinearOptions& o, const sim::RunOptions& run, size_t& launches)
      : device_(device), arrays_(device), o_(o), run_(run), plan_(linear_gemm_config(o)), launches_(launches) {
    const auto h = reference::rht_matrix(reference::kRhtSigns);
    hadamard_ = arrays_.make(std::span<const uint16_t>(h), "hadamard");
    rng_row_ = arrays_.make(std::vector<uint64_t>{o.seed, o.offset}, "rng_state rowwise");
    rng_column_ = arrays_.make(std::vector<uint64_t>{o.seed, o.offset + reference::kRngElements}, "rng_state columnwise");
  }

  Activation load_activation(const std::string& name, bool gradient, const std::vector<uint16_t>& values, LinearOptions::Shape s);
  /// HadamardAmaxTmaKernel, or the plain reduction if the tensor is not transformed.
  void amax(Activation& a);
  void quantize(const Activation& a);

  Activation load_weight(const std::vector<uint16_t>& values, LinearOptions::Shape s);
  void quantize_weight(const Activation& w);

  /// Returns a.rows x b.rows bf16.
  std::vector<uint16_t> gemm(const std::string& name, const Nvfp4Matrix& a, const Nvfp4Matrix& b);

  Nvfp4Matrix make_matrix(uint64_t rows, uint64_t k, GmemAddr amax, const std::string& name);
  GmemAddr make(uint64_t bytes, const std::string& name) { return arrays_.make(bytes, name); }
  void copy(const std::string& name, const ShardCopy& c, GmemAddr in, GmemAddr out) {
    launch(name, interleave_shards_launch(c), [&] { return launch_interleave_shards(device_, c, in, out, run_); });
  }
  HostNvfp4 read(const Nvfp4Matrix& m) const;

  const sim::RunResult& total() const { return total_; }
  std::vector<LaunchRecord> log() const { return log_; }

 private:
  template <class F>
  void launch(std::string name, const sim::LaunchConfig& config, const F& f) {
    if (!total_.ok()) return;
    sim::RunResult r = f();
    log_.push_back({std::move(name), config, r.cycles, r.warp_instructions, launches_++, r.timing});
    total_.cycles += r.cycles;
    total_.warp_instructions += r.warp_instructions;
    total_.host_seconds += r.host_seconds;
    total_.fault = std::move(r.fault);
  }
  GmemAddr swizzled(const std::string& name, const Nvfp4Matrix& m);
  Arithmetic arithmetic(bool stochastic) const {
    return {.stochastic = stochastic, .te_scale_order = o_.te_scale_order, .approximate_reciprocal = o_.approximate_reciprocal};
  }
  void quantize_plain(const std::string& name, const Activation& a, const QuantizeOptions& q, GmemAddr rng) {
    launch(name, quantize_launch(a.source.rows, a.source.columns), [&] { return launch_quantize(device_, a.source, q, a.row, a.column, rng, run_); });
  }
  void quantize_transformed(const Activation& a);

  Accelerator& device_;
  DeviceArrays arrays_;
  const LinearOptions& o_;
  const sim::RunOptions& run_;
  gemm::GemmPlan plan_;
  size_t& launches_;
  GmemAddr hadamard_{}, rng_row_{}, rng_column_{};
  sim::RunResult total_;
  std::vector<LaunchRecord> log_;
};

Nvfp4Matrix Rank::make_matrix(uint64_t rows, uint64_t k, GmemAddr amax, const std::string& name) {
  Nvfp4Matrix m{.amax = amax, .rows = rows, .k = k};
  m.codes = arrays_.make(m.code_bytes(), name + " codes");
  m.scales = arrays_.make(m.scale_bytes(), name + " scales");
  return m;
}

Activation Rank::load_activation(const std::string& name, bool gradient, const std::vector<uint16_t>& values, LinearOptions::Shape s) {
  Activation a{name, gradient, {arrays_.make(values, name), s.rows, s.columns}, {}, {}};
  const GmemAddr maxima = arrays_.make(std::vector<float>{0, 0}, name + " amax");
  a.row = make_matrix(s.rows, s.columns, maxima, name + " rowwise");
  a.column = make_matrix(s.columns, s.rows, o_.rht ? maxima + 4 : maxima, name + " columnwise");
  return a;
}

Activation Rank::load_weight(const std::vector<uint16_t>& values, LinearOptions::Shape s) {
  Activation w{"w", false, {arrays_.make(values, "w"), s.rows, s.columns}, {}, {}};
  const GmemAddr amax = arrays_.make(std::vector<float>{0}, "w amax");
  w.row = make_matrix(s.rows, s.columns, amax, "w rowwise");
  w.column = make_matrix(s.columns, s.rows, amax, "w columnwise");
  return w;
}

void Rank::amax(Activation& a) {
  if (a.name != "w" && o_.rht) {
    launch("rht-amax " + a.name, rht_amax_launch(a.source),
           [&] { return launch_rht_amax(device_, a.source, {}, reference::kRhtSigns, a.row.amax, a.column.amax, run_); });
  } else {
    launch("amax " + a.name, amax_launch(a.source, device_.sm_count()), [&] { return launch_amax(device_, a.source, a.row.amax, run_); });
  }
}

void Rank::quantize(const Activation& a) {
  const bool stochastic = a.gradient && o_.stochastic;
  quantize_plain("quantize-nvfp4 " + a.name, a, {.arithmetic = arithmetic(stochastic), .columnwise = !o_.rht}, rng_row_);
  if (o_.rht) quantize_transformed(a);
}

void Rank::quantize_transformed(const Activation& a) {
  FusedRhtOptions f;
  f.m = a.source.rows;
  f.n = a.source.columns;
  f.stochastic = a.gradient && o_.stochastic;
  f.te_scale_order = o_.te_scale_order;
  f.approximate_reciprocal = o_.approximate_reciprocal;
  const FusedRhtTensors t{a.source.at, hadamard_, a.column.codes, a.column.scales, a.column.amax, rng_column_};
  launch("fused-rht " + a.name, {.grid = {fused_rht_grid(f, device_.sm_count())}, .block = {256}, .dynamic_smem = fused_rht::kSmemBytes},
         [&] { return launch_fused_rht(device_, t, f, run_); });
}

void Rank::quantize_weight(const Activation& w) {
  quantize_plain(o_.square_weights ? "quantize-nvfp4-2d w" : "quantize-nvfp4 w", w,
                 {.arithmetic = arithmetic(false), .columnwise = true, .square_blocks = o_.square_weights}, GmemAddr{});
}

GmemAddr Rank::swizzled(const std::string& name, const Nvfp4Matrix& m) {
  const GmemAddr out = arrays_.make(swizzled_sf_bytes(m.rows, m.scales_per_row()), name);
  launch(name, swizzle_sf_launch(m.rows, m.scales_per_row()),
         [&] { return launch_swizzle_sf(device_, m.scales, m.rows, m.scales_per_row(), m.scale_pitch(), out, run_); });
  return out;
}

std::vector<uint16_t> Rank::gemm(const std::string& name, const Nvfp4Matrix& a, const Nvfp4Matrix& b) {
  GemmTensors t{.m = a.rows, .n = b.rows, .k = a.k, .a = a.codes, .b = b.codes};
  t.sfa = swizzled("swizzle-sf " + name + " A", a);
  t.sfb = swizzled("swizzle-sf " + name + " B", b);
  t.alpha_at = arrays_.make(sizeof(float), name + " alpha");
  t.d = arrays_.make(2 * t.m * t.n, name);
  launch("alpha " + name, {.grid = {1}, .block = {1}}, [&] { return launch_alpha(device_, a.amax, b.amax, t.alpha_at, run_); });
  launch("gemm-blockscaled " + name, gemm_launch(plan_, t.m, t.n, device_.sm_count()), [&] { return launch_gemm(device_, plan_, t, run_); });
  return arrays_.read<uint16_t>(t.d, t.m * t.n);
}

HostNvfp4 Rank::read(const Nvfp4Matrix& m) const {
  const auto padded = arrays_.read<uint8_t>(m.scales, m.scale_bytes());
  HostNvfp4 h{arrays_.read<uint8_t>(m.codes, m.code_bytes()), {}};
  for (uint64_t r = 0; r < m.rows; ++r) {
    const auto row = padded.begin() + static_cast<ptrdiff_t>(r * m.scale_pitch());
    h.scales.insert(h.scales.end(), row, row + static_cast<ptrdiff_t>(m.scales_per_row()));
  }
  return h;
}

/// All ranks, step by step together.
class Layer {
 public:
  Layer(Ranks machines, const LinearOptions& o, const sim::RunOptions& run) : machines_(machines), o_(o) {
    for (const auto& m : machines) ranks_.push_back(std::make_unique<Rank>(*m, o, run, launches_));
  }

  LinearRun run(std::span<const std::vector<uint16_t>> x, std::span<const std::vector<uint16_t>> w, std::span<const std::vector<uint16_t>> dy);

 private:
  using Activations = std::vector<Activation>;

  /// Finds amaxes, on each rank and then over the ranks.
  void find_amax(Activations& a, bool gathered);
  /// Gathers the orientations of a tensor that is split in shards of rows.
  void gather(Activations& a);
  void gather_rowwise(Activations& a);
  void gather_columnwise(Activations& a);
  template <class F>
  void each(const F& f) {
    for (size_t r = 0; r < ranks_.size(); ++r) f(r);
  }
  template <class F>
  std::vector<GmemAddr> addresses(const F& f) {
    std::vector<GmemAddr> out;
    for (size_t r = 0; r < ranks_.size(); ++r) out.push_back(f(r));
    return out;
  }

  Ranks machines_;
  const LinearOptions& o_;
  size_t launches_ = 0;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

// "calling the same local amax kernels … and issuing an all-reduce immediately after".
void Layer::find_amax(Activations& a, bool gathered) {
  each([&](size_t r) { ranks_[r]->amax(a[r]); });
  if (ranks_.size() == 1 || !(gathered || o_.reduce_every_amax)) return;
  all_reduce_max(machines_, addresses([&](size_t r) { return a[r].row.amax; }));
  if (a[0].column.amax != a[0].row.amax) all_reduce_max(machines_, addresses([&](size_t r) { return a[r].column.amax; }));
}

// Codes are stacked unchanged. Scales: "removes padding along dim 0 and gathers into the full output shape … with padding
// only at the tail end": each rank contributes its own rows, with the padding along the quantized dimension.
void Layer::gather_rowwise(Activations& a) {
  const Nvfp4Matrix local = a[0].row;
  std::vector<Nvfp4Matrix> full;
  each([&](size_t r) { full.push_back(ranks_[r]->make_matrix(local.rows * ranks_.size(), local.k, a[r].row.amax, a[r].name + " gathered rowwise")); });
  all_gather(machines_, addresses([&](size_t r) { return a[r].row.codes; }), local.code_bytes(), addresses([&](size_t r) { return full[r].codes; }));
  all_gather(machines_, addresses([&](size_t r) { return a[r].row.scales; }), local.rows * local.scale_pitch(), addresses([&](size_t r) { return full[r].scales; }));
  each([&](size_t r) { a[r].row = full[r]; });
}

// "[WORLD_SIZE * K, M // 2] … while what we want is [K, WORLD_SIZE * (M // 2)]": the shards are adjacent after the gather.
// Scale factors: "removes padding from both dimensions prior to the all-gather … After the all-gather and shape correction,
// the full fixed tensor is then re-padded".
void Layer::gather_columnwise(Activations& a) {
  const Nvfp4Matrix local = a[0].column;
  const uint64_t n = ranks_.size(), rows = local.rows, code_width = local.k / 2, scale_width = local.scales_per_row();
  std::vector<Nvfp4Matrix> full;
  std::vector<GmemAddr> codes, unpadded, scales, interleaved;
  each([&](size_t r) {
    full.push_back(ranks_[r]->make_matrix(rows, local.k * n, a[r].column.amax, a[r].name + " gathered columnwise"));
    codes.push_back(ranks_[r]->make(n * rows * code_width, "gathered codes"));
    unpadded.push_back(ranks_[r]->make(rows * scale_width, "unpadded scales"));
    scales.push_back(ranks_[r]->make(n * rows * scale_width, "gathered scales"));
    interleaved.push_back(ranks_[r]->make(n * rows * scale_width, "interleaved scales"));
    ranks_[r]->copy("unpad " + a[r].name,
                    {.rows = rows, .width = scale_width, .in_pitch = local.scale_pitch(), .out_rows = rows, .out_width = scale_width, .out_pitch = scale_width},
                    a[r].column.scales, unpadded[r]);
  });
  all_gather(machines_, addresses([&](size_t r) { return a[r].column.codes; }), rows * code_width, codes);
  all_gather(machines_, unpadded, rows * scale_width, scales);
  const auto side_by_side = [&](uint64_t width) {
    return ShardCopy{.shards = n, .rows = rows, .width = width, .in_pitch = width, .in_shard = rows * width, .out_rows = rows, .out_width = n * width, .out_pitch = n * width};
  };
  each([&](size_t r) {
    ranks_[r]->copy("interleave-shards " + a[r].name, side_by_side(code_width), codes[r], full[r].codes);
    ranks_[r]->copy("interleave-shards " + a[r].name + " scales", side_by_side(scale_width), scales[r], interleaved[r]);
    const uint64_t width = n * scale_width, pitch = full[r].scale_pitch();
    ranks_[r]->copy("pad " + a[r].name, {.rows = rows, .width = width, .in_pitch = width, .out_rows = full[r].padded_rows(), .out_width = pitch, .out_pitch = pitch},
                    interleaved[r], full[r].scales);
    a[r].column = full[r];
  });
}

void Layer::gather(Activations& a) {
  gather_rowwise(a);
  gather_columnwise(a);
}

LinearRun Layer::run(std::span<const std::vector<uint16_t>> x, std::span<const std::vector<uint16_t>> w, std::span<const std::vector<uint16_t>> dy) {
  const bool column = o_.parallel == Parallel::column, row = o_.parallel == Parallel::row;
  LinearRun out;
  out.ranks.resize(ranks_.size());
  Activations xs, ws, dys;
  each([&](size_t r) {
    xs.push_back(ranks_[r]->load_activation("x", false, x[r], o_.local_x()));
    ws.push_back(ranks_[r]->load_weight(w[r], o_.local_w()));
    dys.push_back(ranks_[r]->load_activation("dy", true, dy[r], o_.local_dy()));
  });
  // Forward: both orientations of x and w in one launch; the backward pass reads the column-wise ones.
  find_amax(xs, column);
  each([&](size_t r) { ranks_[r]->quantize(xs[r]); });
  if (column) gather(xs);
  find_amax(ws, false);
  each([&](size_t r) { ranks_[r]->quantize_weight(ws[r]); });
  each([&](size_t r) { out.ranks[r].y = ranks_[r]->gemm("FProp", xs[r].row, ws[r].row); });
  // Backward.
  find_amax(dys, row);
  each([&](size_t r) { ranks_[r]->quantize(dys[r]); });
  if (row) gather(dys);
  each([&](size_t r) {
    LinearRankResult& result = out.ranks[r];
    result.dx = ranks_[r]->gemm("DGrad", dys[r].row, ws[r].column);
    result.dw = ranks_[r]->gemm("WGrad", dys[r].column, xs[r].column);
    result.x_row = ranks_[r]->read(xs[r].row);
    result.x_column = ranks_[r]->read(xs[r].column);
    result.w_row = ranks_[r]->read(ws[r].row);
    result.w_column = ranks_[r]->read(ws[r].column);
    result.dy_row = ranks_[r]->read(dys[r].row);
    result.dy_column = ranks_[r]->read(dys[r].column);
    out.log.push_back(ranks_[r]->log());
    const sim::RunResult& t = ranks_[r]->total();
    out.run.cycles = std::max(out.run.cycles, t.cycles);  // the ranks run at the same time
    out.run.warp_instructions += t.warp_instructions;
    out.run.host_seconds += t.host_seconds;
    if (!out.run.fault) out.run.fault = t.fault;
  });
  return out;
}

}  // namespace

LinearOptions::Shape LinearOptions::local_x() const {
  return {parallel == Parallel::column ? tokens / ranks : tokens, parallel == Parallel::row ? in_features / ranks : in_features};
}
LinearOptions::Shape LinearOptions::local_w() const {
  return {parallel == Parallel::column ? out_features / ranks : out_features, parallel == Parallel::row ? in_features / ranks : in_features};
}
LinearOptions::Shape LinearOptions::local_dy() const {
  return {parallel == Parallel::row ? tokens / ranks : tokens, parallel == Parallel::column ? out_features / ranks : out_features};
}

void check_linear(const LinearOptions& o) {
  Diagnostics problems;
  const auto need = [&](const char* name, uint64_t value, uint64_t of, const char* why) {
    if (value == 0 || value % of != 0) problems.error(Code::E2110, {}, fmt::format("{} = {}: must be a positive multiple of {}", name, value, of), why);
  };
  const bool column = o.parallel == Parallel::column, row = o.parallel == Parallel::row;
  need("tokens", o.tokens, (o.rht ? 64 : 32) * (column || row ? o.ranks : 1), o.rht ? "the fused transform stores 64 codes at a time, of each rank's tokens" : "");
  need("in", o.in_features, 32 * (row ? o.ranks : 1), "packed codes are loaded in runs of 32, of each rank's columns");
  need("out", o.out_features, 32 * (column ? o.ranks : 1), "packed codes are loaded in runs of 32, of each rank's columns");
  if (o.parallel == Parallel::none && o.ranks != 1) problems.error(Code::E2110, {}, "several ranks, but the layer splits neither columns nor rows", "--parallel=column or row");
  if (problems.has_errors()) throw InputError(std::move(problems));
}

gemm::GemmConfig linear_gemm_config(const LinearOptions& o) {
  gemm::GemmConfig c;
  c.kind = isa::MmaKind::mxf4nvf4;
  c.a.element = c.b.element = isa::MmaElement::e2m1;
  c.scale = isa::ScaleVector::x4;
  c.ue8m0 = false;
  c.alpha_in_memory = true;
  c.cta_group = o.cta_group;
  c.bn = o.bn;
  return c;
}

LinearRun run_linear(Ranks machines, const LinearOptions& o, std::span<const std::vector<uint16_t>> x, std::span<const std::vector<uint16_t>> w,
                     std::span<const std::vector<uint16_t>> dy, const sim::RunOptions& run) {
  check_linear(o);
  DRYWELL_CHECK(machines.size() == o.ranks && x.size() == o.ranks && w.size() == o.ranks && dy.size() == o.ranks, "a tensor a rank");
  return Layer(machines, o, run).run(x, w, dy);
}

}  // namespace drywell::kernels::nvfp4
