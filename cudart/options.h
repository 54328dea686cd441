// Options from `drywell exec` to the stand-in, in one environment variable: lines of name=value, in which \\ is a backslash and \n a line feed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drywell/core/pattern.h"
#include "drywell/sim/check.h"
#include "drywell/sim/device.h"
#include "drywell/sim/limit_words.h"

namespace drywell::cudart {

inline constexpr const char* kOptionsVariable = "DRYWELL_EXEC";
/// Of `drywell exec` with --break: the socket of the `drywell dap` that takes the launches instead of a terminal.
inline constexpr const char* kDebuggerVariable = "DRYWELL_DAP";

struct ExecOptions {
  std::string arch = "sm_100a", driver = "eager", caches = "carry", clock = "nominal";
  std::string kernel;         // regular expression for kernel names; empty: all launches
  std::string trace, report;  // files
  std::string dump;           // --dump: folder of launch files; empty: none
  /// --time: regular expression; launches of these kernels run under the timed driver, the others under `driver`. Empty: all under `driver`.
  std::string time;
  std::string check = "off";  // or basic, full: as for `drywell run`
  bool summary = false, values = true, contract = false;
  /// --break: the debugger takes the launch with this number (as in the summary), or the first launch that `kernel`
  /// matches.
  struct Break {
    std::optional<uint64_t> launch;
  };
  std::optional<Break> break_at;
  std::string script;  // the debugger's commands; empty: standard input
  std::string dap;     // socket of an editor's debugger, which takes every launch that `kernel` matches, or that with break_at's number; empty: none
  unsigned threads = 0;
  sim::RunLimits limits;  // the time begins with the process's first CUDA call
  /// Byte `offset` of the `allocation`-th cudaMalloc (from 0) is wrong while a kernel runs that `kernel` matches.
  struct Corruption {
    uint64_t allocation = 0, offset = 0;
  };
  std::optional<Corruption> corrupt;
  bool list_allocations = false, leaks = false;  // at the end
  uint64_t process = 0;                          // the process that `drywell exec` became: it says so if it called no CUDA function
};

/// nullopt: no checks. Throws InputError E4306.
std::optional<sim::CheckLevel> check_level(const ExecOptions& o);
/// "first", or a number. Throws InputError E4306.
ExecOptions::Break parse_break(const std::string& text);
/// "3+17": byte 17 of allocation 3. Throws InputError E4306.
ExecOptions::Corruption parse_corruption(const std::string& text);

std::string to_environment(const ExecOptions& o);
/// Throws InputError E4306 for an unknown name.
ExecOptions from_environment(std::string_view text);
/// Returns `kernel` as a regular expression; nothing if it is empty. Throws InputError E4306.
std::optional<Pattern> kernel_filter(const ExecOptions& o);
/// The same for `time`.
std::optional<Pattern> time_filter(const ExecOptions& o);
/// Throws InputError E4306 for an unknown driver, clock or state of the caches, and for options that exclude each other; E4308 for a malformed bound.
sim::RunOptions run_options(const ExecOptions& o);

}  // namespace drywell::cudart
