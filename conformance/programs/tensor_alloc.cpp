// Allocation of tensor memory (PTX ISA 9.7.16.7): sizes, the permit, and a warp that waits for columns of another warp.
#include <fmt/format.h>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

/// A warp allocates `columns`, writes and reads a column, and frees them. %r20: the warp's word for the address.
std::string use(uint32_t columns, uint32_t value) {
  return fmt::format(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], {0};\nld.shared.b32 %r21, [%r20];\nadd.u32 %r22, %r21, {1};\nadd.u32 %r22, %r22, %r23;\n"
      "mad.lo.u32 %r24, %thread, 19, {2};\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {{%r24}};\ntcgen05.wait::st.sync.aligned;\n"
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r25}}, [%r22];\ntcgen05.wait::ld.sync.aligned;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, {0};\n",
      columns, columns - 1, value);
}
// %r10: the warp's number; %r23: the lane field of its tensor memory addresses.
const std::string kWarp = "shr.u32 %r10, %thread, 5;\nmad.lo.u32 %r20, %r10, 16, %area;\nshl.b32 %r23, %r10, 21;\n";

Bytes words(uint32_t value) {
  std::vector<uint32_t> v(kTextThreads);
  for (uint32_t t = 0; t < kTextThreads; ++t) v[t] = t * 19 + value;
  return bytes_of(v);
}

}  // namespace

void add_tensor_alloc(std::vector<ProgramSpec>& out) {
  const auto add = [&](const char* name, const std::string& body, uint32_t value) {
    out.push_back(text_program("tensor_alloc", name, {kWarp + body + store_words("%b0", "%r25"), {output(words(value))}}));
  };
  // Each warp has its own columns at the same time, and no warp allocates afterwards.
  add("tcgen05.relinquish_alloc_permit", use(128, 3) + "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n", 3);
  // Each warp allocates all columns: the others wait until that warp frees them.
  add("tcgen05.alloc/waits", use(512, 11), 11);
  // Every size in order; a CTA's later allocation must not be larger than its earlier ones.
  std::string sizes;
  for (const uint32_t columns : {512u, 256u, 128u, 64u, 32u}) sizes += use(columns, columns) + "bar.sync 0;\n";
  add("tcgen05.alloc/sizes", sizes, 32);
}

}  // namespace drywell::kernels::conformance
