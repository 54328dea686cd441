#include "sim/timing/memory_port.h"

#include <utility>

namespace drywell::sim {

uint32_t MemoryPort::await(const OutstandingRequest& who, std::span<const ByteRange> runs) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(outstanding_.size()));
    outstanding_.emplace_back();
  }
  const uint32_t token = free_.back();
  free_.pop_back();
  OutstandingRequest& r = outstanding_[token];
  r.first = who.first;
  r.resident = who.resident;
  r.op = who.op;
  r.bytes = who.bytes;
  r.sm = who.sm;
  r.fill_l1 = who.fill_l1;
  r.others.clear();
  r.runs.assign(runs.begin(), runs.end());
  return token;
}

void MemoryPort::send(MemoryKind kind, double time, uint32_t first_run, uint32_t token, float more) {
  MemoryRequest r;
  r.time = time;
  r.kind = kind;
  r.first = first_run;
  r.count = first_new_run() - first_run;
  r.token = token;
  r.more = more;
  requests_.push_back(r);
}

const OutstandingRequest& MemoryPort::take(uint32_t token) {
  free_.push_back(token);
  std::swap(taken_, outstanding_[token]);
  return taken_;
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
