#include "sim/check/cross_cluster_clock.h"

namespace drywell::sim::check {

namespace {

constexpr unsigned kDigitBits = 3;
constexpr size_t kDigits = 1 << kDigitBits;

size_t digit(uint64_t serial, unsigned level) { return serial >> (level - 1) * kDigitBits & (kDigits - 1); }
unsigned levels_of(uint64_t serial) { return serial == 0 ? 0 : 1 + levels_of(serial >> kDigitBits); }

std::vector<uint32_t> later(const std::vector<uint32_t>& x, const std::vector<uint32_t>& y) {
  std::vector<uint32_t> all = x.size() < y.size() ? y : x;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) all[i] = std::max(x[i], y[i]);
  return all;
}

}  // namespace

struct CrossClusterClock::Node {
  using Ptr = std::shared_ptr<const Node>;
  std::array<Ptr, kDigits> below;  // by the digit of the serial at the node's level
  std::vector<uint32_t> values;    // at level 0: a cluster's clock, by component

  /// A join, and whether it is what one of the two was, whichever node has it.
  struct Join {
    Ptr all;
    bool is_x, is_y;
  };
  static Join joined(const Ptr& x, const Ptr& y, unsigned level) {
    if (x == y) return {x, true, true};
    if (y == nullptr) return {x, true, false};
    if (x == nullptr) return {y, false, true};
    return level == 0 ? joined_values(x, y) : joined_below(x, y, level);
  }
  static Join joined_values(const Ptr& x, const Ptr& y) {
    std::vector<uint32_t> all = later(x->values, y->values);
    const bool is_x = all == x->values, is_y = all == y->values;
    return {is_y ? y : is_x ? x
                            : std::make_shared<const Node>(Node{{}, std::move(all)}),
            is_x, is_y};
  }
  static Join joined_below(const Ptr& x, const Ptr& y, unsigned level) {
    Node all;
    bool is_x = true, is_y = true;
    for (size_t d = 0; d < kDigits; ++d) {
      Join j = joined(x->below[d], y->below[d], level - 1);
      all.below[d] = std::move(j.all);
      is_x = is_x && j.is_x;
      is_y = is_y && j.is_y;
    }
    return {is_y ? y : is_x ? x
                            : std::make_shared<const Node>(std::move(all)),
            is_x, is_y};
  }
  /// The same clocks, with the serials' leading zeros.
  static Ptr raised(Ptr root, unsigned levels, unsigned to) {
    if (root == nullptr) return root;
    for (; levels < to; ++levels) {
      Node above;
      above.below[0] = std::move(root);
      root = std::make_shared<const Node>(std::move(above));
    }
    return root;
  }
};

struct CrossClusterClock::Place {};

struct CrossClusterClock::State {
  Node::Ptr root;
  unsigned levels = 0;
  std::shared_ptr<const Place> place{};  // of a state of a place's own clock
  uint64_t number = 0;                   // among the states of that place

  static Node::Join joined(const State& x, const State& y, unsigned levels) {
    return Node::joined(Node::raised(x.root, x.levels, levels), Node::raised(y.root, y.levels, levels), levels);
  }
};

CrossClusterClock::CrossClusterClock(uint64_t serial, const std::vector<uint32_t>& values) {
  if (std::all_of(values.begin(), values.end(), [](uint32_t v) { return v == 0; })) return;
  auto node = std::make_shared<const Node>(Node{{}, values});
  const unsigned levels = levels_of(serial);
  for (unsigned level = 1; level <= levels; ++level) {
    Node above;
    above.below[digit(serial, level)] = std::move(node);
    node = std::make_shared<const Node>(std::move(above));
  }
  state_ = std::make_shared<const State>(State{std::move(node), levels});
}

uint32_t CrossClusterClock::operator[](const Key& k) const {
  if (state_ == nullptr || levels_of(k.first) > state_->levels) return 0;
  const Node* at = state_->root.get();
  for (unsigned level = state_->levels; level > 0 && at != nullptr; --level) at = at->below[digit(k.first, level)].get();
  return at != nullptr && k.second < at->values.size() ? at->values[k.second] : 0;
}

bool CrossClusterClock::take_later(const CrossClusterClock& o) {
  if (state_->place == nullptr || state_->place != o.state_->place) return false;
  if (state_->number < o.state_->number) state_ = o.state_;
  return true;
}

void CrossClusterClock::join(const CrossClusterClock& o) {
  if (o.state_ == nullptr || same(o)) return;
  if (state_ == nullptr) return void(state_ = o.state_);
  if (take_later(o)) return;
  const unsigned levels = std::max(state_->levels, o.state_->levels);
  Node::Join j = State::joined(*state_, *o.state_, levels);
  if (j.is_y) {
    state_ = o.state_;
  } else if (!j.is_x) {
    state_ = std::make_shared<const State>(State{std::move(j.all), levels});
  }
}

void CrossClusterClock::grow(const CrossClusterClock& o) {
  if (o.state_ == nullptr || same(o)) return;
  const State now = state_ != nullptr ? *state_ : State{nullptr, 0, std::make_shared<const Place>(), 0};
  if (state_ != nullptr && take_later(o)) return;
  const unsigned levels = std::max(now.levels, o.state_->levels);
  Node::Join j = State::joined(now, *o.state_, levels);
  if (!j.is_x) state_ = std::make_shared<const State>(State{std::move(j.all), levels, now.place, now.number + 1});
}

}  // namespace drywell::sim::check
