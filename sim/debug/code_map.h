// Names of places in a program: source lines, PTX lines, labels, instruction names, program counters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/source_path.h"
#include "sim/state/program.h"

namespace drywell::sim {

/// One instruction as the user sees it.
struct CodeLine {
  std::string text;      // PTX
  std::string function;  // empty: the kernel itself
  std::string file;      // of the author's source; empty: no line information
  uint32_t line = 0;
  std::vector<SourcePos> called_from;  // the calls for which that line was inlined, innermost first
  uint32_t ptx_line = 0;               // in the PTX file; 0: the kernel was built in C++
  bool end = false;                    // the return after the last instruction of every function
};

class CodeMap {
 public:
  explicit CodeMap(const Program& p);

  const CodeLine& at(uint32_t pc) const { return lines_[pc]; }
  uint32_t size() const { return static_cast<uint32_t>(lines_.size()); }
  /// Labels at `pc`.
  std::vector<std::string> labels_at(uint32_t pc) const;
  /// The best name of a place: "kernel.cpp:17", "ptx:17" or "pc 17".
  std::string place(uint32_t pc) const;

  /// Program counters that `words` name: pc:N; LINE (of `file`, or of the PTX if `file` is empty); FILE:LINE; ptx:LINE; a
  /// label; an instruction's name or its beginning up to a dot ("tcgen05.mma"). A line that was copied (unrolled loops) has
  /// several. A line without code means the next line that has code, at most 50 lines further and in the same
  /// function of a Python file. Throws InputError E4320.
  std::vector<uint32_t> find(std::string_view words, std::string_view file) const;
  /// The same for a line of a file; empty if there is none. `file` may lack leading folders. `line` is set to the line found.
  std::vector<uint32_t> find_line(std::string_view file, uint32_t& line) const;

  /// Names for completion, all of which find accepts: labels, file:line, opcodes.
  std::vector<std::string> names() const;

 private:
  std::vector<uint32_t> starts_of(bool (*same)(const CodeLine&, std::string_view, uint32_t), std::string_view file, uint32_t& line) const;

  std::string text_name_;  // of the PTX file; empty: the kernel was built in C++
  std::vector<CodeLine> lines_;
  std::vector<std::string> opcodes_;  // per pc
  struct Label {
    std::string name;
    uint32_t pc;
  };
  std::vector<Label> labels_;
};

}  // namespace drywell::sim
