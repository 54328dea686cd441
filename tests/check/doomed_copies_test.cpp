// Copies that fault when they are performed are asked for their memory before: it is not all there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <drywell/sim/check.h>
#include <drywell/sim/device.h>

#include "sim/check/shadow.h"

namespace drywell::sim {
namespace {

constexpr const char* kCopy = R"(
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p) {{
 .reg .b64 %d; .reg .b32 %r; .reg .b16 %m; .shared .align 128 .b8 s[1024]; .shared .align 8 .b64 m;
 ld.param.u64 %d, [p]; mov.u32 %r, {}; mov.b16 %m, 0x5555;
 add.u64 %d, %d, {};
 {}
 ret;
}}
)";

struct Copy {
  const char* name;
  const char* bytes;
  const char* from;  // added to the address of 4 KiB
  const char* instruction;
};

class DoomedCopies : public testing::TestWithParam<Copy> {};

TEST_P(DoomedCopies, FaultUnderTheChecks) {
  const Copy& c = GetParam();
  for (const auto driver : {DriverKind::eager, DriverKind::lazy, DriverKind::timed}) {
    Device device;
    const LoadedModule m = device.load_ptx(fmt::format(kCopy, c.bytes, c.from, c.instruction));
    HazardChecker checker;
    const RunResult r = device.launch(m, "k", {.grid = {1}, .block = {1}}, Args().add(device.allocate(4096)), {.driver = driver, .listeners = {checker.listener()}});
    ASSERT_TRUE(r.fault.has_value()) << driver_name(driver);
    EXPECT_EQ(code_kind(r.fault->code), 'F') << r.fault->to_string();
  }
}

constexpr const char* kLoad = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+16], [%d], %r, [m];";
constexpr const char* kStore = "cp.async.bulk.global.shared::cta.bulk_group [%d], [s+16], %r;";
constexpr const char* kMasked = "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d], [s+16], %r, %m;";
INSTANTIATE_TEST_SUITE_P(Each, DoomedCopies,
                         testing::Values(Copy{"LoadOfFourGigabytes", "0xfffffff0", "0", kLoad}, Copy{"LoadAroundTheEnd", "256", "-0x7f0000000100", kLoad},
                                         Copy{"StoreOfFourGigabytes", "0xfffffff0", "0", kStore}, Copy{"MaskedStoreOfFourGigabytes", "0xfffffff0", "0", kMasked},
                                         Copy{"StoreBehindTheArray", "0x10000", "0", kStore}),
                         [](const testing::TestParamInfo<Copy>& p) { return p.param.name; });

TEST(Shadow, AnEndBeforeTheBeginIsNoRange) {
  check::Shadow<16> s(1024);
  EXPECT_FALSE(s.replace(512, 0, 0, 7));
  s.update(512, 16, [](check::StateId, size_t) -> check::StateId { return 7; });
  EXPECT_TRUE(s.replace(0, 1024, 0, 0)) << "nothing has changed";
}

}  // namespace
}  // namespace drywell::sim
