// Generic addresses (PTX ISA 9.7.9.19-20): tests for a state space, conversion to that space, and loads from generic addresses.
#include <fmt/format.h>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

/// A generic address in %d10, and the spaces that contain it.
struct Address {
  const char* name;
  std::string make;
  std::vector<std::string> in;
};
std::vector<Address> addresses() {
  return {{"global", "mov.b64 %d10, %b0;\n", {"global"}},
          {"shared", "cvt.u64.u32 %d10, %area;\ncvta.shared.u64 %d10, %d10;\n", {"shared", "shared::cta", "shared::cluster"}},
          {"neighbour", "xor.b32 %r10, %rank, 1;\nmapa.shared::cluster.u32 %r11, %area, %r10;\ncvt.u64.u32 %d10, %r11;\ncvta.shared::cluster.u64 %d10, %d10;\n", {"shared::cluster"}},
          {"local", "{\n.local .align 8 .b8 own[16];\nmov.b64 %d11, own;\ncvta.local.u64 %d10, %d11;\nst.local.b64 [own], %d11;\n}\n", {"local"}},
          // The window of kernel parameters is in the global window (9.7.9.19).
          {"param", "mov.b64 %d10, buf0;\ncvta.param.u64 %d10, %d10;\n", {"param", "param::entry", "global"}}};
}
constexpr const char* kSpaces[] = {"global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"};

// One bit for each space.
void add_questions(std::vector<ProgramSpec>& out) {
  for (const Address& a : addresses()) {
    std::string body = a.make + "mov.b32 %r12, 0;\n";
    uint32_t want = 0;
    for (uint32_t i = 0; i < std::size(kSpaces); ++i) {
      body += fmt::format("isspacep.{} %p2, %d10;\nselp.b32 %r13, {}, 0, %p2;\nor.b32 %r12, %r12, %r13;\n", kSpaces[i], 1u << i);
      for (const std::string& s : a.in) want |= static_cast<uint32_t>(s == kSpaces[i]) << i;
    }
    out.push_back(text_program("space", fmt::format("isspacep/{}", a.name),
                               {body + store_words("%b1", "%r12") + cluster_sync(), {input(Bytes(16)), output(bytes_of(std::vector<uint32_t>(2 * kTextThreads, want)))}, {}, 2, 2}));
  }
}

// The address in its own space refers to the same word as the generic address.
void add_conversions(std::vector<ProgramSpec>& out) {
  std::vector<uint32_t> want;
  for (uint32_t t = 0; t < kTextThreads; ++t) want.push_back(t * 21 + 4);
  const std::string value = "mad.lo.u32 %r12, %thread, 21, 4;\n", own = "mul.wide.u32 %d12, %thread, 4;\nadd.u64 %d10, %d10, %d12;\n";
  const auto add = [&](const char* name, const std::string& address, const std::string& write, const std::string& read) {
    out.push_back(text_program("space", fmt::format("cvta.to.{}", name), {value + address + write + read + store_words("%b1", "%r13"), {{.initial = Bytes(4 * kTextThreads)}, output(bytes_of(want))}}));
  };
  add("global.u64", addresses()[0].make + own, "st.b32 [%d10], %r12;\n", "cvta.to.global.u64 %d11, %d10;\nld.global.b32 %r13, [%d11];\n");
  for (const char* space : {"shared", "shared::cta", "shared::cluster"}) {
    add(fmt::format("{}.u64", space).c_str(), addresses()[1].make + own, "st.b32 [%d10], %r12;\n",
        fmt::format("cvta.to.{0}.u64 %d11, %d10;\nld.{0}.b32 %r13, [%d11];\n", space));
  }
  add("local.u64", "", "{\n.local .align 4 .b8 mine[8];\nmov.b64 %d11, mine;\ncvta.local.u64 %d10, %d11;\nst.b32 [%d10+4], %r12;\n", "cvta.to.local.u64 %d11, %d10;\nld.local.b32 %r13, [%d11+4];\n}\n");
  // The parameter holds the address of the buffer that the thread writes.
  add("param.u64", "mov.b64 %d10, buf0;\ncvta.param.u64 %d10, %d10;\n", "",
      "cvta.to.param.u64 %d11, %d10;\nld.param.u64 %d13, [%d11];\nmul.wide.u32 %d12, %thread, 4;\nadd.u64 %d13, %d13, %d12;\nst.global.b32 [%d13], %r12;\nld.global.b32 %r13, [%d13];\n");
}

// ldu: as ld from memory the kernel does not write (9.7.9.9).
void add_uniform_loads(std::vector<ProgramSpec>& out) {
  const Bytes source = random_bytes(16 * kTextThreads, 1700);
  const auto add = [&](const char* op, const char* registers, uint32_t stride, const std::string& combine, auto want) {
    std::vector<uint32_t> words(kTextThreads);
    for (uint32_t t = 0; t < kTextThreads; ++t) words[t] = want(t);
    out.push_back(text_program("space", op, {fmt::format("mad.wide.u32 %d10, %thread, {}, %b0;\n{} {}, [%d10];\n", stride, op, registers) + combine + store_words("%b1", "%r10"), {input(source), output(bytes_of(words))}}));
  };
  const auto word = [&source](size_t i) { return value_at<uint32_t>(source, i); };
  add("ldu.global.b32", "%r10", 4, "", [&](uint32_t t) { return word(t); });
  add("ldu.u32", "%r10", 4, "", [&](uint32_t t) { return word(t); });
  add("ldu.global.u8", "%r10", 1, "", [&](uint32_t t) { return uint32_t{source[t]}; });
  add("ldu.global.s16", "%r10", 2, "", [&](uint32_t t) { return static_cast<uint32_t>(int32_t{value_at<int16_t>(source, t)}); });
  add("ldu.global.b64", "%d11", 8, "mov.b64 {%r11, %r12}, %d11;\nxor.b32 %r10, %r11, %r12;\n", [&](uint32_t t) { return word(2 * t) ^ word(2 * t + 1); });
  add("ldu.global.v4.b32", "{%r10, %r11, %r12, %r13}", 16, "sub.u32 %r10, %r10, %r11;\nsub.u32 %r12, %r12, %r13;\nxor.b32 %r10, %r10, %r12;\n",
      [&](uint32_t t) { return (word(4 * t) - word(4 * t + 1)) ^ (word(4 * t + 2) - word(4 * t + 3)); });
}

/// Takes 8 to 64 bytes, as %d12 says, by `take`, which leaves the address in %d11; %r13 is then what the thread stored at their end, plus the
/// low bits of the address.
std::string take_and_use(const std::string& take) {
  return "mad.lo.u32 %r12, %thread, 21, 4;\nand.b32 %r10, %thread, 7;\nmad.lo.u32 %r10, %r10, 8, 8;\ncvt.u64.u32 %d12, %r10;\n" + take +
         "add.u64 %d13, %d11, %d12;\nst.local.b32 [%d13+-4], %r12;\nld.local.b32 %r13, [%d13+-4];\n"
         "and.b64 %d13, %d11, 31;\ncvt.u32.u64 %r11, %d13;\nadd.u32 %r13, %r13, %r11;\n";
}

// alloca, and the stack pointer around it (9.7.16): each thread's bytes are its own, and aligned.
void add_stack(std::vector<ProgramSpec>& out) {
  std::vector<uint32_t> want;
  for (uint32_t t = 0; t < kTextThreads; ++t) want.push_back(t * 21 + 4);
  const auto add = [&](const char* name, const std::string& body) {
    out.push_back(text_program("space", name, {body + store_words("%b1", "%r13"), {{.initial = Bytes(4 * kTextThreads)}, output(bytes_of(want))}}));
  };
  add("alloca.u64", take_and_use("alloca.u64 %d11, %d12, 32;\n"));
  add("alloca.u32", take_and_use("alloca.u32 %r11, %r10, 32;\ncvt.u64.u32 %d11, %r11;\n"));
  const auto add_restored = [&](int bits, char r) {
    add(fmt::format("stackrestore.u{}", bits).c_str(),
        take_and_use("alloca.u64 %d11, %d12, 32;\n") +
            fmt::format("stacksave.u{0} %{1}8;\nalloca.u64 %d10, %d12;\nst.local.b64 [%d10], %d12;\nstackrestore.u{0} %{1}8;\nstacksave.u{0} %{1}9;\n"
                        "sub.u{0} %{1}9, %{1}9, %{1}8;\n",
                        bits, r) +
            (bits == 64 ? "cvt.u32.u64 %r10, %d9;\n" : "mov.b32 %r10, %r9;\n") + "add.u32 %r13, %r13, %r10;\n");
  };
  add_restored(64, 'd');
  add_restored(32, 'r');
}

}  // namespace

void add_space(std::vector<ProgramSpec>& out) {
  add_questions(out);
  add_conversions(out);
  add_uniform_loads(out);
  add_stack(out);
}

}  // namespace drywell::kernels::conformance
