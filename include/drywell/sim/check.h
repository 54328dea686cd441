// Hazard checking: what is wrong with a kernel although it ran (docs/hazards.md).
//
//   HazardChecker checker;
//   options.listeners.push_back(checker.listener());
//   RunResult r = device.launch(m, "kernel", config, args, options);
//   for (const Finding& f : checker.findings()) …
//
// Verdicts follow from what happens before what in the PTX memory model, never from the order one run happened to take: a
// missing wait is found even if the copy was done long before.
//
// A checker, like every listener, serves one launch at a time; what it found is read by one thread at a time, best when the
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

/// error: PTX says undefined or wrong. warning: today's hardware allows it, PTX does not promise it. note: worth knowing.
enum class HazardLevel : uint8_t { error, warning, note };

/// One side of a hazard.
struct FindingParty {
  std::string role;        // "reads", "writes", "still writes", …
  GuestPlace where;
  uint64_t when = 0;       // clock of the run: cycles (timed driver) or warp instructions
};

struct Finding {
  std::string code;        // H7xxx, a section of docs/hazards.md
  HazardLevel level = HazardLevel::error;
  std::string rule;        // what was broken, one line
  FindingParty here, other;  // `other.role` is empty if there is no second party
  std::string memory;      // what it is about
  std::string why, mend;   // why it can bite; how to mend it
  std::string ptx;         // section of the PTX ISA
  uint64_t count = 1;      // how often: the same two instructions and rule

  std::string to_string() const;
};

/// basic: everything but the bytes of shared and global memory, at little cost. full: those, too.
enum class CheckLevel : uint8_t { basic, full };

struct CheckOptions {
  CheckLevel level = CheckLevel::full;
  bool global_memory = true;   // races in global memory too
  bool uninitialised = true;   // reads of shared and tensor memory that nobody wrote
  size_t most = 200;           // different findings kept
};

/// Who waits for whom in a deadlock: blocked warps, the barriers they wait on, and the warps that should have come.
struct WaitGraph {
  struct Node {
    enum class Kind : uint8_t { blocked, barrier, other } kind = Kind::blocked;
    std::vector<std::string> lines;  // the first is its name
  };
  struct Edge {
    size_t from = 0, to = 0;         // indices of nodes
    std::string label;
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

class HazardChecker {
 public:
  explicit HazardChecker(CheckOptions options = {});
  ~HazardChecker();
  HazardChecker(const HazardChecker&) = delete;
  HazardChecker& operator=(const HazardChecker&) = delete;

  /// One checker serves launches one after the other.
  Listener* listener();
  /// Errors first, then in the order they were met.
  std::vector<Finding> findings() const;
  /// Different findings so far, and each in the order they were met: for whoever looks while the launch runs.
  size_t count() const;
  Finding finding(size_t i) const;
  /// Of the latest launch: lines of the PTX, from 1, of mbarrier waits that were executed and never told their warp of a phase that it
  /// did not already know to be complete.
  std::vector<uint32_t> waits_without_news() const;
  /// Of the last deadlock; without nodes if there was none.
  WaitGraph wait_graph() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Fills the destination of every copy to shared memory with 0xFF when it is issued, so that reading it early shows in the values.
/// For runs that look for races by their results; correct kernels do not notice.
class InFlightPoison {
 public:
  InFlightPoison();
  ~InFlightPoison();
  InFlightPoison(const InFlightPoison&) = delete;
  InFlightPoison& operator=(const InFlightPoison&) = delete;
  Listener* listener();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

std::string_view hazard_level_name(HazardLevel l);

}  // namespace drywell::sim
