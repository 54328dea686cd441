#include "drywell/launch/kernel.h"

#include <fmt/format.h>

#include "drywell/core/text.h"
#include "drywell/launch/kernel_library.h"

namespace drywell::kernels {

std::unique_ptr<Accelerator> RunContext::open() const {
  if (machine) return machine();
  return std::make_unique<SimulatedDevice>(sim::DeviceOptions{.arch = arch, .max_memory = options.max_memory});
}

const Kernel& find_kernel(std::span<const Kernel> kernels, std::string_view name) {
  if (names_a_library(name)) return find_library_kernel(name);
  std::vector<std::string_view> names;
  for (const Kernel& k : kernels) {
    if (k.name == name) return k;
    names.push_back(k.name);
  }
  if (name.ends_with(".toml"))
    throw InputError(Code::E4305, fmt::format("'{}' is a launch file, this takes a kernel", name),
                     "launch files work with drywell run, step, dap, trace record, mutate, tmem map, tmem show, smem show, arch --sensitivity, device run and device time; build and ptx check take their .ptx");
  const std::string guess = did_you_mean(name, names);
  const bool is_path = name.find('/') != std::string_view::npos;
  throw InputError(Code::E4305, fmt::format("no kernel '{}'", name),
                   is_path ? "a file's name ends in .ptx, .toml (a launch file) or .so (a library of kernels)" : (guess.empty() ? "" : guess + " ") + "kernels: " + join(names));
}

}  // namespace drywell::kernels
