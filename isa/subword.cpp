#include "drywell/isa/subword.h"

namespace drywell::isa {

std::optional<Subword> find_subword(std::string_view text) {
  if (text.empty() || (text[0] != 'b' && text[0] != 'h')) return std::nullopt;
  const bool half = text[0] == 'h';
  const size_t most = half ? 2 : 4;
  Subword s;
  s.unit = half ? Subword::Unit::half : Subword::Unit::byte;
  text.remove_prefix(1);
  if (text.empty() || text.size() > most) return std::nullopt;
  for (; !text.empty(); text.remove_suffix(1)) {
    const char c = text.back();
    if (c < '0' || c > (half ? '3' : '7')) return std::nullopt;
    s.digits[s.count / 2] |= static_cast<uint8_t>((c - '0') << (4 * (s.count % 2)));
    ++s.count;
  }
  return s;
}

std::string subword_text(const Subword& s) {
  if (s.whole()) return {};
  std::string text(1, s.unit == Subword::Unit::half ? 'h' : 'b');
  for (unsigned k = s.count; k-- > 0;) text += static_cast<char>('0' + s.element(k));
  return text;
}

}  // namespace drywell::isa
