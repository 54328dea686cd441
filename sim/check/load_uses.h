// Where the values that a load brings can be seen: the stores that they take part in.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/check/registers.h"

namespace drywell::sim::check {

struct LoadUse {
  bool everywhere = false;       // branches, waits, peers or asynchronous operations may depend on them
  std::vector<uint32_t> stores;  // otherwise: the pcs of all stores and atomics that do, in order
};

/// Answers are kept. Thread-safe.
class LoadUses {
 public:
  explicit LoadUses(const Program& p) : p_(p) {}
  const LoadUse& of(uint32_t load);

 private:
  LoadUse find(uint32_t load);

  const Program& p_;
  std::mutex mutex_;
  std::unique_ptr<PredicateUse> predicates_;  // made on first use
  std::map<uint32_t, LoadUse> known_;         // by pc
};

}  // namespace drywell::sim::check
