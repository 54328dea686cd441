// The oracle against every published and generated result word (tests/data/numerics/README.md).
#include <gtest/gtest.h>

#include "unit/numeric_vectors.h"

namespace drywell::numeric {
namespace {

using test::VectorRow;

uint32_t computed(const VectorRow& v) {
  if (v.integer()) {
    const std::vector<uint8_t> a(v.a.begin(), v.a.end()), b(v.b.begin(), v.b.end());
    const bool saturate = v.kind.find("satfinite") != std::string::npos;
    return dot_i8(a, v.a_type == "s8", b, v.b_type == "s8", v.c, saturate);
  }
  const MmaRow* row = test::row_of(v);
  if (row == nullptr) throw std::runtime_error("no table row for line " + std::to_string(v.line));
  DotOperands in = {test::format_named(v.a_type), test::format_named(v.b_type), v.a, v.b};
  if (!v.scale_type.empty()) {
    in.scale_format = test::format_named(v.scale_type);
    in.a_scales = v.a_scales;
    in.b_scales = v.b_scales;
  }
  return dot(row->params, in, v.c);
}

class MmaVectors : public ::testing::TestWithParam<std::pair<const char*, size_t>> {};

TEST_P(MmaVectors, EveryWordIsReproduced) {
  const std::vector<VectorRow> rows = test::read_vectors(GetParam().first);
  EXPECT_EQ(rows.size(), GetParam().second);
  unsigned open = 0, open_equal = 0;
  for (const VectorRow& v : rows) {
    const uint32_t d = computed(v);
    if (v.unverified()) {
      ++open;
      open_equal += d == v.d ? 1 : 0;
      continue;
    }
    EXPECT_EQ(d, v.d) << std::hex << "line " << std::dec << v.line << ' ' << v.kind << ' ' << v.a_type << " ("
                      << v.origin << ", " << v.note << ')';
  }
  RecordProperty("open_rows", static_cast<int>(open));
  RecordProperty("open_rows_equal", static_cast<int>(open_equal));
}

INSTANTIATE_TEST_SUITE_P(, MmaVectors,
                         ::testing::Values(std::pair<const char*, size_t>{"mma_numerics.csv", 1701},
                                           std::pair<const char*, size_t>{"mma_measured_hw.csv", 800},
                                           std::pair<const char*, size_t>{"mma_h200_adversarial.csv", 619}),
                         [](const auto& p) {
                           return std::string(p.index == 0   ? "Generated"
                                              : p.index == 1 ? "Measured"
                                                             : "Adversarial");
                         });

}  // namespace
}  // namespace drywell::numeric
