#include "cudart/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "cudart/modules.h"

namespace drywell::cudart {
namespace {

constexpr size_t kBeginning = 32, kWindow = 56;  // characters of a name that is cut out

size_t common(const std::string& a, const std::string& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

/// The beginning of the template's argument that contains `at`, if it is near.
size_t argument_before(const std::string& name, size_t at) {
  const size_t comma = name.find_last_of(",<", at == 0 ? 0 : at - 1);
  return comma != std::string::npos && at - comma < kWindow / 2 ? comma + 1 : at;
}

/// `name` where it differs from those that begin as it does.
std::string cut_out(const std::string& name, const std::set<std::string>& alike) {
  size_t differs = name.size();
  for (const std::string& other : alike) {
    if (other != name) differs = std::min(differs, common(name, other));
  }
  const size_t from = argument_before(name, std::min(differs, name.size()));
  if (from <= kBeginning) return shortened(name);
  const std::string window = name.substr(from, kWindow);
  return name.substr(0, kBeginning) + "..." + window + (from + kWindow < name.size() ? "..." : "");
}

template <class Key, class F>
std::map<std::string, std::set<std::string>> grouped(const Key& names, F&& text_of) {
  std::map<std::string, std::set<std::string>> out;
  for (const std::string& n : names) out[text_of(n)].insert(n);
  return out;
}

}  // namespace

std::map<std::string, std::string> told_apart(const std::vector<std::string>& mangled) {
  const std::set<std::string> all(mangled.begin(), mangled.end());
  std::map<std::string, std::string> full;  // by mangled name
  for (const auto& [plain, same] : grouped(all, plain_name)) {
    for (const std::string& m : same) full[m] = same.size() == 1 ? plain : name_with_parameters(m);
  }
  std::set<std::string> texts;
  for (const auto& [m, text] : full) texts.insert(text);
  const auto alike = grouped(texts, shortened);
  std::map<std::string, std::string> out;
  for (const auto& [m, text] : full) {
    const std::set<std::string>& same = alike.at(shortened(text));
    out[m] = same.size() == 1 ? shortened(text) : cut_out(text, same);
  }
  return out;
}

std::string name_of_image(std::string_view ptx, size_t number) {
  constexpr std::string_view kEntry = ".entry";
  size_t at = ptx.find(kEntry);
  at = at == std::string_view::npos ? ptx.size() : at + kEntry.size();
  while (at < ptx.size() && std::isspace(static_cast<unsigned char>(ptx[at])) != 0) ++at;
  size_t end = at;
  while (end < ptx.size() && (std::isalnum(static_cast<unsigned char>(ptx[end])) != 0 || ptx[end] == '_' || ptx[end] == '$')) ++end;
  if (end == at) return fmt::format("<library {}>", number);
  return fmt::format("<library {}: {}>", number, shortened(plain_name(std::string(ptx.substr(at, end - at)))));
}

}  // namespace drywell::cudart
