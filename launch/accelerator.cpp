#include "drywell/launch/accelerator.h"

#include <charconv>

#include "drywell/isa/target.h"

namespace drywell::kernels {

unsigned compute_capability(isa::Target t) {
  const std::string_view name = isa::target_name(t);  // sm_100a
  unsigned out = 0;
  std::from_chars(name.data() + 3, name.data() + name.size(), out);
  return out;
}

isa::TensorMap SimulatedDevice::encode(const isa::TensorMapFields& fields) { return isa::encode(fields, compute_capability(arch().target)); }

void SimulatedDevice::load(isa::Module module, std::string_view) { module_ = device_.load(std::move(module)); }

sim::RunResult SimulatedDevice::launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) {
  DRYWELL_CHECK(module_.has_value(), "launch before load");
  return device_.launch(*module_, kernel, config, args, options);
}

}  // namespace drywell::kernels
