#pragma once

#include <cstdint>

namespace drywell::sim {

/// State spaces that an access can name; .const is part of global memory.
enum class Space : uint8_t {
  global,
  shared_cta,
  shared_cluster,
  local,
  param,
  generic
};

}  // namespace drywell::sim
