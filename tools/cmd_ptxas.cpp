// drywell ptxas: the stand-in of ptxas for compilers that call it. Its "cubin" is an envelope with the PTX
// text inside (cudart/cubin.h), which the stand-in of the driver opens.
#include <fmt/format.h>

#include "cudart/abi.h"
#include "cudart/cubin.h"
#include "drywell/core/files.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "tools/common/command.h"
#include "tools/common/output_file.h"

namespace drywell::tools {
namespace {

struct PtxasLine {
  std::string input, output = "elf.o";  // ptxas's default
  bool version = false;
};

/// Options of ptxas that take a value in the next word.
bool takes_next_word(const std::string& w) {
  for (const char* name :
       {"-arch", "--gpu-name", "-O", "--opt-level", "-maxrregcount", "--maxrregcount", "-m", "--machine"}) {
    if (w == name) return true;
  }
  return false;
}

/// Reads a command line of ptxas. What concerns machine code only (optimisation, registers) has no effect.
PtxasLine parse_line(const std::vector<std::string>& words) {
  PtxasLine line;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& w = words[i];
    if (w == "--version" || w == "-V")
      line.version = true;
    else if ((w == "-o" || w == "--output-file") && i + 1 < words.size())
      line.output = words[++i];
    else if (takes_next_word(w))
      ++i;
    else if (!w.starts_with("-"))
      line.input = w;
  }
  return line;
}

void print_version() {
  constexpr int kMajor = cudart::kRuntimeVersion / 1000, kMinor = cudart::kRuntimeVersion % 1000 / 10;
  // Triton reads the release and takes PTX's version from it; it also keys its cache with the whole text.
  fmt::print("drywell ptxas: the stand-in of ptxas of Drywell " DRYWELL_VERSION
             ", which keeps PTX\n"
             "Cuda compilation tools, release {0}.{1}, V{0}.{1}.0\n",
             kMajor, kMinor);
}

// `ptxas -o /dev/null` only checks.
bool discarded(const std::string& output) { return output == "/dev/null"; }

ExitCode assemble(const std::vector<std::string>& words) {
  const PtxasLine line = parse_line(words);
  if (line.version) return print_version(), ExitCode::ok;
  if (line.input.empty())
    throw UsageError("which file? drywell ptxas [options of ptxas] kernel.ptx -o kernel.cubin", "ptxas");
  CommandFiles files("ptxas");
  files.reads("the file to assemble", line.input);
  if (!discarded(line.output)) files.writes("-o", line.output);
  const std::string text = read_text_file(line.input);
  isa::ParseResult r = isa::parse_ptx(text, line.input);
  if (!r.diagnostics.has_errors()) r.diagnostics.append(isa::validate(r.module));
  if (!r.diagnostics.empty()) fmt::print(stderr, "{}\n", r.diagnostics.to_string());
  if (r.diagnostics.has_errors()) return ExitCode::bad_input;
  if (!discarded(line.output)) write_file_atomically(line.output, cudart::cubin_envelope(text));
  return ExitCode::ok;
}

}  // namespace

void register_ptxas(Command& app, CommandContext& context) {
  Command* sub = add_command(app, "ptxas");
  sub->prefix_command();
  sub->callback([sub, &context] { context.action = [sub] { return assemble(sub->remaining()); }; });
}

}  // namespace drywell::tools
