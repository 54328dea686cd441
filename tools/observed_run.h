// Runs a kernel of the table, or a PTX or launch file, for a listener.
#pragma once

#include <string>
#include <vector>

#include "tools/common/run_flags.h"

namespace drywell::tools {

/// Runs `f.subject` with `listener` attached. `words`: the kernel's parameters from the command line. `command`: its name in
/// usage messages. Returns the first faulting launch's result, else the last launch's.
sim::RunResult run_observed(const RunFlags& f, const std::vector<std::string>& words, sim::Listener* listener, std::string_view command);

/// "gemm-bf16 --m=256": the subject and the words.
std::string run_title(const RunFlags& f, const std::vector<std::string>& words);

/// Adds --arch, --driver, the bounds of the run, and for PTX files the words of launch files.
void add_observed_run(Command& sub, RunFlags& f);

}  // namespace drywell::tools
