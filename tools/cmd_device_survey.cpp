// drywell device survey, drywell device compare: what a GPU does, in one file; and the model held against such a file.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "conformance/survey/survey.h"
#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/inspect/progress_line.h"
#include "kernels/support/record_text.h"
#include "launch/cuda_driver/cuda_device.h"
#include "launch/cuda_driver/power_meter.h"
#include "launch/cuda_driver/series.h"
#include "launch/words.h"
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

// The items of a part in their order. Those that an earlier process came by are passed over.
class Items {
 public:
  Items(const Options& o, size_t first) : pattern_(filter_of(o.filter, "device survey")), first_(first) {}
  bool wants(const std::string& name) {
    if (seen_++ < first_ || !pattern_.finds(name)) return false;
    line_.phase(current_ = name);
    return true;
  }
  void print(const std::string& text) { line_.print(text + "\n"); }
  void end() { line_.end(); }
  size_t seen() const { return seen_; }
  const std::string& current() const { return current_; }

 private:
  Pattern pattern_;
  size_t first_, seen_ = 0;
  std::string current_;
  sim::ProgressLine line_;
};

void survey_loads(const Options& o, survey::Subject& subject, const survey::Wanted& wanted, const survey::Told& failed, Survey& out) {
  const auto meter = kernels::PowerMeter::open();
  if (meter == nullptr) return;
  const survey::Meter read = [&] { return survey::PowerReading{meter->watts(), meter->megahertz(), meter->capped()}; };
  survey::survey_power(subject, wanted, read, o.seconds, out.loads, failed);
}

void survey_part(const Options& o, std::string_view part, survey::Subject& subject, Items& items, Survey& out) {
  const bool simulated = !o.simulate.empty();
  const survey::Wanted wanted = [&](const std::string& name) { return items.wants(name); };
  const survey::Told failed = [&](const std::string& text) { items.print(text); };
  if (part == "probes") survey::survey_probes(subject, wanted, out.probes);
  if (part == "programs") survey::survey_programs(subject, wanted, out.programs);
  if (part == "special") survey::survey_special(subject, wanted, o.every != 0 ? o.every : simulated ? 64
                                                                                                    : 1,
                                                out.special, failed);
  if (part == "microbench") survey::survey_microbench(subject, wanted, simulated ? 1 : o.repeats, out.bench, failed);
  if (part == "power" && !simulated) survey_loads(o, subject, wanted, failed, out);
}

/// A part from item `first` on, to its end or to the item that takes the machine from this process.
kernels::Stretch stretch(const Options& o, std::string_view part, size_t first) {
  Survey found;
  Items items(o, first);
  bool lost = false;
  try {
    survey::Subject subject = subject_of(o);
    survey_part(o, part, subject, items, found);
  } catch (const survey::MachineLost&) {
    lost = true;
    items.print(items.current() + ": the kernel failed and took the GPU from its process; the survey goes on behind it in another");
  }
  items.end();
  return {survey::print_survey(found), items.seen(), lost};
}

/// The head of the file: a process of its own opens the GPU, as for the parts.
kernels::Stretch head(const Options& o) {
  Survey out;
  const auto meter = o.simulate.empty() ? kernels::PowerMeter::open() : nullptr;
  out.provenance = origin(o, meter.get());
  return {survey::print_survey(out)};
}

std::vector<std::string> texts(const Options& o, const std::function<kernels::Stretch(size_t)>& measure) {
  if (o.simulate.empty()) return kernels::run_series(measure);
  return {measure(0).text};
}

Survey make(const Options& o) {
  Survey out = survey::parse_survey(texts(o, [&](size_t) { return head(o); }).front(), o.file);
  out.probes.provenance = out.bench.provenance = out.provenance;
  for (const std::string_view part : survey::kParts) {
    if (!has(o, part)) continue;
    for (const std::string& text : texts(o, [&](size_t first) { return stretch(o, part, first); })) survey::append(out, survey::parse_survey(text, o.file));
  }
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

/// The text from behind `mark` to the next comma; empty if `line` does not have the mark.
std::string word_after(const std::string& line, std::string_view mark) {
  const size_t at = line.find(mark);
  return at == std::string::npos ? "" : line.substr(at + mark.size(), line.find(',', at) - at - mark.size());
}

/// Of "10.3"; empty if Drywell has no figures for it or the word is no compute capability.
std::string_view arch_of_capability(const std::string& word) {
  const size_t dot = std::min(word.find('.'), word.size());
  const auto major = kernels::parse_unsigned(word.substr(0, dot)), minor = kernels::parse_unsigned(dot == word.size() ? "" : word.substr(dot + 1));
  return major.has_value() && minor.has_value() && *major < 1000 && *minor < 10 ? kernels::arch_of_capability(static_cast<int>(*major), static_cast<int>(*minor)) : "";
}

/// The architecture whose figures a surveyed machine is held against: the option's, or the one of the compute capability in its provenance.
std::string arch_of(const Options& o, const Survey& s) {
  if (!o.arch.empty()) return o.arch;
  for (const std::string& line : s.provenance) {
    if (const std::string word = word_after(line, "simulated "); !word.empty()) return word;
    if (const std::string_view arch = arch_of_capability(word_after(line, "compute capability ")); !arch.empty()) return std::string(arch);
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
  Command* made = add_subcommand(device, "survey");
  made->add_option("FILE", o->file, "the survey to write")->required();
  made->add_option("--only", o->only, "only these parts")->one_of(part_names())->allow_extra_args(false);
  made->add_option("--filter", o->filter, "only items whose name this regular expression finds");
  made->add_option("--seconds", o->seconds, "seconds of each load")->capture_default_str();
  made->add_option("--repeats", o->repeats, "runs of each microbenchmark; the fastest counts")->capture_default_str();
  made->add_option("--every", o->every, "of the 256 ranges of a special function only each so many; default 1, simulated 64");
  made->add_option("--simulate", o->simulate, "survey the simulator as this architecture instead of a GPU");
  made->add_option("--note", o->note, "a line for the survey's head");
  made->callback([o, &context] { context.action = [o] { return survey_machine(*o); }; });

  auto held = std::make_shared<Options>();
  Command* compared = add_subcommand(device, "compare");
  compared->add_option("FILE", held->file, "the survey")->required();
  compared->add_option("--only", held->only, "only these parts")->one_of(part_names())->allow_extra_args(false);
  compared->add_option("--arch", held->arch, "architecture to simulate (default: the surveyed machine's)");
  compared->add_option("--every", held->every, "of the ranges of a special function only each so many; 1 takes minutes for each form")->capture_default_str();
  compared->callback([held, &context] { context.action = [held, &context] { return compare(context, *held); }; });
}

}  // namespace drywell::tools
