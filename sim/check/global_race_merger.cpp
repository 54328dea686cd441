#include "sim/check/global_race_merger.h"

#include <fmt/format.h>

#include <utility>

namespace drywell::sim::check {

void GlobalRaceMerger::begin(const Launch& launch, const LaunchState& state) {
  state_ = &state;
  gmem_ = launch.gmem;
  suspects_.clear();
  accesses_.clear();
  repeated_.clear();
  cross_cluster_.assign(1, {});
  touches_.clear();
  joined_.fill({});
  shadow_.clear();
}

AccessId GlobalRaceMerger::adopt(const ClusterMonitor& m, AccessId id, Adopted& known) {
  if (id == 0) return 0;
  if (known.accesses.size() <= id) known.accesses.resize(m.accesses().size());
  AccessId& here = known.accesses[id];
  if (here == 0) {
    here = accesses_.add(m.accesses()[id]);
    accesses_.at(here).repeated = adopt_repeated(m, m.accesses()[id].repeated);
    accesses_.at(here).cross_cluster = adopt_cross_cluster(m, m.accesses()[id].cross_cluster, known);
  }
  return here;
}

uint32_t GlobalRaceMerger::adopt_cross_cluster(const ClusterMonitor& m, uint32_t number, Adopted& known) {
  if (number == 0) return 0;
  if (known.fars.size() <= number) known.fars.resize(number + 1);
  uint32_t& here = known.fars[number];
  if (here == 0) {
    here = static_cast<uint32_t>(cross_cluster_.size());
    cross_cluster_.push_back(m.cross_cluster(number));
  }
  return here;
}

Rule GlobalRaceMerger::race_between(const Access& prior, const Access& now) const {
  if (prior.cluster == now.cluster) return Rule::none;
  return state_->opaque ? Rule::none : cross_cluster_rule(prior, cross_cluster_[prior.cross_cluster], now, cross_cluster_[now.cross_cluster]);
}

uint64_t GlobalRaceMerger::Touches::hash(const Touch& t) {
  uint64_t digest = 0;
  for (const AccessId id : {t.writer, t.same_before, t.reader, t.other, t.earlier_writer, t.earlier_reader, AccessId{t.under} << 2 | AccessId{t.several} << 1 | t.was_read}) digest = (digest ^ id) * 0x9E3779B97F4A7C15u;
  return (digest ^ digest >> 32) * 0x9E3779B97F4A7C15u;
}

StateId GlobalRaceMerger::Touches::number(const Touch& t) {
  for (size_t i = hash(t) >> bits_; table_[i] != 0; i = (i + 1) & (table_.size() - 1))
    if (all_[table_[i]] == t) return table_[i];
  all_.push_back(t);
  if (2 * all_.size() > table_.size())
    grow();
  else
    insert(static_cast<StateId>(all_.size() - 1));
  return static_cast<StateId>(all_.size() - 1);
}

void GlobalRaceMerger::Touches::insert(StateId s) {
  size_t i = hash(all_[s]) >> bits_;
  while (table_[i] != 0) i = (i + 1) & (table_.size() - 1);
  table_[i] = s;
}

void GlobalRaceMerger::Touches::grow() {
  table_.assign(4 * table_.size(), 0);
  bits_ -= 2;
  for (StateId s = 1; s < all_.size(); ++s) insert(s);
}

bool GlobalRaceMerger::store_the_same(const Touch& t, const Left& left) const {
  if (t.writer == 0 || left.writer == 0 || t.was_read || left.was_read) return false;
  const Access &one = accesses_[t.writer], &other = accesses_[left.writer];
  if (store_one_value(one, other) || (one.stored != 0 && one.stored == other.stored)) return true;
  // One of them left the memory as it was, and the other has left it so: they overlap, as where the last CTA begins anew.
  return repeated_.stay(one.repeated, *gmem_) || repeated_.stay(other.repeated, *gmem_);
}

// Of two writers that store the same, the one that changed the memory is what readers race with; the other is what they may wait for.
void GlobalRaceMerger::put_writer(Touch& t, const Left& left, bool same) const {
  if (left.writer == 0) return;
  const bool changes = !accesses_[left.writer].unchanging;
  if (same && changes) {
    t.same_before = left.writer;
    return;
  }
  t.same_before = !same ? left.same_before : accesses_[t.writer].unchanging ? t.same_before
                                                                            : t.writer;
  t.writer = left.writer;
  t.was_read = left.was_read;
}

AccessId GlobalRaceMerger::under(const Touch& t, const Left& left) const {
  if (left.writer == 0 || !accesses_[left.writer].modifies || left.under != 0) return left.writer == 0 ? t.under : left.under;
  return t.writer != 0 && !accesses_[t.writer].modifies ? t.writer : t.under;
}

bool GlobalRaceMerger::report_race(AccessId prior, AccessId now, Rule r, uint64_t at, Reporter& reporter) const {
  if (r == Rule::none) return false;
  const bool proxies = r == Rule::proxy_global || r == Rule::map_not_released || r == Rule::map_not_acquired;
  if (proxies && !is_plain(accesses_[prior].agent)) std::swap(prior, now);  // the store came first
  reporter.report(r, &accesses_[prior], accesses_[now], [&] { return fmt::format("global memory at {:#x}", at); });
  return true;
}

// Only races that change what is read or left: of stores that repeat values it is not known what they found then.
bool GlobalRaceMerger::check_earlier(const Touch& t, const Left& left, uint64_t at, Reporter& reporter) const {
  bool found = false;
  const auto check = [&](AccessId prior, AccessId now) {
    if (prior == 0 || now == 0) return;
    const Access &one = accesses_[prior], &other = accesses_[now];
    const bool same = store_one_value(one, other) || (one.write && other.write && one.stored != 0 && one.stored == other.stored);
    const Rule r = same ? Rule::none : race_between(one, other);
    if (r != Rule::race_unchanged) found = report_race(prior, now, r, at, reporter) || found;
  };
  for (const AccessId now : {left.writer, left.reader}) check(t.earlier_writer, now);
  for (const AccessId prior : {t.writer, t.reader, t.other}) check(prior, left.earlier_writer);
  check(t.earlier_reader, left.writer);
  check(t.writer, left.earlier_reader);
  return found;
}

StateId GlobalRaceMerger::joined(StateId old, const Left& left, uint64_t at, Reporter& reporter) {
  const auto [writer, same_before, reader, own_under, was_read, earlier_writer, earlier_reader] = left;
  Joined& known = joined_[(old * 31 + writer * 37 + reader + own_under * 41) % joined_.size()];
  if (known.result != 0 && known.old == old && known.left == left) return known.result;
  Touch t = touches_[old];
  bool silent = true;
  // `before`: the write whose values the writing one of the two only stored again.
  const auto check = [&](AccessId prior, AccessId now, AccessId before) {
    if (prior == 0 || now == 0) return;
    Rule r = race_between(accesses_[prior], accesses_[now]);
    if (r == Rule::race_unchanged && before != 0) {
      AccessId& changed = accesses_[prior].write ? prior : now;
      const AccessId again = std::exchange(changed, before);
      const Rule worse = race_between(accesses_[prior], accesses_[now]);
      if (worse == Rule::none)
        changed = again;
      else
        r = worse;
    }
    silent = !report_race(prior, now, r, at, reporter) && silent;
  };
  const bool same = store_the_same(t, left);
  if (!same) check(t.writer, writer != 0 ? writer : reader, t.same_before);
  check(t.reader, writer, same_before);
  check(t.other, writer, same_before);
  // Only atomics: against others the last write is enough.
  if (writer != 0 && accesses_[writer].modifies) check(t.under, writer, 0);
  if (t.writer != 0 && accesses_[t.writer].modifies) check(t.writer, own_under, 0);
  silent = !check_earlier(t, left, at, reporter) && silent;
  if (earlier_writer != 0) t.earlier_writer = earlier_writer;
  if (earlier_reader != 0) t.earlier_reader = earlier_reader;
  t.under = under(t, left);
  t.several = t.several || (t.writer != 0 && left.writer != 0);
  put_writer(t, left, same);
  if (t.reader == 0) {
    t.reader = reader;
  } else if (t.other == 0) {
    t.other = reader;
  }
  const StateId result = touches_.number(t);
  if (silent) known = {old, left, result};
  return result;
}

void GlobalRaceMerger::merge(const ClusterMonitor& m, Reporter& reporter) {
  Adopted known;
  for (const Suspect& s : m.suspects()) suspects_.push_back({s.begin, s.end, adopt(m, s.id, known)});
  shadow_.join(m.global(), [&](StateId old, StateId s, uint64_t at) {
    const auto readers = m.states().readers(s);
    const auto here = [&](AccessId id) { return adopt(m, id, known); };
    return joined(old, {here(m.states().writer(s)), here(m.states().same_before(s)), here(readers.empty() ? 0 : readers[0]), here(m.states().under(s)), m.states().was_read(s), here(m.states().earlier_writer(s)), here(m.states().earlier_reader(s))},
                  at, reporter);
  });
}

void GlobalRaceMerger::finish(LaunchState& state, Reporter& reporter) {
  if (gmem_ == nullptr) return;
  for (const Suspect& s : suspects_) {
    bool written = false;
    const bool atomic = accesses_[s.id].write;
    shadow_.each_in(s.begin, s.end, [&](uint64_t, StateId t) { written = written || (atomic ? wrote_first(touches_[t]) : wrote_elsewhere(touches_[t], accesses_[s.id])); });
    if (!written) reporter.report(Rule::global_unwritten, nullptr, accesses_[s.id], [&] { return fmt::format("global memory at {:#x}", s.begin); });
  }
  state.previous.clear();
  Suspect run{};  // neighbours that were all written, or all read
  bool written = false;
  const auto keep = [&] {
    if (written) gmem_->note_write(run.begin, run.end - run.begin);
    if (state.starts_dependents) state.previous.update(run.begin, run.end, [&](StateId, uint64_t) { return written ? LaunchState::kWritten : LaunchState::kRead; });
  };
  shadow_.each([&](uint64_t begin, uint64_t end, StateId t) {
    if (const bool now = touches_[t].writer != 0; begin != run.end || now != written) {
      keep();
      run.begin = begin;
      written = now;
    }
    run.end = end;
  });
  keep();
  gmem_->writes_are_known();
  shadow_.clear();
  gmem_ = nullptr;
}

}  // namespace drywell::sim::check
