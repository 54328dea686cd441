// PTX text that fills and dumps the dynamic shared memory of an AsyncCase.
#pragma once

#include <fmt/format.h>

#include <string>

namespace drywell::test {

/// What `fill_smem` leaves in every byte.
inline constexpr uint8_t kSmemFill = 0xEE;

/// Every byte of smem[0, bytes) becomes kSmemFill, seen by the async proxy too.
inline std::string fill_smem(uint32_t bytes) {
  return fmt::format(
      "  {{ .reg .b32 at, end, word; .reg .pred more;\n  mov.u32 word, smem;\n  mad.lo.u32 at, tid, 16, word;\n  add.u32 end, word, {};\n  mov.u32 word, 0xEEEEEEEE;\n"
      "  LOOP: setp.lt.u32 more, at, end;\n  @!more bra DONE;\n  st.shared.v4.b32 [at], {{word, word, word, word}};\n  mov.u32 word, %ntid.x;\n  mad.lo.u32 at, word, 16, at;\n"
      "  mov.u32 word, 0xEEEEEEEE;\n  bra LOOP;\n  DONE: }}\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n",
      bytes);
}

/// smem[0, bytes) from global memory at `address` + rank · bytes.
inline std::string load_smem(std::string_view address, uint32_t bytes) {
  return fmt::format(
      "  {{ .reg .b32 at, end, offset, base; .reg .b64 from; .reg .b32 v<4>; .reg .pred more;\n  mov.u32 base, smem;\n  shl.b32 offset, tid, 4;\n"
      "  LOOP: setp.lt.u32 more, offset, {1};\n  @!more bra DONE;\n  mad.lo.u32 at, rank, {1}, offset;\n  cvt.u64.u32 from, at;\n  add.u64 from, from, {0};\n"
      "  ld.global.v4.b32 {{v0, v1, v2, v3}}, [from];\n  add.u32 at, base, offset;\n  st.shared.v4.b32 [at], {{v0, v1, v2, v3}};\n  mov.u32 at, %ntid.x;\n  mad.lo.u32 offset, at, 16, offset;\n"
      "  bra LOOP;\n  DONE: }}\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n",
      address, bytes);
}

/// smem[0, bytes) to global memory at `address` + rank · bytes.
inline std::string dump_smem(std::string_view address, uint32_t bytes) {
  return fmt::format(
      "  {{ .reg .b32 at, offset, base; .reg .b64 to; .reg .b32 v<4>; .reg .pred more;\n  mov.u32 base, smem;\n  shl.b32 offset, tid, 4;\n"
      "  LOOP: setp.lt.u32 more, offset, {1};\n  @!more bra DONE;\n  add.u32 at, base, offset;\n  ld.shared.v4.b32 {{v0, v1, v2, v3}}, [at];\n  mad.lo.u32 at, rank, {1}, offset;\n"
      "  cvt.u64.u32 to, at;\n  add.u64 to, to, {0};\n  st.global.v4.b32 [to], {{v0, v1, v2, v3}};\n  mov.u32 at, %ntid.x;\n  mad.lo.u32 offset, at, 16, offset;\n  bra LOOP;\n  DONE: }}\n",
      address, bytes);
}

/// Thread 0 makes an mbarrier at [bar] that expects `count` arrivals; everyone sees it.
inline std::string init_bar(uint32_t count = 1) {
  return fmt::format("  @first mbarrier.init.shared::cta.b64 [bar], {};\n  fence.mbarrier_init.release.cluster;\n  bar.sync 0;\n", count);
}

}  // namespace drywell::test
