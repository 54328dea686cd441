#include "cudart/limits.h"

#include <algorithm>

#include "cudart/call.h"

namespace drywell::cudart {
namespace {

// cudaLimit
constexpr int kSyncDepth = 3, kFetchGranularity = 5, kPersistingL2 = 6;
constexpr size_t kLargestFetch = 128;

void require_limit(int limit, int count) {
  require_value(limit >= 0 && limit < count);
  require(limit != kSyncDepth, CudaError::unsupported_limit);  // "removed for devices of compute capability >= 9.0" (cuda_runtime_api.h)
}

/// The number as a device keeps it: the last two are hints, and there is no L2 for persisting accesses (device attribute 108).
size_t kept(int limit, size_t value) {
  if (limit == kFetchGranularity) return std::min(value, kLargestFetch);
  return limit == kPersistingL2 ? 0 : value;
}

}  // namespace

size_t Limits::get(int limit) const {
  require_limit(limit, static_cast<int>(values_.size()));
  return values_[static_cast<size_t>(limit)];
}

void Limits::set(int limit, size_t value) {
  require_limit(limit, static_cast<int>(values_.size()));
  values_[static_cast<size_t>(limit)] = kept(limit, value);
}

}  // namespace drywell::cudart
