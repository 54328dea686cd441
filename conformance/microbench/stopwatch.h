// Whole kernels against the clock: every warp writes down %globaltimer and %clock64 where it starts and where it ends, on a GPU and
// under the timed driver alike. A launch's time is from the first start to the last end: no launch overhead is in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launch/forwarding_accelerator.h"

namespace drywell::kernels::microbench {

/// Times of a launch.
struct Elapsed {
  double nanoseconds = 0;  // first start to last end
  double cycles = 0;       // the same at the clock the SMs had meanwhile
  double gigahertz() const { return nanoseconds > 0 ? cycles / nanoseconds : 0; }
};

/// Contents of the L2 when a launch starts. A simulated launch always starts with an empty one.
enum class Caches : uint8_t {
  cold,
  warm,
  dirty
};

/// `text` with stamps in its entry `kernel`, a parameter for them, and a second entry `drywell_sweep` that fills the caches.
/// Throws InputError E4521 for kernels that end anywhere but in a plain `ret`.
std::string stamped(std::string text, const std::string& kernel);

/// An accelerator that times what it launches; everything else goes to the one it stands before.
class Stopwatch : public ForwardingAccelerator {
 public:
  /// `repeats` > 0: a GPU; the fastest of that many launches counts, each after one to warm up. Otherwise one launch, no sweep.
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
  GmemAddr memory_{};  // swept
};

}  // namespace drywell::kernels::microbench
