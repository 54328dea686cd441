// A listener looks at the memory before a store changes it: with a checker, stores that may meet follow one another also where CTAs run in
// several threads of the host. Otherwise the checker's verdict would depend on who is between another's look and its store.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

namespace drywell::sim {

class StoreOrder {
 public:
  /// The places of a store that are held until it is done: a bit for each mutex.
  class Held {
   public:
    Held() = default;
    Held(StoreOrder& order, uint64_t places) : order_(&order), places_(places) {
      for (uint64_t p = places; p != 0; p &= p - 1) order.mutexes_[static_cast<size_t>(std::countr_zero(p))].lock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
      for (uint64_t p = places_; p != 0; p &= p - 1) order_->mutexes_[static_cast<size_t>(std::countr_zero(p))].unlock();
    }

   private:
    StoreOrder* order_ = nullptr;
    uint64_t places_ = 0;
  };
  /// Bytes that share a place.
  static constexpr uint64_t kPage = 4096;
  static uint64_t place_of(uint64_t address) { return uint64_t{1} << (address / kPage * 0x9E3779B97F4A7C15u >> 58); }

 private:
  std::array<std::mutex, 64> mutexes_;
};

}  // namespace drywell::sim
