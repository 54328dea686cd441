// Command-line flags of `drywell run`, and the output files of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drywell/core/files.h"
#include "drywell/sim/device.h"
#include "drywell/sim/limit_words.h"
#include "drywell/sim/trace.h"
#include "launch/plan.h"
#include "tools/common/check_report.h"
#include "tools/common/command.h"

namespace drywell::tools {

/// A launch of a PTX file, in the words of launch files (docs/running-ptx.md).
struct PlanFlags {
  std::string entry, grid, block, cluster;
  uint32_t smem = 0;
  std::vector<std::string> buffers, maps, args, expects;
  bool any() const;
};

/// The machine without --arch, and without a PTX file for another.
inline constexpr std::string_view kDefaultMachine = "sm_100a";

struct RunFlags {
  std::string subject;  // a kernel of the table, a .ptx file, a launch file (.toml)
  std::string arch = std::string(kDefaultMachine), driver = "eager", caches = "cold", clock = "nominal", json, trace, trace_profile, input, report;
  std::vector<std::string> report_ctas;  // empty: the first
  std::vector<std::string> save;
  bool verify = false, trace_values = false, no_values = false, contract = false, help = false;
  bool arch_given = false;  // --arch, also if it names the default
  unsigned threads = 0;
  sim::RunLimits limits;
  PlanFlags plan;
  CheckFlags check;
  uint64_t explore = 0;          // schedules
  std::optional<uint64_t> seed;  // step: one schedule of --explore
};

/// Options for `p`; the words are those of launch files.
void add_plan_flags(Command& sub, PlanFlags& p);
/// --arch, for machine_of().
void add_machine_flag(Command& sub, RunFlags& f);

/// Help of an argument that is a kernel, and of one that may also be a file.
inline constexpr const char* kKernelHelp = "a kernel of `drywell list`, or of a shared object: ./libmine.so, ./libmine.so:NAME";
inline constexpr const char* kSubjectHelp =
    "a kernel of `drywell list`, or of a shared object (./libmine.so, ./libmine.so:NAME), a .ptx file, or a launch file (.toml)";

/// True if `subject` names a PTX or launch file, not a kernel of the table.
bool names_a_file(const std::string& subject);

/// Returns the requested driver, threads and limits; the time of --timeout begins now. Throws InputError E4306, E4308, UsageError.
sim::RunOptions run_options(const RunFlags& f);
/// --report-cta. Throws UsageError, also for --report without the timed driver.
std::vector<Dim3> report_ctas(const RunFlags& f);
/// `run`: the words that repeat the run; may be empty.
sim::TraceOptions trace_options(const RunFlags& f, const sim::RunOptions& options, std::string run);
/// Returns ok, or the exit code of the fault.
ExitCode fault_exit(const sim::RunResult& r);

/// Returns the launch file's plan, or the plan of the flags for a PTX file. Throws UsageError, InputError E44xx with all
/// errors.
kernels::LaunchPlan make_plan(const RunFlags& f);
/// Name of the machine for a run: --arch; without it, for a file whose PTX is for another machine, that machine.
std::string machine_of(const RunFlags& f);

/// Report and trace files, opened before the run starts: an output that cannot be written is an error at once, and
/// existing files stay unchanged until the run is complete.
class CommandFiles;
/// Adds the files that a run writes, by its flags.
void write_run_outputs(const RunFlags& f, CommandFiles& files);
/// Adds the files that a run reads: its subject, what a launch file names, the machine.
void read_run_inputs(const RunFlags& f, CommandFiles& files);

class RunOutputs {
 public:
  explicit RunOutputs(const RunFlags& f);
  std::optional<sim::TraceFile>& trace() { return trace_; }
  void json(const std::string& text);
  void report(const std::string& page);

 private:
  std::optional<PendingFile> json_, report_;
  std::optional<sim::TraceFile> trace_;
};

/// drywell run FILE.ptx, drywell run plan.toml.
ExitCode run_file(const CommandContext& c, const RunFlags& f, const std::vector<std::string>& words);

}  // namespace drywell::tools
