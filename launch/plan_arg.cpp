// Kernel arguments of a launch plan: scalars, pointers, tensor maps, raw bytes, and blocks that contain these.
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "drywell/core/files.h"
#include "launch/element_type.h"
#include "launch/plan.h"
#include "launch/words.h"

namespace drywell::kernels {
namespace {

bool parse_hex(std::string_view t, std::vector<uint8_t>& out) {
  if (t.size() % 2 != 0) return false;
  for (size_t i = 0; i < t.size(); i += 2) {
    uint8_t v = 0;
    const auto [end, error] = std::from_chars(t.data() + i, t.data() + i + 2, v, 16);
    if (error != std::errc() || end != t.data() + i + 2) return false;
    out.push_back(v);
  }
  return true;
}

// Kernel parameters together are at most 32 KiB (CUDA C++ Programming Guide, "Function Parameters").
constexpr uint64_t kMaxBlockBytes = 32764;

// "block:64;0=map:a;32=@x;40=u32:5"
bool parse_block(std::string_view text, LaunchPlan& plan, ArgSpec& spec, Diagnostics& out) {
  const auto words = split(text.substr(text.find(':') + 1), ';');
  const auto size = parse_unsigned(words[0]);
  if (!size.has_value() || *size == 0 || *size > kMaxBlockBytes) {
    plan_problem(out, Code::E4404, fmt::format("argument '{}': '{}' is not a size from 1 to {}", text, words[0], kMaxBlockBytes));
    return false;
  }
  spec.kind = ArgSpec::Kind::block;
  spec.size = *size;
  bool ok = true;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const auto at = equals == std::string_view::npos ? std::nullopt : parse_unsigned(words[i].substr(0, equals));
    if (!at.has_value()) {
      plan_problem(out, Code::E4404, fmt::format("argument '{}': '{}' is not OFFSET=ARGUMENT", text, words[i]), "e.g. block:136;0=map:a;128=@x");
      ok = false;
      continue;
    }
    ArgSpec inner;
    ok = parse_arg(words[i].substr(equals + 1), plan, inner, out) && ok;
    if (*at > spec.size || inner.byte_count() > spec.size - *at) {
      plan_problem(out, Code::E4404, fmt::format("argument '{}': '{}' leaves the block's {} bytes", text, words[i], spec.size));
      ok = false;
    }
    spec.fields.push_back({*at, std::move(inner)});
  }
  return ok;
}

bool parse_scalar(std::string_view type, std::string_view value, std::vector<uint8_t>& out) {
  const ElementType* t = find_element_type(type);
  return t != nullptr && parse_element(*t, value, out);
}

}  // namespace

uint64_t ArgSpec::byte_count() const {
  switch (kind) {
    case Kind::pointer: return 8;
    case Kind::map: return isa::kTensorMapBytes;
    case Kind::block: return size;
    default: return bytes.size();
  }
}

bool parse_arg(std::string_view text, LaunchPlan& plan, ArgSpec& spec, Diagnostics& out) {
  if (text.starts_with('@')) {
    spec.kind = ArgSpec::Kind::pointer;
    const size_t plus = text.find('+');
    spec.name = std::string(text.substr(1, plus == std::string_view::npos ? plus : plus - 1));
    if (plus == std::string_view::npos) return true;
    const auto v = parse_unsigned(text.substr(plus + 1));
    if (v.has_value()) spec.offset = *v;
    else plan_problem(out, Code::E4404, fmt::format("argument '{}': the offset is not a number", text));
    return v.has_value();
  }
  if (text.starts_with("map:")) {
    spec.kind = ArgSpec::Kind::map;
    spec.name = std::string(text.substr(4));
    return true;
  }
  if (text.starts_with("hex:")) {
    if (parse_hex(text.substr(4), spec.bytes)) return true;
    plan_problem(out, Code::E4404, fmt::format("argument '{}': not pairs of hexadecimal digits", text));
    return false;
  }
  if (text.starts_with("file:")) {
    plan.raw_files.push_back(plan.resolve(text.substr(5)));
    const auto raw = read_file(plan.raw_files.back());
    spec.bytes.resize(raw.size());
    std::memcpy(spec.bytes.data(), raw.data(), raw.size());
    return true;
  }
  if (text.starts_with("block:")) return parse_block(text, plan, spec, out);
  if (text.find('[') != std::string_view::npos || text.ends_with(".npy")) {
    BufferSpec b;
    if (!parse_buffer(fmt::format("arg{}", plan.buffers.size()), text, b, out)) return false;
    spec.kind = ArgSpec::Kind::pointer;
    spec.name = b.name;
    if (!b.path.empty()) b.path = plan.resolve(b.path);
    plan.buffers.push_back(std::move(b));
    return true;
  }
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos && parse_scalar(text.substr(0, colon), text.substr(colon + 1), spec.bytes)) return true;
  plan_problem(out, Code::E4404, fmt::format("argument '{}' is not understood", text),
               "u32:5, f32:0.5, @buffer, @buffer+256, map:NAME, hex:00ff, file:raw.bin, block:SIZE;OFFSET=ARGUMENT;…, "
               "f32[1024]:zeros, input.npy");
  return false;
}

}  // namespace drywell::kernels
