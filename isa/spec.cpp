#include "drywell/isa/spec.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/rows.h"

namespace drywell::isa {
namespace {

static_assert(std::size(kSpecs) == kOpcodeCount);

constexpr std::string_view kNames[] = {
#define INSTR(OP_, ...) #OP_,
#include "drywell/isa/table/all.inc"
#undef INSTR
};

constexpr std::string_view kTableFiles[] = {
#define INSTR(OP_, ...) __FILE__,
#include "drywell/isa/table/all.inc"
#undef INSTR
};

constexpr bool every_row_is_complete() {
  for (const InstrSpec& s : kSpecs) {
    if (s.mnemonic.empty() || s.doc.empty() || s.example.empty()) return false;
  }
  return true;
}
static_assert(every_row_is_complete(), "a row lacks its mnemonic, doc or example");

constexpr std::string_view kTimingNames[] = {
#define TIMING_CLASS(OP_, TENSOR_) #OP_,
#include "drywell/isa/table/timing_classes.inc"
#undef TIMING_CLASS
};

using Index = std::unordered_map<std::string_view, std::vector<Opcode>>;

const Index& index() {
  // Never destroyed: destructors of a program's globals may still launch kernels.
  static const auto& table = *new Index([] {
    Index t;
    for (size_t i = 0; i < kOpcodeCount; ++i) t[kSpecs[i].mnemonic].push_back(static_cast<Opcode>(i));
    return t;
  }());
  return table;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = up;
    }
  }
  return row[b.size()];
}

std::string_view first_tokens(std::string_view text, ptrdiff_t count) {
  size_t end = 0;
  while (count-- > 0 && end != std::string_view::npos) end = text.find('.', end == 0 ? 0 : end + 1);
  return text.substr(0, end);
}

/// The parts of a mnemonic: "mbarrier.try_wait" has mbarrier, try, wait.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of("._:", at), text.size());
    if (end != at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// The mnemonic that begins with the same word as `text` and shares the most others, of two the shorter one; nothing if it shares none.
std::string_view nearest_of_family(std::string_view text) {
  const std::vector<std::string_view> given = words_of(text);
  std::string_view best;
  size_t most = 1;
  for (const InstrSpec& s : kSpecs) {
    const std::vector<std::string_view> words = words_of(s.mnemonic);
    if (given.empty() || words[0] != given[0]) continue;
    const auto shared = static_cast<size_t>(std::count_if(words.begin(), words.end(), [&](std::string_view w) { return std::find(given.begin(), given.end(), w) != given.end(); }));
    if (shared > most || (shared == most && !best.empty() && s.mnemonic.size() < best.size())) {
      most = shared;
      best = s.mnemonic;
    }
  }
  return best;
}

}  // namespace

const InstrSpec& spec(Opcode op) { return kSpecs[static_cast<size_t>(op)]; }
std::string_view opcode_family(Opcode op) {
  std::string_view path = kTableFiles[static_cast<size_t>(op)];
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

std::string_view opcode_name(Opcode op) { return kNames[static_cast<size_t>(op)]; }
std::span<const InstrSpec> all_specs() { return kSpecs; }
std::string_view timing_class_name(TimingClass t) { return kTimingNames[static_cast<size_t>(t)]; }

std::span<const Opcode> rows_of(std::string_view mnemonic) {
  const auto it = index().find(mnemonic);
  return it == index().end() ? std::span<const Opcode>() : std::span<const Opcode>(it->second);
}

std::string_view mnemonic_of(std::string_view opcode_text) {
  std::string_view prefix = opcode_text;
  while (!prefix.empty()) {
    if (index().contains(prefix)) return prefix;
    const size_t dot = prefix.rfind('.');
    if (dot == std::string_view::npos) return {};
    prefix = prefix.substr(0, dot);
  }
  return {};
}

std::string_view nearest_mnemonic(std::string_view text) {
  if (const std::string_view of_family = nearest_of_family(text.substr(0, 64)); !of_family.empty()) return of_family;
  const std::string_view head = text.substr(0, 64);
  std::string_view best;
  size_t best_distance = 3;  // a name with more than two edits is not proposed as a hint
  for (const InstrSpec& s : kSpecs) {
    const size_t d = edit_distance(first_tokens(head, std::count(s.mnemonic.begin(), s.mnemonic.end(), '.') + 1), s.mnemonic);
    if (d < best_distance) {
      best_distance = d;
      best = s.mnemonic;
    }
  }
  return best;
}

}  // namespace drywell::isa
