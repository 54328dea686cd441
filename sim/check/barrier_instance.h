// A named or cluster barrier, instance after instance: each warp that leaves acquires the releases of all warps that arrived.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/check/access.h"

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
  void complete() {
    now_ = nullptr;
    before_ = std::exchange(arrivals_, {});
  }
  /// Keeps the arrival until the next instance is complete.
  void keep(const Access& arrival) { arrivals_.push_back(arrival); }
  /// The arrivals kept of the instance before.
  const std::vector<Access>& before() const { return before_; }

 private:
  std::vector<Access> arrivals_, before_;
  std::shared_ptr<Message> now_;
};

}  // namespace drywell::sim::check
