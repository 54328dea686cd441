// A named or cluster barrier, instance after instance: each warp that leaves acquires the releases of all warps that arrived.
#pragma once

#include <memory>

#include "sim/check/clock.h"

namespace drywell::sim::check {

class BarrierInstance {
 public:
  /// A warp arrives; it acquires from the returned message once the instance is complete.
  std::shared_ptr<const Message> arrive(const Message& released) {
    if (now_ == nullptr) now_ = std::make_shared<Message>();
    now_->join(released);
    return now_;
  }
  /// True if `joined` is what an arrival at this instance returned.
  bool has(const std::shared_ptr<const Message>& joined) const { return joined != nullptr && joined == now_; }
  /// Later arrivals belong to the next instance.
  void complete() { now_ = nullptr; }

 private:
  std::shared_ptr<Message> now_;
};

}  // namespace drywell::sim::check
