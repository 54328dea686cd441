// The strong writes of a place of memory, in their order. A thread that has read one is behind it, and behind those that this one, as an
// atomic, had read: no fence is needed for accesses of the place itself (PTX ISA 8.9.4, 8.9.5). The last CTA that counts itself may
// clear the counter.
#pragma once

#include <algorithm>
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

/// The places that a warp has read last: by atomics, and by loads, of which there are many where a loop polls (one for each lane, or more).
class StrongReads {
 public:
  void note(uint64_t place, const StrongWrites& read, bool atomic) {
    if (atomics_.update(place, read) || loads_.update(place, read)) return;
    if (atomic)
      atomics_.add(place, read);
    else
      loads_.add(place, read);
  }
  bool empty() const { return atomics_.empty() && loads_.empty(); }
  /// What the warp has read at the place; nothing: a count of 0.
  StrongWrites of(uint64_t place) const {
    const StrongWrites* known = atomics_.find(place);
    if (known == nullptr) known = loads_.find(place);
    return known == nullptr ? StrongWrites{} : *known;
  }

 private:
  /// The latest places; a new one takes the place of the oldest.
  template <size_t kMost>
  class Ring {
   public:
    bool empty() const { return next_ == 0; }
    void add(uint64_t place, const StrongWrites& read) {
      const size_t i = next_++ % kMost;
      places_[i] = place;
      reads_[i] = read;
    }
    bool update(uint64_t place, const StrongWrites& read) {
      const size_t i = index(place);
      if (i < kMost) reads_[i] = read;
      return i < kMost;
    }
    const StrongWrites* find(uint64_t place) const {
      const size_t i = index(place);
      return i < kMost ? &reads_[i] : nullptr;
    }

   private:
    size_t index(uint64_t place) const {
      const size_t known = next_ < kMost ? next_ : kMost;
      const auto end = places_.begin() + static_cast<std::ptrdiff_t>(known), at = std::find(places_.begin(), end, place);
      return at == end ? kMost : static_cast<size_t>(at - places_.begin());
    }
    std::array<uint64_t, kMost> places_{};
    std::array<StrongWrites, kMost> reads_{};
    size_t next_ = 0;
  };
  Ring<4> atomics_;
  Ring<32> loads_;
};

}  // namespace drywell::sim::check
