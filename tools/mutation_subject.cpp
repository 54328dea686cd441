#include "tools/mutation_subject.h"

#include <memory>
#include <optional>
#include <span>

#include "drywell/kernels/verify.h"

namespace drywell::tools {
namespace {

using Buffers = std::vector<kernels::PlanBuffer>;

/// The first fault, else the last launch; with the instructions of all.
sim::RunResult whole_run(const std::vector<sim::RunResult>& runs) {
  sim::RunResult all;
  uint64_t instructions = 0;
  for (const sim::RunResult& r : runs) {
    instructions += r.warp_instructions;
    if (all.ok()) all = r;
  }
  all.warp_instructions = instructions;
  return all;
}

kernels::Verification compared(const std::vector<kernels::BufferComparison>& expected) {
  kernels::Verification v{.done = true};
  for (const kernels::BufferComparison& c : expected) {
    v.compared += c.compared;
    v.mismatches += c.mismatches;
  }
  return v;
}

kernels::Verification compared(const Buffers& got, const Buffers& first) {
  kernels::Verification v;
  for (size_t i = 0; i < got.size(); ++i) kernels::compare_bits<uint8_t>(v, got[i].name, got[i].bytes, first.at(i).bytes, 1);
  return v;
}

}  // namespace

RunSubject subject_of(const kernels::Kernel& kernel, kernels::Params params) {
  return [&kernel, params = std::move(params)](const kernels::RunContext& c) {
    kernels::RunContext own = c;
    own.params = params;
    own.verify = true;
    return kernel.run(own);
  };
}

RunSubject subject_of(kernels::LaunchPlan plan) {
  auto first = std::make_shared<std::optional<Buffers>>();
  return [plan = std::move(plan), first](const kernels::RunContext& c) {
    const std::unique_ptr<kernels::Accelerator> machine = c.open();
    const kernels::PlanResult r = kernels::run_plan(plan, *machine, {c.options, {}});
    kernels::KernelReport report;
    report.run = whole_run(r.runs);
    c.enter("verifying");
    if (!report.run.ok()) return report;
    if (!first->has_value()) *first = r.buffers;
    report.verify = plan.expects.empty() ? compared(r.buffers, **first) : compared(r.comparisons);
    return report;
  };
}

}  // namespace drywell::tools
