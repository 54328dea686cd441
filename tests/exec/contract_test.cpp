// Values with products fused into sums, and without: one rounding against two.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "drywell/core/error.h"
#include "drywell/sim/device.h"

namespace drywell::test {
namespace {

// Three columns a, b, c of 32 values in; four columns out: a b + c, a b - c, c - a b, c + (-(a b)).
constexpr const char* kText = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b64 %p, %q;
.reg .b32 %lane;
.reg .TYPE %a, %b, %c, %t<4>, %n, %x;
mov.u32 %lane, %tid.x;
ld.param.u64 %p, [in];
ld.param.u64 %q, [out];
mad.wide.u32 %p, %lane, BYTES, %p;
mad.wide.u32 %q, %lane, BYTES, %q;
ld.global.TYPE %a, [%p];
ld.global.TYPE %b, [%p+32*BYTES];
ld.global.TYPE %c, [%p+64*BYTES];
mul.TYPE %t0, %a, %b;
add.TYPE %x, %t0, %c;
st.global.TYPE [%q], %x;
mul.TYPE %t1, %a, %b;
sub.TYPE %x, %t1, %c;
st.global.TYPE [%q+32*BYTES], %x;
mul.TYPE %t2, %a, %b;
sub.TYPE %x, %c, %t2;
st.global.TYPE [%q+64*BYTES], %x;
mul.TYPE %t3, %a, %b;
neg.TYPE %n, %t3;
add.TYPE %x, %n, %c;
st.global.TYPE [%q+96*BYTES], %x;
ret;
}
)";

template <class T>
std::vector<T> run(const std::vector<T>& in, bool contract, sim::DriverKind driver) {
  std::string text = kText;
  const auto replace = [&](const std::string& what, const std::string& with) {
    for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
  };
  replace("TYPE", sizeof(T) == 4 ? "f32" : "f64");
  for (const int n : {32, 64, 96}) replace(std::to_string(n) + "*BYTES", std::to_string(n * sizeof(T)));
  replace("BYTES", std::to_string(sizeof(T)));
  sim::Device device({.arch = "sm_90a", .contract = contract});
  const sim::LoadedModule m = device.load_ptx(text, "k.ptx");
  const GmemAddr from = device.allocate(in.size() * sizeof(T)), to = device.allocate(128 * sizeof(T));
  device.write(from, in.data(), in.size() * sizeof(T));
  const sim::RunResult r = device.launch(m, "k", {.grid = {1}, .block = {32}}, sim::Args().add(from).add(to), {.driver = driver, .threads = 1});
  EXPECT_TRUE(r.ok());
  std::vector<T> out(128);
  device.read(out.data(), to, out.size() * sizeof(T));
  return out;
}

// volatile: the compiler of this test contracts nothing either.
template <class T>
T rounded_product(T a, T b) {
  volatile T product = a * b;
  return product;
}

template <class T>
void expect_one_rounding_or_two() {
  std::mt19937 gen(3);
  std::vector<T> in(96);
  for (T& v : in) v = std::normal_distribution<T>()(gen);
  for (size_t i = 0; i < 8; ++i) in[64 + i] = -in[i] * in[32 + i];  // only the rounding error is left
  for (const sim::DriverKind driver : {sim::DriverKind::eager, sim::DriverKind::timed}) {
    const std::vector<T> fused = run(in, true, driver), separate = run(in, false, driver);
    for (size_t i = 0; i < 32; ++i) {
      const T a = in[i], b = in[32 + i], c = in[64 + i], t = rounded_product(a, b);
      const T once[] = {std::fma(a, b, c), std::fma(a, b, -c), std::fma(-a, b, c), std::fma(-a, b, c)}, twice[] = {t + c, t - c, c - t, -t + c};
      for (size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(fused[32 * k + i], once[k]) << k << " of lane " << i;
        EXPECT_EQ(separate[32 * k + i], twice[k]) << k << " of lane " << i;
      }
    }
    EXPECT_NE(fused, separate);
  }
}

TEST(Contracted, F32RoundsOnce) { expect_one_rounding_or_two<float>(); }
TEST(Contracted, F64RoundsOnce) { expect_one_rounding_or_two<double>(); }

}  // namespace
}  // namespace drywell::test
