// Mutants of a kernel: its PTX with one piece of synchronisation removed or one number changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/launch/accelerator.h"

namespace drywell::tools {

struct Mutant {
  size_t line = 0;                     // of the printed PTX, from 0
  std::string what;                    // "without", "true at once", "count + 1", …
  std::string original;                // the instruction
  std::string replacement;             // lines that replace it; may be empty
  std::string source;                  // "kernel.cpp:252" if the PTX has source lines
  std::optional<size_t> also_removed;  // another line that goes: the mutant moves an instruction, or removes two
};

/// One mutant for each fence, wait, commit, arrive and barrier, and two for each count, parity and number of bytes; waits without their
/// retry, and with the next mbarrier in memory; narrower scopes; `.read` in place of a full wait; tensor memory freed before the barrier in
/// front; a cluster barrier that all threads leave out; a tensor map edited behind a copy that uses it.
std::vector<Mutant> mutants_of(std::string_view ptx);
/// Returns the text of a mutant.
std::string mutated(std::string_view ptx, const Mutant& m);

/// Returns the line, from 0, after which `mutated` adds a declaration.
size_t mutated_line_shift(std::string_view ptx);

/// A simulated device that runs a mutant of each module that it loads.
class MutantDevice : public kernels::SimulatedDevice {
 public:
  /// `mutant`: nullptr runs the unchanged kernel. `original` gets the unchanged PTX of each module, unless it is nullptr.
  MutantDevice(sim::DeviceOptions options, const Mutant* mutant, std::string* original = nullptr) : SimulatedDevice(std::move(options)), mutant_(mutant), original_(original) {}
  using SimulatedDevice::load;
  void load(isa::Module module, std::string_view text) override;

 private:
  const Mutant* mutant_;
  std::string* original_;
};

}  // namespace drywell::tools
