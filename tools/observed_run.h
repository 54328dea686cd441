// A run for the sake of what a listener sees: a kernel of the table, or a PTX or launch file.
#pragma once

#include <string>
#include <vector>

#include "tools/common/run_flags.h"

namespace drywell::tools {

/// Runs `f.subject` with `listener` attached. `words`: the kernel's parameters as given. `command` stands in usage messages.
/// Returns the first faulting launch's result, else the last one's.
sim::RunResult run_observed(const RunFlags& f, const std::vector<std::string>& words, sim::Listener* listener, std::string_view command);

/// --arch, --driver, and for PTX files the words of launch files.
void add_observed_run(Command& sub, RunFlags& f);

}  // namespace drywell::tools
