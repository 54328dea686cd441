// The debugger for editors: the Debug Adapter Protocol (docs/dap.md) over two descriptors.
//
// serve_dap speaks the protocol; whoever calls it runs the program that a launch request names and hands one of its launches
// to the debugger. Everything happens on the calling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// What a launch request asks for.
struct DapLaunch {
  std::vector<std::string> words;  // the program, its arguments, --arch=… and --driver=…, as on the command line of `drywell step`
  uint32_t launch = 1;             // which of the program's launches is debugged, from 1
  std::string cwd;                 // the folder to run it in; empty: where we are
};

/// How the program ended.
struct DapOutcome {
  int exit_code = 0;
  std::string verification;  // a line for the client; empty: nothing to say
};

/// Thrown out of a DapBody when the client leaves before the launch is over: the host lets it pass.
struct DapClientLeft {};

/// Debugs one launch: for the body of a LaunchRunner.
using DapBody = std::function<RunResult(const Launch&, const RunOptions&)>;
/// Runs the program and has `body` run the launch asked for. What it throws (Error) is told to the client.
using DapHost = std::function<DapOutcome(const DapLaunch& asked, const DapBody& body)>;

/// Serves a client until it leaves.
void serve_dap(int in, int out, const DapHost& host);

}  // namespace drywell::sim
