#include <fmt/format.h>

#include "drywell/core/sizes.h"
#include "launch/element_type.h"
#include "launch/plan.h"
#include "launch/words.h"

namespace drywell::kernels {
namespace {

// "of=-1|0|0.5"
bool parse_choices(std::string_view text, BufferSpec& spec) {
  const ElementType* t = find_element_type(spec.type);
  for (std::string_view word : split(text, '|')) {
    std::vector<uint8_t> bytes;
    if (t == nullptr || !parse_element(*t, word, bytes)) return false;
    spec.choices.push_back(std::move(bytes));
  }
  return true;
}

bool parse_init(std::string_view text, BufferSpec& spec, Diagnostics& out) {
  for (std::string_view word : split(text, ',')) {
    using Init = BufferSpec::Init;
    if (word == "zeros") {
      spec.init = Init::zeros;
    } else if (word == "ones") {
      spec.init = Init::ones;
    } else if (word == "iota") {
      spec.init = Init::iota;
    } else if (word == "random") {
      spec.init = Init::random;
    } else if (word == "poison") {
      spec.init = Init::poison;
    } else if (word.starts_with("seed=") && parse_unsigned(word.substr(5)).has_value()) {
      spec.seed = *parse_unsigned(word.substr(5));
    } else if (!word.starts_with("of=") || !parse_choices(word.substr(3), spec)) {
      plan_problem(out, Code::E4402, fmt::format("buffer '{}': '{}' is not a way to fill it", spec.name, word), "zeros, ones, iota, random, poison, seed=N, of=V|V|…, file=RAW");
      return false;
    }
  }
  return true;
}

}  // namespace

uint64_t BufferSpec::count() const {
  uint64_t n = 1;
  for (uint64_t d : shape) n = size_product(n, d);
  return n;
}
uint64_t BufferSpec::bytes() const { return size_product(count(), find_element_type(type)->bytes); }

bool parse_buffer(std::string_view name, std::string_view text, BufferSpec& spec, Diagnostics& out) {
  spec.name = std::string(name);
  if (text.ends_with(".npy")) {
    spec.init = BufferSpec::Init::file;
    spec.path = std::string(text);
    return true;
  }
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    plan_problem(out, Code::E4401, fmt::format("buffer '{}': '{}' is neither TYPE[SHAPE]:INIT nor a .npy file", name, text), "e.g. f32[64,128]:random,seed=3");
    return false;
  }
  spec.type = std::string(text.substr(0, open));
  Extents shape;
  const bool shaped = parse_extents(text.substr(open + 1, close - open - 1), shape);
  bool ok = true;
  if (find_element_type(spec.type) == nullptr) {
    plan_problem(out, Code::E4401, fmt::format("buffer '{}': no element type '{}'", name, spec.type), element_type_names());
    ok = false;
  }
  uint64_t elements = 1;
  for (uint64_t d : shape) elements = size_product(elements, d);
  if (!shaped || elements > (uint64_t{1} << 40)) {
    plan_problem(out, Code::E4401, fmt::format("buffer '{}': '{}' is not a shape of at most 2^40 elements", name, text.substr(open, close - open + 1)));
    return false;
  }
  spec.shape = shape;
  const std::string_view rest = text.substr(close + 1);
  if (rest.empty()) return ok;
  if (rest.starts_with(":file=")) {
    spec.init = BufferSpec::Init::file;
    spec.path = std::string(rest.substr(6));
    return ok;
  }
  if (rest[0] != ':') {
    plan_problem(out, Code::E4402, fmt::format("buffer '{}': '{}' after the shape", name, rest), "e.g. f32[64]:zeros");
    return false;
  }
  return parse_init(rest.substr(1), spec, out) && ok;
}

bool parse_expect(std::string_view buffer, std::string_view text, ExpectSpec& spec, Diagnostics& out) {
  const auto words = split(text, ',');
  spec.buffer = std::string(buffer);
  spec.path = std::string(words[0]);
  for (size_t i = 1; i < words.size(); ++i) {
    const bool absolute = words[i].starts_with("abs="), relative = words[i].starts_with("rel=");
    const auto v = absolute || relative ? parse_real(words[i].substr(4)) : std::nullopt;
    if (!v.has_value() || *v < 0) {
      plan_problem(out, Code::E4405, fmt::format("expectation of '{}': '{}' is not a tolerance", buffer, words[i]), "e.g. y=ref.npy,abs=1e-3,rel=1e-2");
      return false;
    }
    (absolute ? spec.absolute : spec.relative) = *v;
    spec.exact = false;
  }
  return true;
}

bool parse_dim3(std::string_view text, Dim3& out) {
  Extents v;
  if (!parse_extents(text, v) || v.empty() || v.size() > 3) return false;
  for (uint64_t d : v) {
    if (d == 0 || d > 0xFFFFFFFF) return false;
  }
  out = {static_cast<uint32_t>(v[0]), v.size() > 1 ? static_cast<uint32_t>(v[1]) : 1, v.size() > 2 ? static_cast<uint32_t>(v[2]) : 1};
  return true;
}

}  // namespace drywell::kernels
