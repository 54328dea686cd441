// drywell sf: layouts of scale factors in global, shared and tensor memory, and their reordering in .npy files.
#include <fmt/format.h>

#include "drywell/core/bits.h"
#include "drywell/core/npy.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/inspect/sf_picture.h"
#include "drywell/isa/layout/print.h"
#include "drywell/isa/layout/scale_factor.h"
#include "tools/common/choice.h"
#include "tools/common/command.h"
#include "tools/common/output_file.h"
#include "tools/picture_output.h"

namespace drywell::tools {
namespace {

using layout::IntTuple;
using layout::Layout;

/// Returns a problem shape in CUTLASS's form: with one batch as default.
std::vector<int64_t> with_batch(std::vector<int64_t> mnk) {
  mnk.resize(4, 1);
  return mnk;
}

IntTuple tuple_of(const std::vector<int64_t>& numbers) {
  std::vector<IntTuple> modes;
  for (const int64_t n : numbers) modes.emplace_back(layout::Int::dynamic(n));
  return IntTuple(std::move(modes));
}

template <class L>
void print_line(std::string_view name, const L& l, std::string_view remark = {}) {
  print(fmt::format("{:<10} {}{}{}\n", name, layout::to_string(l, layout::Marks::plain), remark.empty() ? "" : "   # ", remark));
}

// --- block-scaled MMA ---

struct MmaOptions {
  std::string kind, tile = "128x128", problem;
  int64_t stages = 1, ctas = 1;
  PictureFlags picture;
};

ExitCode mma(const CommandContext& c, const MmaOptions& o) {
  const auto mn = numbers(o.tile, 2, 2, "a tile MxN", "sf mma");
  const layout::BlockScaledTile t = layout::block_scaled_tile(o.kind, mn[0], mn[1], static_cast<int>(o.ctas), o.stages);
  print(fmt::format("{}: MMA {}x{}x{}, tile {}x{}x{}, one factor for {} elements, {} a row and MMA\n", o.kind, t.mma.m, t.mma.n, t.mma.k, t.m, t.n, t.k,
                    t.vector, t.mma.k / t.vector));
  print_line("atom", layout::sf_atom(t.vector));
  if (!o.problem.empty()) {
    const IntTuple mnkl = tuple_of(with_batch(numbers(o.problem, 3, 4, "a problem MxNxK[xL]", "sf mma")));
    print_line("gmem SFA", layout::tile_atom_to_shape_sfa(mnkl, t.vector));
    print_line("gmem SFB", layout::tile_atom_to_shape_sfb(mnkl, t.vector));
  }
  print_line("smem SFA", layout::make_smem_layout_sfa(t));
  print_line("smem SFB", layout::make_smem_layout_sfb(t));
  const layout::ComposedLayout a = layout::make_tmem_layout_sfa(t), b = layout::make_tmem_layout_sfb(t);
  print_line("tmem SFA", a.layout(), fmt::format("{} columns", layout::tmem_columns(a)));
  print_line("tmem SFB", b.layout(), fmt::format("{} columns", layout::tmem_columns(b)));
  if (!o.picture.wanted()) return ExitCode::ok;
  const layout::Grid grids[] = {isa::sf_tile_picture(), isa::sf_tmem_picture(t, false, o.picture.options()), isa::sf_tmem_picture(t, true, o.picture.options())};
  draw(o.picture, c, fmt::format("scale factors of {}", o.kind), grids);
  return ExitCode::ok;
}

void add_mma(Command& sf, CommandContext& context) {
  auto o = std::make_shared<MmaOptions>();
  Command* sub = add_subcommand(sf, "mma");
  sub->add_option("KIND", o->kind, "mxf8, mxf4 or nvf4")->required();
  sub->add_option("--tile", o->tile, "MxN of the mainloop tile")->capture_default_str();
  sub->add_option("--problem", o->problem, "MxNxK[xL] of the GEMM: also the layouts in global memory");
  sub->add_option("--stages", o->stages, "of the shared-memory ring")->capture_default_str();
  sub->add_option("--ctas", o->ctas, "CTAs that share an MMA: 1 or 2")->capture_default_str();
  add_picture_options(*sub, o->picture);
  sub->callback([o, &context] { context.action = [o, &context] { return mma(context, *o); }; });
}

// --- blockwise and groupwise scaling ---

struct BlockwiseOptions {
  std::string granularity = "128x128x128", problem, tile = "128x128x128", major_a = "mn", major_b = "mn";
  int64_t stages = 0;
};

ExitCode blockwise(const BlockwiseOptions& o) {
  static constexpr std::pair<std::string_view, layout::Major> kMajors[] = {{"k", layout::Major::k}, {"mn", layout::Major::mn}};
  const auto g = numbers(o.granularity, 3, 3, "a granularity MxNxK", "sf blockwise");
  const layout::BlockwiseScale s{g[0], g[1], g[2], choose(o.major_a, kMajors, "major", "sf blockwise"), choose(o.major_b, kMajors, "major", "sf blockwise")};
  print_line("SFA", layout::deduce_layout_sfa(s), "deduce_layoutSFA; extents are set at run time");
  print_line("SFB", layout::deduce_layout_sfb(s));
  if (!o.problem.empty()) {
    const IntTuple mnkl = tuple_of(with_batch(numbers(o.problem, 3, 4, "a problem MxNxK[xL]", "sf blockwise")));
    print_line("gmem SFA", layout::tile_atom_to_shape_sfa(s, mnkl));
    print_line("gmem SFB", layout::tile_atom_to_shape_sfb(s, mnkl));
  }
  const IntTuple tile = layout::with_static(tuple_of(numbers(o.tile, 3, 3, "a tile MxNxK", "sf blockwise")), true);
  Layout a = layout::smem_atom_layout_sfa(s, tile), b = layout::smem_atom_layout_sfb(s, tile);
  print_line("atom SFA", a);
  print_line("atom SFB", b);
  if (o.stages > 0) {
    print_line("smem SFA", layout::smem_layout_staged(a, o.stages));
    print_line("smem SFB", layout::smem_layout_staged(b, o.stages));
  }
  return ExitCode::ok;
}

void add_blockwise(Command& sf, CommandContext& context) {
  auto o = std::make_shared<BlockwiseOptions>();
  Command* sub = add_subcommand(sf, "blockwise");
  sub->add_option("--granularity", o->granularity, "elements that one factor scales, MxNxK")->capture_default_str();
  sub->add_option("--problem", o->problem, "MxNxK[xL] of the GEMM");
  sub->add_option("--tile", o->tile, "CTA tile MxNxK")->capture_default_str();
  sub->add_option("--stages", o->stages, "of the shared-memory ring; 0: no staged layouts")->capture_default_str();
  sub->add_option("--major-a", o->major_a, "of SFA: mn or k")->capture_default_str();
  sub->add_option("--major-b", o->major_b, "of SFB: mn or k")->capture_default_str();
  sub->callback([o, &context] { context.action = [o] { return blockwise(*o); }; });
}

// --- .npy files ---

struct ConvertOptions {
  std::string in, out;
  uint32_t pad = 0;
  int64_t rows = 0, factors = 0;
};

/// The array that is written is not the one that is read.
template <class Options>
void check_files(const Options& o, const char* command) {
  CommandFiles files(command);
  files.reads("the array", o.in);
  files.writes("the output", o.out);
}

NpyArray read_factors(const std::string& path, size_t least_rank) {
  NpyArray x = read_npy(path);
  if (x.element_size() != 1) throw InputError(Code::E4007, fmt::format("{}: scale factors are bytes, not {}", path, x.describe()));
  if (x.shape.size() < least_rank) throw InputError(Code::E4006, fmt::format("{}: {} has too few dimensions", path, x.describe()));
  return x;
}

std::span<const uint8_t> bytes_of(const NpyArray& x) { return {reinterpret_cast<const uint8_t*>(x.data.data()), x.data.size()}; }

void write_factors(const std::string& path, const NpyArray& like, const std::vector<uint8_t>& bytes, std::vector<uint64_t> shape) {
  const NpyArray y = NpyArray::of_bytes(like.dtype, std::as_bytes(std::span(bytes)), std::move(shape));
  write_npy(path, y);
  print(fmt::format("{}: {}\n", path, y.describe()));
}

/// (…, rows, factors) -> (…, row tiles, factor tiles, 512).
ExitCode to_blocked(const ConvertOptions& o) {
  check_files(o, "sf to-blocked");
  if (o.pad > 255) throw UsageError("--pad is a byte", "sf to-blocked");
  const NpyArray x = read_factors(o.in, 2);
  const auto rows = static_cast<int64_t>(x.shape[x.shape.size() - 2]), factors = static_cast<int64_t>(x.shape.back());
  const uint64_t matrix = static_cast<uint64_t>(rows * factors), count = matrix == 0 ? 0 : x.data.size() / matrix;
  std::vector<uint8_t> out;
  for (uint64_t i = 0; i < count; ++i) {
    const auto blocked = layout::to_blocked(bytes_of(x).subspan(i * matrix, matrix), rows, factors, static_cast<uint8_t>(o.pad));
    out.insert(out.end(), blocked.begin(), blocked.end());
  }
  std::vector<uint64_t> shape(x.shape.begin(), x.shape.end() - 2);
  shape.insert(shape.end(), {ceil_div(static_cast<uint64_t>(rows), 128), ceil_div(static_cast<uint64_t>(factors), 4), 512});
  write_factors(o.out, x, out, std::move(shape));
  return ExitCode::ok;
}

/// (…, row tiles, factor tiles, 512) -> (…, rows, factors), without padding. Rows and factors default to those of the
/// tiles.
ExitCode from_blocked(const ConvertOptions& o) {
  check_files(o, "sf from-blocked");
  const bool given = o.rows > 0 && o.factors > 0;
  const NpyArray x = read_factors(o.in, given ? 1 : 3);
  const size_t rank = x.shape.size();
  const bool tiled = rank >= 3 && x.shape.back() == 512;
  if (!given && !tiled) throw UsageError("--rows and --factors, unless the array ends in dimensions (row tiles, factor tiles, 512)", "sf from-blocked");
  const int64_t rows = given ? o.rows : static_cast<int64_t>(x.shape[rank - 3] * 128), factors = given ? o.factors : static_cast<int64_t>(x.shape[rank - 2] * 4);
  const auto bytes = static_cast<uint64_t>(layout::blocked_bytes(rows, factors));
  if (bytes == 0 || x.data.size() % bytes != 0)
    throw InputError(Code::E4006, fmt::format("{}: {} bytes are no whole number of blocked {} x {} matrices of {} bytes", o.in, x.data.size(), rows, factors, bytes));
  std::vector<uint8_t> out;
  for (uint64_t i = 0; i < x.data.size() / bytes; ++i) {
    const auto plain = layout::from_blocked(bytes_of(x).subspan(i * bytes, bytes), rows, factors);
    out.insert(out.end(), plain.begin(), plain.end());
  }
  std::vector<uint64_t> shape;
  if (tiled) shape.assign(x.shape.begin(), x.shape.end() - 3);
  else if (x.data.size() != bytes) shape = {x.data.size() / bytes};
  shape.insert(shape.end(), {static_cast<uint64_t>(rows), static_cast<uint64_t>(factors)});
  write_factors(o.out, x, out, std::move(shape));
  return ExitCode::ok;
}

void add_conversion(Command& sf, CommandContext& context, bool to) {
  auto o = std::make_shared<ConvertOptions>();
  Command* sub = add_subcommand(sf, to ? "to-blocked" : "from-blocked");
  sub->add_option("IN", o->in, to ? ".npy of bytes, (…, rows, factors)" : ".npy of bytes, (…, row tiles, factor tiles, 512)")->required();
  sub->add_option("OUT", o->out, ".npy to write")->required();
  if (to) {
    sub->add_option("--pad", o->pad, "byte that fills the padding")->capture_default_str();
  } else {
    sub->add_option("--rows", o->rows, "rows without padding");
    sub->add_option("--factors", o->factors, "factors a row without padding");
  }
  sub->callback([o, to, &context] { context.action = [o, to] { return to ? to_blocked(*o) : from_blocked(*o); }; });
}

}  // namespace

void register_sf(Command& app, CommandContext& context) {
  Command* sf = add_command(app, "sf");
  sf->require_subcommand(1);
  add_mma(*sf, context);
  add_blockwise(*sf, context);
  add_conversion(*sf, context, true);
  add_conversion(*sf, context, false);
}

}  // namespace drywell::tools
