// Time of whole kernels: every warp records %globaltimer and %clock64 at its start and end, on a GPU and under the timed driver. A
// launch's time is from the first start to the last end, without launch overhead.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launch/forwarding_accelerator.h"

namespace drywell::kernels::microbench {

/// Time of a launch.
struct Elapsed {
  double nanoseconds = 0;  // first start to last end
  double cycles = 0;       // the same in cycles, at the SMs' clock during the launch
  double gigahertz() const { return nanoseconds > 0 ? cycles / nanoseconds : 0; }
};

/// Content of the L2 at the start of a launch. A simulated launch always starts with an empty L2.
enum class Caches : uint8_t { cold, warm, dirty };

/// Returns `text` with stamps in its entry `kernel`, a parameter for them, and a second entry `drywell_sweep` that fills the
/// caches. Throws InputError E4521 for kernels with an end other than a plain `ret`.
std::string stamped(std::string text, const std::string& kernel);

/// An accelerator that times its launches; all other calls go to the wrapped accelerator.
class Stopwatch : public Accelerator {
 public:
  /// `repeats` > 0: a GPU; the result is the fastest of that many launches, each after a warm-up launch. Otherwise one launch,
  /// no sweep.
  Stopwatch(Accelerator& device, std::vector<Elapsed>& out, unsigned repeats, Caches caches);
  ~Stopwatch() override;

  using Accelerator::load;
  void load(isa::Module module, std::string_view text) override;
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) override;

 private:
  void sweep();
  Elapsed read_stamps(GmemAddr stamps, uint64_t warps) const;

  std::vector<Elapsed>& out_;
  unsigned repeats_;
  Caches caches_;
  GmemAddr memory_{};  // memory of the sweep
};

}  // namespace drywell::kernels::microbench
