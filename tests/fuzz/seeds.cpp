#include "seeds.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "drywell/core/npy.h"
#include "drywell/core/whole_number.h"
#include "drywell/sim/trace.h"

namespace drywell::attack {

namespace fs = std::filesystem;

std::string source(const std::string& relative) { return std::string(DRYWELL_SOURCE_DIR) + "/" + relative; }

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> files_of(const std::string& folder, const std::string& ending) {
  constexpr uintmax_t kMostBytes = 256 << 10;
  std::vector<std::string> all;
  for (const auto& e : fs::directory_iterator(source(folder))) {
    if (e.is_regular_file() && e.path().string().ends_with(ending) && e.file_size() <= kMostBytes)
      all.push_back(e.path().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

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
  for (const char* file : {"h200-2026-11-21.record", "h200-2026-11-21-scalar.record", "h200-2026-11-22-microbench.txt",
                           "nvfp4-h200.txt", "h200-2026-11-26-launch-mechanisms.csv", "h200-2026-11-23.survey"}) {
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

Texts clock_records() {
  return {content(source("traces/hw/gemm_sm90_blockwise/h200.txt")).substr(0, 2048),
          "== --rows=64\n  clock, GPU    7602 cycles, 4.16 us at 1.827 GHz\n  clock, timed  7778 cycles, +2.3 %\n"};
}

/// The forms of `drywell run KERNEL`, `drywell run FILE` and `drywell exec` (docs/schemas).
Texts reports() {
  return {R"({"kernel": "tma-copy", "arch": "sm_100a", "driver": "timed", "cycles": 5283, "warp_instructions": 120, "verify": {"status": "failed"}, "fault": null,
 "hazards": [{"code": "H7003", "level": "error"}], "units": {"tensor": {"instances": 4, "utilisation": 0.25}}, "stalls": {"epilogue": {"barrier": 120.5}, "load": null},
 "limits": [{"name": "tma", "cycles": 900, "fraction": 0.4}], "lines": [{"file": "kernels/a.cpp", "line": 12, "instructions": 3, "cycles": 44}]})",
          R"({"file": "k.ptx", "arch": "sm_90a", "driver": "eager", "launches": [{"entry": "k", "cycles": null, "fault": {"code": "F3001"}}, {"entry": "l", "units": {}, "stalls": {}}]})",
          R"({"arch": "sm_100a", "driver": "timed", "launches": [{"kernel": "a", "cycles": 100, "utilisation": {"tensor": 0.5}, "limit": "hbm", "hazards": {"errors": 1, "warnings": 0}}]})",
          R"({"launches":[1,2,"x"]})", R"({"kernel": "x", "lines": [{}], "cycles": 1e300})"};
}

/// Tensor maps that an H200's driver made, and two copies' coordinates.
Texts tensor_maps() {
  Texts all;
  const std::string text = content(source("tests/data/tensor_map/h200.txt"));
  constexpr size_t kDigits = 256, kMost = 60;
  for (size_t at = text.find(" : "); at != std::string::npos && all.size() < kMost; at = text.find(" : ", at + 1)) {
    const std::string_view digits = std::string_view(text).substr(at + 3, kDigits);
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) bytes += static_cast<char>(whole_number<uint8_t>(digits.substr(i, 2), 16).value_or(0));
    all.push_back(bytes + std::string(all.size() % 2 == 0 ? 20 : 0, static_cast<char>(all.size() % 3)));
  }
  return all;
}

/// An ELF object of 64-bit words: `code` bytes of code that a relocation changes in one place, and a symbol table that names a function.
std::string object(size_t code) {
  struct File {
    Elf64_Ehdr header{};
    Elf64_Shdr sections[5]{};
    Elf64_Sym symbols[2]{};
    Elf64_Rela relocation{};
    char names[8] = "\0main\0";
  } f;
  std::memcpy(f.header.e_ident, ELFMAG, SELFMAG);
  f.header.e_ident[EI_CLASS] = ELFCLASS64;
  f.header.e_shoff = offsetof(File, sections);
  f.header.e_shnum = 5;
  f.header.e_phoff = sizeof(File) + code;
  f.header.e_phnum = 1;
  f.sections[1] = {0, SHT_PROGBITS, SHF_EXECINSTR, 0, sizeof(File), code, 0, 0, 0, 0};
  f.sections[2] = {0, SHT_RELA, 0, 0, offsetof(File, relocation), sizeof f.relocation, 0, 1, 0, 0};
  f.sections[3] = {0, SHT_SYMTAB, 0, 0, offsetof(File, symbols), sizeof f.symbols, 4, 0, 0, 0};
  f.sections[4] = {0, SHT_STRTAB, 0, 0, offsetof(File, names), sizeof f.names, 0, 0, 0, 0};
  f.symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 16, 32};
  f.relocation = {40, ELF64_R_INFO(1, R_X86_64_PC32), 0};
  const Elf64_Phdr segment = {PT_LOAD, PF_X, sizeof(File), 0x1000, 0, code, code, 16};
  std::string out(reinterpret_cast<const char*>(&f), sizeof f);
  for (size_t i = 0; i < code; ++i) out += static_cast<char>(i * i >> 3);
  return out + std::string(reinterpret_cast<const char*>(&segment), sizeof segment);
}

std::string archive_of(const std::string& member) {
  std::string size = std::to_string(member.size());
  size.resize(10, ' ');
  std::string name = "a.o/";
  name.resize(48, ' ');
  return "!<arch>\n" + name + size + "`\n" + member;
}

/// The archive's length, an archive, and a library with its code in it, or with other code.
Texts runtime_archives() {
  Texts all;
  for (const auto& [member, library] : {std::pair{object(4160), object(4160)}, {object(64), object(4160)}, {object(64).substr(0, 200), object(64)}}) {
    const std::string archive = archive_of(member);
    all.push_back(std::string{static_cast<char>(archive.size() & 0xFF), static_cast<char>(archive.size() >> 8)} + archive + library);
  }
  return all;
}

/// What is typed into the debugger: each row a session.
Texts shell_commands() {
  return {"help\nhelp break\nlist\nlist again 5\nstep\nstep 3\nstep cta 2\nstep any\nwhere\ncontinue\n",
          "break again if %r1 == 2\nbreak phase\ntbreak write smem 0x400,16\nwatch %r1\ninfo break\ncontinue\ncontinue\ndisable 1\nenable 1\ndelete 2\ncontinue\n",
          "until bar.sync\nnext 2\nfinish\nreverse-step 2\nreverse-next\nreverse-continue smem buf\ngoto 40\nwho smem buf\nwho %r3\n",
          "restart timed\nstep cycle 100\nuntil cycle 400\nrestart shuffled:3\nseed 9\ncontinue\n",
          "info warps\ninfo ctas\ninfo mbarriers\ninfo async\ninfo registers\ninfo line\ninfo shared\ninfo memory\ninfo launch\ninfo hazards\ninfo pipelines\n",
          "warp 1\ncta 1,0,0\nlane 31\nprint %r1 as f16x2 lane 3\nprint u32[smem buf + 4] * 2\nx smem buf,8 as u8 swizzle 128B\ntmem 0..3 0..7 as f32\nset %r1 = 7 lane 2\n",
          "panes list 4; info registers; panes off\nstep\nstep\npanes off\nquit\n",
          "until 4294967245\nwarp 4294967296\nlist 4294967295\nwatch gmem 18446744073709551612,8\nx smem 0xffffffff,65536 as b4\n"};
}

}  // namespace

std::vector<Seeds> all_seeds() {
  const Texts ptx = contents({"tests/corpus", "tests/corpus/hard", "tests/corpus/verdicts", "tests/corpus/error"}, ".ptx");
  const Texts elf = {content("/proc/self/exe").substr(0, 4096), content("/bin/true"), object(64)};
  Texts plans = contents({"tests/corpus/hard", "examples/ptx", "examples/cuda"}, ".toml");
  plans.emplace_back("u32[4]:random,seed=3");
  plans.emplace_back("x,box=64x8,swizzle=128B");
  plans.emplace_back("block:16;0=u32:5;8=@x+64");
  return {{"parse", ptx},
          {"execute", ptx},
          {"plan", plans},
          {"npy", arrays()},
          {"arch", contents({"sim/arch"}, ".toml")},
          {"trace", traces()},
          {"packed_trace", contents({"traces/golden"}, ".zst")},
          {"record", records()},
          {"clock_record", clock_records()},
          {"report", reports()},
          {"fatbin", images()},
          {"elf", elf},
          {"runtime_archive", runtime_archives()},
          {"tensor_map", tensor_maps()},
          {"dap", conversations()},
          {"shell", shell_commands()},
          {"layout", layouts()},
          {"pattern", patterns()}};
}

}  // namespace drywell::attack
