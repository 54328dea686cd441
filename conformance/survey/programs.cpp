// Probes, conformance programs and microbenchmarks, one after the other, past those that the machine refuses.
#include "conformance/programs/program.h"
#include "conformance/survey/items.h"
#include "conformance/survey/survey.h"

namespace drywell::kernels::survey {
namespace {

using conformance::Outcome;
using conformance::Program;

// Probes are texts for sm_90a; what they use every later machine has, under its own name.
silicon::Probe for_target(const silicon::Probe& p, isa::Target target) {
  silicon::Probe out = p;
  out.make = [make = p.make, target] {
    Program program = make();
    program.module.target = target;
    return program;
  };
  return out;
}

// A fault would lose a GPU, which does not say either which fault it was.
std::optional<Program> program_for(Subject& subject, const conformance::ProgramSpec& s) {
  const isa::Target target[] = {subject.device().arch().target};
  std::optional<Program> p = conformance::make_for(s, target);
  if (p.has_value() && p->fault.has_value()) p.reset();
  return p;
}

Verdict verdict_of(const conformance::ProgramSpec& s, const Outcome& r) {
  const char* verdict = r.passed() ? "passed" : s.ptxas_differs ? "differs-by-ptxas"
                                                                : "failed";
  return {s.name, verdict, one_line(r.detail)};
}

void run_program(Subject& subject, const conformance::ProgramSpec& s, std::vector<Verdict>& out) {
  bool failed = false;
  try {
    const std::optional<Program> p = program_for(subject, s);
    if (!p.has_value()) return;
    const Outcome r = conformance::run(*p, subject.device(), {});
    out.push_back(verdict_of(s, r));
    failed = r.launch_failed;
  } catch (const InputError& e) {
    out.push_back({s.name, "refused", one_line(e.what())});
    failed = subject.device().lost();
  }
  if (failed) subject.again();
}

}  // namespace

void survey_probes(Subject& subject, const Wanted& wanted, silicon::Record& out) {
  for (const silicon::Probe& p : silicon::probes()) {
    if (!wanted(p.name)) continue;
    try {
      out.lines.emplace_back(p.name, silicon::observe(for_target(p, subject.device().arch().target), subject.device(), {}));
      if (!out.lines.back().second.fault.empty()) subject.again();
    } catch (const InputError&) {  // the target does not have one of its instructions
      if (subject.device().lost()) throw MachineLost();
    }
  }
}

void survey_programs(Subject& subject, const Wanted& wanted, std::vector<Verdict>& out) {
  for (const conformance::ProgramSpec& s : conformance::suite()) {
    if (wanted(s.name)) run_program(subject, s, out);
  }
}

void survey_microbench(Subject& subject, const Wanted& wanted, unsigned repeats, microbench::Record& out, const Told& failed) {
  sim::RunOptions options;
  options.driver = sim::DriverKind::timed;
  for (const microbench::Microbench& b : microbench::suite()) {
    if (!wanted(b.name) || !microbench::made_for(b, subject.device().arch().target)) continue;
    past_failures(subject, b.name, failed, [&] { out.values[b.name] = microbench::measure(b, subject.device(), options, repeats); });
  }
}

}  // namespace drywell::kernels::survey
