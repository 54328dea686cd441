#include "sim/timing/memory_port.h"

#include <utility>

namespace drywell::sim {

uint32_t MemoryPort::await(OutstandingRequest who) {
  if (free_.empty()) {
    outstanding_.push_back(std::move(who));
    return static_cast<uint32_t>(outstanding_.size() - 1);
  }
  const uint32_t token = free_.back();
  free_.pop_back();
  outstanding_[token] = std::move(who);
  return token;
}

void MemoryPort::send(MemoryKind kind, double time, uint32_t first_run, uint32_t token) {
  MemoryRequest r;
  r.time = time;
  r.kind = kind;
  r.first = first_run;
  r.count = first_new_run() - first_run;
  r.token = token;
  requests_.push_back(r);
}

OutstandingRequest MemoryPort::take(uint32_t token) {
  free_.push_back(token);
  return std::move(outstanding_[token]);
}

void MemoryPort::clear() {
  requests_.clear();
  runs_.clear();
}

void MemoryPort::answer(const MemoryRequest& r) {
  if (r.token == kNoToken) return;
  answers_.push_back({r.done, r.token});
  first_answer_ = std::min(first_answer_, r.done);
}

}  // namespace drywell::sim
