// Runs the host code of a kernel or the launches of a PTX file, and passes one launch to the debugger.
#pragma once

#include <functional>
#include <vector>

#include "drywell/sim/device.h"
#include "tools/common/run_flags.h"

namespace drywell::tools {

/// The launch with number `which` runs in `body`; the others run normally.
class LaunchPicker : public sim::LaunchRunner {
 public:
  using Body = std::function<sim::RunResult(const sim::Launch&, const sim::RunOptions&)>;
  LaunchPicker(uint32_t which, Body body) : which_(which), body_(std::move(body)) {}
  sim::RunResult run(const sim::Launch& launch, const sim::RunOptions& options) override;
  /// Called with true before the body and with false behind it.
  std::function<void(bool)> in_body = [](bool) {};
  /// Number of launches so far.
  uint32_t seen() const { return seen_; }

 private:
  uint32_t which_, seen_ = 0;
  Body body_;
};

/// Thrown to leave the host code without finishing it.
struct Abandoned {};

/// Result of the host code.
struct HostOutcome {
  sim::RunResult run;
  std::string verification;  // empty: not verified
  bool passed = true;
};

/// Runs the kernel of the table or the PTX or launch file of `f`; its launches go through `picker`. Throws Abandoned if
/// the body did, InputError E4327 if there were fewer launches.
HostOutcome run_host(const RunFlags& f, const std::vector<std::string>& words, LaunchPicker& picker, uint32_t which, std::string_view command);

}  // namespace drywell::tools
