// The mbarriers of a cluster in the checker: their lives, the releases of each phase's arrivals, and the threads that arrived.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/check/components.h"
#include "sim/check/reporter.h"
#include "sim/events/hub.h"
#include "sim/state/cta.h"

namespace drywell::sim::check {

/// An operation on an mbarrier, for deadlock reports.
struct LedgerEntry {
  MbarrierEvent what{};
  int64_t amount = 0;
  uint32_t pc = 0;
  uint16_t cta = 0, warp = 0;
  bool asynchronous = false;
};

struct BarrierState {
  Component component = 0;  // phases completed
  uint32_t phase = 0;       // the incomplete one
  uint32_t base = 0;        // the first phase of this life of the object
  uint32_t observed = 0;    // phases that some thread has seen complete, counted as `phase`
  bool live = false;
  AccessId init = 0;
  AccessId ended = 0;                            // mbarrier.inval of the life before
  std::vector<Access> users;                     // the last use of each warp, if the program ends mbarriers
  std::vector<Access> copies;                    // the last arrival of each warp's cp.async; the same
  Message collecting;                            // released by arrivals so far
  Message done[2];                               // phases of even and odd number
  Clock wide_home, done_wide_home[2];            // released by threads of its own CTA, at any scope
  std::vector<LedgerEntry> ledger, last_ledger;  // of the incomplete phase, of the one before
};

class MbarrierLedger {
 public:
  /// `ends`: the program has mbarrier.inval.
  MbarrierLedger(size_t ctas, bool ends, Components& components, AccessTable& accesses, Reporter& reporter)
      : components_(components), accesses_(accesses), reporter_(reporter), ends_(ends), ctas_(ctas) {}

  /// The object at a shared address; nullptr: there was none.
  const BarrierState* find(uint32_t address) const;

  /// `who` initialises the object. Returns the access's number; 0: another lane of the same instruction initialised it before.
  AccessId init(uint32_t address, const Access& who);
  /// `who` ends the object: reports uses that do not happen before. Returns whether there is one.
  bool inval(uint32_t address, const Access& who, const Clock& seen);
  /// `now` accesses the bytes of the object of that initialisation, which nothing has used. Reported when it is used, or else at the CTA's end.
  void overwritten(AccessId init, AccessId now) { overwritten_.emplace(init, now); }
  /// `who` uses the object: reports a use that the initialisation does not happen before, and bytes that were something else meanwhile.
  void check_init(uint32_t address, const Access& who, const Clock& seen);

  /// cp.async.mbarrier.arrive: `who` lets its copies arrive on the object, later.
  void copies_arrive(uint32_t address, const Access& who);
  /// They do, in the incomplete phase.
  void copies_arrived(uint32_t address, const Access& who);

  /// One arrival or a change of the byte count. `home`: the arriver's clock whatever the scope; `released`: Message or Message::Part.
  template <class Released>
  void note(uint32_t address, const LedgerEntry& e, const Released& released, const Clock& home, const Access& who) {
    BarrierState& b = of(address);
    check_observed(address, b, e.what, who);
    if (e.what == MbarrierEvent::arrive) {
      b.collecting.join(released);
      if (who.cta == shared_rank(address)) b.wide_home.join(home);
    }
    b.ledger.push_back(e);
  }
  void complete_phase(uint32_t address);
  /// The end of the incomplete phase as a component and its value; a clock that reaches them has the phase complete.
  struct End {
    Component component;
    uint32_t value;
  };
  End end_of_phase(uint32_t address) { return {of(address).component, of(address).phase + 1}; }

  /// The state that a wait that returned true acquires, for a thread with the clock `seen`.
  struct Observed {
    const Message& released;
    const Clock& home;
    bool news;
    End end;
  };
  /// Returns nothing if the thread waited for the phase before the first.
  std::optional<Observed> observe(uint32_t address, uint32_t parity, const Clock& seen);
  /// The mbarrier whose phases that component counts, and the first phase of its present life.
  struct Counted {
    uint32_t address, base;
  };
  std::optional<Counted> counted_by(Component c) const;
  /// Offsets, ascending, of the CTA's mbarriers that the source line of this one's initialisation initialises.
  std::vector<uint32_t> siblings(uint32_t address, const Program& p) const;
  /// The CTA has ended: reports bytes that its mbarriers still expect, and mbarriers that were given up.
  void finish(const Cta& cta) const;
  void clear() { ctas_.clear(); }
  bool live(uint32_t address) const {
    const BarrierState* b = find(address);
    return b != nullptr && b->live;
  }

 private:
  BarrierState& of(uint32_t address);
  void end_of_none(uint32_t address, const BarrierState& b, const Access& who);
  void check_overwritten(uint32_t address, AccessId init);
  void report_given_up(uint32_t rank) const;
  void check_observed(uint32_t address, const BarrierState& b, MbarrierEvent what, const Access& who);

  static void keep_last(std::vector<Access>& of_warps, const Access& who);

  Components& components_;
  AccessTable& accesses_;
  Reporter& reporter_;
  bool ends_;
  std::vector<std::unordered_map<uint32_t, BarrierState>> ctas_;  // by offset
  std::unordered_map<AccessId, AccessId> overwritten_;            // by initialisation
};

}  // namespace drywell::sim::check
