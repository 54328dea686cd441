// Messages for a process that ends by a signal, where no destructor runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace drywell::cudart {

/// Installs handlers for SIGINT, SIGTERM and SIGHUP, unless the program has its own: they write the launch in progress to
/// standard error and then end the process by the signal.
void explain_endings();

/// The launch in progress, for the message of a signal handler; valid during the object's lifetime.
class Doing {
 public:
  Doing(uint64_t launch, std::string_view kernel);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
};

}  // namespace drywell::cudart
