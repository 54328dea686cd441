#include "isa/names.h"

#include <fmt/format.h>

#include <cstring>

namespace drywell::isa {
namespace {

uint64_t hash_of(std::string_view s) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio
  uint64_t h = s.size() * kMultiplier;
  const char* p = s.data();
  size_t n = s.size();
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ word) * kMultiplier;
    h ^= h >> 32;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, p, n);
  h = (h ^ tail) * kMultiplier;
  return h ^ (h >> 29);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view stem_of(std::string_view name) {
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name;
}

// Calls f(prefix, number) for each split of `name` into a prefix and a decimal number without leading zeros.
template <class F>
bool any_split(std::string_view name, F&& f) {
  uint64_t number = 0, scale = 1;
  for (size_t at = name.size(); at-- > 1 && is_digit(name[at]) && scale < 10'000'000'000u; scale *= 10) {
    number += static_cast<uint64_t>(name[at] - '0') * scale;
    const bool leading_zero = name[at] == '0' && at + 1 != name.size();
    if (!leading_zero && f(name.substr(0, at), number)) return true;
  }
  return false;
}

}  // namespace

size_t NameMap::probe(std::string_view name, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].epoch == epoch_ && !(slots_[i].hash == hash && slots_[i].name == name)) i = (i + 1) & mask;
  return i;
}

uint32_t NameMap::find(std::string_view name) const {
  const Slot& s = slots_[probe(name, hash_of(name))];
  return s.epoch == epoch_ ? s.value : kAbsent;
}

uint32_t& NameMap::at(std::string_view name) {
  const uint64_t hash = hash_of(name);
  size_t i = probe(name, hash);
  if (slots_[i].epoch != epoch_) {
    if (used_ * 2 >= slots_.size()) {
      grow();
      i = probe(name, hash);
    }
    slots_[i] = {name, hash, kAbsent, epoch_};
    ++used_;
  }
  return slots_[i].value;
}

void NameMap::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old) {
    if (s.epoch == epoch_) slots_[probe(s.name, s.hash)] = s;
  }
}

void NameMap::clear() {
  ++epoch_;
  used_ = 0;
}

void Names::close() {
  const uint32_t start = starts_.back();
  starts_.pop_back();
  while (bindings_.size() > start) {
    const Binding& b = bindings_.back();
    (b.kind == NameKind::reg_range ? ranges_ : names_).at(b.name) = b.previous;
    bindings_.pop_back();
  }
}

void Names::begin_function() {
  used_.clear();
  suffix_.clear();
  used_ranges_.clear();
  stems_.clear();
  kept_.clear();
}

Binding* Names::declare(std::string_view name, NameKind kind, uint32_t index, uint32_t count) {
  uint32_t& head = (kind == NameKind::reg_range ? ranges_ : names_).at(name);
  if (head != NameMap::kAbsent && bindings_[head].depth == depth()) return nullptr;
  bindings_.push_back({name, kind, depth(), index, count, head});
  head = static_cast<uint32_t>(bindings_.size() - 1);
  return &bindings_.back();
}

Binding* Names::find(std::string_view name) {
  const uint32_t at = names_.find(name);
  return at == NameMap::kAbsent ? nullptr : &bindings_[at];
}

Binding* Names::find_here(std::string_view name) {
  Binding* b = find(name);
  return b != nullptr && b->depth == depth() ? b : nullptr;
}

RegId Names::find_in_ranges(std::string_view name, uint32_t& at_depth) const {
  RegId best = kNoReg;
  any_split(name, [&](std::string_view prefix, uint64_t number) {
    // An outer range may be longer than an inner one of the same prefix.
    for (uint32_t at = ranges_.find(prefix); at != NameMap::kAbsent; at = bindings_[at].previous) {
      const Binding& b = bindings_[at];
      if (number < b.count && (best == kNoReg || b.depth > at_depth)) {
        best = b.index + static_cast<uint32_t>(number);
        at_depth = b.depth;
        break;
      }
    }
    return false;
  });
  return best;
}

const Binding* Names::near_range(std::string_view name) const {
  const uint32_t at = ranges_.find(stem_of(name));
  return at == NameMap::kAbsent ? nullptr : &bindings_[at];
}

bool Names::is_used(std::string_view name) const {
  if (used_.find(name) != NameMap::kAbsent) return true;
  const uint32_t at = names_.find(name);
  if (at != NameMap::kAbsent) {
    // The outermost binding of the name: a module-scope name must stay visible.
    uint32_t outer = at;
    while (bindings_[outer].previous != NameMap::kAbsent) outer = bindings_[outer].previous;
    if (bindings_[outer].depth == 0) return true;
  }
  return any_split(name, [&](std::string_view prefix, uint64_t number) {
    const uint32_t count = used_ranges_.find(prefix);
    return count != NameMap::kAbsent && number < count;
  });
}

bool Names::range_is_used(std::string_view prefix, uint32_t count) const {
  if (stems_.find(stem_of(prefix)) == NameMap::kAbsent) return false;
  std::string name;
  for (uint32_t i = 0; i < count; ++i) {
    name.assign(prefix);
    fmt::format_to(std::back_inserter(name), "{}", i);
    if (is_used(name)) return true;
  }
  return false;
}

std::string_view Names::keep(std::string text) {
  kept_.push_back(std::move(text));
  return kept_.back();
}

void Names::mark(std::string_view name) {
  used_.at(name) = 0;
  if (is_digit(name.back())) stems_.at(stem_of(name)) = 0;
}

std::string_view Names::unique(std::string_view name) {
  if (is_used(name)) {
    const std::string_view base = name;
    uint32_t next = suffix_.find(base);
    if (next == NameMap::kAbsent) next = 1;
    std::string candidate;
    do {
      candidate = fmt::format("{}_{}", base, next++);
    } while (is_used(candidate));
    suffix_.at(base) = next;
    name = keep(std::move(candidate));
  }
  mark(name);
  return name;
}

std::string_view Names::unique_prefix(std::string_view prefix, uint32_t count) {
  if (range_is_used(prefix, count)) {
    uint32_t next = suffix_.find(prefix);
    if (next == NameMap::kAbsent) next = 1;
    std::string candidate;
    do {
      candidate = fmt::format("{}_{}_", prefix, next++);
    } while (range_is_used(candidate, count));
    suffix_.at(prefix) = next;
    prefix = keep(std::move(candidate));
  }
  used_ranges_.at(prefix) = count;
  stems_.at(stem_of(prefix)) = 0;
  return prefix;
}

}  // namespace drywell::isa
