// One instruction over columns of values, against a function of the host.
#pragma once

#include <gtest/gtest.h>

#include <array>

#include "support/ptx_run.h"

namespace drywell::test {

/// Runs `body`, which computes register `out` from registers `in`, and expects `expected(values)` in every
/// thread. Results are compared in the width of `out`.
template <size_t N, class F>
void check_lanes(const std::string& body, const std::string& out, const std::array<std::string, N>& in,
                 const std::array<Column, N>& values, F expected,
                 const std::vector<std::string>& extra = {}) {
  SCOPED_TRACE(body);
  const Column got =
      run_lanes(body, {out}, {in.begin(), in.end()}, {values.begin(), values.end()}, extra).at(0);
  const uint64_t mask = out[0] == 'p'   ? 1
                        : out[0] == 'b' ? 0xFF
                        : out[0] == 'h' ? 0xFFFF
                        : out[0] == 'w' ? 0xFFFFFFFF
                                        : ~uint64_t{0};
  int shown = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    std::array<uint64_t, N> row;
    for (size_t k = 0; k < N; ++k) row[k] = values[k][i];
    const uint64_t want = static_cast<uint64_t>(expected(row)) & mask;
    if ((got[i] & mask) == want) continue;
    std::string text;
    for (const uint64_t v : row) text += " " + std::to_string(v);
    ADD_FAILURE() << std::hex << "got " << (got[i] & mask) << ", want " << want << std::dec << " for" << text;
    if (++shown == 5) return;
  }
}

}  // namespace drywell::test
