#include "sim/check/monitor.h"

namespace drywell::sim::check {

ClusterMonitor::ClusterMonitor(const Cluster& c, const LaunchState& launch, std::unique_ptr<KnownFootprints> known)
    : launch_(launch), parts_(c, launch), async_(parts_, std::move(known)), running_ctas_(c.ctas.size()), named_(c.ctas.size()) {}

void ClusterMonitor::finish(const Cta& cta) {
  parts_.lifetimes.finish(cta.rank, *launch_.program);
  parts_.mbarriers.finish(cta);
  finish_convergence(cta);
  finish_guesses(cta);
  if (--running_ctas_ == 0) seal();
}

void ClusterMonitor::seal() {
  parts_.warps.clear();
  parts_.mbarriers.clear();
  parts_.memory.clear();
  parts_.lifetimes.clear();
  parts_.flags.clear();
  async_.clear();
}

}  // namespace drywell::sim::check
