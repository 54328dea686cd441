#include "drywell/isa/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/text.h"
#include "isa/mnemonic_hint.h"

namespace drywell::isa {
namespace {

/// Why a row does not take an opcode's text: a token does not fit, or none is left for a slot.
struct Misfit {
  std::string why, token;  // token: the modifier that does not fit
  size_t taken = 0;        // tokens that fit; a type counts twice, because it is the form
  std::vector<Mod> takes;  // the modifiers of that kind that the row takes in its place
};

/// The modifiers of the free slots: types of the first free slot of a type, or all that are not types.
std::vector<Mod> taken_there(const InstrSpec& row, const OpcodeForm& form, bool types) {
  std::vector<Mod> out;
  for (size_t i = 0; i < row.slot_count(); ++i) {
    const auto mods = row.slots[i].values();
    if (form.mods[i] != 0 || is_type(mods[0]) != types) continue;
    out.insert(out.end(), mods.begin(), mods.end());
    if (types) break;
  }
  return out;
}

// Puts each token into the first free slot that admits it. Types keep their order (cvt.f32.f64 is not cvt.f64.f32); tokens of
// different slots may otherwise come in any order, as ptxas allows (docs/facts/tcgen05.md §4.9).
bool fill_slots(Opcode op, std::string_view rest, OpcodeForm& form, Misfit& misfit) {
  const InstrSpec& row = spec(op);
  const size_t slots = row.slot_count();
  form.op = op;
  form.mods.fill(0);
  size_t next_type = 0;  // slot behind the last type
  bool type_misfits = false;
  while (!rest.empty()) {
    const size_t dot = rest.find('.');
    std::string_view token = rest.substr(0, dot);
    std::string_view next = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    const Mod m = find_mod(token);
    size_t chosen = slots;
    for (size_t i = is_type(m) ? next_type : 0; i < slots && m != Mod::none; ++i) {
      if (form.mods[i] == 0 && row.slots[i].admits(m)) {
        chosen = i;
        break;
      }
    }
    if (chosen == slots) {
      if (misfit.why.empty()) {
        misfit.why = m == Mod::none ? fmt::format("unknown modifier '.{}'", token)
                                    : fmt::format("'{}' does not take modifier '.{}' here", row.mnemonic, token);
        misfit.token = token;
        type_misfits = is_type(m);
      }
      rest = next;
      continue;
    }
    if (is_type(m)) next_type = chosen + 1;
    for (uint8_t v = 0; v < row.slots[chosen].count; ++v) {
      if (row.slots[chosen].mods[v] == m) form.mods[chosen] = static_cast<uint8_t>(v + 1);
    }
    rest = next;
    misfit.taken += is_type(m) ? 2 : 1;
  }
  if (!misfit.why.empty()) {
    misfit.takes = taken_there(row, form, type_misfits);
    return false;
  }
  for (size_t i = 0; i < slots; ++i) {
    if (row.slots[i].required && form.mods[i] == 0) {
      const auto mods = row.slots[i].values();
      misfit.why = fmt::format("'{}' needs a modifier such as '.{}'", row.mnemonic, mod_text(mods[0]));
      misfit.takes.assign(mods.begin(), mods.end());
      return false;
    }
  }
  return true;
}

/// The misfit of the row that takes most of the text; rows that take as much add what they take.
class NearestMisfit {
 public:
  void add(Misfit m) {
    if (best_.why.empty() || m.taken > best_.taken) {
      best_ = std::move(m);
    } else if (m.taken == best_.taken && m.why == best_.why) {
      best_.takes.insert(best_.takes.end(), m.takes.begin(), m.takes.end());
    }
  }
  const std::string& why() const { return best_.why; }
  /// "did you mean '.add'? it takes .rn, .rz"; at most `kShown` of them.
  std::string hint() const {
    constexpr size_t kShown = 16;
    std::vector<Mod> mods;
    for (const Mod m : best_.takes) {
      if (std::find(mods.begin(), mods.end(), m) == mods.end()) mods.push_back(m);
    }
    std::string text;
    for (size_t i = 0; i < mods.size() && i < kShown; ++i) text += fmt::format("{}.{}", i == 0 ? "" : ", ", mod_text(mods[i]));
    if (text.empty()) return text;
    const std::string guess = guessed(mods);
    return fmt::format("{}{}it takes {}{}", guess, guess.empty() ? "" : " ", text, mods.size() > kShown ? ", …" : "");
  }

 private:
  std::string guessed(const std::vector<Mod>& mods) const {
    std::vector<std::string_view> words;
    for (const Mod m : mods) words.push_back(mod_text(m));
    return best_.token.empty() ? std::string() : did_you_mean(best_.token, words);
  }
  Misfit best_;
};

bool form_has(const OpcodeForm& form, Mod m) {
  const InstrSpec& row = spec(form.op);
  for (size_t i = 0; i < kMaxSlots && row.slots[i].count != 0; ++i) {
    if (form.mods[i] != 0 && row.slots[i].mods[form.mods[i] - 1] == m) return true;
  }
  return false;
}

bool shape_fits(const Function& f, const OperandSpec& want, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg: {
      if ((want.shapes & kReg) == 0) return false;
      if ((!o.part.whole() && (want.shapes & kPart) == 0) || (o.minus && (want.shapes & kMinus) == 0)) return false;
      // A predicate register fits only a predicate operand, and a data register only a data operand; this also
      // identifies optional operands.
      const bool is_pred = o.index < f.regs.size() && f.regs[o.index].type == Mod::pred;
      if (o.negated && (!is_pred || (want.shapes & kNegPred) == 0)) return false;
      if (want.type.from == TypeRule::From::fixed) return is_pred == (want.type.fixed == Mod::pred);
      return true;
    }
    case Operand::Kind::imm: return (want.shapes & kImm) != 0;
    case Operand::Kind::addr: return (want.shapes & kAddr) != 0;
    case Operand::Kind::vec: return (want.shapes & kVec) != 0;
    case Operand::Kind::label: return (want.shapes & kLabel) != 0;
    case Operand::Kind::symbol: return (want.shapes & kSymbol) != 0;
    case Operand::Kind::sink: return (want.shapes & kSink) != 0;
    case Operand::Kind::tensor: return (want.shapes & kTensor) != 0;
    case Operand::Kind::pair: return (want.shapes & kPair) != 0;
    case Operand::Kind::special: return (want.shapes & kSpecial) != 0;
    case Operand::Kind::args: return (want.shapes & kArgs) != 0;
    case Operand::Kind::none: return false;
  }
  return false;
}

struct Matcher {
  const Function& f;
  const OpcodeForm& form;
  std::span<const Operand> given;
  std::array<int8_t, kMaxOperands>& positions;
  size_t furthest = 0;

  bool match(size_t k, size_t j) {
    furthest = std::max(furthest, j);
    const InstrSpec& row = spec(form.op);
    if (k == kMaxOperands || row.operands[k].name == nullptr) return j == given.size();
    const OperandSpec& want = row.operands[k];
    const bool forbidden = want.when != Mod::none && !form_has(form, want.when);
    if (!forbidden && j < given.size() && shape_fits(f, want, given[j])) {
      positions[k] = static_cast<int8_t>(j);
      if (match(k + 1, j + 1)) return true;
    }
    positions[k] = -1;
    return (want.optional || forbidden) && match(k + 1, j);
  }
};

}  // namespace

std::vector<OpcodeForm> resolve_opcode(std::string_view text, std::string* why, std::string* hint) {
  std::vector<OpcodeForm> forms;
  NearestMisfit nearest;
  std::string_view mnemonic = mnemonic_of(text);
  if (mnemonic.empty()) {
    const std::string_view near = nearest_mnemonic(text);
    const size_t first = text.find('.'), second = first == std::string_view::npos ? first : text.find('.', first + 1);
    // In a family that exists, it is the second word that is wrong.
    const bool family = near.starts_with(text.substr(0, first)) && near.size() > first && near[first] == '.';
    nearest.add({fmt::format("unknown instruction '{}'", text.substr(0, family ? second : first)), {}, 0, {}});
    if (hint != nullptr) *hint = mnemonic_hint(text);
  }
  // The longest mnemonic comes first, then shorter ones: "mbarrier.arrive.expect_tx" before "mbarrier.arrive". The reason is of the
  // longest one's rows.
  const std::string_view longest = mnemonic;
  while (!mnemonic.empty() && forms.empty()) {
    const std::string_view rest = text.size() > mnemonic.size() ? text.substr(mnemonic.size() + 1) : std::string_view();
    for (Opcode op : rows_of(mnemonic)) {
      OpcodeForm form;
      Misfit misfit;
      if (fill_slots(op, rest, form, misfit)) {
        forms.push_back(form);
      } else if (mnemonic == longest) {
        nearest.add(std::move(misfit));
      }
    }
    const size_t dot = mnemonic.rfind('.');
    mnemonic = dot == std::string_view::npos ? std::string_view() : mnemonic_of(mnemonic.substr(0, dot));
  }
  if (!forms.empty()) return forms;
  if (why != nullptr) *why = nearest.why();
  if (hint != nullptr && hint->empty()) *hint = nearest.hint();
  return forms;
}

bool match_operands(const Function& f, const OpcodeForm& form, std::span<const Operand> given,
                    std::array<int8_t, kMaxOperands>& positions) {
  positions.fill(-1);
  return Matcher{f, form, given, positions}.match(0, 0);
}

const OpcodeForm* choose_form(const Function& f, std::span<const OpcodeForm> forms, std::span<const Operand> given,
                              std::string* why, size_t* which) {
  size_t furthest = 0;
  for (const OpcodeForm& form : forms) {
    std::array<int8_t, kMaxOperands> positions;
    positions.fill(-1);
    Matcher m{f, form, given, positions};
    if (m.match(0, 0)) return &form;
    furthest = std::max(furthest, m.furthest);
  }
  if (which != nullptr) *which = furthest;
  if (why != nullptr && !forms.empty()) {
    *why = furthest < given.size() ? fmt::format("operand {} does not fit '{}'", furthest + 1, spec(forms[0].op).mnemonic)
                                   : fmt::format("'{}' needs more than {} operands", spec(forms[0].op).mnemonic, given.size());
  }
  return nullptr;
}

}  // namespace drywell::isa
