#include "launch/words.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace drywell::kernels {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> out;
  while (true) {
    const size_t at = text.find(by);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::optional<uint64_t> parse_unsigned(std::string_view t) {
  uint64_t v = 0;
  int base = 10;
  if (t.starts_with("0x")) {
    t.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), v, base);
  if (t.empty() || error != std::errc() || end != t.data() + t.size()) return std::nullopt;
  return v;
}

std::optional<int64_t> parse_signed(std::string_view t) {
  const bool negative = t.starts_with('-');
  const auto v = parse_unsigned(negative ? t.substr(1) : t);
  if (!v.has_value() || *v > uint64_t{1} << 62) return std::nullopt;
  return negative ? -static_cast<int64_t>(*v) : static_cast<int64_t>(*v);
}

std::optional<double> parse_real(std::string_view t) {
  double v = 0;
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), v);
  if (t.empty() || error != std::errc() || end != t.data() + t.size()) return std::nullopt;
  return v;
}

bool parse_extents(std::string_view text, Extents& out) {
  out.clear();
  // "0x40" is one number, "0x0x64" are three.
  const auto crosses = std::count(text.begin(), text.end(), 'x');
  const char by = crosses > (text.starts_with("0x") ? 1 : 0) ? 'x' : ',';
  for (std::string_view part : split(text, by)) {
    const auto v = parse_unsigned(part);
    if (!v.has_value()) return false;
    out.push_back(*v);
  }
  return true;
}

void plan_problem(Diagnostics& out, Code code, std::string message, std::string hint) {
  out.error(code, {}, std::move(message), std::move(hint));
}

}  // namespace drywell::kernels
