// drywell mutate: is every piece of a kernel's synchronisation missed when it is gone?
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/check.h"
#include "drywell/sim/inspect/progress_line.h"
#include "drywell/sim/observer.h"
#include "kernels/registry.h"
#include "tools/common/command.h"
#include "tools/common/command_guard.h"
#include "tools/common/limit_flags.h"
#include "tools/common/output_file.h"
#include "tools/common/parameters.h"
#include "tools/common/report_parts.h"
#include "tools/common/run_flags.h"
#include "tools/equivalents.h"
#include "tools/mutation.h"
#include "tools/mutation_subject.h"

namespace drywell::tools {
namespace {

struct MutateFlags {
  std::string kernel, json, arch;
  uint32_t sms = 0;
  size_t first = 1, last = 0;  // of the list, from 1; 0: to its end
  bool verbose = false, list = false;
  sim::RunLimits limits;
};

constexpr const char* kWrongValues = "wrong values only";

/// An architecture file, gone with the object: a machine whose waits give up after a few cycles, as PTX allows them to (PTX ISA
/// 9.7.13.15.16, "system-dependent time limit"). What a kernel does when a peek at an mbarrier answers false runs there.
class ImpatientArch {
 public:
  explicit ImpatientArch(std::string_view machine) : path_((std::filesystem::temp_directory_path() / fmt::format("drywell-impatient-{}.toml", getpid())).string()) {
    write_file_atomically(path_, fmt::format("base = \"{}\"\n", machine) +
                                     "name = \"impatient\"\n"
                                     "[mbarrier]\nsuspend_limit = { value = 32, unit = \"cyc\", provenance = \"assumed\", source = \"drywell mutate\" }\n");
  }
  ~ImpatientArch() {
    std::error_code gone;
    std::filesystem::remove(path_, gone);
  }
  ImpatientArch(const ImpatientArch&) = delete;
  ImpatientArch& operator=(const ImpatientArch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What is mutated, and on what machine it runs.
struct Subject {
  std::string name;
  RunSubject run;
  std::string arch;
  uint32_t sms = 0;  // 0: the architecture's
  const ImpatientArch& impatient;
  sim::RunOptions limits;
};

struct Verdict {
  std::string how;  // "hazard H7001", "fault F3601", "wrong values", "refused", "" = survived
  bool found() const { return !how.empty(); }
};

/// What a run of the kernel showed.
struct Outcome {
  std::set<std::pair<std::string, std::string>> hazards;  // code and the instruction it was reported at
  std::string first;
  std::string fault;
  bool wrong = false;
  uint64_t instructions = 0;
};

/// Schedules a mutant is tried under until one reports it: a wait that was never needed in one is needed in another.
struct Schedule {
  sim::DriverKind driver;
  uint64_t seed;
};
constexpr Schedule kSchedules[] = {{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::shuffled, 2}, {sim::DriverKind::shuffled, 3}, {sim::DriverKind::shuffled, 4}, {sim::DriverKind::timed, 0}};

sim::DeviceOptions machine_of(const Subject& subject, const Schedule& schedule) {
  return {.arch = schedule.driver == sim::DriverKind::timed ? subject.impatient.path() : subject.arch, .sm_count = subject.sms, .max_memory = subject.limits.max_memory};
}

Outcome run_one(const Subject& subject, const Schedule& schedule, const Mutant* mutant, uint64_t limit, std::string* text) {
  sim::HazardChecker checker;
  kernels::RunContext c;
  c.arch = machine_of(subject, schedule).arch;
  c.options.driver = schedule.driver;
  c.options.seed = schedule.seed;
  c.options.listeners.push_back(checker.listener());
  sim::copy_limits(subject.limits, c.options);
  if (limit != 0 && (limit < subject.limits.max_instructions || subject.limits.max_instructions == 0)) c.options.max_instructions = limit;
  c.machine = [&]() -> std::unique_ptr<kernels::Accelerator> { return std::make_unique<MutantDevice>(machine_of(subject, schedule), mutant, text); };
  const kernels::KernelReport r = subject.run(c);
  if (!r.run.ok() && (r.run.fault->code == Code::F3605 || r.run.fault->code == Code::F3606)) sim::expect_within_limits(r.run);
  Outcome o;
  for (const sim::Finding& f : checker.findings()) {
    o.hazards.emplace(f.code, f.here.where.ptx);
  }
  if (!checker.findings().empty()) o.first = checker.findings()[0].code;
  o.fault = r.run.ok() ? "" : code_name(r.run.fault->code);
  o.wrong = r.verify.done && !r.verify.passed();
  o.instructions = r.run.warp_instructions;
  return o;
}

/// A line, from 1, of a text with the declaration a mutant adds after line `added`: the line, from 0, of the text without it.
size_t printed_line(uint32_t line, size_t added) { return line - 1 > added ? line - 2 : line - 1; }

/// Which instructions were executed, by their line in the text the module was read from.
class ExecutedLines : public sim::Observer {
 public:
  sim::ObserverWants wants() const override { return {.memory = false, .waits = false, .spans = false}; }
  void instruction(const sim::InstructionEvent& e) override {
    if (e.at.instruction != nullptr) lines_.insert(e.at.instruction->ptx_line);
  }
  /// As lines from 0 of the text without the declaration a mutant adds after line `added`.
  std::set<size_t> seen(size_t added) const {
    std::set<size_t> all;
    for (const uint32_t l : lines_) all.insert(printed_line(l, added));
    return all;
  }

 private:
  std::set<uint32_t> lines_;
};

/// What several runs of the kernel as it is showed.
struct Base {
  Outcome outcome;
  std::vector<uint64_t> limits;  // instructions a mutant may take, by schedule
};

bool hangs(std::string_view fault) { return fault == code_name(Code::F3601) || fault == code_name(Code::F3602) || fault == code_name(Code::F3604); }

Verdict judge(const Outcome& base, const Outcome& o) {
  for (const auto& h : o.hazards) {
    const bool known = std::any_of(base.hazards.begin(), base.hazards.end(), [&](const auto& b) { return b.first == h.first; });
    if (!known) return {"hazard " + h.first};
  }
  if (!o.fault.empty()) return {(hangs(o.fault) ? "hang " : "fault ") + o.fault};
  return {o.wrong ? kWrongValues : ""};
}

/// What runs of the kernel as it is show of its instructions: lines of the printed PTX, from 0.
struct Lines {
  std::set<size_t> executed;
  std::set<size_t> without_news;  // mbarrier waits that never tell their warp anything
};

Lines lines_of(const Subject& subject, const std::string& ptx) {
  const size_t added = mutated_line_shift(ptx);
  Mutant same;
  same.line = ptx.size();  // no line
  Lines all;
  std::set<size_t> with_news;
  for (const Schedule& schedule : kSchedules) {
    ExecutedLines lines;
    sim::HazardChecker checker({.level = sim::CheckLevel::basic});
    kernels::RunContext c;
    c.arch = machine_of(subject, schedule).arch;
    c.options.driver = schedule.driver;
    c.options.seed = schedule.seed;
    sim::copy_limits(subject.limits, c.options);
    c.options.observers = {&lines};
    c.options.listeners = {checker.listener()};
    c.machine = [&]() -> std::unique_ptr<kernels::Accelerator> { return std::make_unique<MutantDevice>(machine_of(subject, schedule), &same); };
    sim::expect_within_limits(subject.run(c).run);
    std::set<size_t> silent;
    for (const uint32_t l : checker.waits_without_news()) silent.insert(printed_line(l, added));
    for (const size_t l : lines.seen(added)) {
      all.executed.insert(l);
      (silent.contains(l) ? all.without_news : with_news).insert(l);
    }
  }
  for (const size_t l : with_news) all.without_news.erase(l);
  return all;
}

Verdict try_mutant(const Subject& subject, const Base& base, const Mutant& m) {
  Verdict silent;
  for (size_t i = 0; i < std::size(kSchedules); ++i) {
    Verdict v;
    try {
      v = judge(base.outcome, run_one(subject, kSchedules[i], &m, base.limits[i], nullptr));
    } catch (const InputError& e) {
      v.how = fmt::format("refused {}", code_name(e.code()));
    }
    if (v.found() && v.how != kWrongValues) return v;
    if (v.found()) silent = v;
  }
  return silent;
}

/// A kernel, of the table or of a shared object, with its parameters; or a launch file.
RunSubject find_subject(const std::string& name, const std::vector<std::string>& words) {
  if (names_a_file(name)) {
    if (!name.ends_with(".toml")) throw UsageError("a PTX file needs its launches: mutate takes a launch file (.toml)", "mutate");
    expect_no_parameters(words, "mutate");
    return subject_of(kernels::read_launch_file(name));
  }
  const kernels::Kernel& k = kernels::find_kernel(name);
  return subject_of(k, kernels::Params(k.name, k.parameters, parse_parameters(k, words, "mutate")));
}

std::string name_of(const std::string& subject) { return names_a_file(subject) ? subject : std::string(kernels::find_kernel(subject).name); }

/// The mutants from --first to --last: a long list is run in parts.
std::vector<Mutant> part_of(const std::vector<Mutant>& every, const MutateFlags& f) {
  const size_t last = f.last == 0 ? every.size() : std::min(f.last, every.size());
  const size_t before = std::min(f.first - 1, last);
  return {every.begin() + static_cast<ptrdiff_t>(before), every.begin() + static_cast<ptrdiff_t>(last)};
}

ExitCode mutate(const CommandContext& c, const MutateFlags& f, const std::vector<std::string>& words) {
  if (f.first == 0 || (f.last != 0 && f.last < f.first)) throw UsageError(fmt::format("--first={} --last={}: the mutants are numbered from 1", f.first, f.last), "mutate");
  sim::RunOptions limits;
  sim::set_limits(f.limits, limits);
  const CommandGuard guard(limits);
  RunSubject run = find_subject(f.kernel, words);
  RunFlags file;
  file.subject = f.kernel;
  file.arch_given = !f.arch.empty();
  if (file.arch_given) file.arch = f.arch;
  const std::string arch = machine_of(file);
  expect_writable({f.json});
  sim::ProgressLine line;
  const ImpatientArch impatient(arch);
  Subject subject{name_of(f.kernel), std::move(run), arch, f.sms, impatient, limits};
  std::string ptx;
  Base base;
  for (const Schedule& schedule : kSchedules) {
    const Outcome o = run_one(subject, schedule, nullptr, 0, &ptx);
    if (!o.fault.empty() || o.wrong) throw InputError(Code::E4310, fmt::format("{} does not run as it is: {}", subject.name, o.fault.empty() ? "wrong values" : o.fault));
    base.outcome.hazards.insert(o.hazards.begin(), o.hazards.end());
    base.limits.push_back(20 * o.instructions + 100'000);
  }
  const std::vector<Mutant> every = mutants_of(ptx);
  const std::vector<Mutant> all = part_of(every, f);
  if (f.list) {
    for (const Mutant& m : all) print(fmt::format("{:<14} {}{}\n", m.what, m.original, m.source.empty() ? "" : "  (" + m.source + ")"));
    return ExitCode::ok;
  }
  const Lines lines = lines_of(subject, ptx);
  size_t reported = 0, equivalent = 0, silent = 0, unreached = 0;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Mutant& m : all) {
    line.phase(fmt::format("mutant {} of {}", static_cast<size_t>(&m - all.data()) + f.first, every.size()));
    const Verdict v = try_mutant(subject, base, m);
    const bool runs = v.found() || lines.executed.contains(m.line);
    const std::string reason = v.found() || !runs ? "" : equivalence(m, lines.without_news.contains(m.line));
    const bool counts = v.found() && v.how != kWrongValues;
    reported += counts ? 1 : 0;
    silent += v.how == kWrongValues ? 1 : 0;
    equivalent += reason.empty() ? 0 : 1;
    unreached += runs ? 0 : 1;
    const std::string verdict = v.found() ? v.how : !runs        ? "not reached"
                                                : reason.empty() ? "survived"
                                                                 : "equivalent";
    rows.push_back({{"line", m.line + 1}, {"source", m.source}, {"what", m.what}, {"instruction", m.original}, {"verdict", verdict}});
    if (!reason.empty()) rows.back()["reason"] = reason;
    if (f.verbose || !counts) {
      const std::string padded = fmt::format("{:<18}", verdict);
      line.print(fmt::format("{} {:<14} {}{}{}\n", verdict == "survived" ? paint(padded, Colour::yellow, c.colour_out) : padded, m.what, m.original,
                             m.source.empty() ? "" : fmt::format("  ({})", m.source), reason.empty() ? "" : "\n                   because " + reason));
    }
  }
  const size_t different = all.size() - equivalent - unreached;
  const double share = different == 0 ? 100 : 100.0 * static_cast<double>(reported) / static_cast<double>(different);
  line.end();
  print(fmt::format("{}: {} mutants, {} equivalent, {} not reached at this size; of the {} others {} reported ({:.1f} %), {} only by wrong values, {} survived\n", subject.name, all.size(), equivalent,
                    unreached, different, reported, share, silent, different - reported - silent));
  if (!f.json.empty()) write_file_atomically(f.json, print_json({{"kernel", subject.name}, {"mutants", rows}, {"reported", reported}, {"equivalent", equivalent}, {"share", share}}));
  return ExitCode::ok;
}

}  // namespace

void register_mutate(Command& app, CommandContext& context) {
  auto f = std::make_shared<MutateFlags>();
  Command* sub = add_command(app, "mutate");
  sub->add_option("KERNEL|FILE", f->kernel, "a kernel of `drywell list`, or of a shared object (./libmine.so, ./libmine.so:NAME), or a launch file (.toml)")->required();
  sub->add_flag("-v,--verbose", f->verbose, "every mutant, not only those that are not reported");
  sub->add_flag("--list", f->list, "only the list of mutants");
  sub->add_option("--first", f->first, "the first mutant of the list to run, from 1");
  sub->add_option("--last", f->last, "the last one; 0: the list's")->capture_default_str();
  sub->add_option("--sms", f->sms, "SMs of the simulated device; 0: the architecture's. With few, persistent CTAs take several tiles");
  sub->add_option("--arch", f->arch, "architecture: a name of `drywell arch` or a .toml file; without it sm_100a, for a launch file the machine of its target");
  sub->add_option("--json", f->json, "write the table as JSON");
  add_limit_flags(*sub, f->limits);
  sub->allow_extras();
  sub->callback([f, sub, &context] { context.action = [f, sub, &context] { return mutate(context, *f, sub->remaining()); }; });
}

}  // namespace drywell::tools
