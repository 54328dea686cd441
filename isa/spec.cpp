#include "drywell/isa/spec.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_map>
#include <vector>

#include "drywell/core/text.h"
#include "isa/mnemonic_hint.h"
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

/// How far the words of a text are from a mnemonic's: the first ones are alike; another that is not, or is missing, counts as four slips.
size_t unlikeness_of_words(const std::vector<std::string_view>& given, const std::vector<std::string_view>& mnemonic) {
  constexpr size_t kAnother = 8;
  size_t sum = given.empty() ? kUnlike : unlikeness(given[0], mnemonic[0]);
  for (size_t i = 1; i < mnemonic.size() && sum != kUnlike; ++i) {
    const std::string_view word = i < given.size() ? given[i] : std::string_view();
    const size_t d = unlikeness(word, mnemonic[i]);
    sum += d == kUnlike ? kAnother + edit_distance(word, mnemonic[i]) : d;
  }
  return sum;
}

/// Whether `word` is a word of `text`, of three letters at least, in whatever case.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); };
  for (size_t at = 0; word.size() >= 3 && at + word.size() <= text.size(); ++at) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end])) && std::equal(word.begin(), word.end(), text.begin() + static_cast<ptrdiff_t>(at), same)) return true;
  }
  return false;
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
  const std::string_view head = text.substr(0, 64);
  if (const std::string_view of_family = nearest_of_family(head); !of_family.empty()) return of_family;
  const std::vector<std::string_view> given = words_of(head);
  std::string_view best;
  size_t least = kUnlike, most = 0;
  for (const InstrSpec& s : kSpecs) {
    const std::vector<std::string_view> words = words_of(s.mnemonic);
    const size_t d = unlikeness_of_words(given, words);
    if (d == kUnlike || d > least || (d == least && words.size() <= most)) continue;  // of two as near the one that explains more words
    least = d;
    most = words.size();
    best = s.mnemonic;
  }
  return best;
}

std::string mnemonic_hint(std::string_view text) {
  if (const std::string_view near = nearest_mnemonic(text); !near.empty()) return "did you mean '" + std::string(near) + "'?";
  constexpr size_t kMost = 4;
  const std::string_view word = first_tokens(text.substr(0, 64), 1);
  std::vector<std::string_view> about;
  for (size_t i = 0; i < kOpcodeCount; ++i) {
    const InstrSpec& s = kSpecs[i];
    const bool is_about = has_word(s.doc, word) || has_word(timing_class_name(s.timing), word);
    if (is_about && std::find(about.begin(), about.end(), s.mnemonic) == about.end()) about.push_back(s.mnemonic);
  }
  if (about.empty()) return {};
  std::stable_sort(about.begin(), about.end(), [](std::string_view a, std::string_view b) { return words_of(a).size() > words_of(b).size(); });
  const bool more = about.size() > kMost;
  about.resize(std::min(about.size(), kMost));
  return "about '" + std::string(word) + "': " + join(about) + (more ? ", …" : "");
}

}  // namespace drywell::isa
