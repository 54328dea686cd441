#include "drywell/launch/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "drywell/core/text.h"

namespace drywell::kernels {
namespace {

bool parse_integer(std::string_view text, int64_t& out) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      magnitude > static_cast<uint64_t>(INT64_MAX))
    return false;
  out = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

bool parse_real(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(out);
}

bool parse_flag(std::string_view text, int64_t& out) {
  static constexpr std::string_view kTrue[] = {"", "true", "on", "yes", "1"},
                                    kFalse[] = {"false", "off", "no", "0"};
  out = std::find(std::begin(kTrue), std::end(kTrue), text) != std::end(kTrue) ? 1 : 0;
  return out == 1 || std::find(std::begin(kFalse), std::end(kFalse), text) != std::end(kFalse);
}

bool has_least(const Parameter& p) { return p.least != std::numeric_limits<int64_t>::min(); }
bool has_greatest(const Parameter& p) { return p.greatest != std::numeric_limits<int64_t>::max(); }

std::string range_of(const Parameter& p) {
  const std::string_view number = p.type == ParamType::real ? "a number" : "an integer";
  if (has_least(p) && has_greatest(p)) return fmt::format("{} from {} to {}", number, p.least, p.greatest);
  if (has_least(p)) return fmt::format("{}, at least {}", number, p.least);
  if (has_greatest(p)) return fmt::format("{}, at most {}", number, p.greatest);
  return std::string(number);
}

template <class T>
bool in_range(const Parameter& p, T v) {
  return (!has_least(p) || v >= static_cast<T>(p.least)) && (!has_greatest(p) || v <= static_cast<T>(p.greatest));
}

// Fills `v` from `text`; on failure sets `wanted` to the expected form.
bool parse_value(const Parameter& p, std::string_view text, Params::Value& v, std::string& wanted) {
  v.text = std::string(text);
  switch (p.type) {
    case ParamType::integer:
      wanted = range_of(p);
      if (!parse_integer(text, v.integer) || !in_range(p, v.integer)) return false;
      v.text = fmt::format("{}", v.integer);
      return true;
    case ParamType::real:
      wanted = range_of(p);
      if (!parse_real(text, v.real) || !in_range(p, v.real)) return false;
      v.text = fmt::format("{}", v.real);
      return true;
    case ParamType::flag:
      wanted = "true or false";
      if (!parse_flag(text, v.integer)) return false;
      v.text = v.integer != 0 ? "true" : "false";
      return true;
    case ParamType::choice:
      wanted = "one of " + join(p.allowed);
      return std::find(p.allowed.begin(), p.allowed.end(), text) != p.allowed.end();
    case ParamType::text: return true;
  }
  return false;
}

}  // namespace

std::string_view param_type_name(ParamType t) {
  static constexpr std::string_view kNames[] = {"integer", "number", "flag", "choice", "text"};
  return kNames[static_cast<size_t>(t)];
}

Parameter size_parameter(std::string_view name, std::string_view value, std::string_view doc, int64_t greatest) {
  return {.name = name, .default_value = value, .doc = doc, .least = 1, .greatest = greatest};
}

Parameter choice_parameter(std::string_view name, std::string_view value, std::string_view doc, std::vector<std::string_view> allowed) {
  return {.name = name, .type = ParamType::choice, .default_value = value, .doc = doc, .allowed = std::move(allowed)};
}

Params::Params(std::string_view kernel, std::span<const Parameter> known,
               std::span<const std::pair<std::string, std::string>> given) {
  Diagnostics problems;
  std::vector<std::string_view> names;
  for (const Parameter& p : known) {
    names.push_back(p.name);
    Value v{std::string(p.name), p.type, {}, 0, 0, false};
    std::string wanted;
    DRYWELL_CHECK(parse_value(p, p.default_value, v, wanted),
                  fmt::format("default of {} --{}: {}", kernel, p.name, wanted));
    values_.push_back(std::move(v));
  }
  for (const auto& [name, text] : given) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      const std::string guess = did_you_mean(name, names);
      problems.error(Code::E4301, {}, fmt::format("kernel '{}' has no parameter '--{}'", kernel, name),
                     (guess.empty() ? "" : guess + " ") +
                         (names.empty() ? "it has none" : "its parameters: " + join(names)));
      continue;
    }
    const Parameter& p = known[static_cast<size_t>(at - names.begin())];
    Value& v = values_[static_cast<size_t>(at - names.begin())];
    if (v.given) problems.error(Code::E4304, {}, fmt::format("parameter '--{}' is given twice", name));
    v.given = true;
    std::string wanted;
    if (!parse_value(p, text, v, wanted)) {
      problems.error(p.type == ParamType::choice ? Code::E4303 : Code::E4302, {},
                     fmt::format("'--{}={}' of kernel '{}': expected {}", name, text, kernel, wanted),
                     did_you_mean(text, p.allowed));
    }
  }
  if (problems.has_errors()) throw InputError(std::move(problems));
}

const Params::Value& Params::find(std::string_view name, ParamType a, ParamType b) const {
  const auto at =
      std::find_if(values_.begin(), values_.end(), [&](const Value& v) { return v.name == name; });
  DRYWELL_CHECK(at != values_.end() && (at->type == a || at->type == b),
                fmt::format("no such parameter: {}", name));
  return *at;
}

int64_t Params::integer(std::string_view name) const {
  return find(name, ParamType::integer, ParamType::integer).integer;
}
double Params::real(std::string_view name) const { return find(name, ParamType::real, ParamType::real).real; }
bool Params::flag(std::string_view name) const {
  return find(name, ParamType::flag, ParamType::flag).integer != 0;
}
const std::string& Params::text(std::string_view name) const {
  return find(name, ParamType::choice, ParamType::text).text;
}

bool Params::given(std::string_view name) const {
  const auto at =
      std::find_if(values_.begin(), values_.end(), [&](const Value& v) { return v.name == name; });
  DRYWELL_CHECK(at != values_.end(), fmt::format("no such parameter: {}", name));
  return at->given;
}

}  // namespace drywell::kernels
