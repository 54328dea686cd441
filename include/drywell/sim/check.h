// Hazard checking: errors in a kernel that the results of a run do not show (docs/hazards.md).
//
//   HazardChecker checker;
//   options.listeners.push_back(checker.listener());
//   RunResult r = device.launch(m, "kernel", config, args, options);
//   for (const Finding& f : checker.findings()) …
//
// Verdicts follow from the happens-before order of the PTX memory model, not from the order of one run: a
// missing wait is reported even if the copy was complete long before.
//
// A checker, like every listener, serves one launch at a time. One thread at a time may read the findings, best after the
// launch has returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/sim/fault.h"

namespace drywell::sim {

class Listener;

/// error: undefined or invalid by PTX. warning: today's hardware allows it, PTX does not guarantee it. note: information.
enum class HazardLevel : uint8_t {
  error,
  warning,
  note
};

/// One side of a hazard.
struct FindingParty {
  std::string role;   // "reads", "writes", "still writes", …
  GuestPlace where;   // CTA, warp, lanes, instruction and lines
  uint64_t when = 0;  // clock of the run: cycles (timed driver) or warp instructions
};

/// One hazard: two accesses, or one, and the rule that they break.
struct Finding {
  std::string code;                        // H7xxx, a section of docs/hazards.md
  HazardLevel level = HazardLevel::error;  // how bad it is
  std::string rule;                        // the broken rule, one line
  FindingParty here, other;                // `other.role` is empty if there is no second party
  std::string memory;                      // the memory concerned
  std::string order;                       // what the order between the parties lacks: how far the synchronisation that there is goes; may be empty
  std::string why, fix;                    // a possible consequence; the change that makes it go away
  std::string ptx;                         // section of the PTX ISA
  uint64_t count = 1;                      // number of occurrences: same two instructions and same rule

  /// As `drywell run --check` prints it, in several lines.
  std::string to_string() const;
};

/// Findings for people, in at most about `lines` lines: causes before their consequences; each error with the other places of its cause,
/// warnings and notes one line for each rule. Starts with an empty line.
std::string describe_findings(const std::vector<Finding>& findings, size_t lines = 48);

/// basic: all checks except those on bytes of shared and global memory, at low cost. full: all checks.
enum class CheckLevel : uint8_t {
  basic,
  full
};

/// Global memory that the program's own allocator hands out in blocks, as PyTorch's does. All in the order of addresses.
struct MemoryPools {
  /// Addresses.
  struct Range {
    uint64_t begin = 0;  ///< of the first byte
    uint64_t end = 0;    ///< behind the last byte
  };
  std::vector<Range> pools;   // what the allocator has
  std::vector<Range> blocks;  // what of it is in use, each as large as it was asked for

  /// Whether [begin, end) begins in a pool and is not inside one block.
  bool unowned(uint64_t begin, uint64_t end) const;
  /// Where [begin, end) lies, for messages: ", its last 48 bytes behind a tensor's 41600 at 0x…"; empty without a block below.
  std::string neighbourhood(uint64_t begin, uint64_t end) const;
};

/// The checks of a checker.
struct CheckOptions {
  CheckLevel level = CheckLevel::full;       // what is checked at all
  bool global_memory = true;                 // also check races in global memory
  bool uninitialised = true;                 // also check reads of shared and tensor memory that was never written
  size_t most = 200;                         // different findings that are kept
  std::shared_ptr<const MemoryPools> pools;  // if known, accesses of a full check are held against them
};

/// Wait-for graph of a deadlock: blocked warps, the barriers they wait on, and the warps that did not arrive.
struct WaitGraph {
  /// A warp that waits, what it waits for, or a warp that has not arrived there.
  struct Node {
    /// Which of these.
    enum class Kind : uint8_t {
      blocked,
      barrier,
      other
    };
    Kind kind = Kind::blocked;       // which of these
    std::vector<std::string> lines;  // the first is its name
  };
  /// From the one that waits to the one that it waits for.
  struct Edge {
    size_t from = 0, to = 0;  // indices of nodes
    std::string label;        // what the first does with the second
  };
  std::vector<Node> nodes;  // warps and barriers
  std::vector<Edge> edges;  // who waits for what
};

/// A listener that finds hazards.
class HazardChecker {
 public:
  /// The options hold for all its launches.
  explicit HazardChecker(CheckOptions options = {});
  ~HazardChecker();
  HazardChecker(const HazardChecker&) = delete;
  HazardChecker& operator=(const HazardChecker&) = delete;

  /// One checker may serve several launches, one after the other.
  Listener* listener();
  /// The next launch is a dependent one (programmatic dependent launch): it may overlap the latest launch of `before`, a checker that has
  /// served its last launch. Without this call the launches of one checker overlap if the later one has griddepcontrol.wait.
  void follow(HazardChecker& before);
  /// Errors first, then in the order of detection.
  std::vector<Finding> findings() const;
  /// Number of different findings so far, and each finding in the order of detection: for readers during the launch.
  size_t count() const;
  /// Throws std::out_of_range from count() on.
  Finding finding(size_t i) const;
  /// Of the latest launch: PTX lines, from 1, of mbarrier waits that were executed and added no happens-before order: the completion of
  /// the phase already happened before every such wait.
  std::vector<uint32_t> waits_without_news() const;
  /// Of the last deadlock; without nodes if there was no deadlock.
  WaitGraph wait_graph() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Fills the destination of every copy to shared memory with 0xFF when the copy is issued, so that an early read shows in the values.
/// For runs that detect races by their results; the results of correct kernels do not change.
class InFlightPoison {
 public:
  /// Serves launches one after the other.
  InFlightPoison();
  ~InFlightPoison();
  InFlightPoison(const InFlightPoison&) = delete;
  InFlightPoison& operator=(const InFlightPoison&) = delete;
  /// For RunOptions::listeners.
  Listener* listener();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// "error", "warning", "note".
std::string_view hazard_level_name(HazardLevel l);

}  // namespace drywell::sim
