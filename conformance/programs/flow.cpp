// Control flow (PTX ISA 9.7.12) and the instructions that end, delay or mark a thread (9.7.19).
#include <fmt/format.h>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

template <class F>
Bytes per_thread(F f) {
  std::vector<uint32_t> v(kTextThreads);
  for (uint32_t t = 0; t < kTextThreads; ++t) v[t] = f(t);
  return bytes_of(v);
}

// ---- indexed branches

uint32_t case_value(uint32_t index, uint32_t t) {
  switch (index) {
    case 0: return t * 3;
    case 1: return t + 1000;
    case 2: return t ^ 0x5A;
    case 3: return t << 4;
    default: return ~t;
  }
}

void add_branches(std::vector<ProgramSpec>& out) {
  const std::string cases =
      "C0:\nmul.lo.u32 %r11, %thread, 3;\nbra JOIN;\nC1:\nadd.u32 %r11, %thread, 1000;\nbra JOIN;\nC2:\nxor.b32 %r11, %thread, 0x5A;\nbra JOIN;\n"
      "C3:\nshl.b32 %r11, %thread, 4;\nbra JOIN;\nC4:\nnot.b32 %r11, %thread;\nJOIN:\n" +
      store_words("%b0", "%r11");
  const std::string list = "CASES: .branchtargets C0, C1, C2, C3, C4;\n";
  out.push_back(text_program("flow", "brx.idx/divergent",
                             {list + "rem.u32 %r10, %thread, 5;\nbrx.idx %r10, CASES;\n" + cases, {output(per_thread([](uint32_t t) { return case_value(t % 5, t); }))}}));
  for (const uint32_t index : {0u, 2u, 4u}) {
    out.push_back(text_program("flow", fmt::format("brx.idx.uni/{}", index),
                               {list + fmt::format("mov.u32 %r10, %ctaid.x;\nadd.u32 %r10, %r10, {};\nbrx.idx.uni %r10, CASES;\n", index) + cases,
                                {output(per_thread([index](uint32_t t) { return case_value(index, t); }))}}));
  }
}

// ---- calls

const std::string kFunctions =
    ".func (.param .b32 r) scaled(.param .b32 x, .param .b32 y)\n{\n.reg .b32 %a<3>;\nld.param.b32 %a0, [x];\nld.param.b32 %a1, [y];\nmad.lo.u32 %a2, %a0, %a1, 7;\n"
    "st.param.b32 [r], %a2;\nret;\n}\n"
    ".func (.param .b32 r) mixed(.param .b32 x, .param .b32 y)\n{\n.reg .b32 %a<3>;\nld.param.b32 %a0, [x];\nld.param.b32 %a1, [y];\nxor.b32 %a2, %a0, %a1;\nst.param.b32 [r], %a2;\nret;\n}\n"
    ".func (.param .b32 r) triangle(.param .b32 n)\n{\n.reg .b32 %a<4>;\n.reg .pred %none;\nld.param.b32 %a0, [n];\nmov.b32 %a2, 0;\nsetp.eq.u32 %none, %a0, 0;\n@%none bra END;\n"
    "{\n.param .b32 x;\n.param .b32 y;\nsub.u32 %a1, %a0, 1;\nst.param.b32 [x], %a1;\ncall (y), triangle, (x);\nld.param.b32 %a2, [y];\n}\nadd.u32 %a2, %a2, %a0;\nEND:\n"
    "st.param.b32 [r], %a2;\nret;\n}\n";

/// %r11 = target(%r13, %r14).
std::string call(const std::string& instruction, const std::string& target, const std::string& prototype = "") {
  return fmt::format("{{\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\nst.param.b32 [x], %r13;\nst.param.b32 [y], %r14;\n{} (z), {}, (x, y){};\nld.param.b32 %r11, [z];\n}}\n", instruction, target,
                     prototype);
}

void add_calls(std::vector<ProgramSpec>& out) {
  const auto add = [&](std::string name, std::string body, Bytes want) {
    AsyncText text{std::move(body), {output(std::move(want))}};
    text.module_scope = kFunctions;
    out.push_back(text_program("flow", std::move(name), std::move(text)));
  };
  const std::string arguments = "add.u32 %r13, %thread, 3;\nmov.b32 %r14, 29;\n";
  const auto scaled = [](uint32_t t) { return (t + 3) * 29 + 7; };
  const auto mixed = [](uint32_t t) { return (t + 3) ^ 29u; };
  add("call.uni/direct", arguments + call("call.uni", "scaled") + store_words("%b0", "%r11"), per_thread(scaled));
  add("call/divergent",
      arguments + "and.b32 %r10, %thread, 1;\nsetp.eq.u32 %p2, %r10, 0;\n@%p2 bra EVEN;\n" + call("call", "scaled") + "bra JOIN;\nEVEN:\n" + call("call", "mixed") + "JOIN:\n" +
          store_words("%b0", "%r11"),
      per_thread([=](uint32_t t) { return t % 2 == 0 ? mixed(t) : scaled(t); }));
  add("call/pointer",
      arguments +
          "FORM: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\nmov.u64 %d10, scaled;\nmov.u64 %d11, mixed;\nrem.u32 %r10, %thread, 3;\nsetp.eq.u32 %p2, %r10, 1;\n"
          "selp.b64 %d12, %d10, %d11, %p2;\n" +
          call("call", "%d12", ", FORM") + store_words("%b0", "%r11"),
      per_thread([=](uint32_t t) { return t % 3 == 1 ? scaled(t) : mixed(t); }));
  add("call/recursive", "and.b32 %r13, %thread, 15;\n{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r13;\ncall (z), triangle, (x);\nld.param.b32 %r11, [z];\n}\n" + store_words("%b0", "%r11"),
      per_thread([](uint32_t t) { return t % 16 * (t % 16 + 1) / 2; }));
}

// ---- ends

/// Thread t leaves a loop after t mod 7 rounds; the word of a thread that left before its store is unchanged.
void add_ends(std::vector<ProgramSpec>& out) {
  ProgramBuffer words{.initial = per_thread([](uint32_t t) { return t; })};
  words.expected = per_thread([](uint32_t t) { return t % 7 < 4 ? t : t + 500; });
  out.push_back(text_program("flow", "exit",
                             {"rem.u32 %r10, %thread, 7;\nmov.b32 %r11, 0;\nAGAIN:\nsetp.eq.u32 %p2, %r10, %r11;\n@%p2 exit;\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p3, %r11, 4;\n@%p3 bra AGAIN;\n"
                              "add.u32 %r12, %thread, 500;\n" +
                                  store_words("%b0", "%r12"),
                              {std::move(words)}}));
}

// ---- instructions that take or count time and change no value

void add_neutral(std::vector<ProgramSpec>& out) {
  const auto add = [&](std::string name, const std::string& instructions, std::string directives = "") {
    AsyncText text{"mad.lo.u32 %r10, %thread, 17, 2;\nmov.b32 %r11, 300;\n" + instructions + store_words("%b0", "%r10"), {output(per_thread([](uint32_t t) { return t * 17 + 2; }))}};
    text.directives = std::move(directives);
    out.push_back(text_program("flow", std::move(name), std::move(text)));
  };
  add("nanosleep.u32/immediate", "nanosleep.u32 2000;\n");
  add("nanosleep.u32/register", "and.b32 %r12, %thread, 3;\nmul.lo.u32 %r11, %r11, %r12;\nnanosleep.u32 %r11;\n");
  add("pmevent", "pmevent 3;\n");
  add("pmevent.mask", "pmevent.mask 5;\n");
  add("setmaxnreg", "setmaxnreg.dec.sync.aligned.u32 32;\nbar.sync 0;\nadd.u32 %r10, %r10, 4;\nsetmaxnreg.inc.sync.aligned.u32 96;\nsub.u32 %r10, %r10, 4;\n", ".maxnreg 96\n");
}

}  // namespace

void add_aborts(std::vector<ProgramSpec>& out) {
  for (const auto& [op, code] : {std::pair{"trap", Code::F3701}, std::pair{"brkpt", Code::F3704}}) {
    AsyncText text{fmt::format("setp.eq.u32 %p2, %thread, 77;\n@%p2 {};\n", op), {input(Bytes(16))}};
    text.fault = code;
    out.push_back(text_program("abort", op, std::move(text)));
  }
}

void add_flow(std::vector<ProgramSpec>& out) {
  add_branches(out);
  add_calls(out);
  add_ends(out);
  add_neutral(out);
}

}  // namespace drywell::kernels::conformance
