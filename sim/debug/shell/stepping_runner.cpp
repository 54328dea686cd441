#include "drywell/sim/debug.h"

#include <unistd.h>

#include "drywell/core/terminal.h"

namespace drywell::sim {
namespace {

class SteppingRunner : public LaunchRunner {
 public:
  explicit SteppingRunner(StepSession session) : session_(std::move(session)) {}
  RunResult run(const Launch& launch, const RunOptions& options) override {
    return *step_launch(session_, launch, options);
  }

 private:
  StepSession session_;
};

}  // namespace

std::unique_ptr<LaunchRunner> make_stepping_runner(const std::string& script) {
  return std::make_unique<SteppingRunner>(StepSession{script, wants_colour(STDOUT_FILENO), true});
}

}  // namespace drywell::sim
