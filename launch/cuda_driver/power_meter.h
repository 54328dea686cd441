// Watts and clock of a GPU, through the driver's management library (NVML), opened when a program requests it.
#pragma once

#include <memory>

namespace drywell::kernels {

/// The first GPU's meter.
class PowerMeter {
 public:
  /// Returns nullptr if the machine has no such library, or it does not answer.
  static std::unique_ptr<PowerMeter> open();
  ~PowerMeter();
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;

  /// What the GPU draws now.
  double watts() const;
  /// The SMs' clock now, and its highest.
  double megahertz() const;
  double most_megahertz() const;
  /// Watts that the GPU may draw; 0 if it does not say.
  double limit() const;
  /// True if power holds the clock down.
  bool capped() const;

 private:
  struct Api;
  explicit PowerMeter(std::unique_ptr<Api> api);
  std::unique_ptr<Api> api_;
};

}  // namespace drywell::kernels
