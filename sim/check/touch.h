// The heart of the checker: what an access does to the shadow of the cells it touches.
#pragma once

#include "sim/check/monitor.h"

namespace drywell::sim::check {

/// What an access makes of the states it met last: its cells mostly have the same few.
class ClusterMonitor::Answers {
 public:
  struct Answer {
    StateId in = ~0u, out = 0;
  };
  Answer& at(StateId s) { return all_[s % std::size(all_)]; }
  Answer last;

 private:
  Answer all_[8];
};

/// An access at work: all that it touches, span after span.
struct ClusterMonitor::Touch {
  AccessId id;
  const WarpClock& who;
  Rule unwritten = Rule::none;  // of tensor memory
  Answers shared{}, tensor{}, global{};
};

// Marks cells as read or written by an access and reports what it is not ordered after. `known` is of one access.
template <class Cells, class Judge, class Where>
void ClusterMonitor::touch_cells(Cells& cells, uint64_t begin, uint64_t end, AccessId id, const Judge& judge, const Where& where, Rule unwritten, Answers& known) {
  const Access& now = accesses_[id];
  const AccessTable& accesses = accesses_;
  StateTable& states = states_;
  const auto check = [&](AccessId prior, uint64_t cell) {
    if (prior == id) return;
    if (const Rule r = judge(accesses[prior], now); r != Rule::none) reporter_.report(r, &accesses[prior], now, [&] { return where(cell); });
  };
  if (cells.replace(begin, end, known.last.in, known.last.out)) return;
  cells.update(begin, end, [&](StateId s, uint64_t cell) {
    Answers::Answer& answer = known.at(s);
    if (s == answer.in) {
      known.last = answer;
      return answer.out;
    }
    if (const AccessId writer = states.writer(s); writer != 0) {
      check(writer, cell);
    } else if (unwritten != Rule::none) {
      reporter_.report(unwritten, nullptr, now, [&] { return where(cell); });
    }
    if (now.write) {
      for (const AccessId r : states.readers(s)) check(r, cell);
    }
    answer = known.last = {s, now.write ? states.written(id) : states.read(s, id)};
    return answer.out;
  });
}

}  // namespace drywell::sim::check
