// drywell layout: evaluates a layout expression, checks the result and draws it.
#include <fmt/format.h>

#include <charconv>

#include "drywell/core/terminal.h"
#include "drywell/core/text.h"
#include "drywell/isa/layout/checks.h"
#include "drywell/isa/layout/expression.h"
#include "tools/common/command.h"
#include "tools/picture_output.h"

namespace drywell::tools {
namespace {

struct LayoutOptions {
  std::string expression, equal, at, view = "index", colour = "index";
  bool functions = false, cute = false, plain = false, info = false;
  bool injective = false, bijective = false, contiguous = false;
  std::optional<int64_t> in_bounds;
  uint32_t bits = 8;
  PictureFlags picture;

  layout::Reading reading() const {
    return cute ? layout::Reading::cute : plain ? layout::Reading::plain
                                                : layout::Reading::automatic;
  }
};

layout::ColourBy colour_by(const std::string& name) {
  static constexpr std::pair<std::string_view, layout::ColourBy> kNames[] = {{"none", layout::ColourBy::none},
                                                                             {"index", layout::ColourBy::index},
                                                                             {"bank", layout::ColourBy::bank},
                                                                             {"chunk", layout::ColourBy::chunk}};
  for (const auto& [n, c] : kNames)
    if (n == name) return c;
  throw UsageError(fmt::format("no colouring '{}': index, bank, chunk or none", name), "layout");
}

/// Parses "tv=16x8": rows and columns of the tile that a thread-value layout covers.
std::pair<int64_t, int64_t> tile_of(std::string_view text) {
  const size_t x = text.find('x');
  int64_t rows = 0, columns = 0;
  const bool ok = x != std::string_view::npos && std::from_chars(text.data(), text.data() + x, rows).ptr == text.data() + x &&
                  std::from_chars(text.data() + x + 1, text.data() + text.size(), columns).ptr == text.data() + text.size();
  if (!ok || rows <= 0 || columns <= 0) throw UsageError(fmt::format("'{}' is not a tile such as 16x8", text), "layout");
  return {rows, columns};
}

/// Refuses words of a picture also where none is drawn.
void check_words(const LayoutOptions& o) {
  colour_by(o.colour);
  const bool tile = o.view.starts_with("tv=");
  if (tile) tile_of(std::string_view(o.view).substr(3));
  if (!tile && o.view != "index" && o.view != "memory" && o.view != "tmem") throw UsageError(fmt::format("no view '{}': index, memory, tmem or tv=ROWSxCOLUMNS", o.view), "layout");
}

layout::Grid view_of(const LayoutOptions& o, const layout::ComposedLayout& l) {
  layout::PictureOptions p = o.picture.options();
  p.colour = colour_by(o.colour);
  p.element_bits = o.bits;
  if (o.view == "index") return layout::picture(l, p);
  if (o.view == "memory") return layout::memory_map(l, o.bits, 128, 16, p);
  if (o.view == "tmem") return layout::tmem_map(l, p);
  const auto [rows, columns] = tile_of(std::string_view(o.view).substr(3));
  return layout::thread_value_map(l.layout(), rows, columns, p);
}

/// Prints each requested check; returns false if one fails.
bool check_all(const CommandContext& c, const LayoutOptions& o, const layout::ComposedLayout& l) {
  bool ok = true;
  const auto report = [&](std::string_view name, const layout::CheckResult& r) {
    print(fmt::format("{}: {}{}{}\n", name, r.ok ? paint("yes", Colour::green, c.colour_out) : paint("no", Colour::red, c.colour_out),
                      r.detail.empty() ? "" : ", ", r.detail));
    ok = ok && r.ok;
  };
  if (o.injective) report("injective", layout::check_injective(l));
  if (o.bijective) report("bijective", layout::check_bijective(l));
  if (o.contiguous) report("contiguous", layout::check_contiguous(l));
  if (o.in_bounds) report(fmt::format("in bounds of {}", *o.in_bounds), layout::check_in_bounds(l, *o.in_bounds));
  if (!o.equal.empty()) report("equal", layout::check_equal(l, layout::evaluate(o.equal, o.reading()).layout()));
  return ok;
}

void print_info(const layout::ComposedLayout& l, layout::Marks marks) {
  print(fmt::format("rank {}, size {}, depth {}\n", l.rank(), layout::to_string(size(l.layout()), marks), depth(l.layout())));
  const layout::IndexRange r = layout::index_range(l);
  if (r.high >= r.low) print(fmt::format("indices {} to {}\n", r.low, r.high));
}

ExitCode layout_command(const CommandContext& c, const LayoutOptions& o) {
  if (o.functions) {
    print(layout::expression_help());
    return ExitCode::ok;
  }
  if (o.expression.empty()) throw UsageError("which layout?", "layout");
  check_words(o);
  const layout::Evaluation e = layout::evaluate(o.expression, o.reading());
  const std::string text = layout::to_string(e.value, e.marks);
  if (!o.picture.table) print(text + "\n");  // the picture's title otherwise
  const bool asks_layout = o.info || o.injective || o.bijective || o.contiguous || o.in_bounds || !o.equal.empty() || !o.at.empty() ||
                           o.picture.wanted();
  if (!asks_layout) return ExitCode::ok;
  const layout::ComposedLayout& l = e.layout();
  if (o.info) print_info(l, e.marks);
  if (!o.at.empty()) {
    const layout::IntTuple coord = layout::parse_int_tuple(o.at, o.reading());
    print(fmt::format("{} -> {}\n", o.at, layout::to_string(l(coord), layout::Marks::plain)));
  }
  const bool ok = check_all(c, o, l);
  if (o.picture.wanted()) {
    layout::Grid g = view_of(o, l);
    g.title = text;
    draw(o.picture, c, text, {&g, 1});
  }
  return ok ? ExitCode::ok : ExitCode::verification_failed;
}

}  // namespace

void register_layout(Command& app, CommandContext& context) {
  auto o = std::make_shared<LayoutOptions>();
  Command* sub = add_command(app, "layout");
  sub->add_option("EXPR", o->expression, "e.g. 'composition((8,4):(4,1), 4:2)'; docs/layout.md has the notation");
  sub->add_flag("--functions", o->functions, "list the functions of the language");
  sub->add_flag("--cute", o->cute, "unmarked numbers are run-time values, _N static ones (CuTe C++)");
  sub->add_flag("--plain", o->plain, "every number is known (CuTe DSL)")->excludes("--cute");
  sub->add_flag("--info", o->info, "also rank, size, depth and the range of indices");
  sub->add_option("--at", o->at, "also the index at this coordinate");
  sub->add_flag("--injective", o->injective, "check: no two coordinates share an index");
  sub->add_flag("--bijective", o->bijective, "check: the indices are 0 to size-1, each once");
  sub->add_flag("--contiguous", o->contiguous, "check: the indices have no holes");
  sub->add_option("--in-bounds", o->in_bounds, "check: every index is in [0,N)");
  sub->add_option("--equal", o->equal, "check: the same function as this layout");
  sub->add_option("--view", o->view, "drawing: index, memory (the element at each address), tmem, tv=ROWSxCOLUMNS")->capture_default_str();
  sub->add_option("--colour,--color", o->colour, "cells by index, bank, chunk (of 16 bytes) or none")->capture_default_str();
  sub->add_option("--bits", o->bits, "element width, when the layout does not say it")->capture_default_str();
  add_picture_options(*sub, o->picture);
  sub->notes("Exit code 1 if a check fails.");
  sub->callback([o, &context] { context.action = [o, &context] { return layout_command(context, *o); }; });
}

}  // namespace drywell::tools
