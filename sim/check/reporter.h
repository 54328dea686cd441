// Findings: made once per rule and pair of instructions, then counted.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/check/access.h"
#include "sim/check/rules.h"
#include "sim/exec/program.h"

namespace drywell::sim::check {

class Reporter {
 public:
  explicit Reporter(size_t most) : most_(most) {}
  void begin(const Program& program) {
    program_ = &program;
    known_.clear();
  }
  /// `memory` is called only for the first of its kind. `prior`: nullptr if there is no other party.
  template <class F>
  void report(Rule rule, const Access* prior, const Access& now, F memory) {
    const auto key = std::tuple(rule, prior != nullptr ? prior->pc + 1 : 0, now.pc);
    if (const auto found = known_.find(key); found != known_.end()) {
      ++findings_[found->second].count;
      return;
    }
    if (findings_.size() >= most_) return;
    known_.emplace(key, findings_.size());
    findings_.push_back(make(rule, prior, now, memory()));
  }
  std::vector<Finding> sorted() const;

 private:
  Finding make(Rule rule, const Access* prior, const Access& now, std::string memory) const;
  FindingParty party(const Access& a, const char* role) const;

  const Program* program_ = nullptr;
  size_t most_;
  std::map<std::tuple<Rule, uint32_t, uint32_t>, size_t> known_;
  std::vector<Finding> findings_;
};

}  // namespace drywell::sim::check
