// Ends of the process that pass no destructor: what a signal interrupted is said, and nothing is left behind.
#pragma once

#include <cstdint>
#include <string_view>

namespace drywell::cudart {

/// From now on SIGINT, SIGTERM and SIGHUP, where the program left them to the system, say on standard error what was going on
/// before they end the process as they would have.
void explain_endings();

/// What is going on, for whoever ends the process while this lives.
class Doing {
 public:
  Doing(uint64_t launch, std::string_view kernel);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
};

}  // namespace drywell::cudart
