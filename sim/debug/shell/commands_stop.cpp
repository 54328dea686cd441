// Breakpoints and watches.
#include <algorithm>
#include <variant>

#include "drywell/core/text.h"
#include "sim/debug/shell/shell.h"

namespace drywell::sim::shell {
namespace {

/// Words for kinds of operations, by index in AsyncOp::Payload.
struct KindWord {
  std::string_view word;
  size_t index;
};
template <class T, size_t I = 0>
constexpr size_t index_of() {
  if constexpr (std::is_same_v<std::variant_alternative_t<I, AsyncOp::Payload>, T>) return I;
  else return index_of<T, I + 1>();
}
constexpr KindWord kKinds[] = {
    {"tma", index_of<TensorCopy>()},
    {"umma", index_of<Umma>()},
    {"cp", index_of<TmemCopy>()},
    {"commit", index_of<Commit>()},
    {"tmem", index_of<TmemLdSt>()},
    {"bulk", index_of<BulkCopy>()},
    {"cp.async", index_of<AsyncCopy>()},
    {"wgmma", index_of<Wgmma>()},
    {"remote", index_of<RemoteArrive>()},
};

/// break umma [issue|read|done]; nullopt if `word` is not a kind.
std::optional<StopWhat> async_stop(std::string_view word, Words& w) {
  AsyncStop stop;
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindWord& k) { return k.word == word; });
  if (kind != std::end(kKinds)) stop.kind = kind->index;
  else if (word != "async") return std::nullopt;
  w.next();
  if (w.take("read")) stop.moment = AsyncMoment::read;
  else if (!w.take("done")) {
    w.take("issue");
    stop.moment = AsyncMoment::issue;
  }
  return stop;
}

/// Parses an event: phase, hazard, write, umma …; nullopt if the words name a place of the program.
std::optional<Stop> event_stop(Shell& s, Words& w) {
  Stop stop;
  const std::string_view first = w.peek();
  if (w.take("phase")) {
    PhaseStop phase;
    if (!w.empty() && w.peek() != "if") phase.offset = shared_offset(static_cast<uint32_t>(s.address(w.next())));
    stop.what = phase;
  } else if (w.take("hazard")) {
    stop.what = HazardStop{&s.debugger().hazards()};
  } else if (w.take("write")) {
    stop.what = parse_watched(s, w);
    stop.on_write = true;
  } else if (std::optional<StopWhat> async = async_stop(first, w); async.has_value()) {
    stop.what = *async;
  } else {
    return std::nullopt;
  }
  return stop;
}

/// [if CONDITION], the last words of a stop.
void take_condition(Words& w, Stop& stop) {
  if (w.take("if")) stop.condition = Expression::parse(w.rest());
}

Stop place_stop(Shell& s, Words& w) {
  Stop stop;
  CodeStop code{s.code().find(w.next(), s.current_file())};
  std::sort(code.pcs.begin(), code.pcs.end());
  if (w.take("warp")) {
    stop.warp = s.debugger().focus;
    stop.warp->warp = w.index(stop.warp->warp, "warp");
  }
  stop.what = std::move(code);
  return stop;
}

void add_break(Shell& s, Words& w, bool once) {
  if (w.empty()) refuse("break where?", "help break");
  const std::string text = w.all();
  std::optional<Stop> event = event_stop(s, w);
  Stop made = event.has_value() ? std::move(*event) : place_stop(s, w);
  take_condition(w, made);
  w.finish("break");
  made.once = once;
  const Stop& stop = s.debugger().stops().add(std::move(made), text);
  std::string where;
  if (const auto* code = std::get_if<CodeStop>(&stop.what); code != nullptr) {
    where = code->pcs.size() == 1 ? fmt::format(": pc:{} {}", code->pcs[0], abbreviated(s.code().at(code->pcs[0]).text)) : fmt::format(": {} places", code->pcs.size());
  }
  s.say("breakpoint {}{}", stop.id, where);
}

void add_breakpoint(Shell& s, Words& w) { add_break(s, w, false); }
void add_temporary(Shell& s, Words& w) { add_break(s, w, true); }

void watch(Shell& s, Words& w) {
  const std::string text = w.all();
  Stop made;
  made.what = parse_watched(s, w);
  take_condition(w, made);
  w.finish("watch");
  s.say("watch {}", s.debugger().stops().add(std::move(made), text).id);
}

void remove(Shell& s, Words& w) {
  if (w.empty()) return s.debugger().stops().clear();
  const uint32_t id = w.index(0, "delete");
  w.finish("delete");
  if (!s.debugger().stops().remove(id)) refuse(fmt::format("no breakpoint {}", id), "info break lists them");
}

void set_enabled(Shell& s, Words& w, bool on) {
  Stop* stop = s.debugger().stops().find(w.index(0, "number"));
  if (stop == nullptr) refuse("no breakpoint of that number", "info break lists them");
  stop->enabled = on;
}
void enable(Shell& s, Words& w) { set_enabled(s, w, true); }
void disable(Shell& s, Words& w) { set_enabled(s, w, false); }

constexpr StepCommand kStopCommands[] = {
    {"break", "b", "PLACE [warp N] [if CONDITION] | phase [ADDR] | umma|tma|commit|tmem|cp|bulk|async [issue|read|done] | write smem ADDR[,BYTES]|gmem ADDR[,BYTES]|tmem LANES,COLUMNS | hazard; [if CONDITION] with any",
     "stop when a warp comes to a place (file:line, line, ptx:line, label, instruction name, pc:N); when a phase of an mbarrier completes; when an operation is issued, reads its operands or is complete; when "
     "something is written, equal values included; when the hazard checker finds something",
     add_breakpoint, "stopping"},
    {"tbreak", "tb", "PLACE [warp N] [if CONDITION] | …", "break, and remove the breakpoint at its first stop", add_temporary, "stopping"},
    {"watch", "w", "smem ADDR[,BYTES] | gmem ADDR[,BYTES] | tmem LANES,COLUMNS | %REGISTER [if CONDITION]", "stop when a value changes", watch, "stopping"},
    {"delete", "d", "[N]", "remove breakpoint or watch N, or all", remove, "stopping"},
    {"disable", "", "N", "ignore breakpoint or watch N", disable, "stopping"},
    {"enable", "", "N", "stop at breakpoint or watch N again", enable, "stopping"},
};

}  // namespace

// A stop for one run.
void run_until(Shell& s, Words& w) {
  if (w.empty()) refuse("until where?", "help until");
  const std::string text = w.all();
  std::optional<Stop> event = event_stop(s, w);
  if (!event.has_value()) {
    s.expect_focus_ahead();
    const std::vector<uint32_t> pcs = s.code().find(w.next(), s.current_file());
    w.finish("until");
    return s.report(s.debugger().forward(s.debugger().arrives_at(pcs)));
  }
  w.finish("until");
  const uint32_t id = s.debugger().stops().add(std::move(*event), text).id;
  const StopReason r = s.debugger().forward({});
  s.report(r);
  s.debugger().stops().remove(id);
}

std::span<const StepCommand> stop_commands() { return kStopCommands; }

}  // namespace drywell::sim::shell
