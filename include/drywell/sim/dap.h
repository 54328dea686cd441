// The debugger for editors: the Debug Adapter Protocol (docs/dap.md) over two descriptors.
//
// serve_dap implements the protocol. Its caller runs the kernel that a launch request names and passes one of its launches
// to the debugger. Everything runs on the calling thread. A program that runs by itself (a Python script, a CUDA program) is a process of its
// own: each of its launches that is to be debugged connects to serve_dap (make_dap_runner), which goes between it and the client.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Content of a launch request.
struct DapLaunch {
  std::vector<std::string> words;    // the program and its arguments, as on the command line of `drywell step`
  std::vector<std::string> options;  // --arch=…, --driver=…, and those of the request
  std::optional<uint32_t> launch;    // number of the program's launch to debug, from 1; else the first, or all of a program that runs by itself
  std::string kernel;                // a program that runs by itself: regular expression of its kernels to debug
  std::string python;                // interpreter of a script; empty: that of PATH
  std::string cwd;                   // working directory; empty: the current one
};

/// How the program ended.
struct DapOutcome {
  int exit_code = 0;         // of the process (docs/errors.md)
  std::string verification;  // a line for the client; empty: none
};

/// Thrown out of a DapBody when the client leaves before the launch ends: the host must not catch it.
struct DapClientLeft {};

/// Debugs one launch: called from the run() of a LaunchRunner.
using DapBody = std::function<RunResult(const Launch&, const RunOptions&)>;
/// Runs the program and calls `body` for the requested launch. An Error that it throws is reported to the client.
using DapHost = std::function<DapOutcome(const DapLaunch& asked, const DapBody& body)>;

/// Programs that run by themselves.
struct DapPrograms {
  /// True for the launch request of such a program.
  std::function<bool(const DapLaunch& asked)> takes;
  /// Called in a new process: becomes the program, whose launches connect to the socket (make_dap_runner). An Error that it throws is the
  /// program's message.
  std::function<void(const DapLaunch& asked, const std::string& socket)> become;
};

/// Serves a client until it leaves.
void serve_dap(int in, int out, const DapHost& host, const DapPrograms& programs = {});

/// Debugs launches of this process: each connects to the serve_dap that listens at `socket`, and runs without a debugger if nobody does.
/// The kernels' output goes to the client.
std::unique_ptr<LaunchRunner> make_dap_runner(const std::string& socket);

}  // namespace drywell::sim
