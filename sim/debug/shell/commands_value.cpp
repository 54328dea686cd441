// Commands that show values of registers and of shared, global and tensor memory, and `who`: the steps that wrote them.
#include <algorithm>
#include <cmath>

#include "drywell/isa/swizzle.h"
#include "sim/debug/describe.h"
#include "sim/debug/edit.h"
#include "sim/debug/provenance.h"
#include "sim/debug/shell/shell.h"

namespace drywell::sim::shell {
namespace {

std::optional<ValueType> take_type(Words& w) {
  if (!w.take("as")) return std::nullopt;
  return parse_value_type(w.next());
}

/// Prints values in rows of `per_row`; `label` returns the text before a row.
template <class Label>
void say_table(Shell& s, const std::vector<std::string>& cells, size_t per_row, Label label) {
  size_t width = 0;
  for (const std::string& c : cells) width = std::max(width, c.size());
  for (size_t i = 0; i < cells.size(); i += per_row) {
    std::string row = label(i);
    for (size_t k = i; k < std::min(i + per_row, cells.size()); ++k) row += fmt::format(" {:>{}}", cells[k], width);
    s.say("{}", row);
  }
}

void print_register(Shell& s, Words& w, const RegisterRef& r) {
  const Warp& warp = s.warp();
  std::optional<ValueType> type = take_type(w);
  const bool lane_given = w.take("lane");
  const uint64_t lane = lane_given ? w.number(s.debugger().lane, "lane") : 0;
  if (lane >= kWarpSize) refuse("a warp has 32 lanes");
  if (!type.has_value()) type = take_type(w);
  w.finish("print");
  if (!type.has_value()) type = r.predicate ? parse_value_type("u8") : type_of_register(r.declared);
  const auto values = read_register(warp, r);
  const std::string pending = is_register_pending(warp, r) ? "  (an asynchronous instruction will write it)" : "";
  if (lane_given) return s.say("{} = {}{}", r.name, print_value(*type, values[lane]), pending);
  const bool uniform = std::all_of(values.begin(), values.end(), [&](uint64_t v) { return v == values[0]; });
  if (uniform) return s.say("{} = {} in every lane{}", r.name, print_value(*type, values[0]), pending);
  s.say("{} as {}{}", r.name, type->name, pending);
  std::vector<std::string> cells;
  for (uint64_t v : values) cells.push_back(print_value(*type, v));
  say_table(s, cells, 8, [](size_t i) { return fmt::format("  lanes {:>2}..{:<2}", i, i + 7); });
}

// print %r …; print EXPRESSION.
void print_value(Shell& s, Words& w) {
  if (w.empty()) refuse("print what?", "print %r1 [as f16x2] [lane 3]; print %r1 + 4");
  Words copy = w;
  const std::string first = copy.next(), after(copy.peek());
  if (first.starts_with('%') && (after.empty() || after == "as" || after == "lane")) {
    w.next();
    return print_register(s, w, find_register(s.warp(), first));
  }
  const Expression e = Expression::parse(w.rest());
  const double v = e.evaluate(s.session(), s.warp(), s.debugger().lane);
  s.say("{} = {}{}", e.text(), fmt::format("{:.15g}", v), v >= 10 && v < 0x1p53 && v == std::floor(v) ? fmt::format(" = {:#x}", static_cast<uint64_t>(v)) : "");
}

isa::Swizzle parse_swizzle(std::string_view name) {
  for (unsigned i = 0; i < isa::kSwizzleCount; ++i) {
    if (isa::to_string(static_cast<isa::Swizzle>(i)) == name) return static_cast<isa::Swizzle>(i);
  }
  refuse(fmt::format("no swizzle '{}'", name), "32B, 64B or 128B");
}

// With `swizzle`, addresses in shared memory are logical ones of a swizzled tile; each element is read at its physical address.
void examine(Shell& s, Words& w) {
  const std::string space = w.next(), where = w.next();
  if ((space != "smem" && space != "gmem") || where.empty()) refuse("x smem|gmem ADDR[,COUNT] [as TYPE] [swizzle 128B]");
  const size_t comma = where.rfind(',');
  const uint64_t start = s.address(where.substr(0, comma)), count = comma == std::string::npos ? 16 : s.address(where.substr(comma + 1));
  ValueType type = parse_value_type("b32");
  isa::Swizzle swizzle = isa::Swizzle::none;
  while (!w.empty()) {
    if (w.take("swizzle")) swizzle = parse_swizzle(w.next());
    else if (const auto t = take_type(w); t.has_value()) type = *t;
    else w.finish("x");
  }
  if (count == 0 || count > 65536) refuse(fmt::format("{} elements", count));
  const unsigned bits = type.total_bits();
  const bool shared = space == "smem";
  std::vector<std::string> cells;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bit = i * bits, logical = start + bit / 8, bytes = (bits + 7) / 8;
    const uint64_t at = shared ? isa::swizzle_address(swizzle, shared_offset(static_cast<uint32_t>(logical))) : logical;
    const uint8_t* p = shared ? smem_at(s.cta(), static_cast<uint32_t>(at), bytes) : s.session().launch().gmem->translate(at, bytes);
    if (p == nullptr) {
      if (i == 0) refuse(fmt::format("nothing is at {:#x}", at));
      break;
    }
    cells.push_back(print_value(type, bits_of(p, bit % 8, bits)));
  }
  // A row of a swizzled tile, or 32 bytes.
  const uint64_t row_bytes = swizzle == isa::Swizzle::none ? 32 : isa::swizzle_span(swizzle);
  const size_t per_row = std::max<size_t>(1, std::min<size_t>(row_bytes * 8 / bits, 64));
  if (shared) s.say("SMEM of CTA ({},{},{}) as {}{}", s.cta().index.x, s.cta().index.y, s.cta().index.z, type.name, swizzle == isa::Swizzle::none ? "" : fmt::format(", {} swizzle undone", isa::to_string(swizzle)));
  else s.say("{} as {}", describe_gmem(*s.session().launch().gmem, start), type.name);
  say_table(s, cells, per_row, [&](size_t i) { return fmt::format("  {:#08x}:", start + i * bits / 8); });
}

void tmem(Shell& s, Words& w) {
  std::string lanes_text = w.next(), columns_text;
  if (lanes_text.empty()) refuse("tmem LANES COLUMNS [as TYPE], for example tmem 0..3 0..7 as f32");
  if (const size_t comma = lanes_text.find(','); comma != std::string::npos) {
    columns_text = lanes_text.substr(comma + 1);
    lanes_text.resize(comma);
  } else {
    columns_text = w.next();
  }
  const Range lanes = parse_range(lanes_text, kTmemLanes, "lanes"), columns = parse_range(columns_text, kTmemColumns, "columns");
  const ValueType type = take_type(w).value_or(parse_value_type("f32"));
  w.finish("tmem");
  if (type.bits > 32) refuse("a cell of tensor memory has 32 bits");
  const Cta& cta = s.cta();
  const unsigned per_cell = 32 / type.total_bits();
  std::vector<std::string> cells;
  for (uint64_t lane = lanes.first; lane <= lanes.last; ++lane) {
    for (uint64_t column = columns.first; column <= columns.last; ++column) {
      const uint32_t cell = cta.tmem->at(static_cast<uint32_t>(lane), static_cast<uint32_t>(column));
      for (unsigned i = 0; i < per_cell; ++i) cells.push_back(print_value(type, cell >> (i * type.total_bits())));
    }
  }
  const bool owned = cta.tmem->owns(static_cast<uint32_t>(columns.first), static_cast<uint32_t>(columns.last - columns.first + 1), cta.serial + 1);
  s.say("TMEM of CTA ({},{},{}) columns {}..{} as {}{}", cta.index.x, cta.index.y, cta.index.z, columns.first, columns.last, type.name, owned ? "" : " (not allocated to this CTA)");
  const size_t per_row = per_cell * (columns.last - columns.first + 1);
  say_table(s, cells, per_row, [&](size_t i) { return fmt::format("  lane {:>3}:", lanes.first + i / per_row); });
}

/// The value of a place at a position.
std::string value_then(Shell& s, const Place& place, uint64_t position, bool asked) {
  const uint64_t here = s.session().position();
  s.session().seek(position);
  const std::vector<uint8_t> bytes = watched_bytes(s.session(), place);
  s.session().seek(here);
  if (bytes.empty() || std::holds_alternative<WatchRegister>(place)) return {};
  const uint64_t v = bits_of(bytes.data(), 0, static_cast<unsigned>(std::min<size_t>(bytes.size(), 4) * 8));
  std::string out = fmt::format(" = {:#x}", v);
  if (asked && std::holds_alternative<WatchTmem>(place)) out += fmt::format(" ({} as f32)", print_value(parse_value_type("f32"), v));
  return out;
}

constexpr int kMostGenerations = 6;  // of a chain; GMEM, TMA, UMMA, tcgen05.ld, … are fewer

void say_origins(Shell& s, const Provenance& p, int generation);

void say_write(Shell& s, const std::string& name, const Place& place, uint64_t position, int generation) {
  const std::string indent(static_cast<size_t>(generation) * 2, ' ');
  const std::optional<Provenance> p = find_write(s.debugger(), place, position);
  if (!p.has_value()) return s.say("{}{}{}: as the launch found it", indent, name, value_then(s, place, position, generation == 0));
  s.say("{}{}{}: written by step {}", indent, name, value_then(s, place, p->position, generation == 0), p->position);
  const std::string step = describe_step(s.session(), p->step, s.code());
  s.say("{}    {}", indent, step.substr(0, std::min<size_t>(step.find('\n'), 400)));  // without the completed phases
  if (!p->detail.empty()) s.say("{}    {}", indent, p->detail);
  say_origins(s, *p, generation + 1);
}

void say_origins(Shell& s, const Provenance& p, int generation) {
  for (const Origin& o : p.origins) {
    const std::string indent(static_cast<size_t>(generation) * 2, ' ');
    // Sums of many MMAs are long chains: the output names the command that continues the chain.
    if (std::holds_alternative<WatchTmem>(o.place) && o.what == "the cell before") {
      s.say("{}it added to the old value: goto {} and ask who again for its writer", indent, p.position - 1);
    } else if (generation >= kMostGenerations) {
      s.say("{}from {}, {}", indent, o.what, o.where);
    } else {
      say_write(s, fmt::format("{}, {}", o.what, o.where), o.place, p.read_position, generation);
    }
  }
}

void who(Shell& s, Words& w) {
  Words copy = w;
  const std::string text = copy.rest();
  const Place place = parse_watched(s, w);
  w.finish("who");
  say_write(s, text, place, s.session().position(), 0);
}

void set(Shell& s, Words& w) {
  const std::string name = w.next();
  w.take("=");
  const std::string value = w.next();
  if (value.empty()) refuse("set what?", "set %r1 = 7 [lane 3]; set %p1 = 0");
  std::optional<uint32_t> lane;
  if (w.take("lane")) lane = w.index(s.debugger().lane, "lane");
  if (lane.value_or(0) >= kWarpSize) refuse("a warp has 32 lanes");
  w.finish("set");
  edit_register(s.session(), s.debugger().focus, find_register(s.warp(), name), lane, value);
  s.say("{} = {} {}; steps behind this one are forgotten", name, value, lane.has_value() ? fmt::format("in lane {}", *lane) : "in every lane");
}

constexpr StepCommand kValueCommands[] = {
    {"set", "", "%REGISTER = VALUE [lane N]", "change a register, in every lane or in one; going back and forward keeps the change", set, "values"},
    {"print", "p", "%REGISTER [as TYPE] [lane N] | EXPRESSION", "show a register in every lane, or the value of an expression in the focused lane", print_value, "values"},
    {"x", "", "smem|gmem ADDR[,COUNT] [as TYPE] [swizzle 32B|64B|128B]", "show memory as elements of a type, a swizzled tile by its logical addresses; ADDR may be an expression without blanks", examine, "values"},
    {"tmem", "", "LANES COLUMNS [as TYPE]", "show tensor memory, a row for each lane; ranges are N..M", tmem, "values"},
    {"who", "", "smem ADDR[,BYTES] | gmem ADDR[,BYTES] | tmem LANES,COLUMNS | %REGISTER", "show the step that last wrote the memory or register, the sources of the value, and their writers; goto STEP goes there", who, "values"},
};

}  // namespace

std::span<const StepCommand> value_commands() { return kValueCommands; }

}  // namespace drywell::sim::shell
