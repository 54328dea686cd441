// Commands that change the position: forward, back, goto, restart.
#include "drywell/core/sizes.h"
#include "drywell/sim/driver_words.h"
#include "sim/debug/describe.h"
#include "sim/debug/shell/shell.h"

namespace drywell::sim::shell {
namespace {

void need_more(Shell& s) {
  if (s.session().over()) refuse("the launch is over", "reverse-step goes back, restart begins again");
}

/// Kind of step ("warp", "cta", "async", "cycle" or "any") and count.
struct Pace {
  Debugger::Wanted wanted;
  uint64_t count;
};

Pace cycles(Shell& s, Words& w, std::string_view command, bool back) {
  const uint64_t now = s.clock(), count = w.number(1, command);
  w.finish(command);
  if (count == 0) refuse("no steps");
  return {back ? s.debugger().up_to_cycle(now < count ? 0 : now - count) : s.debugger().from_cycle(size_sum(now, count)), 1};
}

Pace pace(Shell& s, Words& w, std::string_view command, bool back) {
  Debugger& d = s.debugger();
  Debugger::Wanted wanted;
  if (w.take("cta")) wanted = d.cta_step();
  else if (w.take("async")) wanted = d.async_step();
  else if (w.take("any")) wanted = d.any_step();
  else if (w.take("cycle")) return cycles(s, w, command, back);
  else {
    w.take("warp");
    if (!back) s.expect_focus_ahead();
    if (const Warp* warp = d.focused(); !back && warp != nullptr && warp->finished()) refuse(fmt::format("{} has finished", name_of(*warp)), "warp N chooses another; step cta, step any");
    wanted = d.warp_step();
  }
  const uint64_t count = w.number(1, command);
  w.finish(command);
  if (count == 0) refuse("no steps");
  return {std::move(wanted), count};
}

void step(Shell& s, Words& w) {
  need_more(s);
  const Pace p = pace(s, w, "step", false);
  s.report(s.debugger().forward(p.wanted, p.count));
}

void reverse_step(Shell& s, Words& w) {
  const Pace p = pace(s, w, "reverse-step", true);
  s.report(s.debugger().back(p.wanted, p.count));
}

void next(Shell& s, Words& w) {
  need_more(s);
  const uint64_t count = w.number(1, "next");
  w.finish("next");
  s.warp();
  StopReason r;
  for (uint64_t i = 0; i < count && r.kind == StopReason::Kind::done; ++i) r = s.debugger().forward(s.debugger().line_step(true));
  s.report(r);
}

void reverse_next(Shell& s, Words& w) {
  w.finish("reverse-next");
  s.warp();
  s.report(s.debugger().back(s.debugger().line_step(true)));
}

void finish(Shell& s, Words& w) {
  need_more(s);
  w.finish("finish");
  s.warp();
  s.report(s.debugger().forward(s.debugger().out_step()));
}

void run_on(Shell& s, Words& w) {
  need_more(s);
  w.finish("continue");
  s.report(s.debugger().forward({}));
}

// until cycle N: runs to a cycle of the timing driver; otherwise run_until.
void until(Shell& s, Words& w) {
  need_more(s);
  if (!w.take("cycle")) return run_until(s, w);
  const uint64_t cycle = w.number(0, "until");
  w.finish("until");
  s.clock();
  s.report(s.debugger().forward(s.debugger().from_cycle(cycle)));
}

// With a place as argument: goes back to the last step that wrote it.
void reverse_continue(Shell& s, Words& w) {
  if (w.empty()) return s.report(s.debugger().back({}));
  const std::string words = w.rest();
  Words again(words);
  const StopWhat what = parse_watched(s, again);
  again.finish("reverse-continue");
  Stop stop;
  stop.what = what;
  stop.on_write = true;
  const uint32_t id = s.debugger().stops().add(std::move(stop), words).id;
  const uint64_t here = s.session().position();
  StopReason r = s.debugger().back({});
  s.debugger().stops().remove(id);
  if (r.kind == StopReason::Kind::start) {
    s.session().seek(here);
    return s.say("{}: no step before this one wrote it", words);
  }
  if (r.kind == StopReason::Kind::hit && r.hit.id == id) {
    s.say("{}: {}", words, r.hit.text);
    s.say("    {}", describe_step(s.session(), s.code()));
    r.kind = StopReason::Kind::done;
    return s.show_place();
  }
  s.report(r);
}

void go_to(Shell& s, Words& w) {
  const uint64_t position = w.number(s.session().position(), "goto");
  w.finish("goto");
  s.session().seek(position);
  s.show_place();
}

void restart(Shell& s, Words& w) {
  RunOptions o;
  o.driver = s.session().options().driver;
  o.seed = s.session().options().seed;
  if (!w.empty()) parse_driver(w.next(), o);
  w.finish("restart");
  s.session().restart(o.driver, o.seed);
  s.say("again from the beginning, driver {}", print_driver(o));
  s.show_place();
}

void seed(Shell& s, Words& w) {
  const uint64_t n = w.number(1, "seed");
  w.finish("seed");
  s.session().restart(DriverKind::shuffled, n);
  s.say("again from the beginning, driver shuffled:{}", n);
  s.show_place();
}

void quit(Shell& s, Words&) { s.quit(); }

constexpr StepCommand kCommands[] = {
    {"step", "s", "[warp|cta|async|cycle|any] [N]", "run N instructions of the focused warp; the driver decides when other warps run. cta counts instructions of every warp of the CTA, async moments of asynchronous operations, cycle cycles of the timed driver, any steps of every kind", step, "running"},
    {"next", "n", "[N]", "run to the focused warp's next source line, over calls", next, "running"},
    {"finish", "fin", "", "run until the focused warp returns from its function", finish, "running"},
    {"continue", "c", "", "run to a breakpoint, a watch or the end", run_on, "running"},
    {"until", "u", "PLACE | cycle N | phase [ADDR] | umma|tma|… [issue|read|done] | write smem|gmem|tmem … | hazard", "run until the focused warp reaches a place, the timed driver reaches a cycle, or an event happens that break takes", until, "running"},
    {"reverse-step", "rs", "[warp|cta|async|cycle|any] [N]", "go back to the moment after the focused warp's last instruction (or after the last of what step counts)", reverse_step, "running"},
    {"reverse-next", "rn", "", "go back by a source line", reverse_next, "running"},
    {"reverse-continue", "rc", "[smem ADDR[,BYTES]|gmem ADDR[,BYTES]|tmem LANES,COLUMNS|%REGISTER]", "go back to the last breakpoint or watch, or to the step that last wrote the memory or register, also with an equal value", reverse_continue, "running"},
    {"goto", "g", "POSITION", "go to a position: the number in brackets", go_to, "running"},
    {"restart", "", "[eager|lazy|shuffled:SEED|timed]", "begin again, under another driver if one is named", restart, "running"},
    {"seed", "", "N", "begin again under shuffled:N", seed, "running"},
    {"quit", "q", "", "end the session; if the launch has ended, the kernel's host code goes on (and verifies)", quit, "running"},
};

}  // namespace

std::span<const StepCommand> run_commands() { return kCommands; }

}  // namespace drywell::sim::shell
