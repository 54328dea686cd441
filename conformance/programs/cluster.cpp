// Clusters: addresses, barriers and memory of other CTAs (PTX ISA 9.7.13.3, 9.7.9.22, 9.7.9.24); st.async and red.async
// (9.7.9.12, 9.7.13.8); cp.async (9.7.9.25.2).
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

constexpr uint32_t kCtas = 4;

/// Returns one word per thread of each CTA.
Bytes words(const std::function<uint32_t(uint32_t rank, uint32_t thread)>& f) {
  std::vector<uint32_t> v;
  for (uint32_t r = 0; r < kCtas; ++r) {
    for (uint32_t t = 0; t < kTextThreads; ++t) v.push_back(f(r, t));
  }
  return bytes_of(v);
}

/// %r10: address of the thread's word of the area; %r11: of the same word in the next CTA.
std::string own_and_next() { return "shl.b32 %r10, %thread, 2;\nadd.u32 %r10, %r10, %area;\n" + map_next("%r11", "%r10"); }

void add_addresses(std::vector<ProgramSpec>& out) {
  const std::string generic = "cvt.u64.u32 %d10, %r10;\ncvta.shared.u64 %d10, %d10;\n";
  const std::vector<std::pair<const char*, std::string>> forms = {
      {"shared::cluster.u32", "getctarank.shared::cluster.u32 %r12, %r11;\n"},
      {"u64", generic + "mapa.u64 %d11, %d10, %i;\ngetctarank.u64 %r12, %d11;\n"},
      {"shared::cluster.u64", "cvt.u64.u32 %d10, %r10;\nmapa.shared::cluster.u64 %d11, %d10, %i;\ngetctarank.shared::cluster.u64 %r12, %d11;\n"}};
  for (const auto& [name, text] : forms) {
    out.push_back(text_program("cluster", fmt::format("mapa.{}", name),
                               {own_and_next() + text + store_words("%b0", "%r12"), {output(words([](uint32_t r, uint32_t) { return (r + 1) % kCtas; }))}, {}, kCtas, kCtas}));
  }
}

/// Each thread writes its word, all synchronize, and each reads the word in the next CTA.
void add_barriers(std::vector<ProgramSpec>& out) {
  for (const char* aligned : {"", ".aligned"}) {
    for (const auto& [arrive, wait] : {std::pair{"", ""}, std::pair{".release", ".acquire"}, std::pair{".relaxed", ".acquire"}}) {
      const bool relaxed = std::string(arrive) == ".relaxed";
      const std::string body = own_and_next() + "mad.lo.u32 %r12, %rank, 1000, %thread;\nst.shared.b32 [%r10], %r12;\n" +
                               (relaxed ? "fence.acq_rel.cluster;\n" : "") +
                               fmt::format("barrier.cluster.arrive{0}{2};\nbarrier.cluster.wait{1}{2};\n", arrive, wait, aligned) +
                               "ld.shared::cluster.b32 %r13, [%r11];\n" + cluster_sync() + store_words("%b0", "%r13");
      out.push_back(text_program("cluster", fmt::format("barrier.cluster{}{}", arrive, aligned),
                                 {body, {output(words([](uint32_t r, uint32_t t) { return (r + 1) % kCtas * 1000 + t; }))}, {}, kCtas, kCtas}));
    }
  }
}

void add_remote_arrivals(std::vector<ProgramSpec>& out) {
  const std::string body = own_and_next() + init_bar(kTextThreads) + cluster_sync() + map_next("%r12", "%bar") +
                           "mad.lo.u32 %r13, %rank, 1000, %thread;\nst.shared::cluster.b32 [%r11], %r13;\n"
                           "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];\n"
                           "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%bar], 0;\n@!%p1 bra WAIT;\n"
                           "xor.b32 %r10, %r10, 4;\nld.shared.b32 %r14, [%r10];\n" +
                           cluster_sync() + store_words("%b0", "%r14");
  out.push_back(text_program("cluster", "cluster.arrive",
                             {body, {output(words([](uint32_t r, uint32_t t) { return (r + 3) % kCtas * 1000 + (t ^ 1); }))}, {}, kCtas, kCtas}));
}

// ---- st.async, red.async

struct AsyncStore {
  const char* form;
  const char* value;  // register or vector
  uint32_t words;
};

/// Returns word `k` that a thread sends.
uint32_t sent(uint32_t rank, uint32_t thread, uint32_t k) { return rank * 100000 + thread * 16 + k; }
const std::string kSentWords =
    "mad.lo.u32 %r20, %rank, 100000, 0;\nmad.lo.u32 %r20, %thread, 16, %r20;\nadd.u32 %r21, %r20, 1;\nadd.u32 %r22, %r20, 2;\nadd.u32 %r23, %r20, 3;\n"
    "mov.b64 %d20, {%r20, %r21};\nmov.b64 %d21, {%r22, %r23};\n";

void add_async_stores(std::vector<ProgramSpec>& out) {
  for (const AsyncStore& s : {AsyncStore{"b32", "%r20", 1}, AsyncStore{"v2.u32", "{%r20, %r21}", 2}, AsyncStore{"v4.s32", "{%r20, %r21, %r22, %r23}", 4},
                              AsyncStore{"b64", "%d20", 2}, AsyncStore{"v2.u64", "{%d20, %d21}", 4}}) {
    const uint32_t width = 4 * s.words;
    const std::string body = fill_area() + init_bar() + expect_bytes(kTextThreads * width) + cluster_sync() + kSentWords +
                             fmt::format("mad.lo.u32 %r10, %thread, {}, %area;\n", width) + map_next("%r11", "%r10") + map_next("%r12", "%bar") +
                             fmt::format("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{} [%r11], {}, [%r12];\n", s.form, s.value) + wait_bar() +
                             cluster_sync() + dump_area("%b0");
    Bytes want(size_t{kCtas} * kArea, kAreaFill);
    for (uint32_t r = 0; r < kCtas; ++r) {
      for (uint32_t i = 0; i < kTextThreads * s.words; ++i) put_value(want, r * (kArea / 4) + i, sent((r + 3) % kCtas, i / s.words, i % s.words));
    }
    out.push_back(text_program("async_store", fmt::format("st.async.{}", s.form), {body, {output(want)}, {}, kCtas, kCtas}));
  }
}

struct AsyncReduction {
  const char* form;
  uint32_t (*f)(uint32_t memory, uint32_t value);
};
constexpr AsyncReduction kReductions[] = {
    {"add.u32", [](uint32_t a, uint32_t b) { return a + b; }},
    {"min.u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
    {"max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
    {"min.s32", [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? a : b; }},
    {"max.s32", [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? b : a; }},
    {"inc.u32", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }},
    {"dec.u32", [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }},
    {"and.b32", [](uint32_t a, uint32_t b) { return a & b; }},
    {"or.b32", [](uint32_t a, uint32_t b) { return a | b; }},
    {"xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; }}};

void add_async_reductions(std::vector<ProgramSpec>& out) {
  uint64_t seed = 1100;
  for (const AsyncReduction& a : kReductions) {
    const Bytes source = random_bytes(kArea, ++seed);
    Bytes want;
    for (uint32_t r = 0; r < kCtas; ++r) {
      Bytes area = source;
      for (uint32_t t = 0; t < kTextThreads; ++t) put_value(area, t, a.f(value_at<uint32_t>(source, t), sent((r + 3) % kCtas, t, 0)));
      want.insert(want.end(), area.begin(), area.end());
    }
    const std::string body = fill_area("%b0") + init_bar() + expect_bytes(kTextThreads * 4) + cluster_sync() + kSentWords + own_and_next() + map_next("%r12", "%bar") +
                             fmt::format("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{} [%r11], %r20, [%r12];\n", a.form) + wait_bar() +
                             cluster_sync() + dump_area("%b1");
    out.push_back(text_program("async_store", fmt::format("red.async.{}", a.form), {body, {input(source), output(want)}, {}, kCtas, kCtas}));
    // In global memory: one word per thread.
    Bytes memory(source.begin(), source.begin() + 4 * kTextThreads), reduced = memory;
    for (uint32_t t = 0; t < kTextThreads; ++t) put_value(reduced, t, a.f(value_at<uint32_t>(memory, t), sent(0, t, 0)));
    out.push_back(text_program("async_store", fmt::format("red.async.global.{}", a.form),
                               {kSentWords + fmt::format("mad.wide.u32 %d10, %thread, 4, %b0;\nred.async.release.gpu.global.{} [%d10], %r20;\n", a.form),
                                {{.initial = memory, .expected = reduced}}}));
  }
  out.push_back(text_program("async_store", "st.async.global.b32",
                             {kSentWords + "mad.lo.u32 %i, %rank, 128, %thread;\nmad.wide.u32 %d10, %i, 4, %b0;\nst.async.release.gpu.global.b32 [%d10], %r20;\n",
                              {output(words([](uint32_t r, uint32_t t) { return sent(r, t, 0); }))},
                              {},
                              kCtas,
                              kCtas}));
}

// ---- cp.async

/// Each thread copies the first bytes of its 16 bytes; the area shows the bytes that the copy did not write.
void add_async_copies(std::vector<ProgramSpec>& out) {
  struct Size {
    const char* op;
    uint32_t bytes, source;  // source: bytes read, the rest is zero
  };
  const std::string mine = "shl.b32 %r10, %thread, 4;\nadd.u32 %r10, %r10, %area;\nmad.wide.u32 %d10, %thread, 16, %b0;\n";
  const std::vector<std::pair<const char*, std::string>> waits = {
      {"wait_all", "cp.async.wait_all;\nbar.sync 0;\n"},
      {"group", "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n"},
      {"mbarrier", "cp.async.mbarrier.arrive.shared::cta.b64 [%bar];\nmbarrier.arrive.shared::cta.b64 _, [%bar];\n" + wait_bar()},
      {"mbarrier.noinc", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%bar];\n" + wait_bar()}};
  uint64_t seed = 1200;
  for (const Size& s : {Size{"ca.shared.global", 4, 4}, Size{"ca.shared::cta.global", 8, 8}, Size{"ca.shared.global.L2::128B", 16, 16}, Size{"cg.shared.global", 16, 16},
                        Size{"cg.shared.global", 16, 5}, Size{"ca.shared.global", 4, 0}, Size{"ca.shared.global", 8, 3}}) {
    for (const auto& [how, wait] : waits) {
      const Bytes source = random_bytes(kArea, ++seed);
      Bytes want(kArea, kAreaFill);
      for (uint32_t i = 0; i < kArea; ++i) {
        if (i % 16 < s.bytes) want[i] = i % 16 < s.source ? source[i] : 0;
      }
      const std::string copy = s.source == s.bytes ? fmt::format("cp.async.{} [%r10], [%d10], {};\n", s.op, s.bytes)
                                                   : fmt::format("mov.b32 %r11, {};\ncp.async.{} [%r10], [%d10], {}, %r11;\n", s.source, s.op, s.bytes);
      out.push_back(text_program("async_copy", fmt::format("cp.async.{}.{}of{}/{}", s.op, s.source, s.bytes, how),
                                 {fill_area() + init_bar(kTextThreads) + mine + copy + wait + dump_area("%b1"), {input(source), output(want)}}));
    }
  }
  // If one of two groups may be pending, the earlier one is complete.
  const Bytes source = random_bytes(kArea, ++seed);
  Bytes want(4 * kTextThreads);
  for (uint32_t t = 0; t < kTextThreads; ++t) put_value(want, t, value_at<uint32_t>(source, 4 * t) ^ value_at<uint32_t>(source, 4 * t + 2));
  out.push_back(text_program("async_copy", "cp.async.groups",
                             {mine + "cp.async.ca.shared.global [%r10], [%d10], 8;\ncp.async.commit_group;\ncp.async.ca.shared.global [%r10+8], [%d10+8], 8;\n"
                                     "cp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.b32 %r11, [%r10];\ncp.async.wait_group 0;\nld.shared.b32 %r12, [%r10+8];\n"
                                     "xor.b32 %r11, %r11, %r12;\n" +
                                  store_words("%b1", "%r11"),
                              {input(source), output(want)}}));
}

}  // namespace

void add_cluster(std::vector<ProgramSpec>& out) {
  add_addresses(out);
  add_barriers(out);
  add_remote_arrivals(out);
  add_async_stores(out);
  add_async_reductions(out);
  add_async_copies(out);
}

}  // namespace drywell::kernels::conformance
