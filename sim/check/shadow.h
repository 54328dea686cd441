// Shadow memory: for every byte (or cell) its last writer and the readers since. States are numbered and shared; a unit
// of neighbouring cells has one state until an access touches only part of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/check/access.h"

namespace drywell::sim::check {

using StateId = uint32_t;  // 0: never touched

/// What a cell keeps of the accesses before its writer.
struct Past {
  AccessId same = 0;   // StateTable::same_before
  AccessId under = 0;  // StateTable::under
  bool read = false;
  /// The cluster's last write and a read of it before it last learnt of other clusters: what these did meanwhile is compared with them, too, when the
  /// clusters have ended.
  AccessId earlier_writer = 0, earlier_reader = 0;
  bool operator==(const Past&) const = default;
};

class StateTable {
 public:
  explicit StateTable(const AccessTable& accesses) : accesses_(accesses), states_(1) {}

  AccessId writer(StateId s) const { return states_[s].writer; }
  /// The write before writer(), if writer() stored the values that it had left; 0: none.
  AccessId same_before(StateId s) const { return states_[s].past.same; }
  /// The write before writer(), and before others like it, if writer() is an atomic and that write was none; 0: none.
  AccessId under(StateId s) const { return states_[s].past.under; }
  AccessId earlier_writer(StateId s) const { return states_[s].past.earlier_writer; }
  AccessId earlier_reader(StateId s) const { return states_[s].past.earlier_reader; }
  /// The earlier writer, and reader, of a cell of state `s` that `a` writes.
  AccessId earlier_writer(StateId s, AccessId a) const { return is_earlier(writer(s), a) ? writer(s) : earlier_writer(s); }
  AccessId earlier_reader(StateId s, AccessId a) const {
    const auto all = readers(s);
    const auto r = std::find_if(all.begin(), all.end(), [&](AccessId reader) { return is_earlier(reader, a); });
    return r == all.end() ? earlier_reader(s) : *r;
  }
  std::span<const AccessId> readers(StateId s) const { return {pool_.data() + states_[s].first, states_[s].count}; }

  /// Whether the cell was read, by atomics too, also before writer().
  bool was_read(StateId s) const { return states_[s].count != 0 || states_[s].past.read || writer_is_atomic(s); }

  StateId written(AccessId a, const Past& past = {}) {
    if (a == last_written_ && past == last_past_) return last_written_state_;
    last_written_ = a;
    last_past_ = past;
    states_.push_back({a, past, 0, 0});
    return last_written_state_ = static_cast<StateId>(states_.size() - 1);
  }
  /// The state `s` after one more read. Drops a reader if a later read by the same component implies it, but keeps a few whose lanes were elsewhere.
  StateId read(StateId s, AccessId a) {
    Read& known = reads_[(s * 31 + a) % kReads];
    if (known.state == s && known.access == a) return known.result;
    const State old = states_[s];
    if (old.count != 0 && pool_[old.first + old.count - 1] == a) return s;
    const auto first = static_cast<uint32_t>(pool_.size());
    uint32_t elsewhere = 0;
    Past past = old.past;
    for (uint32_t i = 0; i < old.count; ++i) {
      const AccessId r = pool_[old.first + i];
      if (is_earlier(r, a)) past.earlier_reader = r;
      if (!implied(accesses_[r], accesses_[a]) || (lanes_elsewhere(accesses_[r], accesses_[a]) && elsewhere++ < kElsewhere)) pool_.push_back(r);
    }
    pool_.push_back(a);
    states_.push_back({old.writer, past, first, static_cast<uint32_t>(pool_.size()) - first});
    const auto id = static_cast<StateId>(states_.size() - 1);
    known = {s, a, id};
    return id;
  }
  size_t size() const { return states_.size(); }
  void clear() {
    states_.resize(1);
    pool_.clear();
    reads_.fill({});
    last_written_ = last_written_state_ = 0;
    last_past_ = {};
  }

 private:
  struct State {
    AccessId writer = 0;
    Past past{};
    uint32_t first = 0, count = 0;
  };
  /// A recent result of read() for a state and an access.
  struct Read {
    StateId state = 0;
    AccessId access = 0;  // 0: nothing
    StateId result = 0;
  };
  static constexpr size_t kReads = 256;
  static constexpr uint32_t kElsewhere = 3;

  /// Two reads of shared memory between which the lanes of the warp have not met: a byte may be another lane's in the earlier one.
  static bool lanes_elsewhere(const Access& old, const Access& now) { return old.places != 0 && now.places != 0 && old.done_at == now.done_at; }
  static bool implied(const Access& old, const Access& now) {
    return old.cluster == now.cluster && old.done == now.done && old.agent == now.agent && old.done_at != kInFlight && old.done_at <= now.done_at;
  }

  /// Between the two their warps may have learnt of other clusters.
  bool is_earlier(AccessId old, AccessId now) const { return old != 0 && old != now && accesses_[old].cross_cluster != accesses_[now].cross_cluster; }
  bool writer_is_atomic(StateId s) const { return accesses_[states_[s].writer].agent == Agent::atomic; }

  const AccessTable& accesses_;
  std::vector<State> states_;
  std::vector<AccessId> pool_;
  std::array<Read, kReads> reads_{};
  AccessId last_written_ = 0;
  Past last_past_{};
  StateId last_written_state_ = 0;
};

/// States of a run of cells, grouped in units of `Unit` cells.
template <uint32_t Unit>
class Shadow {
 public:
  explicit Shadow(size_t cells) : units_((cells + Unit - 1) / Unit) {}
  size_t cells() const { return units_.size() * Unit; }
  /// Adds cells that were never touched.
  void grow(size_t cells) { units_.resize((cells + Unit - 1) / Unit); }

  /// Calls next(state, cell) → state for the cells [begin, end), once per run of equal states where it can.
  template <class F>
  void update(size_t begin, size_t end, F next) {
    end = std::min(end, cells());
    if (begin >= end) return;
    const size_t last = end / Unit;  // whole units lie before it
    size_t u = begin / Unit;
    if (const size_t first = begin % Unit; first != 0) {
      update_part(u, first, std::min<size_t>(Unit, end - u * Unit), next);
      ++u;
    }
    while (u < last) {
      const StateId s = units_[u];
      if ((s & kSplit) != 0) {
        update_part(u++, 0, Unit, next);
        continue;
      }
      const size_t run = end_of_run(u, last);
      if (const StateId out = next(s, u * Unit); out != s) std::fill(&units_[u], &units_[u] + (run - u), out);
      u = run;
    }
    if (u == last && end % Unit != 0) update_part(u, 0, end % Unit, next);
  }
  /// Returns whether the cells [begin, end) are whole units, all of state `in`; if so they become `out`.
  bool replace(size_t begin, size_t end, StateId in, StateId out) {
    if ((begin | end) % Unit != 0 || begin > end || end > cells()) return false;
    StateId* const first = units_.data() + begin / Unit;
    StateId* const last = units_.data() + end / Unit;
    StateId differ = 0;
    for (const StateId* u = first; u != last; ++u) differ |= *u ^ in;
    if (differ != 0) return false;
    for (StateId* u = first; u != last; ++u) *u = out;
    return true;
  }
  /// Merges `cells` whole units of `other` from `from` on into those here from `at` on: calls next(state here, state there, cell)
  /// → state where `other` was touched, once per run of equal pairs.
  template <class F>
  void join(size_t at, const Shadow& other, size_t from, size_t cells, F next) {
    StateId here = ~0u, there = ~0u, out = 0;
    const auto both = [&](StateId a, StateId b, size_t cell) {
      if (b == 0) return a;
      if (a != here || b != there) out = next(here = a, there = b, cell);
      return out;
    };
    for (size_t u = at / Unit, v = from / Unit; u < (at + cells) / Unit; ++u, ++v) {
      const StateId b = other.units_[v];
      if (b == 0) continue;
      if (((units_[u] | b) & kSplit) == 0) {
        units_[u] = both(units_[u], b, u * Unit);
        continue;
      }
      if ((units_[u] & kSplit) == 0) {
        const StateId whole = units_[u];
        split(u).fill(whole);
      }
      Part& p = parts_[units_[u] & ~kSplit];
      for (size_t i = 0; i < Unit; ++i) p[i] = both(p[i], other.state_at(v, i), u * Unit + i);
      unite(u);
    }
  }
  /// Calls f(begin, end, state) for the runs of touched cells of the whole units [begin, end).
  template <class F>
  void each(size_t begin, size_t end, F f) const {
    for (size_t u = begin / Unit, last = end / Unit; u < last;) {
      const StateId s = units_[u];
      if ((s & kSplit) != 0) {
        const Part& p = parts_[s & ~kSplit];
        for (size_t i = 0, next; i < Unit; i = next) {
          for (next = i + 1; next < Unit && p[next] == p[i]; ++next) {
          }
          if (p[i] != 0) f(u * Unit + i, u * Unit + next, p[i]);
        }
        ++u;
        continue;
      }
      const size_t run = end_of_run(u, last);
      if (s != 0) f(u * Unit, run * Unit, s);
      u = run;
    }
  }
  /// Calls f(cell, state) for the touched cells of [begin, end).
  template <class F>
  void each_in(size_t begin, size_t end, F f) const {
    for (size_t i = begin; i < end; ++i) {
      if (const StateId s = state_at(i / Unit, i % Unit); s != 0) f(i, s);
    }
  }
  void clear() {
    units_.clear();
    parts_.clear();
    free_.clear();
  }

 private:
  static constexpr StateId kSplit = 0x80000000u;
  using Part = std::array<StateId, Unit>;

  StateId state_at(size_t u, size_t cell) const {
    const StateId s = units_[u];
    return (s & kSplit) != 0 ? parts_[s & ~kSplit][cell] : s;
  }
  /// The first unit after `u`, before `last`, that has another state.
  size_t end_of_run(size_t u, size_t last) const {
    constexpr size_t kBlock = 16;
    const StateId s = units_[u];
    for (++u; u + kBlock <= last; u += kBlock) {
      StateId differ = 0;
      for (size_t i = 0; i < kBlock; ++i) differ |= units_[u + i] ^ s;
      if (differ != 0) break;
    }
    while (u < last && units_[u] == s) ++u;
    return u;
  }

  template <class F>
  void update_part(size_t u, size_t first, size_t last, F& next) {
    const StateId whole = units_[u];
    if ((whole & kSplit) == 0) {
      const StateId out = next(whole, u * Unit + first);
      if (out == whole) return;
      Part& p = split(u);
      p.fill(whole);
      std::fill(p.begin() + first, p.begin() + last, out);
      return;
    }
    Part& p = parts_[whole & ~kSplit];
    StateId in = ~0u, out = 0;
    for (size_t i = first; i < last; ++i) {
      if (p[i] != in) out = next(in = p[i], u * Unit + i);
      p[i] = out;
    }
    unite(u);
  }

  /// Makes a split unit whole again if its parts are equal.
  void unite(size_t u) {
    const uint32_t part = units_[u] & ~kSplit;
    const Part& p = parts_[part];
    StateId differ = 0;
    for (const StateId s : p) differ |= s ^ p[0];
    if (differ != 0) return;
    free_.push_back(part);
    units_[u] = p[0];
  }

  Part& split(size_t u) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(parts_.size()));
      parts_.emplace_back();
    }
    const uint32_t part = free_.back();
    free_.pop_back();
    units_[u] = kSplit | part;
    return parts_[part];
  }

  std::vector<StateId> units_;
  std::vector<Part> parts_;
  std::vector<uint32_t> free_;
};

/// Shared memory by the byte; the unit is the 16 bytes that swizzles move as one.
using SharedShadow = Shadow<16>;

/// Tensor memory by the cell: one quarter of the lanes after the other, as warps see it; in a quarter the columns, and each column's lanes.
/// Four columns of a quarter are a unit: scale factors take that much.
class TensorShadow {
 public:
  static constexpr uint32_t kLanes = 32;
  explicit TensorShadow(uint32_t columns) : columns_(columns), cells_(size_t{columns} * 4 * kLanes) {}

  uint32_t lane_of(uint64_t cell) const { return static_cast<uint32_t>(cell / kLanes / columns_ * kLanes + cell % kLanes); }
  uint32_t column_of(uint64_t cell) const { return static_cast<uint32_t>(cell / kLanes % columns_); }
  /// Calls f(begin, end) for the runs of cells of a rectangle.
  template <class F>
  void runs(uint32_t lane, uint32_t lanes, uint32_t column, uint32_t columns, F f) const {
    columns = std::min(columns, columns_ - std::min(column, columns_));  // an operation that reaches beyond tensor memory raises a fault later
    for (uint32_t first = lane, last; first < lane + lanes; first = last) {
      last = std::min(lane + lanes, first / kLanes * kLanes + kLanes);
      const uint64_t row = uint64_t{first / kLanes} * columns_ + column;
      if (last - first == kLanes) {
        f(row * kLanes, (row + columns) * kLanes);
        continue;
      }
      for (uint64_t c = row; c < row + columns; ++c) f(c * kLanes + first % kLanes, c * kLanes + first % kLanes + (last - first));
    }
  }
  template <class F>
  void update(uint64_t begin, uint64_t end, F next) { cells_.update(begin, end, next); }
  bool replace(uint64_t begin, uint64_t end, StateId in, StateId out) { return cells_.replace(begin, end, in, out); }
  template <class F>
  void each_in(uint64_t begin, uint64_t end, F f) const { cells_.each_in(begin, end, f); }
  void forget(uint32_t column, uint32_t columns) {
    runs(0, 4 * kLanes, column, columns, [&](uint64_t begin, uint64_t end) { cells_.update(begin, end, [](StateId, uint64_t) { return StateId{0}; }); });
  }

 private:
  uint32_t columns_;
  Shadow<4 * kLanes> cells_;
};

}  // namespace drywell::sim::check
