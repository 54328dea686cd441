// The debugger for editors: the Debug Adapter Protocol (docs/dap.md) over two descriptors.
//
// serve_dap implements the protocol. Its caller runs the program that a launch request names and passes one of its launches
// to the debugger. Everything runs on the calling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Content of a launch request.
struct DapLaunch {
  std::vector<std::string> words;  // the program, its arguments, --arch=… and --driver=…, as on the command line of `drywell step`
  uint32_t launch = 1;             // number of the program's launch to debug, from 1
  std::string cwd;                 // working directory; empty: the current one
};

/// How the program ended.
struct DapOutcome {
  int exit_code = 0;
  std::string verification;  // a line for the client; empty: none
};

/// Thrown out of a DapBody when the client leaves before the launch ends: the host must not catch it.
struct DapClientLeft {};

/// Debugs one launch: called from the run() of a LaunchRunner.
using DapBody = std::function<RunResult(const Launch&, const RunOptions&)>;
/// Runs the program and calls `body` for the requested launch. An Error that it throws is reported to the client.
using DapHost = std::function<DapOutcome(const DapLaunch& asked, const DapBody& body)>;

/// Serves a client until it leaves.
void serve_dap(int in, int out, const DapHost& host);

}  // namespace drywell::sim
