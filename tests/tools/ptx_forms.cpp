// Reads PTX files and lists the opcode texts the instruction table does not have, the most frequent first,
// with the time the parser took. With --print the module is printed back on standard output.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"

int main(int argc, char** argv) {
  using namespace drywell;
  bool print = false, check = false;
  std::map<std::string, std::string> missing;  // message → first place
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--print") == 0) {
      print = true;
      continue;
    }
    if (std::strcmp(argv[i], "--validate") == 0) {
      check = true;
      continue;
    }
    std::ifstream in(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto start = std::chrono::steady_clock::now();
    const isa::ParseResult r = isa::parse_ptx(text, argv[i]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    size_t instructions = 0, others = 0;
    for (const isa::Function& f : r.module.functions) instructions += f.body.size();
    for (const Diagnostic& d : r.diagnostics.list()) {
      if (d.code == Code::E1101) {
        missing.emplace(d.message, d.to_string());
      } else if (++others <= 20) {
        fmt::print(stderr, "{}\n", d.to_string());
      }
    }
    if (check) {
      const Diagnostics found = isa::validate(r.module);
      size_t shown = 0;
      for (const Diagnostic& d : found.list()) {
        if (++shown <= 40) fmt::print(stderr, "{}\n", d.to_string());
      }
    }
    if (print) fmt::print("{}", isa::print_module(r.module));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(stderr, "{}: {:.2f} MB, {} instructions, {} other errors, {:.0f} MB/s, peak {} MB\n", argv[i],
               static_cast<double>(text.size()) / 1e6, instructions, others,
               static_cast<double>(text.size()) / 1e6 / took.count(), usage.ru_maxrss / 1024);
  }
  for (const auto& [message, where] : missing) fmt::print(stderr, "missing: {}\n", where);
  return missing.empty() ? 0 : 1;
}
