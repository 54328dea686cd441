// Where a value of a register or predicate goes: forwards through its function, along all branches.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/check/registers.h"

namespace drywell::sim::check {

class ValueFlow {
 public:
  /// A predicate's index in its frame, or a register's offset.
  using Value = std::pair<bool, uint32_t>;
  using Values = std::set<Value>;
  /// How an instruction takes values that are followed.
  struct Use {
    bool guard = false, operand = false;
    bool any() const { return guard || operand; }
  };
  enum class End : uint8_t {
    exhausted,
    stopped,
    budget
  };

  /// `budget`: instructions to visit, of all calls together.
  ValueFlow(const Program& p, const PredicateUse& predicates, size_t& budget) : p_(p), predicates_(predicates), budget_(budget) {}

  /// use(pc, Use) is called for every instruction that `values`, defined ahead of `from`, reach; true stops.
  template <class F>
  End follow(size_t from, const Values& values, F&& use) {
    reach(from, values);
    while (!open_.empty()) {
      if (budget_ == 0) return End::budget;
      --budget_;
      const size_t pc = open_.back();
      open_.pop_back();
      const Use taken = use_at(pc);
      if (taken.any() && use(pc, taken)) return End::stopped;
      pass(pc, taken);
    }
    return End::exhausted;
  }

  /// The instruction's results are not followed.
  void end_at(size_t pc) { ends_.insert(pc); }
  /// Those that have come to the instruction.
  const Values& values_at(size_t pc) const { return at_.at(pc); }
  /// Follows further values, defined ahead of `pc`.
  void reach(size_t pc, const Values& carried);

 private:
  Use use_at(size_t pc) const;
  /// The values behind an instruction: what it makes of them is followed, too.
  void pass(size_t pc, Use taken);

  const Program& p_;
  const PredicateUse& predicates_;
  size_t& budget_;
  std::map<size_t, Values> at_;
  std::set<size_t> ends_;
  std::vector<size_t> open_;
};

}  // namespace drywell::sim::check
