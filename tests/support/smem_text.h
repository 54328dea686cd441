// PTX text that fills and dumps the dynamic shared memory of an AsyncCase.
#pragma once

#include <fmt/format.h>

#include <string>

namespace drywell::test {

/// The value that `fill_smem` writes to every byte.
inline constexpr uint8_t kSmemFill = 0xEE;

/// Writes kSmemFill to every byte of smem[0, bytes), with a fence for the async proxy.
inline std::string fill_smem(uint32_t bytes) {
  return fmt::format(
      R"(
  {{ .reg .b32 at, end, word; .reg .pred more;
  mov.u32 word, smem;
  mad.lo.u32 at, tid, 16, word;
  add.u32 end, word, {};
  mov.u32 word, 0xEEEEEEEE;
  LOOP: setp.lt.u32 more, at, end;
  @!more bra DONE;
  st.shared.v4.b32 [at], {{word, word, word, word}};
  mov.u32 word, %ntid.x;
  mad.lo.u32 at, word, 16, at;
  mov.u32 word, 0xEEEEEEEE;
  bra LOOP;
  DONE: }}
  fence.proxy.async.shared::cta;
  bar.sync 0;
)",
      bytes);
}

/// smem[0, bytes) from global memory at `address` + rank · bytes.
inline std::string load_smem(std::string_view address, uint32_t bytes) {
  return fmt::format(
      R"(
  {{ .reg .b32 at, end, offset, base; .reg .b64 from; .reg .b32 v<4>; .reg .pred more;
  mov.u32 base, smem;
  shl.b32 offset, tid, 4;
  LOOP: setp.lt.u32 more, offset, {1};
  @!more bra DONE;
  mad.lo.u32 at, rank, {1}, offset;
  cvt.u64.u32 from, at;
  add.u64 from, from, {0};
  ld.global.v4.b32 {{v0, v1, v2, v3}}, [from];
  add.u32 at, base, offset;
  st.shared.v4.b32 [at], {{v0, v1, v2, v3}};
  mov.u32 at, %ntid.x;
  mad.lo.u32 offset, at, 16, offset;
  bra LOOP;
  DONE: }}
  fence.proxy.async.shared::cta;
  bar.sync 0;
)",
      address, bytes);
}

/// smem[0, bytes) to global memory at `address` + rank · bytes.
inline std::string dump_smem(std::string_view address, uint32_t bytes) {
  return fmt::format(
      R"(
  {{ .reg .b32 at, offset, base; .reg .b64 to; .reg .b32 v<4>; .reg .pred more;
  mov.u32 base, smem;
  shl.b32 offset, tid, 4;
  LOOP: setp.lt.u32 more, offset, {1};
  @!more bra DONE;
  add.u32 at, base, offset;
  ld.shared.v4.b32 {{v0, v1, v2, v3}}, [at];
  mad.lo.u32 at, rank, {1}, offset;
  cvt.u64.u32 to, at;
  add.u64 to, to, {0};
  st.global.v4.b32 [to], {{v0, v1, v2, v3}};
  mov.u32 at, %ntid.x;
  mad.lo.u32 offset, at, 16, offset;
  bra LOOP;
  DONE: }}
)",
      address, bytes);
}

/// Thread 0 initialises an mbarrier at [bar] that expects `count` arrivals, before all other threads use it.
inline std::string init_bar(uint32_t count = 1) {
  return fmt::format(R"(
  @first mbarrier.init.shared::cta.b64 [bar], {};
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)",
                     count);
}

}  // namespace drywell::test
