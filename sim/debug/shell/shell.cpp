#include "sim/debug/shell/shell.h"

#include <algorithm>
#include <limits>

#include "drywell/core/text.h"
#include "drywell/core/whole_number.h"
#include "drywell/sim/driver_words.h"
#include "sim/debug/describe.h"

namespace drywell::sim::shell {
namespace {

std::optional<uint64_t> parse_number(std::string_view text) { return whole_number_or_hex<uint64_t>(text); }

std::string dots(Dim3 d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

}  // namespace

void refuse(std::string message, std::string hint) { throw InputError(Code::E4325, std::move(message), std::move(hint)); }

Words::Words(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t start = text.find_first_not_of(" \t\r", at);
    if (start == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t\r", start), text.size());
    words_.emplace_back(text.substr(start, at - start));
  }
}

bool Words::take(std::string_view word) {
  if (peek() != word) return false;
  ++at_;
  return true;
}

std::string Words::rest() {
  std::string all;
  while (!empty()) all += (all.empty() ? "" : " ") + next();
  return all;
}

uint64_t Words::number(uint64_t otherwise, std::string_view what) {
  if (empty()) return otherwise;
  const std::string word = next();
  const std::optional<uint64_t> v = parse_number(word);
  if (!v.has_value()) refuse(fmt::format("{}: '{}' is no number", what, word));
  return *v;
}

uint32_t Words::index(uint32_t otherwise, std::string_view what) {
  const uint64_t v = number(otherwise, what);
  if (v > std::numeric_limits<uint32_t>::max()) refuse(fmt::format("{}: there is no number {}", what, v));
  return static_cast<uint32_t>(v);
}

void Words::finish(std::string_view command) const {
  if (!empty()) refuse(fmt::format("{}: '{}' is too much", command, peek()), fmt::format("help {}", command));
}

Shell::Shell(Debugger& d, bool colour) : debugger_(d), colour_(colour) {
  for (const auto table : {run_commands(), stop_commands(), show_commands(), value_commands()}) {
    for (const StepCommand& c : table) commands_.push_back(&c);
  }
}

// Finds a command by name, alias or unique prefix.
const StepCommand* Shell::find(std::string_view name) const {
  const StepCommand* only = nullptr;
  size_t matches = 0;
  for (const StepCommand* c : commands_) {
    if (c->name == name || c->alias == name) return c;
    if (!c->name.starts_with(name)) continue;
    only = c;
    ++matches;
  }
  return matches == 1 ? only : nullptr;
}

/// Words of other debuggers (gdb, cuda-gdb, lldb), and the command here.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"regs", "info registers"}, {"registers", "info registers"}, {"locals", "info registers"}, {"back", "reverse-step"}, {"stepback", "reverse-step"}, {"rsi", "reverse-step"}, {"si", "step"}, {"stepi", "step"}, {"ni", "step"}, {"nexti", "step"}, {"run", "continue"}, {"r", "continue"}, {"jump", "goto"}, {"frame", "where"}, {"backtrace", "where"}, {"threads", "info warps"}, {"thread", "warp"}, {"block", "cta"}, {"kernel", "info launch"}, {"barriers", "info mbarriers"}, {"mbarriers", "info mbarriers"}, {"mem", "x"}, {"memory", "x"}, {"smem", "x smem"}, {"gmem", "x gmem"}, {"display", "panes"}, {"layout", "panes"}, {"disassemble", "list"}, {"exit", "quit"}, {"hazards", "info hazards"}};

const StepCommand& Shell::named(const std::string& name) const {
  if (const StepCommand* c = find(name); c != nullptr) return *c;
  const auto* const known = std::find_if(std::begin(kElsewhere), std::end(kElsewhere), [&](const auto& row) { return row.first == name; });
  if (known != std::end(kElsewhere)) refuse(fmt::format("no command '{}'", name), fmt::format("here it is '{}'; help lists all", known->second));
  std::vector<std::string_view> names;
  for (const StepCommand* k : commands_) names.push_back(k->name);
  const std::string guess = did_you_mean(name, names);
  refuse(fmt::format("no command '{}'", name), guess.empty() ? "help lists them" : guess + " help lists them");
}

void Shell::set_panes(std::vector<std::string> panes) {
  for (const std::string& text : panes) {
    if (named(Words(text).next()).group == "running") refuse(fmt::format("panes: '{}' would run after every step", text), "panes are commands that show or set");
  }
  panes_ = std::move(panes);
}

/// On a terminal the panes stand at the top of the screen; elsewhere they follow one another.
void Shell::show_panes() {
  if (colour_) out_ = "\x1b[H\x1b[2J" + out_;
  for (const std::string& text : std::vector<std::string>(panes_)) {  // a command may be `panes`, which changes them
    say("{}", paint(fmt::format("── {} ──", text), Colour::bold));
    Words words(text);
    const std::string name = words.next();
    try {
      named(name).run(*this, words);
    } catch (const Error& e) {
      say("{}", e.what());
    }
  }
}

std::string Shell::execute(std::string_view line) {
  out_.clear();
  line = line.substr(0, line.find('#'));
  Words words(line);
  if (words.empty()) return {};
  const std::string name = words.next();
  const uint64_t before = session().position();
  try {
    named(name).run(*this, words);
  } catch (const Error& e) {
    say("{}", e.what());
  }
  if (!panes_.empty() && session().position() != before) show_panes();
  const std::string printed = session().output();
  if (printed.size() > printed_) say("the kernel printed: {}", printed.substr(printed_));
  printed_ = printed.size();
  return std::move(out_);
}

std::vector<std::string> Shell::complete(std::string_view line) const {
  const size_t blank = line.find_last_of(" \t");
  const std::string_view word = blank == std::string_view::npos ? line : line.substr(blank + 1);
  std::vector<std::string> all;
  const auto offer = [&](std::string_view candidate) {
    if (candidate.starts_with(word) && std::find(all.begin(), all.end(), candidate) == all.end()) all.emplace_back(candidate);
  };
  Words words(line);
  const std::string_view first = words.peek();
  if (blank == std::string_view::npos) {
    for (const StepCommand* c : commands_) offer(c->name);
  } else if (word.starts_with('%')) {
    if (const Warp* w = debugger_.focused(); w != nullptr) {
      for (const RegisterRef& r : registers_of(*w)) offer(r.name);
    }
  } else if (const StepCommand* c = find(first); c != nullptr) {
    // Offers the words of the command's syntax, then places.
    std::string_view text = c->arguments;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find_first_of(" |[]", at), text.size());
      const std::string_view piece = text.substr(at, end - at);
      if (!piece.empty() && std::islower(static_cast<unsigned char>(piece[0])) != 0) offer(piece);
      at = end + 1;
    }
    if (c->arguments.find("PLACE") != std::string_view::npos) {
      for (const std::string& n : code().names()) offer(n);
    }
  }
  return all;
}

Warp& Shell::warp() {
  Warp* w = debugger_.focused();
  if (w != nullptr) return *w;
  const bool after = session().over() || !session().clusters().empty();
  throw InputError(Code::E4326, fmt::format("{} is not there{}", name_of(session(), debugger_.focus), after ? ": its cluster has not started, or is over" : ""),
                   "info ctas shows those that are; cta X,Y,Z or warp N changes the focus; reverse-step goes back");
}

uint64_t Shell::clock() {
  if (session().options().driver != DriverKind::timed) throw InputError(Code::E4326, "this driver has no clock", "restart timed, or drywell step --driver=timed");
  warp();
  return session().cycle(debugger_.focus.cluster).value_or(0);
}

void Shell::expect_focus_ahead() {
  if (debugger_.focused() != nullptr) return;
  for (const Cluster* c : session().clusters()) {
    if (c->index > debugger_.focus.cluster) warp();
  }
}

uint64_t Shell::address(std::string_view text) {
  if (const std::optional<uint64_t> plain = parse_number(text); plain.has_value()) return *plain;
  const double v = Expression::parse(text).evaluate(session(), warp(), debugger_.lane);
  if (!(v >= 0 && v < 0x1p63)) refuse(fmt::format("'{}' is no address: {}", text, v));
  return static_cast<uint64_t>(v);
}

std::string Shell::current_file() {
  const Warp* w = debugger_.focused();
  return w == nullptr ? std::string() : code().at(w->pc).file;
}

void Shell::show_place() {
  const Warp* w = debugger_.focused();
  if (session().over()) {
    if (!session().fault().has_value()) return say("[{}] the launch is over", session().position());
    return say("[{}] {}", session().position(), paint(session().fault()->to_string(), Colour::red));
  }
  if (w == nullptr || w->finished()) {
    return say("[{}] {} {}", session().position(), name_of(session(), debugger_.focus), w == nullptr ? "is not there" : "has finished");
  }
  const CodeLine& l = code().at(w->pc);
  const std::string_view role = role_of(session().program(), w->index);
  std::string where = fmt::format("[{}] {}{}", session().position(), name_of(*w), role.empty() ? "" : fmt::format(" ({})", role));
  if (const auto cycle = session().cycle(debugger_.focus.cluster); cycle.has_value()) where += fmt::format(", cycle {}", *cycle);
  if (w->active != w->alive) where += fmt::format(" lanes {:08x}", w->active);
  if (!l.function.empty()) where += " in " + l.function;
  say("{}", paint(where, Colour::bold));
  const auto say_source = [&](const std::string& place, const std::string& file, uint32_t line) {
    const std::string text = source_line(file, line);
    text.empty() ? say("   {}", place) : say("   {:<18} {}", place, text);
  };
  if (!l.file.empty()) say_source(code().place(w->pc), l.file, l.line);
  // Of deeply nested templates, shows the call in the kernel itself.
  if (!l.called_from.empty()) {
    const SourcePos& call = l.called_from.back();
    say_source(fmt::format("< {}:{}", base_name(call.file), call.line), call.file, call.line);
  }
  const std::string pc = fmt::format("pc:{}{}", w->pc, l.file.empty() && l.ptx_line != 0 ? fmt::format(" ptx:{}", l.ptx_line) : "");
  say("=> {:<18} {}", pc, paint(abbreviated(l.text), Colour::cyan));
}

void Shell::report(const StopReason& r) {
  using Kind = StopReason::Kind;
  switch (r.kind) {
    case Kind::hit: {
      const Stop* stop = debugger_.stops().find(r.hit.id);
      say("{} {}: {}", stop != nullptr && is_watch(stop->what) && !stop->on_write ? "watch" : "break", r.hit.id, stop != nullptr ? stop->text : "reached");
      if (!r.hit.text.empty()) say("    {}", r.hit.text);
      if (stop != nullptr && !std::holds_alternative<CodeStop>(stop->what)) say("    {}", describe_step(session(), code()));
      break;
    }
    case Kind::start: say("back at the beginning"); break;
    case Kind::interrupted: say("interrupted"); break;
    case Kind::done:
      if (session().last().kind == StepRecord::Kind::moment) say("{}", describe_step(session(), code()));
      break;
    case Kind::end: break;
  }
  show_place();
}

std::string Shell::greeting() {
  const Launch& l = session().launch();
  out_.clear();
  const std::string driver = print_driver(session().options());
  say("{}: grid {}, block {}{}, driver {}. help lists the commands.", session().program().function->name, dots(l.grid), dots(l.block),
      l.cluster.count() > 1 ? ", cluster " + dots(l.cluster) : "", driver);
  show_place();
  return std::move(out_);
}

Range parse_range(std::string_view text, uint64_t end, std::string_view what) {
  const size_t dots_at = text.find("..");
  const std::optional<uint64_t> first = parse_number(text.substr(0, dots_at));
  const std::optional<uint64_t> last = dots_at == std::string_view::npos ? first : parse_number(text.substr(dots_at + 2));
  if (!first.has_value() || !last.has_value() || *first > *last || *last >= end) refuse(fmt::format("{}: '{}' is not N or N..M below {}", what, text, end));
  return {*first, *last};
}

StopWhat parse_watched(Shell& s, Words& w) {
  const std::string space = w.next();
  if (space.starts_with('%')) {
    const RegisterRef r = find_register(s.warp(), space);
    if (r.special.has_value()) refuse(fmt::format("{} is no register a kernel writes", space));
    return WatchRegister{s.debugger().focus, r.name, s.warp().frame};
  }
  if (space != "smem" && space != "gmem" && space != "tmem") refuse(fmt::format("'{}' cannot be watched", space), "smem ADDR[,BYTES], gmem ADDR[,BYTES], tmem LANES,COLUMNS or %REGISTER");
  const std::string place = w.next();
  const size_t comma = place.rfind(',');
  const std::string first = place.substr(0, comma), second = comma == std::string::npos ? "" : place.substr(comma + 1);
  if (first.empty()) refuse(fmt::format("{}: where?", space));
  if (space == "tmem") {
    if (second.empty()) refuse("tmem takes LANES,COLUMNS, for example 0..31,4");
    const Range lanes = parse_range(first, kTmemLanes, "lanes"), columns = parse_range(second, kTmemColumns, "columns");
    s.cta();
    return WatchTmem{s.debugger().focus, static_cast<uint32_t>(lanes.first), static_cast<uint32_t>(lanes.last - lanes.first + 1), static_cast<uint32_t>(columns.first),
                     static_cast<uint32_t>(columns.last - columns.first + 1)};
  }
  const uint64_t address = s.address(first), bytes = second.empty() ? 4 : s.address(second);
  if (bytes == 0 || bytes > (1u << 20)) refuse(fmt::format("{} bytes cannot be watched", bytes));
  if (space == "smem") {
    const auto offset = shared_offset(static_cast<uint32_t>(address));
    if (smem_at(s.cta(), offset, bytes) == nullptr) refuse(fmt::format("shared memory ends at {:#x}", s.cta().smem.size()));
    return WatchSmem{s.debugger().focus, offset, static_cast<uint32_t>(bytes)};
  }
  if (s.session().launch().gmem->translate(address, bytes) == nullptr) refuse(fmt::format("no memory at {:#x}", address), "info memory lists the allocations");
  return WatchGmem{address, bytes};
}

}  // namespace drywell::sim::shell
