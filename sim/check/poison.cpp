// Copies in flight: from issue to completion their destination holds no useful value.
#include <cstring>

#include "drywell/sim/check.h"
#include "sim/engine/footprint.h"
#include "sim/events/hub.h"

namespace drywell::sim {

class InFlightPoison::Impl : public Listener {
 public:
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment moment) override {
    if (moment != AsyncMoment::issue || is_reduction(op) || !lands_in_shared(op)) return;
    for_each_write(c, op, [&](const Span& s) {
      if (s.memory != Memory::shared || s.cta >= c.ctas.size()) return;
      Smem& smem = c.ctas[s.cta]->smem;
      if (smem.contains(static_cast<uint32_t>(s.begin), s.bytes)) std::memset(smem.data() + s.begin, kPoison, s.bytes);
    });
  }

 private:
  static constexpr int kPoison = 0xFF;  // NaN in every float format
  static bool lands_in_shared(const AsyncOp& op) {
    return std::holds_alternative<TensorCopy>(op.payload) || std::holds_alternative<BulkCopy>(op.payload) || std::holds_alternative<AsyncCopy>(op.payload);
  }
};

InFlightPoison::InFlightPoison() : impl_(std::make_unique<Impl>()) {}
InFlightPoison::~InFlightPoison() = default;
Listener* InFlightPoison::listener() { return impl_.get(); }

}  // namespace drywell::sim
