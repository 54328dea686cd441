#include "cudart/graph_memory.h"

#include <algorithm>

#include "cudart/call.h"

namespace drywell::cudart {
namespace {

// cudaGraphMemAttributeType
constexpr int kUsed = 0, kUsedMost = 1, kReserved = 2, kReservedMost = 3;

}  // namespace

void GraphMemory::begin(uint64_t base, uint64_t bytes) {
  if (!in_use_.emplace(base, bytes).second) return;
  using_ += bytes;
  kept_ = std::max(kept_, using_);  // graphs share what others have freed
  most_used_ = std::max(most_used_, kept_);
  most_reserved_ = std::max(most_reserved_, kept_);
}

void GraphMemory::end(uint64_t base) {
  const auto it = in_use_.find(base);
  if (it == in_use_.end()) return;
  using_ -= it->second;
  in_use_.erase(it);
}

void GraphMemory::trim() { kept_ = using_; }

uint64_t GraphMemory::value(int attribute) const {
  switch (attribute) {
    case kUsed:
    case kReserved: return kept_;
    case kUsedMost: return most_used_;
    case kReservedMost: return most_reserved_;
    default: throw CallFailed{CudaError::invalid_value};
  }
}

void GraphMemory::reset(int attribute) {
  require_value(attribute == kUsedMost || attribute == kReservedMost);
  (attribute == kUsedMost ? most_used_ : most_reserved_) = kept_;
}

}  // namespace drywell::cudart
