#include "sim/debug/code_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/core/text.h"
#include "drywell/core/whole_number.h"
#include "drywell/isa/print.h"

namespace drywell::sim {
namespace {

/// `given` may lack leading folders of `path`.
bool same_file(std::string_view path, std::string_view given) {
  path = from_repository(path);
  given = from_repository(given);
  if (path.size() < given.size()) std::swap(path, given);  // `given` may be an editor's absolute path
  return !given.empty() && path.ends_with(given) && (path.size() == given.size() || path[path.size() - given.size() - 1] == '/');
}

// The code of a line includes the functions that were inlined there.
bool same_source(const CodeLine& l, std::string_view file, uint32_t line) {
  const auto here = [&](const SourcePos& at) { return at.line == line && same_file(at.file, file); };
  return here({l.file, l.line, 0}) || std::any_of(l.called_from.begin(), l.called_from.end(), here);
}
bool same_ptx(const CodeLine& l, std::string_view, uint32_t line) { return l.ptx_line == line; }

/// The whole path of `file`, which `l` or a call that it was inlined for is of.
const std::string& path_in(const CodeLine& l, std::string_view file) {
  const auto call = std::find_if(l.called_from.begin(), l.called_from.end(), [&](const SourcePos& at) { return same_file(at.file, file); });
  return same_file(l.file, file) || call == l.called_from.end() ? l.file : call->file;
}

/// True if another function of a Python file begins behind line `asked`, up to line `found`. A decorator's line belongs to its function.
bool function_between(const std::string& path, uint32_t asked, uint32_t found) {
  if (!path.ends_with(".py") || asked == found) return false;
  std::string text;
  try {
    text = read_text_file(path);
  } catch (const Error&) {
    return false;  // nothing is known of the file
  }
  std::istringstream in(text);
  std::string line;
  bool decorated = false;
  for (uint32_t n = 1; n <= found && std::getline(in, line); ++n) {
    const std::string_view word = std::string_view(line).substr(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool decorator = word.starts_with('@'), header = word.starts_with("def ") || word.starts_with("class ");
    if (n > asked && (decorator || header) && !decorated) return true;
    if (n >= asked) decorated = decorator;
  }
  return false;
}

}  // namespace

CodeMap::CodeMap(const Program& p) : text_name_(p.module->files[0]) {
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    const DecodedOp& op = p.code[pc];
    const isa::Function& f = p.function_of(op);
    CodeLine& l = lines_.emplace_back();
    if (&f != p.function) l.function = f.name;
    l.end = pc + 1 == p.code.size() || p.code[pc + 1].function != op.function;
    if (l.end) {
      l.text = "(end)";
      opcodes_.emplace_back();
      continue;
    }
    const isa::Instruction& i = f.body[op.instr];
    l.text = isa::print_instruction(f, i);
    l.ptx_line = i.ptx_line;
    l.called_from = isa::InstructionRef{*p.module, f, i}.author_lines();
    for (SourcePos& at : l.called_from) at.file = from_repository(at.file);
    if (!l.called_from.empty()) {
      l.file = l.called_from.front().file;
      l.line = l.called_from.front().line;
      l.called_from.erase(l.called_from.begin());
    }
    opcodes_.push_back(isa::print_opcode(i));
  }
  for (const FunctionCode& f : p.functions) {
    for (const isa::Label& l : f.function->labels) labels_.push_back({l.name, f.first + l.position});
    if (f.function != p.function) labels_.push_back({f.function->name, f.first});
  }
}

std::vector<std::string> CodeMap::labels_at(uint32_t pc) const {
  std::vector<std::string> names;
  for (const Label& l : labels_) {
    if (l.pc == pc) names.push_back(l.name);
  }
  return names;
}

std::string CodeMap::place(uint32_t pc) const {
  const CodeLine& l = lines_[pc];
  if (!l.file.empty()) return fmt::format("{}:{}", base_name(l.file), l.line);
  return l.ptx_line != 0 ? fmt::format("ptx:{}", l.ptx_line) : fmt::format("pc:{}", pc);
}

// First instructions of the runs of instructions of `line`, or of the next line that has instructions.
std::vector<uint32_t> CodeMap::starts_of(bool (*same)(const CodeLine&, std::string_view, uint32_t), std::string_view file, uint32_t& line) const {
  constexpr uint32_t kNearby = 50;  // a line further down is not the one that the user means
  const uint32_t asked = line;
  for (; line - asked <= kNearby; ++line) {  // asked + kNearby may be more than 32 bits hold
    if (line < asked) break;
    std::vector<uint32_t> found;
    for (uint32_t pc = 0; pc < size(); ++pc) {
      if (same(lines_[pc], file, line) && (pc == 0 || !same(lines_[pc - 1], file, line))) found.push_back(pc);
    }
    if (found.empty()) continue;
    const bool elsewhere = same == same_source && function_between(path_in(lines_[found[0]], file), asked, line);
    return elsewhere ? std::vector<uint32_t>{} : found;
  }
  return {};
}

std::vector<uint32_t> CodeMap::find_line(std::string_view file, uint32_t& line) const {
  const uint32_t asked = line;
  std::vector<uint32_t> found = starts_of(same_source, file, line);
  if (!found.empty() || !same_file(text_name_, file)) return found;
  line = asked;
  return starts_of(same_ptx, file, line);
}

std::vector<uint32_t> CodeMap::find(std::string_view words, std::string_view file) const {
  const auto refuse = [&](std::string why, std::string hint = {}) -> std::vector<uint32_t> { throw InputError(Code::E4320, std::move(why), std::move(hint)); };
  if (words.empty()) return refuse("which place?", "pc:N, LINE, FILE:LINE, ptx:LINE, a label, or an instruction's name");
  if (std::optional<uint32_t> line = whole_number<uint32_t>(words); line.has_value()) {
    const std::vector<uint32_t> found = file.empty() ? starts_of(same_ptx, {}, *line) : find_line(file, *line);
    return !found.empty() ? found : refuse(fmt::format("no code at line {} of {}", words, file.empty() ? "the PTX" : file), "pc:N names a program counter");
  }
  if (const size_t colon = words.rfind(':'); colon != std::string_view::npos) {
    std::optional<uint32_t> n = whole_number<uint32_t>(words.substr(colon + 1));
    const std::string_view before = words.substr(0, colon);
    if (n.has_value() && before == "pc") return *n < size() ? std::vector{*n} : refuse(fmt::format("there are only {} instructions", size()));
    if (n.has_value()) {
      const std::vector<uint32_t> found = before == "ptx" || same_file(text_name_, before) ? starts_of(same_ptx, {}, *n) : starts_of(same_source, before, *n);
      return !found.empty() ? found : refuse(fmt::format("no code at {}", words));
    }
  }
  std::vector<uint32_t> found;
  for (const Label& l : labels_) {
    if (l.name == words) found.push_back(l.pc);
  }
  if (!found.empty()) return found;
  for (uint32_t pc = 0; pc < size(); ++pc) {
    const std::string_view op = opcodes_[pc];
    if (op.starts_with(words) && (op.size() == words.size() || op[words.size()] == '.' || op[words.size()] == ':')) found.push_back(pc);
  }
  if (!found.empty()) return found;
  const std::vector<std::string> all = names();
  const std::vector<std::string_view> views(all.begin(), all.end());
  return refuse(fmt::format("no place '{}': neither a label nor an instruction of this kernel", words), did_you_mean(words, views));
}

std::vector<std::string> CodeMap::names() const {
  std::set<std::string> all;
  for (const Label& l : labels_) all.insert(l.name);
  for (const std::string& op : opcodes_) {
    // Up to the second dot: "tcgen05.mma", "cp.async", "bar.sync".
    const size_t dot = op.find('.');
    all.insert(dot == std::string::npos ? op : op.substr(0, op.find('.', dot + 1)));
  }
  for (const CodeLine& l : lines_) {
    if (!l.file.empty()) all.insert(fmt::format("{}:{}", base_name(l.file), l.line));
  }
  all.erase("");
  return {all.begin(), all.end()};
}

}  // namespace drywell::sim
