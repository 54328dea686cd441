#include "drywell/kernels/verify.h"

#include <fmt/format.h>

#include <cstring>

namespace drywell::kernels {
namespace {

uint64_t value_at(std::span<const std::byte> bytes, uint64_t index, uint32_t width) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + index * width, width);
  return v;
}

}  // namespace

void compare_bits(Verification& v, std::string_view name, std::span<const std::byte> got,
                  std::span<const std::byte> want, uint64_t columns, uint32_t element_bytes) {
  DRYWELL_CHECK(got.size() == want.size() && got.size() % element_bytes == 0 && element_bytes <= 8,
                fmt::format("{}: {} bytes against {}", name, got.size(), want.size()));
  v.done = true;
  const uint64_t count = got.size() / element_bytes;
  v.compared += count;
  if (count == 0 || std::memcmp(got.data(), want.data(), got.size()) == 0) return;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t a = value_at(got, i, element_bytes), b = value_at(want, i, element_bytes);
    if (a == b) continue;
    if (v.mismatches++ == 0) {
      v.first_mismatch = fmt::format("{}[{}, {}]: {:#0{w}x}, the reference has {:#0{w}x}", name, i / columns,
                                     i % columns, a, b, fmt::arg("w", 2 + 2 * element_bytes));
    }
  }
}

}  // namespace drywell::kernels
