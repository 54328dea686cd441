// A group's port to the L2: the requests since the last window, the warps and operations that wait for answers, and the answers.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/timing/memory_system.h"

namespace drywell::sim {

/// A warp's load that waits for a request.
struct WaitingLoad {
  static constexpr uint32_t kNoWarp = ~0u;
  uint32_t warp = kNoWarp;
  uint32_t resident = 0;
  uint64_t serial = 0, load = 0;  // of the warp's CTA; of the load in its scoreboard
};

/// A request that loads or an asynchronous operation wait for.
struct OutstandingRequest {
  WaitingLoad first;
  std::vector<WaitingLoad> others;  // loads of sectors that the first one requested
  uint32_t resident = 0;
  uint64_t op = 0;
  uint32_t bytes = 0;
  uint16_t sm = 0;
  bool fill_l1 = false;
  std::vector<ByteRange> runs;
};

class MemoryPort {
 public:
  static constexpr uint32_t kNoToken = ~0u;

  // For the units.
  /// The runs of bytes of a request are appended here, from first_new_run() on, before it is sent.
  std::vector<ByteRange>& runs() { return runs_; }
  const std::vector<ByteRange>& runs() const { return runs_; }
  uint32_t first_new_run() const { return static_cast<uint32_t>(runs_.size()); }
  /// Returns a token for the request that `who` waits for; `runs`: what it brings into the L1. `who` has no vectors of its own: those of the
  /// token's earlier requests are used again.
  uint32_t await(const OutstandingRequest& who, std::span<const ByteRange> runs = {});
  void send(MemoryKind kind, double time, uint32_t first_run, uint32_t token = kNoToken, float more = 0);
  /// The token's answer has a cycle: returns the request, which is valid until the next call.
  const OutstandingRequest& take(uint32_t token);
  bool is_load(uint32_t token) const { return outstanding_[token].first.warp != WaitingLoad::kNoWarp; }
  /// One more load waits for a request that is on its way.
  void join(uint32_t token, const WaitingLoad& who) { outstanding_[token].others.push_back(who); }

  // For the memory, between two windows.
  std::vector<MemoryRequest>& requests() { return requests_; }
  const std::vector<MemoryRequest>& requests() const { return requests_; }
  const std::vector<ByteRange>& asked() const { return runs_; }
  void clear();
  void answer(const MemoryRequest& r);

  /// The earliest answer that take_answers() has not passed on; kNever: there is none.
  Time first_answer() const { return first_answer_; }
  template <class F>
  void take_answers(F&& each) {  // each(Time, token)
    for (const Answer& a : answers_) each(a.done, a.token);
    answers_.clear();
    first_answer_ = kNever;
  }
  bool quiet() const { return answers_.empty() && requests_.empty(); }

 private:
  struct Answer {
    Time done;
    uint32_t token;
  };
  std::vector<MemoryRequest> requests_;
  std::vector<ByteRange> runs_;
  std::vector<OutstandingRequest> outstanding_;
  OutstandingRequest taken_;
  std::vector<uint32_t> free_;
  std::vector<Answer> answers_;
  Time first_answer_ = kNever;
};

}  // namespace drywell::sim
