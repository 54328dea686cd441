// D of a whole matrix instruction, element by element against the oracle.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace drywell::numeric {

/// expected(row, column) → D at that place. Rows of `c` and `d` are `stride` words apart; `d` must be 0 after its columns, which
/// shows that no other words are written. Reports the first three differences.
template <class Expected>
void expect_tile(const std::string& what, unsigned rows, unsigned columns, size_t stride, const std::vector<uint32_t>& c, const std::vector<uint32_t>& d, Expected expected) {
  unsigned shown = 0;
  for (unsigned m = 0; m < rows; ++m) {
    for (unsigned n = 0; n < columns; ++n) {
      const size_t at = m * stride + n;
      if (const uint32_t e = expected(m, n); d[at] != e && ++shown <= 3)
        ADD_FAILURE() << what << " at " << m << ',' << n << std::hex << ": " << d[at] << " expected " << e << " C " << c[at];
    }
    EXPECT_EQ(d[m * stride + columns], 0u) << "written beyond its columns";
  }
}

}  // namespace drywell::numeric
