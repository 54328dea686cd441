// Commands that show the state: info, list, where, focus, help.
#include <algorithm>
#include <set>

#include "drywell/isa/registers.h"
#include "sim/debug/describe.h"
#include "sim/debug/shell/shell.h"
#include "sim/exec/shared_layout.h"

namespace drywell::sim::shell {
namespace {

void info_warps(Shell& s) {
  const Cta& cta = s.cta();
  s.say("CTA ({},{},{})", cta.index.x, cta.index.y, cta.index.z);
  for (const Warp& w : cta.warps) {
    const std::string when = s.session().waiting(w);
    const WarpState state = state_of(w, when.empty());
    const std::string head = fmt::format("{} {:>3} {:<10} {:>8} instr  {}", w.index == s.debugger().focus.warp ? "*" : " ", w.index, role_of(s.session().program(), w.index), w.instructions, state.state);
    if (w.finished()) {
      s.say("{}", head);
      continue;
    }
    const std::string lanes = w.active == w.alive ? "" : fmt::format("  lanes {:08x} of {} groups", w.active, w.waiting.size() + 1);
    s.say("{:<44} {:<18} {}{}", head, s.code().place(w.pc), abbreviated(s.code().at(w.pc).text), lanes);
    if (!state.detail.empty()) s.say("        {}", state.detail);
    if (!when.empty()) s.say("        {}", when);
  }
}

void info_ctas(Shell& s) {
  const auto clusters = s.session().clusters();
  if (clusters.empty()) s.say("no CTA is resident");
  for (const Cluster* c : clusters) {
    for (const auto& cta : c->ctas) {
      const auto live = std::count_if(cta->warps.begin(), cta->warps.end(), [](const Warp& w) { return !w.finished(); });
      s.say("CTA ({},{},{}), cluster {}, rank {}: {} of {} warps live", cta->index.x, cta->index.y, cta->index.z, c->index, cta->rank, live, cta->warps.size());
    }
  }
}

void info_mbarriers(Shell& s) {
  const Cluster& c = *s.cta().cluster;
  size_t count = 0;
  for (const auto& cta : c.ctas) {
    std::vector<Smem::Slot> slots = cta->smem.mbarriers();
    std::sort(slots.begin(), slots.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    for (const auto& [offset, b] : slots) {
      if (!b.live) continue;
      if (count++ == 0) s.say("  address   phase  pending  tx bytes  waiting");
      std::string who;
      for (const Warp* w : waiters(c, cluster_address(cta->rank, offset))) {
        who += fmt::format("{}{}{}", who.empty() ? "" : ", ", w->cta->rank == cta->rank ? "" : fmt::format("rank {} ", w->cta->rank), fmt::format("warp {} (parity {})", w->index, w->block.parity));
      }
      if (cta->rank != s.debugger().focus.cta) who += fmt::format("{}(of CTA rank {})", who.empty() ? "" : " ", cta->rank);
      s.say("  {:<#9x} {:>5}  {:>3}/{:<3}  {:>8}{}{}", offset, b.phase, b.pending, b.expected, b.tx, who.empty() ? "" : "  ", who);
    }
  }
  if (count == 0) s.say("no mbarrier is initialised");
}

void info_async(Shell& s) {
  const Cluster& c = *s.cta().cluster;
  if (c.pending.empty()) s.say("nothing is in flight");
  for (const AsyncOp& op : c.pending) {
    const WarpRef who{c.index, op.issuer.cta, op.issuer.warp};
    s.say("  #{:<5} {:<16} {}", op.id, describe_stage(c, op), describe_op(s.session(), op.payload, who));
    s.say("         {} at {}", name_of(s.session(), who), s.code().place(op.issuer.pc));
  }
}

void info_break(Shell& s) {
  if (s.debugger().stops().all().empty()) s.say("no breakpoints");
  for (const Stop& stop : s.debugger().stops().all()) {
    s.say("  {:>3} {} {}{}{}", stop.id, is_watch(stop.what) && !stop.on_write ? "watch" : "break", stop.text, stop.hits == 0 ? "" : fmt::format("  ({} hits)", stop.hits), stop.enabled ? "" : "  disabled");
  }
}

void say_row(Shell& s, std::string_view row) { s.say("  {}", row.substr(0, row.find_last_not_of(' ') + 1)); }

void say_registers(Shell& s, const std::vector<RegisterRef>& registers) {
  const Warp& w = s.warp();
  const uint32_t lane = s.debugger().lane;
  std::string row;
  for (const RegisterRef& r : registers) {
    const uint64_t v = read_register(w, r)[lane];
    const std::string cell = fmt::format("{:<10} {}{}", r.name, r.predicate ? fmt::format("{}", v) : print_value(type_of_register(r.declared), v), is_register_pending(w, r) ? " (in flight)" : "");
    row += fmt::format("{:<40}", cell);
    if (row.size() >= 120) {
      say_row(s, row);
      row.clear();
    }
  }
  if (!row.empty()) say_row(s, row);
}

void info_registers(Shell& s) { say_registers(s, registers_of(s.warp())); }

bool same_line(const CodeLine& a, const CodeLine& b) {
  if (a.function != b.function || a.file != b.file) return false;
  return a.file.empty() ? a.ptx_line == b.ptx_line : a.line == b.line;
}

// Compilers of Python keep no names of variables: the registers of a line are what its variables became.
void info_line(Shell& s) {
  const Program& p = s.session().program();
  const CodeLine& here = s.code().at(s.warp().pc);
  const isa::Function& f = *p.functions[s.warp().frames[s.warp().frame].function].function;
  std::set<isa::RegId> all;
  for (uint32_t pc = 0; pc < s.code().size(); ++pc) {
    if (s.code().at(pc).end || !same_line(s.code().at(pc), here)) continue;
    const isa::Registers r = isa::registers_of(f, p.instruction(p.code[pc]));
    all.insert(r.reads.begin(), r.reads.end());
    all.insert(r.writes.begin(), r.writes.end());
  }
  std::vector<RegisterRef> registers;
  for (const isa::RegId id : all) registers.push_back(find_register(s.warp(), f.regs[id].name));
  s.say("registers of {}, lane {} (print %REGISTER shows every lane)", s.code().place(s.warp().pc), s.debugger().lane);
  say_registers(s, registers);
}

void info_memory(Shell& s) {
  for (const auto* a : s.session().launch().gmem->allocations()) s.say("  {:#x}  {:>12} bytes  {}", a->base, a->size, a->name);
}

void info_launch(Shell& s) {
  const Launch& l = s.session().launch();
  s.say("{}: grid ({},{},{}), block ({},{},{}), cluster ({},{},{}), {} bytes of shared memory", l.program->function->name, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z, l.cluster.x,
        l.cluster.y, l.cluster.z, l.smem_bytes - kSmemReserved);
  const FunctionCode& k = l.program->kernel();
  for (size_t i = 0; i < k.function->params.size(); ++i) {
    const isa::Variable& v = k.function->params[i];
    uint64_t value = 0;
    const uint64_t bytes = std::min<uint64_t>(v.bytes(), 8);
    std::memcpy(&value, l.params.data() + k.param_offset[i], bytes);
    s.say("  {:<20} {}", v.name, v.bytes() > 8 ? fmt::format("{} bytes", v.bytes()) : v.bytes() == 8 ? describe_gmem(*l.gmem, value)
                                                                                                     : fmt::format("{}", value));
  }
}

void info_shared(Shell& s) {
  const Program& p = s.session().program();
  const SharedLayout layout = lay_out_shared(*p.module, p.functions);
  if (layout.variables.empty()) s.say("no shared variables");
  for (const SharedVariable& v : layout.variables) {
    s.say("  {:#x}  {:>8}  {}", v.offset, v.dynamic ? fmt::format("{} bytes, dynamic", s.session().launch().smem_bytes - v.offset) : fmt::format("{} bytes", v.variable->bytes()), v.variable->name);
  }
}

void info_hazards(Shell& s) {
  if (!s.debugger().hazards().cover(~uint64_t{0}, s.debugger().interrupted)) s.say("interrupted: there may be more");
  if (s.debugger().hazards().known().empty()) s.say("the launch has no hazards");
  for (const HazardMap::Entry& e : s.debugger().hazards().known()) s.say("step {}: {}", e.position, e.to_string());
}

std::string joined(const std::vector<std::string>& all) { return fmt::format("{}", fmt::join(all, "; ")); }

void info_pipelines(Shell& s) {
  const std::vector<Pipeline>& all = s.debugger().pipelines();
  Cta& cta = s.cta();  // only now: pipelines() runs the launch, which creates the clusters again
  if (all.empty()) s.say("no mbarrier is arrived on");
  for (const Pipeline& p : all) {
    const size_t stages = p.full.offsets.size();
    const bool ring = !p.empty.offsets.empty();
    s.say("{}", s.paint(ring ? fmt::format("pipeline of {} stage{}, {} -> {}", stages, stages == 1 ? "" : "s", joined(p.full.filled_by), joined(p.full.waited_by))
                             : fmt::format("{}, {} -> {}", stages == 1 ? "barrier" : fmt::format("{} barriers", stages), joined(p.full.filled_by),
                                           p.full.waited_by.empty() ? "nobody waits" : joined(p.full.waited_by)),
                        Colour::bold));
    const auto part = [&](std::string_view what, std::string_view verb, const Ring& r) {
      s.say("  {} {} by {}{}", what, verb, joined(r.fillers), r.waiters.empty() ? "" : ", waited for by " + joined(r.waiters));
    };
    part(ring ? "full: " : "", ring ? "filled" : "arrived on", p.full);
    if (ring) part("empty:", "freed", p.empty);
    for (size_t i = 0; i < stages; ++i) {
      const auto phase = [&](const Ring& r) {
        const Mbarrier* b = cta.smem.find_mbarrier(r.offsets[i]);
        return b == nullptr ? std::string() : fmt::format("{:#x} phase {}", r.offsets[i], b->phase);
      };
      s.say("  stage {:<3} {:<18} {:<18} {}", i, phase(p.full), ring ? phase(p.empty) : "", describe_stage_of(p, i, cta));
    }
  }
}

struct Topic {
  std::string_view name;
  void (*run)(Shell&);
};
constexpr Topic kTopics[] = {{"warps", info_warps}, {"ctas", info_ctas}, {"mbarriers", info_mbarriers}, {"async", info_async}, {"break", info_break}, {"registers", info_registers}, {"memory", info_memory}, {"launch", info_launch}, {"line", info_line}, {"shared", info_shared}, {"hazards", info_hazards}, {"pipelines", info_pipelines}};

void info(Shell& s, Words& w) {
  const std::string name = w.next();
  w.finish("info");
  for (const Topic& t : kTopics) {
    if (!name.empty() && t.name.starts_with(name)) return t.run(s);
  }
  std::string all;
  for (const Topic& t : kTopics) all += fmt::format("{}{}", all.empty() ? "" : ", ", t.name);
  refuse(fmt::format("info '{}'", name), "info " + all);
}

void list(Shell& s, Words& w) {
  uint32_t pc = s.warp().pc;
  if (!w.empty() && std::isdigit(static_cast<unsigned char>(w.peek()[0])) == 0) pc = s.code().find(w.next(), s.current_file())[0];
  const uint64_t count = w.number(11, "list");
  w.finish("list");
  for (const std::string& text = listing(s, pc, static_cast<uint32_t>(std::min<uint64_t>(count, 1000))); !text.empty();) {
    s.say("{}", std::string_view(text).substr(0, text.size() - 1));
    break;
  }
}

void where(Shell& s, Words& w) {
  w.finish("where");
  s.say("last: {}", describe_step(s.session(), s.code()));
  s.show_place();
  if (const Warp* warp = s.debugger().focused(); warp != nullptr && !warp->finished()) {
    const WarpState state = state_of(*warp);
    s.say("   {}{}{}", state.state, state.detail.empty() ? "" : ": ", state.detail);
    const std::vector<CallPlace> calls = backtrace(*warp);
    for (size_t i = 1; i < calls.size(); ++i) s.say("   called by {} at {} pc:{}", calls[i].function, s.code().place(calls[i].pc), calls[i].pc);
    for (const LaneGroup& g : warp->waiting) s.say("   lanes {:08x} are at pc:{} {}", g.lanes, g.pc, s.code().at(g.pc).text);
  }
}

void focus_warp(Shell& s, Words& w) {
  const uint32_t n = w.index(s.debugger().focus.warp, "warp");
  w.finish("warp");
  const uint64_t threads = s.session().launch().block.count(), warps = (threads + kWarpSize - 1) / kWarpSize;
  if (n >= warps) refuse(fmt::format("the block has {} warps", warps));
  s.debugger().focus.warp = n;
  s.show_place();
}

void focus_cta(Shell& s, Words& w) {
  std::string text = w.next();
  std::replace(text.begin(), text.end(), ',', ' ');
  Words numbers(text);
  Dim3 index{numbers.index(0, "cta"), numbers.index(0, "cta"), numbers.index(0, "cta")};
  const std::optional<WarpRef> ref = ref_of_cta(s.session().launch(), index);
  if (!ref.has_value()) refuse("the grid has no such CTA", "info launch");
  const uint32_t warp = s.debugger().focus.warp;
  s.debugger().focus = *ref;
  s.debugger().focus.warp = warp;
  s.show_place();
}

void focus_lane(Shell& s, Words& w) {
  const uint64_t n = w.number(s.debugger().lane, "lane");
  if (n >= kWarpSize) refuse("a warp has 32 lanes");
  s.debugger().lane = static_cast<uint32_t>(n);
}

void help(Shell& s, Words& w) {
  const std::string name = w.next();
  std::string_view group;
  for (const StepCommand* c : s.commands()) {
    if (!name.empty() && c->name != name && c->alias != name) continue;
    if (name.empty() && c->group != group) s.say("{}", s.paint(group = c->group, Colour::bold));
    if (name.empty()) s.say("  {:<17} {:<4} {}", c->name, c->alias, c->help);
    else s.say("{} {}\n    {}{}", c->name, c->arguments, c->help, c->alias.empty() ? "" : fmt::format("\n    short: {}", c->alias));
  }
  if (name.empty()) s.say("An empty line repeats the last command; a unique beginning of a name is enough; help COMMAND shows more.");
}

// panes; panes list 6; info registers; info mbarriers; panes off.
void panes(Shell& s, Words& w) {
  const std::string text = w.rest();
  if (text == "off") return s.set_panes({});
  std::vector<std::string> wanted;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    if (std::string one = Words(text.substr(at, end - at)).rest(); !one.empty()) wanted.push_back(std::move(one));
    at = end + 1;
  }
  if (wanted.empty()) wanted = {"list", "info mbarriers", "info pipelines"};
  s.set_panes(std::move(wanted));
  s.say("after every step: {}; panes off ends it", fmt::join(s.panes(), ", "));
}

constexpr StepCommand kShowCommands[] = {
    {"info", "i", "warps|ctas|mbarriers|pipelines|async|hazards|break|registers|line|shared|memory|launch", "show the state of warps, CTAs, barriers, operations, …", info, "looking"},
    {"list", "l", "[PLACE] [LINES]", "show source and PTX side by side", list, "looking"},
    {"where", "bt", "", "show the effect of the last step, and the place of the focused warp", where, "looking"},
    {"warp", "", "N", "focus another warp of this CTA", focus_warp, "looking"},
    {"cta", "", "X[,Y,Z]", "focus another CTA", focus_cta, "looking"},
    {"lane", "", "N", "focus another lane", focus_lane, "looking"},
    {"panes", "", "[COMMAND; COMMAND… | off]", "show these commands' output again after every step; without a command, source, mbarriers and pipelines", panes, "looking"},
    {"help", "h", "[COMMAND]", "list the commands, or describe one", help, "looking"},
};

}  // namespace

std::span<const StepCommand> show_commands() { return kShowCommands; }

}  // namespace drywell::sim::shell
