#include "targets.h"

#include <iterator>

#include "drywell/core/error.h"
#include "drywell/core/npy.h"
#include "drywell/sim/trace.h"
#include "part.h"

// Each harness is LLVMFuzzerTestOneInput of its file; here they have names of their own (CMakeLists.txt).
extern "C" {
int drywell_fuzz_parse(const uint8_t*, size_t);
int drywell_fuzz_execute(const uint8_t*, size_t);
int drywell_fuzz_plan(const uint8_t*, size_t);
int drywell_fuzz_npy(const uint8_t*, size_t);
int drywell_fuzz_arch(const uint8_t*, size_t);
int drywell_fuzz_trace(const uint8_t*, size_t);
int drywell_fuzz_packed_trace(const uint8_t*, size_t);
int drywell_fuzz_record(const uint8_t*, size_t);
int drywell_fuzz_fatbin(const uint8_t*, size_t);
int drywell_fuzz_elf(const uint8_t*, size_t);
int drywell_fuzz_dap(const uint8_t*, size_t);
int drywell_fuzz_layout(const uint8_t*, size_t);
int drywell_fuzz_pattern(const uint8_t*, size_t);
}

namespace drywell::attack {
namespace {

using Texts = std::vector<std::string>;

/// The content of the files of folders that end so.
Texts contents(std::initializer_list<const char*> folders, const std::string& ending) {
  Texts all;
  for (const char* folder : folders) {
    for (const std::string& path : files_of(folder, ending)) all.push_back(content(path));
  }
  return all;
}

Texts traces() {
  Texts all;
  for (const char* ending : {".trace", ".trace.zst"}) {
    for (const std::string& path : files_of("traces/golden", ending)) {
      const std::string text = sim::read_trace(path);
      all.push_back(text.substr(0, text.rfind('\n', 64 << 10) + 1));
    }
  }
  return all;
}

std::string framed(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Texts conversations() {
  const char* const requests[] = {
      R"({"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"drywell","linesStartAt1":true}})",
      R"({"seq":2,"type":"request","command":"launch","arguments":{"program":"k","args":["--rows=64"],"arch":"sm_100a","driver":"eager","stopOnEntry":true,"launch":1}})",
      R"({"seq":3,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"k.ptx"},"breakpoints":[{"line":9,"condition":"%r1 == 3"}]}})",
      R"({"seq":4,"type":"request","command":"configurationDone"})",
      R"({"seq":5,"type":"request","command":"threads"})",
      R"({"seq":6,"type":"request","command":"stackTrace","arguments":{"threadId":1,"startFrame":0,"levels":20}})",
      R"({"seq":7,"type":"request","command":"scopes","arguments":{"frameId":1}})",
      R"({"seq":8,"type":"request","command":"variables","arguments":{"variablesReference":1}})",
      R"({"seq":9,"type":"request","command":"evaluate","arguments":{"expression":"u32[smem 0x400] + %r1","frameId":1,"context":"repl"}})",
      R"({"seq":10,"type":"request","command":"stepIn","arguments":{"threadId":1}})",
      R"({"seq":11,"type":"request","command":"stepBack","arguments":{"threadId":1}})",
      R"({"seq":12,"type":"request","command":"disassemble","arguments":{"memoryReference":"0x0","instructionCount":10,"instructionOffset":-2}})",
      R"({"seq":13,"type":"request","command":"readMemory","arguments":{"memoryReference":"0x0","count":64}})",
      R"({"seq":14,"type":"request","command":"continue","arguments":{"threadId":1}})",
      R"({"seq":15,"type":"request","command":"disconnect"})"};
  std::string all;
  for (const char* r : requests) all += framed(r);
  return {all, framed(requests[0]) + framed(requests[1]), framed(requests[0])};
}

Texts layouts() {
  return {"(8,(4,2)):(1,(8,32))",
          "complement((4,2):(1,8), 64)",
          "Swizzle<3,4,3> o (8,64):(64,1)",
          "logical_divide((16,8):(1,16), (4:1, 2:1))",
          "composition((20,2):(16,4), (4,5):(1,4))",
          "coalesce((2,(1,6)):(1,(6,2)))",
          "zipped_divide((9,(4,8)):(59,(13,1)), (3:3,(2,4):(1,8)))",
          "tile_to_shape((8,64):(64,1), (128,256))",
          "make_layout((3,4))"};
}

Texts patterns() {
  return {"tma-.*\ntma-copy", "^(a|b)+c{2,5}[^x-z]\\d?$\nababcc9", "(gemm|rht)(_\\w+)*\nfused_rht",
          "%r1 == 3 && %tid.x < 32", "u32[smem tile + 16 * %i] > 7 || f32(%r7) < -1.5e3"};
}

Texts arrays() {
  Texts all;
  for (const std::string& path : files_of("tests/data/npy", ".npy")) all.push_back(content(path));
  const std::vector<std::byte> made =
      format_npy(NpyArray::of_bytes("<f4", std::vector<std::byte>(64), {4, 4}));
  all.emplace_back(reinterpret_cast<const char*>(made.data()), made.size());
  return all;
}

Texts records() {
  Texts all;
  for (const char* file : {"h200-2026-11-21.record", "h200-2026-11-21-scalar.record",
                           "h200-2026-11-22-microbench.txt", "nvfp4-h200.txt"}) {
    const std::string text = content(source(std::string("traces/hw/") + file));
    all.push_back(text.substr(0, text.rfind('\n', 16 << 10) + 1));
  }
  all.emplace_back("tma-copy --rows=64 --columns=32 --driver=shuffled:3 --arch=sm_100a");
  return all;
}

/// Fat binaries, an envelope of PTX, PTX.
Texts images() {
  Texts all = contents({"tests/data/fatbin"}, "");
  all.push_back(content(source("tests/corpus/scalar.ptx")));
  return all;
}

}  // namespace

std::vector<Target> all_targets() {
  const Texts ptx = contents({"tests/corpus", "tests/corpus/hard", "tests/corpus/verdicts"}, ".ptx");
  const Texts elf = {content("/proc/self/exe").substr(0, 4096), content("/bin/true")};
  Texts plans = contents({"tests/corpus/hard", "examples/ptx", "examples/cuda"}, ".toml");
  plans.emplace_back("u32[4]:random,seed=3");
  plans.emplace_back("x,box=64x8,swizzle=128B");
  plans.emplace_back("block:16;0=u32:5;8=@x+64");
  return {{"ptx", drywell_fuzz_parse, false, ptx},
          {"execution", drywell_fuzz_execute, false, ptx},
          {"launch files", drywell_fuzz_plan, false, plans},
          {"npy", drywell_fuzz_npy, true, arrays()},
          {"architectures", drywell_fuzz_arch, false, contents({"sim/arch"}, ".toml")},
          {"traces", drywell_fuzz_trace, false, traces()},
          {"packed traces", drywell_fuzz_packed_trace, true, contents({"traces/golden"}, ".zst")},
          {"records", drywell_fuzz_record, false, records()},
          {"fat binaries", drywell_fuzz_fatbin, true, images()},
          {"executables", drywell_fuzz_elf, true, elf},
          {"debug adapter", drywell_fuzz_dap, false, conversations()},
          {"layouts", drywell_fuzz_layout, false, layouts()},
          {"patterns", drywell_fuzz_pattern, false, patterns()}};
}

}  // namespace drywell::attack
