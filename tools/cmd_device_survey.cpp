// drywell device survey, drywell device compare: what a GPU does, in one file; and the model held against such a file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "conformance/survey/survey.h"
#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/inspect/progress_line.h"
#include "kernels/support/record_text.h"
#include "launch/cuda_driver/cuda_device.h"
#include "launch/cuda_driver/power_meter.h"
#include "tools/common/command.h"
#include "tools/common/filter.h"
#include "tools/common/output_file.h"

namespace drywell::tools {
namespace {

namespace survey = kernels::survey;
using survey::Survey;

struct Options {
  std::string file, filter, note, simulate, arch;
  std::vector<std::string> only;
  unsigned seconds = 4;
  unsigned every = 0, repeats = 5;
};

bool has(const Options& o, std::string_view part) { return o.only.empty() || std::find(o.only.begin(), o.only.end(), part) != o.only.end(); }

/// What the machine calls itself, and its meter's figures.
std::vector<std::string> origin(const Options& o, const kernels::PowerMeter* meter) {
  const std::string machine = o.simulate.empty() ? kernels::CudaDevice().describe() : "simulated " + o.simulate;
  std::vector<std::string> out = kernels::provenance(machine, "drywell " DRYWELL_VERSION " device survey", o.note);
  if (meter != nullptr) out.push_back(fmt::format("power limit: {:.0f} W, highest clock: {:.0f} MHz, idle: {:.0f} W", meter->limit(), meter->most_megahertz(), meter->watts()));
  return out;
}

survey::Subject subject_of(const Options& o) {
  if (o.simulate.empty()) return survey::Subject([] { return std::make_unique<kernels::CudaDevice>(); });
  return survey::Subject([arch = o.simulate] { return std::make_unique<kernels::SimulatedDevice>(sim::DeviceOptions{.arch = arch}); });
}

Survey make(const Options& o) {
  const Pattern pattern = filter_of(o.filter, "device survey");
  const auto meter = o.simulate.empty() ? kernels::PowerMeter::open() : nullptr;
  Survey out;
  out.provenance = origin(o, meter.get());
  survey::Subject subject = subject_of(o);
  sim::ProgressLine line;
  const survey::Wanted wanted = [&](const std::string& name) {
    if (!pattern.finds(name)) return false;
    line.phase(name);
    return true;
  };
  const survey::Told failed = [&](const std::string& text) { line.print(text + "\n"); };
  out.probes.provenance = out.bench.provenance = out.provenance;
  if (has(o, "probes")) survey::survey_probes(subject, wanted, out.probes);
  if (has(o, "programs")) survey::survey_programs(subject, wanted, out.programs);
  if (has(o, "special")) survey::survey_special(subject, wanted, o.every != 0 ? o.every : o.simulate.empty() ? 1
                                                                                                             : 64,
                                                out.special);
  if (has(o, "microbench")) survey::survey_microbench(subject, wanted, o.simulate.empty() ? o.repeats : 1, out.bench, failed);
  if (has(o, "power") && meter != nullptr)
    survey::survey_power(
        subject, wanted, [&] { return survey::PowerReading{meter->watts(), meter->megahertz(), meter->capped()}; }, o.seconds, out.loads);
  line.end();
  return out;
}

ExitCode survey_machine(const Options& o) {
  CommandFiles files("device survey");
  files.writes("FILE", o.file);
  expect_writable({o.file});
  const Survey s = make(o);
  write_file_atomically(o.file, survey::print_survey(s));
  const auto count = [&](std::string_view verdict) { return std::count_if(s.programs.begin(), s.programs.end(), [&](const auto& v) { return v.verdict == verdict; }); };
  print(fmt::format("{}: {} probes, {} programs ({} failed, {} refused), {} ranges of special functions, {} microbenchmarks, {} loads\n", o.file, s.probes.lines.size(),
                    s.programs.size(), count("failed"), count("refused"), s.special.size(), s.bench.values.size(), s.loads.size()));
  return ExitCode::ok;
}

// ---- compare

/// The architecture whose figures a surveyed machine is held against: the option's, or the one of the compute capability in its provenance.
std::string arch_of(const Options& o, const Survey& s) {
  if (!o.arch.empty()) return o.arch;
  for (const std::string& line : s.provenance) {
    for (const std::string_view mark : {"compute capability ", "simulated "}) {
      const size_t at = line.find(mark);
      if (at == std::string::npos) continue;
      const std::string word = line.substr(at + mark.size(), line.find(',', at) - at - mark.size());
      if (mark == "simulated ") return word;
      const size_t dot = word.find('.');
      const std::string_view arch = dot == std::string::npos ? "" : kernels::arch_of_capability(std::stoi(word.substr(0, dot)), std::stoi(word.substr(dot + 1)));
      if (!arch.empty()) return std::string(arch);
    }
  }
  throw UsageError("the survey names no machine that Drywell has figures for; --arch says which to take", "device compare");
}

struct Verdicts {
  size_t same = 0, different = 0;
};

Verdicts compare_probes(const Survey& s, survey::Subject& simulator) {
  survey::Subject& subject = simulator;
  std::map<std::string, kernels::silicon::RecordLine> recorded(s.probes.lines.begin(), s.probes.lines.end());
  kernels::silicon::Record now;
  survey::survey_probes(
      subject, [&](const std::string& name) { return recorded.contains(name); }, now);
  Verdicts out;
  for (const auto& [name, line] : now.lines) {
    const auto& device = recorded.at(name);
    const std::string why = device.program != line.program ? "the probe is another one now" : kernels::silicon::difference(device, line);
    ++(why.empty() ? out.same : out.different);
    if (!why.empty()) print(fmt::format("probe {}: {}\n", name, why));
  }
  return out;
}

Verdicts compare_programs(const Survey& s) {
  Verdicts out;
  for (const survey::Verdict& v : s.programs) {
    out.same += v.verdict == "passed";
    out.different += v.verdict == "failed";
    if (v.verdict == "failed") print(fmt::format("program {}: {}\n", v.program, v.detail));
  }
  return out;
}

Verdicts compare_special(const Survey& s, unsigned every, survey::Subject& simulator) {
  Verdicts out;
  std::optional<survey::SpecialForm> form;
  std::string name;
  for (const survey::SpecialRange& r : s.special) {
    if ((r.first >> 24) % every != 0) continue;
    if (r.form != name) form.emplace(simulator.device(), name = r.form);
    const bool same = form->digest(r.first) == r.digest;
    ++(same ? out.same : out.different);
    if (!same) print(fmt::format("special function {}: other bits among arguments {:08x} to {:08x}\n", r.form, r.first, r.first + 0xFFFFFF));
  }
  return out;
}

void compare_microbench(const CommandContext& c, const Survey& s, survey::Subject& simulator) {
  const auto all = kernels::microbench::compare(s.bench, kernels::microbench::suite(), simulator.device());
  if (all.empty()) return;
  print(fmt::format("\n{:<40} {:<6} {:>10} {:>10} {:>8}\n", "microbenchmark", "unit", "measured", "simulated", "error"));
  for (const auto& x : all)
    print(fmt::format("{:<40} {:<6} {:>10.2f} {:>10.2f} {}\n", x.name, kernels::microbench::unit_name(x.unit), x.measured, x.simulated,
                      paint(fmt::format("{:>7.1f}%", 100 * (x.simulated / x.measured - 1)), x.error() <= 0.15 ? Colour::green : Colour::red, c.colour_out)));
  print(fmt::format("median error: {:.1f} % of those fitted to, {:.1f} % of those held back\n", 100 * kernels::microbench::median_error(all, true), 100 * kernels::microbench::median_error(all, false)));
}

void print_loads(const Survey& s) {
  if (s.loads.empty()) return;
  print(fmt::format("\n{:<14} {:>8} {:>8} {:>16}\n", "load", "watts", "MHz", "work a second"));
  for (const survey::LoadFigure& l : s.loads) print(fmt::format("{:<14} {:>8.0f} {:>8.0f} {:>16.4g}{}\n", l.name, l.watts, l.megahertz, l.seconds > 0 ? l.work / l.seconds : 0, l.capped ? "  capped by power" : ""));
}

ExitCode compare(const CommandContext& c, const Options& o) {
  const Survey s = survey::parse_survey(read_text_file(o.file), o.file);
  const std::string arch = arch_of(o, s);
  survey::Subject simulator([&arch] { return std::make_unique<kernels::SimulatedDevice>(sim::DeviceOptions{.arch = arch}); });
  for (const std::string& line : s.provenance) print(line + "\n");
  std::string lines;
  size_t different = 0;
  const auto add = [&](std::string_view part, std::string_view what, const Verdicts& v) {
    lines += fmt::format("{:<28} {} {}, {} otherwise\n", part, v.same, what, v.different);
    different += v.different;
  };
  if (has(o, "probes")) add("probes", "as simulated", compare_probes(s, simulator));
  if (has(o, "programs")) add("programs", "as expected", compare_programs(s));
  if (has(o, "special")) add("ranges of special functions", "with the same bits", compare_special(s, o.every != 0 ? o.every : 64, simulator));
  print(lines);
  if (has(o, "microbench")) compare_microbench(c, s, simulator);
  if (has(o, "power")) print_loads(s);
  return different == 0 ? ExitCode::ok : ExitCode::verification_failed;
}

std::vector<std::string> part_names() { return {std::begin(survey::kParts), std::end(survey::kParts)}; }

}  // namespace

void register_device_survey(Command& device, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* made = device.add_subcommand("survey", "Everything Drywell can learn from this machine's GPU, into one file (docs/lab/survey.md)");
  made->add_option("FILE", o->file, "the survey to write")->required();
  made->add_option("--only", o->only, "only these parts")->one_of(part_names())->allow_extra_args(false);
  made->add_option("--filter", o->filter, "only what this regular expression finds by name");
  made->add_option("--seconds", o->seconds, "of each load")->capture_default_str();
  made->add_option("--repeats", o->repeats, "runs of each microbenchmark; the fastest counts")->capture_default_str();
  made->add_option("--every", o->every, "of the 256 ranges of a special function only each so many; default 1, simulated 64");
  made->add_option("--simulate", o->simulate, "survey the simulator as this architecture instead of a GPU");
  made->add_option("--note", o->note, "a line for the survey's head");
  made->callback([o, &context] { context.action = [o] { return survey_machine(*o); }; });

  auto held = std::make_shared<Options>();
  Command* compared = device.add_subcommand("compare", "The simulator against a survey; needs no GPU");
  compared->add_option("FILE", held->file, "the survey")->required();
  compared->add_option("--only", held->only, "only these parts")->one_of(part_names())->allow_extra_args(false);
  compared->add_option("--arch", held->arch, "architecture to simulate (default: the surveyed machine's)");
  compared->add_option("--every", held->every, "of the ranges of a special function only each so many; 1 takes minutes for each form")->capture_default_str();
  compared->callback([held, &context] { context.action = [held, &context] { return compare(context, *held); }; });
}

}  // namespace drywell::tools
