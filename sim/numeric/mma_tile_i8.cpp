// The integer kinds.
#include <algorithm>
#include <cstring>
#include <limits>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "sim/numeric/amx/plan.h"
#include "sim/numeric/highway/exact_kernels.h"
#include "sim/numeric/highway/tile_kernels.h"

namespace drywell::numeric {
namespace {

/// Transposes rows of bytes to [word][row], four k in a word, with rows padded by zeros.
std::vector<uint32_t> byte_columns(const uint8_t* bytes, size_t row_stride, unsigned rows, unsigned k, size_t padded, uint32_t flip) {
  std::vector<uint32_t> words(ceil_div(k, 4u) * padded, flip);
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned w = 0; w < ceil_div(k, 4u); ++w) {
      uint32_t word = 0;
      std::memcpy(&word, bytes + r * row_stride + 4 * w, std::min(4u, k - 4 * w));
      words[w * padded + r] = word ^ flip;
    }
  }
  return words;
}

int32_t byte_sum(const uint8_t* bytes, unsigned k, bool is_signed) {
  int32_t sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += is_signed ? static_cast<int8_t>(bytes[i]) : bytes[i];
  return sum;
}

}  // namespace

// Sums of products of signed bytes a' = a or a - 128 and unsigned bytes b' = b or b + 128, corrected by the sums of b and a'.
void mma_tile_i8(const IntegerTile& t, const TileOutput& out) {
  DRYWELL_CHECK(t.k % 4 == 0 && t.k <= 256 && t.n <= kMaxColumns, "integer tile");
  if (multiply_with_amx(t, out)) return;
  constexpr uint32_t kSigns = 0x80808080;
  const size_t columns = round_up(t.n, kColumnMultiple);
  const auto a = byte_columns(t.a, t.a_stride, t.m, t.k, t.m, t.a_signed ? 0 : kSigns);
  const auto b = byte_columns(t.b, t.b_stride, t.n, t.k, columns, t.b_signed ? kSigns : 0);
  std::vector<int32_t> b_sums(columns), dots(columns);
  for (unsigned n = 0; n < t.n && !t.a_signed; ++n) b_sums[n] = 128 * byte_sum(t.b + n * t.b_stride, t.k, t.b_signed);
  for (unsigned m = 0; m < t.m; ++m) {
    const int32_t a_sum = byte_sum(t.a + m * t.a_stride, t.k, t.a_signed) - (t.a_signed ? 0 : static_cast<int32_t>(128 * t.k));
    const int32_t fix = t.b_signed ? -128 * a_sum : 0;
    for (unsigned n = 0; n < columns; ++n) dots[n] = b_sums[n] + fix;
    byte_dots({a.data() + m, b.data(), t.m, columns, t.k / 4, static_cast<unsigned>(columns), dots.data()});
    const uint32_t* c = out.c == nullptr ? nullptr : out.c + m * out.c_stride;
    uint32_t* d = out.d + m * out.d_stride;
    if (!t.saturate) {
      for (unsigned n = 0; n < t.n; ++n) d[n] = (c == nullptr ? 0 : c[n]) + static_cast<uint32_t>(dots[n]);
      continue;
    }
    for (unsigned n = 0; n < t.n; ++n) {
      const int64_t sum = int64_t{static_cast<int32_t>(c == nullptr ? 0 : c[n])} + dots[n];
      d[n] = static_cast<uint32_t>(
          std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
    }
  }
}

}  // namespace drywell::numeric
