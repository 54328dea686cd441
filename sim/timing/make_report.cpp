#include "sim/timing/make_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/timing/power.h"

namespace drywell::sim {
namespace {

// Sums a unit over the SMs and keeps its busiest instance, which bounds the time from below.
struct UnitSum {
  UnitTime unit;
  double busiest = 0;
  void add(double busy, double work) {
    ++unit.instances;
    unit.busy_cycles += busy;
    unit.work += work;
    busiest = std::max(busiest, busy);
  }
};

class Units {
 public:
  UnitSum& of(const std::string& name, const std::string& work_unit) {
    for (UnitSum& u : all_) {
      if (u.unit.name == name) return u;
    }
    all_.emplace_back();
    all_.back().unit.name = name;
    all_.back().unit.work_unit = work_unit;
    return all_.back();
  }
  std::vector<UnitSum>& all() { return all_; }

 private:
  std::vector<UnitSum> all_;
};

void add_sm(Units& units, const SmUnits& sm) {
  for (const Partition& p : sm.partitions) {
    units.of("issue", "warp instructions").add(static_cast<double>(p.slot.issued()), static_cast<double>(p.slot.issued()));
    for (size_t k = static_cast<size_t>(Pipe::alu); k < kLocalPipes; ++k) {
      const double halves = k == static_cast<size_t>(Pipe::fma) ? (p.pipes[k].busy() + p.fma_lite.busy()) / 2 : p.pipes[k].busy();
      units.of(std::string(pipe_name(static_cast<Pipe>(k))), "busy cycles").add(halves, halves);
    }
    units.of("tmem_port", "busy cycles").add(p.tmem.busy(), p.tmem.busy());
  }
  units.of("lsu", "wavefronts").add(sm.lsu.busy(), sm.lsu_wavefronts);
  units.of("smem", "busy cycles").add(sm.smem.busy(), sm.smem.busy());
  units.of("tensor", "instructions").add(sm.tensor.busy(), sm.tensor_instructions);
  units.of("tmem_copy", "busy cycles").add(sm.tmem_copy.busy(), sm.tmem_copy.busy());
  units.of("tma_issue", "busy cycles").add(sm.tma.issue().busy(), sm.tma.issue().busy());
  units.of("tma_load", "B").add(sm.tma.fill_port().busy(), sm.tma.bytes_in());
  units.of("tma_store", "B").add(sm.tma.drain_port().busy(), sm.tma.bytes_out());
}

// Where every SM runs one CTA from start to end, its warps bound the run by their own instructions: the share of their time in which they
// did not wait for other warps or units.
void add_role_limits(TimingReport& r) {
  constexpr Stall kOwn[] = {Stall::issued, Stall::not_selected, Stall::register_dependency, Stall::pipe_busy, Stall::branch, Stall::issue_cost};
  for (const RoleTime& role : r.roles) {
    double own = 0;
    for (const Stall s : kOwn) own += role.cycles[static_cast<size_t>(s)];
    const double share = own / std::max(role.total(), 1.0);
    r.limits.push_back({role.name == "warps" ? role.name : role.name + " warps", share * static_cast<double>(r.cycles), share, fmt::format("{} warp instructions in order in {} warps", role.instructions, role.warps)});
  }
}

void add_lines(const TimedProgram& program, const Account& sum, TimingReport& r) {
  std::map<std::pair<std::string, uint32_t>, LineTime> lines;
  for (size_t i = 0; i < sum.lines.size(); ++i) {
    if (sum.lines[i].instructions == 0) continue;
    LineTime& l = lines[{program.lines[i].file, program.lines[i].line}];
    l.file = program.lines[i].file;
    l.line = program.lines[i].line;
    l.instructions += sum.lines[i].instructions;
    l.cycles += static_cast<double>(sum.lines[i].cycles);
  }
  for (auto& [key, l] : lines) r.lines.push_back(std::move(l));
  std::stable_sort(r.lines.begin(), r.lines.end(),
                   [](const LineTime& a, const LineTime& b) { return a.cycles > b.cycles; });
}

bool uses_tensor_cores(const TimedProgram& p) {
  return std::any_of(p.ops.begin(), p.ops.end(), [](const OpInfo& x) { return x.pipe == Pipe::tensor || x.pipe == Pipe::mma; });
}

void add_clock(const TimingContext& context, TimingReport& r) {
  const ArchConfig& arch = *context.arch;
  const UnitUse use = unit_use(r, static_cast<double>(arch.chip.sms));
  r.clock_ghz = uses_tensor_cores(*context.program) ? arch.chip.tensor_clock : arch.chip.clock;
  if (context.clock.kind == ClockChoice::Kind::sustained) r.clock_ghz = sustained_clock(arch, use, r.clock_ghz);
  r.seconds = static_cast<double>(r.cycles) / (r.clock_ghz * 1e9);
  // A clock of the user's is the nominal one of its run: the watts are those of the chip's own voltage.
  if (context.clock.kind != ClockChoice::Kind::fixed) r.watts = watts_at(arch, use, r.clock_ghz);
  r.watts_limit = arch.power.limit;
}

}  // namespace

std::shared_ptr<const TimingReport> make_report(const TimingContext& context,
                                                const std::vector<std::unique_ptr<Group>>& groups,
                                                const MemorySystem& memory, const Residency& residency,
                                                Time cycles) {
  const ArchConfig& arch = *context.arch;
  auto r = std::make_shared<TimingReport>();
  r->cycles = cycles;
  r->launch_seconds = arch.launch.overhead * 1e-6;
  r->sms = context.launch->sm_count;
  r->ctas_per_sm = residency.ctas_per_sm;
  r->residency_limit = residency.limit;
  r->residency = residency.limits;
  r->values = context.values;
  r->hbm_bytes_read = memory.hbm_read();
  r->hbm_bytes_written = memory.hbm_written();

  Units units;
  Account sum(context.roles.size(), context.program->lines.size());
  for (const auto& g : groups) {
    for (const SmUnits& sm : g->sms()) {
      if (!sm.used) continue;
      ++r->sms_used;
      add_sm(units, sm);
    }
    const Account& a = g->account();
    for (size_t i = 0; i < sum.role_cycles.size(); ++i) {
      for (size_t k = 0; k < kStallCount; ++k) sum.role_cycles[i][k] += a.role_cycles[i][k];
      sum.role_warps[i] += a.role_warps[i];
      sum.role_instructions[i] += a.role_instructions[i];
    }
    for (size_t i = 0; i < sum.lines.size(); ++i) {
      sum.lines[i].instructions += a.lines[i].instructions;
      sum.lines[i].cycles += a.lines[i].cycles;
    }
  }
  units.of("l2", "B").add(memory.l2_busy(), static_cast<double>(memory.l2_bytes()));
  units.of("hbm", "B").add(memory.hbm_busy(), static_cast<double>(memory.hbm_read() + memory.hbm_written()));

  const double total = std::max<double>(1, static_cast<double>(cycles));
  for (UnitSum& u : units.all()) {
    u.unit.utilisation = u.unit.busy_cycles / (static_cast<double>(u.unit.instances) * total);
    if (u.busiest > 0)
      r->limits.push_back({u.unit.name, u.busiest, u.busiest / total,
                           amount_of_work(u.unit.work, u.unit.work_unit)});
    r->units.push_back(u.unit);
  }
  for (size_t i = 0; i < context.roles.size(); ++i) {
    if (sum.role_warps[i] == 0) continue;
    RoleTime role;
    role.name = context.roles[i];
    role.warps = sum.role_warps[i];
    role.instructions = sum.role_instructions[i];
    for (size_t k = 0; k < kStallCount; ++k) role.cycles[k] = static_cast<double>(sum.role_cycles[i][k]);
    r->roles.push_back(role);
  }
  add_clock(context, *r);
  if (context.launch->grid.count() == r->sms_used) add_role_limits(*r);
  std::stable_sort(r->limits.begin(), r->limits.end(),
                   [](const Limit& a, const Limit& b) { return a.cycles > b.cycles; });
  add_lines(*context.program, sum, *r);
  return r;
}

}  // namespace drywell::sim
