// Findings: made once per rule and pair of source lines (without lines: of instruction forms), then counted. Unrolled code would
// otherwise repeat the same finding hundreds of times.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "sim/check/access.h"
#include "sim/check/rules.h"
#include "sim/state/program.h"

namespace drywell::sim::check {

class Reporter {
 public:
  explicit Reporter(size_t most) : most_(most) {}
  /// Describes the order between two accesses; called for the first finding of its kind.
  using Describe = std::function<std::string(Rule, const Access& prior, const Access& now)>;
  void describe_with(Describe d) { describe_ = std::move(d); }
  void begin(const Program& program) {
    program_ = &program;
    known_.clear();
    groups_.clear();
    keys_.clear();
    first_ = findings_.size();
  }
  /// `memory` is called only for the first finding of its kind. `prior`: nullptr if there is no other party.
  template <class F>
  void report(Rule rule, const Access* prior, const Access& now, F memory) {
    const auto key = std::tuple(rule, prior != nullptr ? prior->pc + 1 : 0, now.pc);
    if (const auto found = known_.find(key); found != known_.end()) {
      ++findings_[found->second].count;
      return;
    }
    const auto group = std::tuple(rule, prior != nullptr ? place_key(prior->pc) : PlaceKey{}, place_key(now.pc));
    if (const auto found = groups_.find(group); found != groups_.end()) {
      known_.emplace(key, found->second);
      ++findings_[found->second].count;
      return;
    }
    if (findings_.size() >= most_) return;
    known_.emplace(key, findings_.size());
    groups_.emplace(group, findings_.size());
    keys_.push_back(group);
    findings_.push_back(make(rule, prior, now, memory()));
  }
  /// Adds the findings of another reporter in this launch, from its `from`-th on, after its own.
  void merge(const Reporter& other, size_t from = 0);
  size_t found() const { return keys_.size(); }
  std::vector<Finding> sorted() const;
  const std::vector<Finding>& all() const { return findings_; }

 private:
  Finding make(Rule rule, const Access* prior, const Access& now, std::string memory) const;
  FindingParty party(const Access& a, const char* role) const;
  /// The form of an instruction and its line in the author's source, with the calls that line was inlined for, or in the PTX.
  using PlaceKey = std::array<uint32_t, 4>;
  PlaceKey place_key(uint32_t pc) const;

  const Program* program_ = nullptr;
  Describe describe_;
  size_t most_;
  std::map<std::tuple<Rule, uint32_t, uint32_t>, size_t> known_;
  using Group = std::tuple<Rule, PlaceKey, PlaceKey>;
  std::map<Group, size_t> groups_;
  std::vector<Group> keys_;  // of findings_ from first_ on: those of this launch
  size_t first_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace drywell::sim::check
