#include "tests/bench/umma_data.h"

#include <bit>
#include <cmath>
#include <map>

#include "drywell/launch/generate.h"
#include "drywell/sim/numeric/convert.h"

namespace drywell::bench {
namespace {

using numeric::Format;

/// Standard deviation with which values fill the format's range, as after a quantizer.
struct Range {
  Format format;
  double sigma;
};
const Range& range_of(const std::string& type) {
  static const std::map<std::string, Range> kRanges = {
      {"e2m1", {Format::e2m1, 2.5}}, {"e2m3", {Format::e2m3, 2.5}}, {"e3m2", {Format::e3m2, 9}}, {"e4m3", {Format::e4m3, 150}}, {"e5m2", {Format::e5m2, 8}}, {"f16", {Format::f16, 1}}, {"bf16", {Format::bf16, 1}}, {"tf32", {Format::tf32, 1}}};
  return kRanges.at(type);
}

class Values {
 public:
  explicit Values(uint64_t seed) : seed_(seed) {}
  uint32_t code(const std::string& type) {
    if (type == "s8") return static_cast<uint32_t>(kernels::random_word(seed_, next_++) & 0xFF);
    const Range& r = range_of(type);
    return narrowed(r.format, r.sigma * normal());
  }
  /// Block scales vary as the largest of a few normal values does.
  uint32_t scale(const std::string& type) {
    const double v = std::exp2(0.5 * normal());
    return narrowed(type == "ue8m0" ? Format::ue8m0 : Format::ue4m3, type == "ue8m0" ? v : 16 * v);
  }

 private:
  static uint32_t narrowed(Format f, double v) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(v));
    if (f == Format::tf32) return bits & ~uint32_t{0x1FFF};
    if (f == Format::ue8m0) return (bits >> 23) & 0xFF;
    return numeric::convert({.dst = f, .src = Format::f32, .satfinite = true}, bits);
  }
  double normal() {
    return kernels::normal_quantile((static_cast<double>(kernels::random_word(seed_, next_++) >> 12) + 0.5) *
                                    0x1p-52);
  }
  uint64_t seed_, next_ = 0;
};

}  // namespace

kernels::conformance::MmaCase umma_case(const UmmaKind& kind) {
  kernels::conformance::MmaCase c;
  c.kind = kind.kind;
  c.a_type = c.b_type = kind.type;
  c.d_type = kind.d_type;
  c.m = 128;
  c.n = 256;
  c.scale_type = kind.scale_type;
  c.factors = kind.factors;
  c.tame = true;
  return c;
}

kernels::conformance::MmaData umma_data(const kernels::conformance::MmaCase& c, uint64_t seed) {
  kernels::conformance::MmaData data = random_matrices(c);
  Values v(seed);
  for (auto& row : data.a)
    for (uint32_t& code : row) code = v.code(c.a_type);
  for (auto& row : data.b)
    for (uint32_t& code : row) code = v.code(c.b_type);
  for (auto* scales : {&data.sfa, &data.sfb})
    for (auto& row : *scales)
      for (uint32_t& code : row) code = v.scale(c.scale_type);
  return data;
}

}  // namespace drywell::bench
