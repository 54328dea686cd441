#include "sim/cooperative.h"

#include <cstring>

#include "drywell/sim/device.h"
#include "sim/exec/environment.h"
#include "sim/schedule/functional.h"
#include "sim/state/gmem.h"
#include "sim/timing/timed.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kBytes = 256;  // cooperative groups use the first eight (cooperative_groups/details/driver_abi.h)

/// Memory of the barrier during the launch.
class Workspace {
 public:
  explicit Workspace(Gmem& gmem) : gmem_(gmem), at_(gmem.allocate(kBytes, "workspace of the cooperative launch")) {
    std::memset(gmem_.translate(at_.value(), kBytes), 0, kBytes);
  }
  ~Workspace() { gmem_.release(at_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  uint64_t address() const { return at_.value(); }

 private:
  Gmem& gmem_;
  GmemAddr at_;
};

}  // namespace

RunResult run_by_driver(const Launch& launch, const RunOptions& options) {
  return options.driver == DriverKind::timed ? run_timed(launch, options) : run_functional(launch, options);
}

RunResult run_launch(const Launch& launch, const RunOptions& options) {
  return options.runner != nullptr ? options.runner->run(launch, options) : run_by_driver(launch, options);
}

RunResult run_cooperatively(const Launch& launch, const RunOptions& options) {
  const Workspace workspace(*launch.gmem);
  Launch l = launch;
  set_grid_workspace(l, workspace.address());
  return run_launch(l, options);
}

}  // namespace drywell::sim
