#include "sim/schedule/fingerprint.h"

#include <functional>
#include <string_view>

namespace drywell::sim {
namespace {

template <class Bytes>
uint64_t hash_of(const Bytes& bytes) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size() * sizeof bytes[0]});
}

class Mix {
 public:
  void add(uint64_t v) { value_ = (value_ ^ v) * 0x9E3779B97F4A7C15ull; }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
};

void add_warp(Mix& h, const Warp& w) {
  h.add(w.alive);
  if (w.finished()) return;
  h.add(uint64_t{w.pc} << 32 | w.active);
  for (const LaneGroup& g : w.waiting) h.add(uint64_t{g.pc} << 32 | g.lanes);
  h.add(hash_of(w.register_file));
  h.add(hash_of(w.predicate_file));
}

}  // namespace

uint64_t fingerprint(const Cluster& c) {
  Mix h;
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps) add_warp(h, w);
  }
  return h.value();
}

}  // namespace drywell::sim
