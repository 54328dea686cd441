// The strong writes of a place of memory, in their order. A thread that has read one is behind it, and behind those that this one, as an
// atomic, had read: no fence is needed for accesses of the place itself (PTX ISA 8.9.4, 8.9.5). The last CTA that counts itself may
// clear the counter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace drywell::sim::check {

struct StrongWrites {
  uint32_t count = 0;
  uint32_t from = 1;  // the number of the latest that is no atomic: what came before it, nobody reads
  void add(bool atomic) {
    ++count;
    if (!atomic) from = count;
  }
};

/// The places that a warp has read last, by atomics. Of others, which a loop may poll by the hundred, nothing is kept.
class StrongReads {
 public:
  void note(uint64_t place, const StrongWrites& read, bool atomic) {
    for (Read& r : reads_) {
      if (r.place == place) return void(r.read = read);
    }
    if (atomic) reads_[next_++ % reads_.size()] = {place, read};
  }
  bool empty() const { return next_ == 0; }
  /// What the warp has read at the place; nothing: a count of 0.
  StrongWrites of(uint64_t place) const {
    for (const Read& r : reads_)
      if (r.place == place) return r.read;
    return {};
  }

 private:
  struct Read {
    uint64_t place = ~uint64_t{0};
    StrongWrites read;
  };
  std::array<Read, 4> reads_{};
  size_t next_ = 0;
};

}  // namespace drywell::sim::check
