// Bit-for-bit comparison of a kernel's output with the reference's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "drywell/launch/kernel.h"

namespace drywell::kernels {

/// Adds the comparison of two row-major arrays of `element_bytes`-byte values, `columns` values per row, to `v`. Both
/// sizes in bytes must be equal (InternalError).
void compare_bits(Verification& v, std::string_view name, std::span<const std::byte> got,
                  std::span<const std::byte> want, uint64_t columns, uint32_t element_bytes);

/// The same of arrays of T.
template <class T>
void compare_bits(Verification& v, std::string_view name, std::span<const T> got, std::span<const T> want,
                  uint64_t columns) {
  compare_bits(v, name, std::as_bytes(got), std::as_bytes(want), columns, sizeof(T));
}

}  // namespace drywell::kernels
