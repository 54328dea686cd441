// Probes, conformance programs and microbenchmarks, one after the other, past those that the machine refuses.
#include <algorithm>

#include "conformance/programs/program.h"
#include "conformance/survey/survey.h"

namespace drywell::kernels::survey {
namespace {

using conformance::Outcome;
using conformance::Program;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

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

std::optional<Verdict> run_program(Subject& subject, const conformance::ProgramSpec& s) {
  const isa::Target target[] = {subject.device().arch().target};
  try {
    const std::optional<Program> p = conformance::make_for(s, target);
    // A fault would lose the context, and a GPU does not say which fault it was.
    if (!p.has_value() || p->fault.has_value()) return std::nullopt;
    const Outcome r = conformance::run(*p, subject.device(), {});
    if (r.launch_failed) subject.again();
    return Verdict{s.name, r.passed() ? "passed" : s.ptxas_differs ? "differs-by-ptxas"
                                                                   : "failed",
                   one_line(r.detail)};
  } catch (const InputError& e) {
    return Verdict{s.name, "refused", one_line(e.what())};
  }
}

}  // namespace

void survey_probes(Subject& subject, const Wanted& wanted, silicon::Record& out) {
  for (const silicon::Probe& p : silicon::probes()) {
    if (!wanted(p.name)) continue;
    try {
      const silicon::RecordLine line = silicon::observe(for_target(p, subject.device().arch().target), subject.device(), {});
      if (!line.fault.empty()) subject.again();
      out.lines.emplace_back(p.name, line);
    } catch (const InputError&) {  // the target does not have one of its instructions
    }
  }
}

void survey_programs(Subject& subject, const Wanted& wanted, std::vector<Verdict>& out) {
  for (const conformance::ProgramSpec& s : conformance::suite()) {
    if (!wanted(s.name)) continue;
    if (std::optional<Verdict> v = run_program(subject, s); v.has_value()) out.push_back(std::move(*v));
  }
}

void survey_microbench(Subject& subject, const Wanted& wanted, unsigned repeats, microbench::Record& out, const Told& failed) {
  sim::RunOptions options;
  options.driver = sim::DriverKind::timed;
  for (const microbench::Microbench& b : microbench::suite()) {
    if (!wanted(b.name) || !microbench::made_for(b, subject.device().arch().target)) continue;
    try {
      out.values[b.name] = microbench::measure(b, subject.device(), options, repeats);
    } catch (const InputError& e) {
      failed(b.name + ": " + one_line(e.what()));
      subject.again();
    }
  }
}

}  // namespace drywell::kernels::survey
