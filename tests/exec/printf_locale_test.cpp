// vprintf in a process whose program has set a locale with a decimal comma.
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>

#include <drywell/sim/device.h>

#include "support/process.h"

namespace drywell::test {
namespace {

/// Prints "%.2f%u %'d %d %.1e %g\\n".
constexpr const char* kPrint = R"(
.version 8.8
.target sm_100a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[24] = {37, 46, 50, 102, 37, 117, 32, 37, 39, 100, 32, 37, 100, 32, 37, 46, 49, 101, 32, 37, 103, 10, 0};
.visible .entry k()
{
 .local .align 8 .b8 v[48]; .reg .b64 %t; .reg .b64 %l; .reg .f64 %d; .reg .b32 %r;
 mov.u64 %t, text; cvta.global.u64 %t, %t; mov.u64 %l, v; cvta.local.u64 %l, %l;
 mov.f64 %d, 0d3FF8000000000000; st.local.f64 [v], %d; mov.u32 %r, 1234567; st.local.u32 [v+8], %r;
 st.local.u32 [v+12], %r; mov.u32 %r, 42; st.local.u32 [v+16], %r; st.local.f64 [v+24], %d; st.local.f64 [v+32], %d;
 { .param .b64 f; .param .b64 w; .param .b32 r; st.param.b64 [f], %t; st.param.b64 [w], %l; call.uni (r), vprintf, (f, w); }
 ret;
}
)";

/// A locale with a comma for the calling process, made where it is not installed.
class Comma {
 public:
  Comma() {
    if (run_process("/usr/bin/localedef", {"-i", "de_DE", "-f", "UTF-8", directory_.file("de_DE.UTF-8")})
            .exit_code > 1)
      return;
    ::setenv("LOCPATH", directory_.path().c_str(), 1);
    there_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr && *std::localeconv()->decimal_point == ',';
  }
  ~Comma() {
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
  }
  Comma(const Comma&) = delete;
  Comma& operator=(const Comma&) = delete;
  bool there() const { return there_; }

 private:
  TemporaryDirectory directory_;
  bool there_ = false;
};

TEST(PrintfLocale, NumbersHaveThePointOfADevice) {
  const Comma comma;
  if (!comma.there()) GTEST_SKIP() << "no locale with a decimal comma can be made here";
  sim::Device device;
  const sim::RunResult r = device.launch(device.load_ptx(kPrint), "k", {.grid = {1}, .block = {1}}, {});
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  EXPECT_EQ(r.output, "1.501234567 1234567 42 1.5e+00 1.5\n");
  char still[16];
  std::snprintf(still, sizeof still, "%.1f", 0.5);
  EXPECT_STREQ(still, "0,5") << "the program keeps its locale";
}

}  // namespace
}  // namespace drywell::test
