#include <unistd.h>

#include "cudart/stepping.h"
#include "tools/step/step_launch.h"
#include "tools/terminal.h"

namespace drywell::cudart {
namespace {

class SteppingRunner : public sim::LaunchRunner {
 public:
  explicit SteppingRunner(tools::StepSession session) : session_(std::move(session)) {}
  sim::RunResult run(const sim::Launch& launch, const sim::RunOptions& options) override {
    return *tools::step_launch(session_, launch, options);
  }

 private:
  tools::StepSession session_;
};

}  // namespace

std::unique_ptr<sim::LaunchRunner> make_stepping_runner(const std::string& script) {
  return std::make_unique<SteppingRunner>(tools::StepSession{script, tools::wants_colour(STDOUT_FILENO), true});
}

}  // namespace drywell::cudart
