#include "tools/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "drywell/core/whole_number.h"
#include "drywell/isa/instruction.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"

namespace drywell::tools {
namespace {

using isa::SyncRole;

constexpr std::string_view kScratch = "%mutant";
constexpr int64_t kMbarrierBytes = 8;

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

/// A line that is one instruction: label, guard, opcode, operands; and its row.
struct Parts {
  std::string guard, opcode;
  std::vector<std::string> operands;
  const isa::InstrSpec* row = nullptr;
  bool has(std::string_view modifier) const { return opcode.find(modifier) != std::string::npos; }
  /// Index of the operand that the row names so; the number of operands: it has none.
  size_t operand(std::string_view name) const {
    const auto& all = row->operands;
    const auto at = std::find_if(all.begin(), all.end(), [&](const isa::OperandSpec& o) { return o.name != nullptr && o.name == name; });
    return at == all.end() ? operands.size() : static_cast<size_t>(at - all.begin());
  }
  std::string text(const std::vector<std::string>& ops) const {
    std::string all;
    for (const std::string& o : ops) all += (all.empty() ? " " : ", ") + o;
    return fmt::format("{}{}{};", guard, opcode, all);
  }
};

// Commas inside brackets and braces belong to one operand.
std::vector<std::string> split_operands(const std::string& text) {
  std::vector<std::string> all;
  int depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1
                                                             : 0;
    if (all.empty() || (c == ',' && depth == 0)) all.emplace_back();
    if (c == ',' && depth == 0) continue;
    if (c != ' ' || !all.back().empty()) all.back() += c;
  }
  return all;
}

// std::regex needs stack for every character; a compiler's lines are far shorter.
constexpr size_t kMostOfLine = 4096;

bool parse_line(const std::string& line, Parts& p) {
  static const std::regex instruction(R"(^\s*(@!?\S+\s+)?([a-z][\w.:]*)\s*([^;]*);)");
  std::smatch m;
  if (line.size() > kMostOfLine || !std::regex_search(line, m, instruction)) return false;
  p.guard = m[1];
  p.opcode = m[2];
  p.operands = split_operands(m[3]);
  return true;
}

/// The rows of a text's instructions, by line from 0.
std::map<size_t, const isa::InstrSpec*> rows_of(std::string_view ptx) {
  std::map<size_t, const isa::InstrSpec*> rows;
  for (const isa::Function& f : isa::parse_ptx_or_throw(ptx, "mutants.ptx").functions) {
    for (const isa::Instruction& i : f.body) rows.emplace(i.ptx_line - 1, &isa::spec(i.op));
  }
  return rows;
}

/// Without the instruction, something may be out of order. The program needs the others to run at all, or they order nothing.
bool removable(SyncRole r) {
  switch (r) {
    case SyncRole::mbarrier_arrive:
    case SyncRole::mbarrier_count:
    case SyncRole::cta_barrier:
    case SyncRole::cta_barrier_arrive:
    case SyncRole::cluster_arrive:
    case SyncRole::cluster_wait:
    case SyncRole::warp_barrier:
    case SyncRole::thread_fence:
    case SyncRole::mbarrier_init_fence:
    case SyncRole::async_proxy_fence:
    case SyncRole::async_generic_fence:
    case SyncRole::alias_fence:
    case SyncRole::map_release:
    case SyncRole::map_acquire:
    case SyncRole::tensor_fence_before:
    case SyncRole::tensor_fence_after:
    case SyncRole::tensor_commit:
    case SyncRole::tmem_load_wait:
    case SyncRole::tmem_store_wait:
    case SyncRole::copy_commit:
    case SyncRole::copy_wait:
    case SyncRole::copy_wait_all:
    case SyncRole::copy_arrive:
    case SyncRole::bulk_commit:
    case SyncRole::bulk_wait:
    case SyncRole::product_fence:
    case SyncRole::product_commit:
    case SyncRole::product_wait: return true;
    case SyncRole::none:
    case SyncRole::mbarrier_init:
    case SyncRole::mbarrier_inval:
    case SyncRole::mbarrier_wait:
    case SyncRole::map_edit:
    case SyncRole::map_copy:
    case SyncRole::tensor_product:
    case SyncRole::tmem_alloc:
    case SyncRole::tmem_dealloc:
    case SyncRole::tmem_relinquish:
    case SyncRole::register_pool:
    case SyncRole::grid_dependency: return false;
  }
  return false;
}

bool waits_for_groups(SyncRole r) { return r == SyncRole::copy_wait || r == SyncRole::bulk_wait || r == SyncRole::product_wait; }
bool is_cta_barrier(SyncRole r) { return r == SyncRole::cta_barrier || r == SyncRole::cta_barrier_arrive; }
/// A scope in its name says which threads it orders; the scopes of other fences are parts of their names.
bool has_scope(SyncRole r) {
  return r != SyncRole::mbarrier_init_fence && r != SyncRole::async_proxy_fence && r != SyncRole::async_generic_fence && r != SyncRole::alias_fence &&
         r != SyncRole::map_release && r != SyncRole::map_acquire && r != SyncRole::map_copy;
}

// The first such line opens a function's body: the mutants' declaration goes after it.
bool opens_body(const std::string& line) { return line.find('{') != std::string::npos && line.find('[') == std::string::npos; }

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

/// A number of the text and `by`, if that is a number from 0 to 2^32: a count, a size or an offset.
std::optional<int64_t> shifted(std::string_view number, int64_t by) {
  constexpr int64_t kMost = int64_t{1} << 32;
  const std::optional<int64_t> v = whole_number<int64_t>(number);
  const bool fits = v.has_value() && *v <= kMost && *v + by >= 0 && *v + by <= kMost;
  return fits ? std::optional(*v + by) : std::nullopt;
}

class Maker {
 public:
  Maker(size_t line, const Parts& p, std::vector<Mutant>& out) : line_(line), p_(p), out_(out) {}

  void replace(std::string what, std::string text) { out_.push_back({line_, std::move(what), p_.text(p_.operands), std::move(text), {}, {}}); }
  /// Adds two mutants: operand `i` changed by `step` and by -step.
  void shift(const char* what, size_t i, int64_t step) {
    if (i >= p_.operands.size()) return;
    for (int64_t d : {step, -step}) {
      std::vector<std::string> ops = p_.operands;
      std::string before;
      if (is_number(ops[i])) {
        const std::optional<int64_t> v = shifted(ops[i], d);
        if (!v.has_value()) continue;
        ops[i] = std::to_string(*v);
      } else {
        before = fmt::format("add.s32 {}, {}, {};\n", kScratch, ops[i], d);
        ops[i] = kScratch;
      }
      replace(fmt::format("{} {} {}", what, d < 0 ? "-" : "+", std::abs(d)), before + p_.text(ops));
    }
  }
  /// The mbarrier of the next stage: the object behind this one.
  void next_stage(size_t i) {
    if (i >= p_.operands.size() || !p_.operands[i].ends_with(']')) return;
    std::vector<std::string> ops = p_.operands;
    const size_t plus = ops[i].rfind('+');
    const std::string offset = plus == std::string::npos ? "" : ops[i].substr(plus + 1, ops[i].size() - plus - 2);
    if (plus != std::string::npos && !is_number(offset)) return;
    const std::optional<int64_t> next = shifted(offset.empty() ? "0" : offset, kMbarrierBytes);
    if (!next.has_value()) return;
    ops[i] = fmt::format("{}+{}]", ops[i].substr(0, plus == std::string::npos ? ops[i].size() - 1 : plus), *next);
    replace("next stage", p_.text(ops));
  }
  void opcode(std::string what, std::string opcode) {
    Parts other = p_;
    other.opcode = std::move(opcode);
    replace(std::move(what), other.text(p_.operands));
  }
  /// `.cluster`, `.gpu` or `.sys` behind a memory semantics becomes `.cta`.
  void narrow_scope() {
    static const std::regex scope(R"(\.(acquire|release|acq_rel|sc)\.(cluster|gpu|sys)\b)");
    std::smatch m;
    if (has_scope(p_.row->sync) && std::regex_search(p_.opcode, m, scope)) opcode("scope .cta", std::regex_replace(p_.opcode, scope, ".$1.cta"));
  }
  void flip_parity(size_t i) {
    std::vector<std::string> ops = p_.operands;
    std::string before;
    if (is_number(ops[i])) {
      ops[i] = ops[i] == "0" ? "1" : "0";
    } else {
      before = fmt::format("xor.b32 {}, {}, 1;\n", kScratch, ops[i]);
      ops[i] = kScratch;
    }
    replace("other parity", before + p_.text(ops));
  }

 private:
  size_t line_;
  const Parts& p_;
  std::vector<Mutant>& out_;
};

void mutate(size_t line, const Parts& p, std::vector<Mutant>& out) {
  Maker m(line, p, out);
  const SyncRole role = p.row->sync;
  if (removable(role)) m.replace("without", "");
  if (role == SyncRole::mbarrier_wait) {
    m.replace("true at once", fmt::format("{}setp.eq.u32 {}, 0, 0;", p.guard, p.operands[0]));
    if (p.has(".parity")) m.flip_parity(2);
  }
  if (role == SyncRole::mbarrier_init) m.shift("count", p.operand("count"), 1);
  if (role == SyncRole::mbarrier_arrive || role == SyncRole::mbarrier_count) m.shift("bytes", p.operand("tx"), 16);
  if (is_cta_barrier(role) && p.operands.size() == p.row->operand_count()) m.shift("threads", p.operand("b"), 32);
  if (waits_for_groups(role)) m.shift("groups", 0, 1);
  if (role == SyncRole::bulk_wait && !p.has(".read")) m.opcode(".read", p.opcode + ".read");
  if (role == SyncRole::mbarrier_wait) m.next_stage(1);
  if (role == SyncRole::mbarrier_arrive) m.next_stage(p.operands.size() > 1 ? 1 : 0);
  if (role == SyncRole::tensor_commit) m.next_stage(0);
  m.narrow_scope();
}

/// The instructions of a text, for mutants of more than one line.
struct Listing {
  std::vector<size_t> lines;
  std::vector<Parts> parts;
};

bool retries(const Parts& wait, const Parts& branch) {
  return wait.row->sync == SyncRole::mbarrier_wait && branch.row->flow == isa::Flow::branch && branch.guard.starts_with("@!" + wait.operands[0]);
}

bool edits_map(const Parts& p) {
  return p.opcode.find(".global") != std::string::npos && (p.opcode.starts_with("tensormap.replace") || p.opcode.starts_with("tensormap.cp_fenceproxy"));
}

/// Behind a tensor copy, an edit of its map, which writes the rank that the map has: of kernels that edit maps.
void edit_early(const Listing& all, std::vector<Mutant>& out) {
  if (std::none_of(all.parts.begin(), all.parts.end(), edits_map)) return;
  static const std::regex rank(R"(^cp\.async\.bulk\.tensor\.([1-5])d)"), map(R"(^\[([^,\]]+), *\{)");
  for (size_t i = 0; i < all.lines.size(); ++i) {
    const Parts& p = all.parts[i];
    std::smatch n, m;
    if (!std::regex_search(p.opcode, n, rank)) continue;
    for (const std::string& o : p.operands) {
      if (!std::regex_search(o, m, map)) continue;
      const std::string text = p.text(p.operands);
      out.push_back({all.lines[i], "map rewritten early", text, fmt::format("{}\n{}tensormap.replace.tile.rank.global.b1024.b32 [{}], {};", text, p.guard, m[1].str(), n[1].str()[0] - '1'), {}, {}});
    }
  }
}

void mutate_pairs(const Listing& all, std::vector<Mutant>& out) {
  std::optional<size_t> barrier;
  for (size_t i = 0; i < all.lines.size(); ++i) {
    const Parts& p = all.parts[i];
    const std::string text = p.text(p.operands);
    if (i != 0 && retries(all.parts[i - 1], p)) out.push_back({all.lines[i], "no retry", text, "", {}, {}});
    const SyncRole role = p.row->sync;
    if (role == SyncRole::cluster_wait && i != 0 && all.parts[i - 1].row->sync == SyncRole::cluster_arrive)
      out.push_back({all.lines[i - 1], "without both", all.parts[i - 1].text({}), "", {}, all.lines[i]});
    if (role == SyncRole::tmem_dealloc && barrier.has_value())
      out.push_back({all.lines[*barrier], "early dealloc", text, text + "\n" + all.parts[*barrier].text(all.parts[*barrier].operands), {}, all.lines[i]});
    if (role == SyncRole::cta_barrier || role == SyncRole::cluster_wait) barrier = i;
  }
}

}  // namespace

std::vector<Mutant> mutants_of(std::string_view ptx) {
  std::vector<Mutant> all;
  const std::vector<std::string> lines = lines_of(ptx);
  const auto rows = rows_of(ptx);
  std::vector<std::string> files = {""};
  std::string source;
  Listing listing;
  for (size_t i = 0; i < lines.size(); ++i) {
    static const std::regex file(R"re(^\s*\.file\s+\d+\s+"(?:.*/)?([^"/]+)")re"), loc(R"(^\s*\.loc\s+(\d+)\s+(\d+))");
    std::smatch m;
    if (lines[i].size() > kMostOfLine) continue;
    if (std::regex_search(lines[i], m, file)) files.push_back(m[1]);
    const size_t of = std::regex_search(lines[i], m, loc) ? whole_number<size_t>(m[1].str()).value_or(files.size()) : files.size();
    if (of < files.size()) source = fmt::format("{}:{}", files[of], m[2].str());
    Parts p;
    const size_t before = all.size();
    if (const auto row = rows.find(i); row != rows.end() && parse_line(lines[i], p)) {
      p.row = row->second;
      mutate(i, p, all);
      listing.lines.push_back(i);
      listing.parts.push_back(std::move(p));
    }
    for (size_t k = before; k < all.size(); ++k) all[k].source = source;
  }
  mutate_pairs(listing, all);
  edit_early(listing, all);
  return all;
}

size_t mutated_line_shift(std::string_view ptx) {
  const std::vector<std::string> lines = lines_of(ptx);
  const auto body = std::find_if(lines.begin(), lines.end(), opens_body);
  return static_cast<size_t>(body - lines.begin());
}

std::string mutated(std::string_view ptx, const Mutant& m) {
  std::string out;
  bool declared = false;
  const std::vector<std::string> lines = lines_of(ptx);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == m.line) {
      out += m.replacement + "\n";
      continue;
    }
    if (m.also_removed == i) {
      out += "\n";
      continue;
    }
    out += lines[i] + "\n";
    if (!declared && opens_body(lines[i])) {
      out += fmt::format(".reg .b32 {};\n", kScratch);
      declared = true;
    }
  }
  return out;
}

void MutantDevice::load(isa::Module module, std::string_view text) {
  if (mutant_ == nullptr && original_ == nullptr) return SimulatedDevice::load(std::move(module), text);
  std::string ptx = isa::print_module(module);
  if (mutant_ == nullptr)
    SimulatedDevice::load(std::move(module), text);
  else
    SimulatedDevice::load(isa::parse_ptx_or_throw(mutated(ptx, *mutant_), "mutant.ptx"), text);
  if (original_ != nullptr) *original_ = std::move(ptx);
}

}  // namespace drywell::tools
