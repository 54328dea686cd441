// The linear layer's entry in the table of kernels: tensors, launches, verification against the independent flow, quality.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "drywell/core/whole_number.h"
#include "drywell/kernels/reference_gemm.h"
#include "drywell/kernels/verify.h"
#include "drywell/launch/generate.h"
#include "kernels/gemm/gemm.h"
#include "kernels/linear_nvfp4/collective.h"
#include "kernels/linear_nvfp4/linear.h"
#include "kernels/nvfp4/inputs.h"
#include "kernels/reference/formats.h"
#include "kernels/reference/nvfp4_linear.h"

namespace drywell::kernels {
namespace {

using namespace nvfp4;
using reference::Bf16View;

LinearOptions options_of(const Params& p) {
  const auto number = [&](std::string_view name) { return static_cast<uint64_t>(p.integer(name)); };
  LinearOptions o;
  o.tokens = number("tokens");
  o.in_features = number("in");
  o.out_features = number("out");
  o.rht = !p.flag("disable-rht");
  o.stochastic = !p.flag("disable-stochastic-rounding");
  o.square_weights = !p.flag("disable-2d-quantization");
  o.te_scale_order = p.text("scale-order") == "te";
  o.approximate_reciprocal = p.flag("approximate-reciprocal");
  o.seed = number("seed");
  o.offset = number("offset");
  const std::string& parallel = p.text("parallel");
  o.parallel = parallel == "column" ? Parallel::column : parallel == "row" ? Parallel::row
                                                                           : Parallel::none;
  o.ranks = number("ranks");
  o.reduce_every_amax = p.text("amax-reduction") == "every";
  o.cta_group = whole_number<uint32_t>(p.text("cta-group")).value();
  o.bn = whole_number<uint32_t>(p.text("bn")).value();
  return o;
}

/// A bf16 matrix on the host.
struct HostMatrix {
  uint64_t rows = 0, columns = 0;
  std::vector<uint16_t> values;
  Bf16View view() const { return {values, rows, columns}; }
  HostMatrix part(uint64_t row, uint64_t column, LinearOptions::Shape s) const {
    HostMatrix out{s.rows, s.columns, {}};
    for (uint64_t r = 0; r < s.rows; ++r) {
      const auto from = values.begin() + static_cast<ptrdiff_t>((row + r) * columns + column);
      out.values.insert(out.values.end(), from, from + static_cast<ptrdiff_t>(s.columns));
    }
    return out;
  }
};

/// Returns each rank's part of a matrix that is split into blocks of `s` along the dimension in which `s` is smaller.
std::vector<HostMatrix> split(const HostMatrix& m, LinearOptions::Shape s, uint64_t ranks) {
  std::vector<HostMatrix> out;
  for (uint64_t r = 0; r < ranks; ++r) out.push_back(m.part(s.rows < m.rows ? r * s.rows : 0, s.columns < m.columns ? r * s.columns : 0, s));
  return out;
}

struct Problem {
  HostMatrix x, w, dy;
};

Problem problem_of(const RunContext& c, const LinearOptions& o) {
  c.enter("generating input");
  GenerateOptions g;
  g.distribution = *parse_distribution(c.params.text("distribution"));
  const auto seed = static_cast<uint64_t>(c.params.integer("input-seed"));
  const auto make = [&](uint64_t rows, uint64_t columns, uint64_t stream, float scale) {
    g.seed = 4 * seed + stream;
    g.scale = scale;
    return HostMatrix{rows, columns, generate_bf16(rows, columns, g)};
  };
  Problem p;
  p.x = make(o.tokens, o.in_features, 0, 1);
  p.dy = make(o.tokens, o.out_features, 1, 0x1p-10f);
  g.distribution = Distribution::normal;
  p.w = make(o.out_features, o.in_features, 2, 1.0f / std::sqrt(static_cast<float>(o.in_features)));
  return p;
}

reference::LinearRecipe recipe_of(const LinearOptions& o, unsigned threads) {
  return {.rht = o.rht,
          .stochastic = o.stochastic,
          .square_weights = o.square_weights,
          .order = o.te_scale_order ? reference::ScaleOrder::te : reference::ScaleOrder::article,
          .approximate_reciprocal = o.approximate_reciprocal,
          .seed = o.seed,
          .offset = o.offset,
          .threads = threads};
}

/// Expected tensors of every rank, by the independent flow: amaxes of the parts or of the whole, parts quantized, shards gathered.
class Expected {
 public:
  Expected(const LinearOptions& o, const Problem& p, unsigned threads)
      : o_(o), recipe_(recipe_of(o, threads)), x_(split(p.x, o.local_x(), o.ranks)), w_(split(p.w, o.local_w(), o.ranks)), dy_(split(p.dy, o.local_dy(), o.ranks)) {}

  std::vector<reference::LinearResult> ranks() const {
    const bool column = o_.parallel == Parallel::column, row = o_.parallel == Parallel::row;
    std::vector<reference::Nvfp4Pair> x = activations(x_, false, column), dy = activations(dy_, true, row), w = weights();
    if (column) gather(x);
    if (row) gather(dy);
    std::vector<reference::LinearResult> out;
    for (uint64_t r = 0; r < o_.ranks; ++r) {
      const unsigned t = recipe_.threads;
      out.push_back({x[r], w[r], dy[r], reference::nvfp4_gemm(x[r].row, w[r].row, t), reference::nvfp4_gemm(dy[r].row, w[r].column, t),
                     reference::nvfp4_gemm(dy[r].column, x[r].column, t)});
    }
    return out;
  }

 private:
  std::vector<reference::Nvfp4Pair> activations(const std::vector<HostMatrix>& parts, bool gradient, bool gathered) const {
    std::vector<reference::ActivationAmax> amax;
    reference::ActivationAmax whole;
    for (const HostMatrix& m : parts) {
      amax.push_back(reference::activation_amax(m.view(), recipe_));
      whole = {std::fmax(whole.rowwise, amax.back().rowwise), std::fmax(whole.columnwise, amax.back().columnwise)};
    }
    std::vector<reference::Nvfp4Pair> out;
    for (size_t r = 0; r < parts.size(); ++r)
      out.push_back(reference::quantize_activation(parts[r].view(), recipe_, gradient, gathered || o_.reduce_every_amax ? whole : amax[r]));
    return out;
  }
  std::vector<reference::Nvfp4Pair> weights() const {
    float whole = 0;
    for (const HostMatrix& m : w_) whole = std::fmax(whole, reference::bf16_amax(m.values));
    std::vector<reference::Nvfp4Pair> out;
    for (const HostMatrix& m : w_) out.push_back(reference::quantize_weight(m.view(), recipe_, o_.reduce_every_amax ? whole : reference::bf16_amax(m.values)));
    return out;
  }
  static void gather(std::vector<reference::Nvfp4Pair>& parts) {
    std::vector<reference::Nvfp4Tensor> rows, columns;
    for (const auto& p : parts) {
      rows.push_back(p.row);
      columns.push_back(p.column);
    }
    const reference::Nvfp4Pair whole{reference::gather_rows(rows), reference::gather_columns(columns)};
    for (auto& p : parts) p = whole;
  }

  const LinearOptions& o_;
  reference::LinearRecipe recipe_;
  std::vector<HostMatrix> x_, w_, dy_;
};

void compare_tensor(Verification& v, const std::string& name, const HostNvfp4& got, const reference::Nvfp4Tensor& want) {
  compare_bits<uint8_t>(v, name + ".codes", got.codes, want.codes, want.k / 2);
  compare_bits<uint8_t>(v, name + ".scales", got.scales, want.scales, want.k / 16);
}

void verify(KernelReport& r, const LinearOptions& o, const LinearRun& got, const std::vector<reference::LinearResult>& want) {
  for (uint64_t i = 0; i < o.ranks; ++i) {
    const std::string prefix = o.ranks == 1 ? "" : fmt::format("rank{}.", i);
    const LinearRankResult& g = got.ranks[i];
    const reference::LinearResult& w = want[i];
    compare_tensor(r.verify, prefix + "x.rowwise", g.x_row, w.x.row);
    compare_tensor(r.verify, prefix + "x.columnwise", g.x_column, w.x.column);
    compare_tensor(r.verify, prefix + "w.rowwise", g.w_row, w.w.row);
    compare_tensor(r.verify, prefix + "w.columnwise", g.w_column, w.w.column);
    compare_tensor(r.verify, prefix + "dy.rowwise", g.dy_row, w.dy.row);
    compare_tensor(r.verify, prefix + "dy.columnwise", g.dy_column, w.dy.column);
    compare_bits<uint16_t>(r.verify, prefix + "y", g.y, w.y, w.w.row.rows);
    compare_bits<uint16_t>(r.verify, prefix + "dx", g.dx, w.dx, w.w.column.rows);
    compare_bits<uint16_t>(r.verify, prefix + "dw", g.dw, w.dw, w.x.column.rows);
  }
}

/// Joins parts to the whole layer's tensor: next to each other (`along_columns`), or one below the other.
HostMatrix join(const std::vector<std::vector<uint16_t>>& parts, uint64_t rows, uint64_t columns, bool along_columns) {
  HostMatrix out{rows, columns, {}};
  if (!along_columns) {
    for (const auto& p : parts) out.values.insert(out.values.end(), p.begin(), p.end());
    return out;
  }
  const uint64_t width = columns / parts.size();
  for (uint64_t r = 0; r < rows; ++r) {
    for (const auto& p : parts) {
      const auto from = p.begin() + static_cast<ptrdiff_t>(r * width);
      out.values.insert(out.values.end(), from, from + static_cast<ptrdiff_t>(width));
    }
  }
  return out;
}

struct Whole {
  HostMatrix y, dx, dw;
};

Whole join(const LinearOptions& o, const LinearRun& run) {
  std::vector<std::vector<uint16_t>> y, dx, dw;
  for (const LinearRankResult& r : run.ranks) {
    y.push_back(r.y);
    dx.push_back(r.dx);
    dw.push_back(r.dw);
  }
  const bool column = o.parallel == Parallel::column, row = o.parallel == Parallel::row;
  if (row) y = reduce_scatter_sum(y);
  if (column) dx = reduce_scatter_sum(dx);
  return {join(y, o.tokens, o.out_features, column), join(dx, o.tokens, o.in_features, row), join(dw, o.out_features, o.in_features, row)};
}

reference::RowOf rows_of(const HostMatrix& m) {
  return [&m](uint64_t row) {
    std::vector<double> out(m.columns);
    for (uint64_t c = 0; c < m.columns; ++c) out[c] = reference::bf16_to_float(m.values[row * m.columns + c]);
    return out;
  };
}
HostMatrix transposed(const HostMatrix& m) {
  HostMatrix out{m.columns, m.rows, std::vector<uint16_t>(m.values.size())};
  for (uint64_t r = 0; r < m.rows; ++r) {
    for (uint64_t c = 0; c < m.columns; ++c) out.values[c * m.rows + r] = m.values[r * m.columns + c];
  }
  return out;
}

/// Returns the relative error of `got` against the float64 product of bf16 operands, over at most 32 rows.
std::string quality(const HostMatrix& got, const HostMatrix& a, const HostMatrix& b, unsigned threads) {
  std::vector<uint64_t> rows;
  const uint64_t count = std::min<uint64_t>(got.rows, 32);
  for (uint64_t i = 0; i < count; ++i) rows.push_back(got.rows * i / count);
  const std::vector<double> exact = reference::gemm_float64(rows_of(a), rows_of(b), got.columns, rows, threads);
  double error = 0, norm = 0;
  for (uint64_t i = 0; i < count; ++i) {
    for (uint64_t j = 0; j < got.columns; ++j) {
      const double want = exact[i * got.columns + j], off = reference::bf16_to_float(got.values[rows[i] * got.columns + j]) - want;
      error += off * off;
      norm += want * want;
    }
  }
  return fmt::format("{:.3g} relative (Frobenius)", norm == 0 ? 0.0 : std::sqrt(error / norm));
}

/// Adds the launches of rank 0 in order; under the timed driver each with its place in the layer's time.
void add_notes(KernelReport& r, const LinearRun& run) {
  constexpr uint64_t kColumns = 64;
  uint64_t total = 0, begin = 0;
  for (const LaunchRecord& l : run.log[0]) total += l.cycles;
  for (size_t i = 0; i < run.log[0].size(); ++i) {
    const LaunchRecord& l = run.log[0][i];
    const uint64_t ctas = uint64_t{l.launch.grid.x} * l.launch.grid.y * l.launch.grid.z;
    std::string text = fmt::format("{:<28} {:>4} CTAs of {}", l.name, ctas, l.launch.block.x);
    if (total != 0) {
      const uint64_t from = begin * kColumns / total, to = std::max(from + 1, (begin + l.cycles) * kColumns / total);
      text = fmt::format("{:<46} {:>7} cycles |{:<{}}|", text, l.cycles, std::string(from, ' ') + std::string(to - from, '#'), kColumns);
    }
    r.notes.emplace_back(fmt::format("launch {}", i + 1), text);
    begin += l.cycles;
  }
}

/// The launches of all ranks in the order in which they ran.
std::vector<TimedLaunch> launches_of(const LinearRun& run) {
  std::map<size_t, TimedLaunch> by_number;
  for (size_t rank = 0; rank < run.log.size(); ++rank)
    for (const LaunchRecord& l : run.log[rank])
      by_number[l.number] = {run.log.size() == 1 ? l.name : fmt::format("rank {}: {}", rank, l.name), l.launch, l.timing};
  std::vector<TimedLaunch> out;
  for (auto& [number, launch] : by_number) out.push_back(std::move(launch));
  return out;
}

std::vector<std::vector<uint16_t>> values_of(const std::vector<HostMatrix>& parts) {
  std::vector<std::vector<uint16_t>> out;
  for (const HostMatrix& m : parts) out.push_back(m.values);
  return out;
}

isa::Module build(const Params& p, const sim::ArchConfig& arch) {
  const LinearOptions o = options_of(p);
  check_linear(o);
  return build_gemm(gemm::GemmPlan(linear_gemm_config(o)), arch.target);
}

KernelReport run(const RunContext& c) {
  const LinearOptions o = options_of(c.params);
  check_linear(o);
  const Problem p = problem_of(c, o);
  std::vector<std::unique_ptr<Accelerator>> machines;
  for (uint64_t r = 0; r < o.ranks; ++r) machines.push_back(c.open());
  KernelReport r;
  r.shape = fmt::format("{} x {} -> {} bf16, NVFP4{}", o.tokens, o.in_features, o.out_features, o.ranks == 1 ? "" : fmt::format(", {} ranks", o.ranks));
  c.enter("running");
  LinearRun got = run_linear(machines, o, values_of(split(p.x, o.local_x(), o.ranks)), values_of(split(p.w, o.local_w(), o.ranks)),
                             values_of(split(p.dy, o.local_dy(), o.ranks)), c.options);
  r.run = std::move(got.run);
  for (const LaunchRecord& l : got.log[0]) {
    if (l.name == "gemm-blockscaled FProp") r.launch = l.launch;
  }
  r.bytes_read = 2 * (p.x.values.size() + p.w.values.size() + p.dy.values.size());
  r.bytes_written = r.bytes_read;  // y, dx and dw have the sizes of dy, x and w
  add_notes(r, got);
  r.launches = launches_of(got);
  if (!r.run.ok()) return r;
  const Whole whole = join(o, got);
  if (c.verify) {
    c.enter("verifying");
    verify(r, o, got, Expected(o, p, c.options.threads).ranks());
    const HostMatrix w_t = transposed(p.w);
    r.notes.emplace_back("y", quality(whole.y, p.x, p.w, c.options.threads) + ", against float64");
    r.notes.emplace_back("dx", quality(whole.dx, p.dy, w_t, c.options.threads) + ", against float64");
    r.notes.emplace_back("dw", quality(whole.dw, transposed(p.dy), transposed(p.x), c.options.threads) + ", against float64");
  }
  if (c.keep_outputs) {
    for (const auto& [name, m] : {std::pair{"y", &whole.y}, {"dx", &whole.dx}, {"dw", &whole.dw}})
      r.outputs.emplace_back(name, NpyArray::of_bytes("<V2", std::as_bytes(std::span(m->values)), {m->rows, m->columns}));
  }
  return r;
}

std::vector<Parameter> parameters() {
  const auto off = [](std::string_view name, std::string_view doc) {
    return Parameter{.name = name, .type = ParamType::flag, .default_value = "false", .doc = doc};
  };
  return {size_parameter("tokens", "1024", "rows of x"),
          size_parameter("in", "768", "input features"),
          size_parameter("out", "2048", "output features"),
          off("disable-rht", "no random Hadamard transform of the column-wise x and dy"),
          off("disable-stochastic-rounding", "gradients round to nearest even"),
          off("disable-2d-quantization", "weights in blocks of 16, not 16 x 16"),
          choice_parameter("scale-order", "article", "order of the scale arithmetic: the article's or TransformerEngine's present one", {"article", "te"}),
          off("approximate-reciprocal", "rcp.approx.ftz in place of the division"),
          {.name = "seed", .default_value = "0", .doc = "Philox seed of the gradients' rounding", .least = 0},
          {.name = "offset", .default_value = "0", .doc = "Philox offset of the gradients' rounding", .least = 0},
          choice_parameter("parallel", "none", "tensor and sequence parallelism: weights split by rows or by columns", {"none", "column", "row"}),
          {.name = "ranks", .default_value = "1", .doc = "simulated devices", .least = 1, .greatest = 64},
          choice_parameter("amax-reduction", "every", "amaxes that are reduced over the ranks: of every tensor that is split, or of the gathered one only",
                           {"every", "gathered"}),
          choice_parameter("cta-group", "1", "CTAs that share an MMA of the GEMMs", {"1", "2"}),
          choice_parameter("bn", "128", "columns of the GEMMs' tiles", {"64", "128", "192", "256"}),
          choice_parameter("distribution", "heavy-tailed", "of generated x and dy; w is normal", {"normal", "uniform", "heavy-tailed"}),
          {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0}};
}

}  // namespace

Kernel linear_nvfp4_kernel() {
  return {.name = "linear-nvfp4",
          .doc = "TransformerEngine's NVFP4 linear layer on many devices; FProp, DGrad and WGrad with all their kernels",
          .parameters = parameters(),
          .build = build,
          .run = run};
}

}  // namespace drywell::kernels
