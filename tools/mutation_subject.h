// What `drywell mutate` mutates: a kernel with its host code, or the launches of a launch file.
#pragma once

#include <functional>
#include <string>

#include "drywell/launch/kernel.h"
#include "launch/plan.h"

namespace drywell::tools {

/// Runs the subject once on the machine of the context, and compares its results.
using RunSubject = std::function<kernels::KernelReport(const kernels::RunContext&)>;

/// `kernel` outlives the result.
RunSubject subject_of(const kernels::Kernel& kernel, kernels::Params params);
/// Compares with what the launch file expects; if it expects nothing, with the buffers of the first run.
RunSubject subject_of(kernels::LaunchPlan plan);

}  // namespace drywell::tools
