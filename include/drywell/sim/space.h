#pragma once

#include <cstdint>

namespace drywell::sim {

/// State spaces an access can name; .const lives in global memory.
enum class Space : uint8_t { global, shared_cta, shared_cluster, local, param, generic };

}  // namespace drywell::sim
