// Between a client and a program in a process of its own: the program's launches, one after another, are the debuggee.
#pragma once

#include <string>

#include "drywell/sim/dap.h"
#include "sim/debug/dap/adapter.h"

namespace drywell::sim::dap {

/// What a launch request says of a program that runs by itself.
struct RelayRequest {
  DapLaunch asked;
  std::string source_root;
  bool stop_on_entry = true;
  Positions positions;
};

enum class RelayEnd : uint8_t {
  over,  // the program ended, or the client ended it
  left
};  // the client left
/// Starts the program, answers `request` when its first launch is there, and serves the client until the program's end.
RelayEnd relay(Wire& client, const Json& request, const RelayRequest& r, const DapPrograms& programs);

}  // namespace drywell::sim::dap
