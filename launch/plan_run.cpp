#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "drywell/core/files.h"
#include "drywell/core/npy.h"
#include "drywell/core/text.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "drywell/launch/generate.h"
#include "launch/element_type.h"
#include "launch/plan.h"

namespace drywell::kernels {
namespace {

struct Buffer {
  BufferSpec spec;  // type and shape are set
  GmemAddr address;
};
using Buffers = std::map<std::string, Buffer, std::less<>>;

void fill_random(const ElementType& t, uint64_t seed, std::vector<uint8_t>& data) {
  const uint64_t count = data.size() / t.bytes;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t word = random_word(seed, i);
    if (t.kind != ElementType::Kind::real) {
      std::memcpy(data.data() + i * t.bytes, &word, t.bytes);
      continue;
    }
    // Standard normal values.
    const double v = normal_quantile((static_cast<double>(word >> 11) + 0.5) * 0x1p-53);
    const auto f = static_cast<float>(v);
    const uint16_t half = t.bytes == 2 ? encode_half(t, f) : 0;
    if (t.bytes == 8) std::memcpy(data.data() + i * 8, &v, 8);
    if (t.bytes == 4) std::memcpy(data.data() + i * 4, &f, 4);
    if (t.bytes == 2) std::memcpy(data.data() + i * 2, &half, 2);
  }
}

void fill_chosen(const std::vector<std::vector<uint8_t>>& choices, uint64_t seed, std::vector<uint8_t>& data) {
  const size_t bytes = choices[0].size();
  for (uint64_t i = 0; i * bytes < data.size(); ++i) {
    const auto& one = choices[(random_word(seed, i) >> 32) % choices.size()];
    std::copy(one.begin(), one.end(), data.begin() + static_cast<ptrdiff_t>(i * bytes));
  }
}

void fill_number(const ElementType& t, std::vector<uint8_t>& data, bool iota) {
  for (uint64_t i = 0; i < data.size() / t.bytes; ++i) {
    const uint64_t n = iota ? i : 1;
    const double d = static_cast<double>(n);
    const auto f = static_cast<float>(n);
    const uint16_t half = t.kind == ElementType::Kind::real && t.bytes == 2 ? encode_half(t, f) : 0;
    const void* from = &n;
    if (t.kind == ElementType::Kind::real) from = t.bytes == 8 ? static_cast<const void*>(&d) : t.bytes == 4 ? static_cast<const void*>(&f)
                                                                                                             : &half;
    std::memcpy(data.data() + i * t.bytes, from, t.bytes);
  }
}

// A .npy file has its own type and shape; a raw file must have the size of the given type and shape.
void read_buffer(Buffer& b, std::vector<uint8_t>& data) {
  const auto copy = [&](std::span<const std::byte> from) {
    data.resize(from.size());
    if (!from.empty()) std::memcpy(data.data(), from.data(), from.size());
  };
  if (!b.spec.type.empty()) {
    copy(read_file(b.spec.path));
    if (data.size() != b.spec.bytes()) throw InputError(Code::E4409, fmt::format("{} has {} bytes, buffer '{}' has {}", b.spec.path, data.size(), b.spec.name, b.spec.bytes()));
    return;
  }
  const NpyArray a = read_npy(b.spec.path);
  const ElementType* t = element_type_of(a.dtype);
  if (t == nullptr) throw InputError(Code::E4407, fmt::format("{}: no element type for dtype {}", b.spec.path, a.dtype));
  b.spec.type = std::string(t->name);
  b.spec.shape = a.shape;
  copy(a.data);
}

// The first buffer has seed 1; the others have words of that stream, which no seed that a person writes is likely to be.
uint64_t seed_of(const BufferSpec& given, uint64_t place) { return given.seed.value_or(place == 0 ? 1 : random_word(1, place)); }

Buffer make_buffer(const BufferSpec& given, uint64_t place, Accelerator& device) {
  Buffer b{given, {}};
  std::vector<uint8_t> data;
  if (given.init == BufferSpec::Init::file) {
    read_buffer(b, data);
  } else {
    const ElementType& t = *find_element_type(given.type);
    data.resize(given.bytes());
    if (given.init == BufferSpec::Init::ones || given.init == BufferSpec::Init::iota) fill_number(t, data, given.init == BufferSpec::Init::iota);
    if (given.init == BufferSpec::Init::random && given.choices.empty()) fill_random(t, seed_of(given, place), data);
    if (given.init == BufferSpec::Init::random && !given.choices.empty()) fill_chosen(given.choices, seed_of(given, place), data);
  }
  b.address = device.allocate(data.size(), given.name);
  // Poison is what new memory holds: without a write by the host, reads of it are found.
  if (given.init != BufferSpec::Init::poison) device.write(b.address, data.data(), data.size());
  return b;
}

[[noreturn]] void refuse_name(std::string_view what, std::string_view name, const std::vector<std::string_view>& names) {
  const std::string near = did_you_mean(name, names);
  const std::string all = names.empty() ? fmt::format("there is no {} at all", what) : fmt::format("{}s: {}", what, join(names));
  throw InputError(Code::E4408, fmt::format("there is no {} '{}'", what, name), near + (near.empty() ? "" : " ") + all);
}

/// The names of elements that have a member `name`.
template <class T>
std::vector<std::string_view> names_of(const T& all) {
  std::vector<std::string_view> names;
  for (const auto& one : all) names.push_back(one.name);
  return names;
}

const Buffer& find_buffer(const Buffers& all, std::string_view name) {
  const auto it = all.find(name);
  if (it != all.end()) return it->second;
  std::vector<std::string_view> names;
  for (const auto& [known, buffer] : all) names.push_back(known);
  refuse_name("buffer", name, names);
}

isa::TensorMap make_map(const MapSpec& m, const Buffers& all, Accelerator& device) {
  const Buffer& b = find_buffer(all, m.buffer);
  isa::TensorMapFields f = m.fields;
  f.address = b.address.value() + m.offset;
  const uint32_t bytes = find_element_type(b.spec.type)->bytes;
  if (!m.dims_given) {
    f.rank = static_cast<uint32_t>(std::min<size_t>(5, b.spec.shape.size()));
    for (uint32_t i = 0; i < f.rank; ++i) f.dim[i] = b.spec.shape[b.spec.shape.size() - 1 - i];
  }
  if (!m.type_given) {
    for (unsigned i = 0; i < isa::kTensorTypeCount; ++i) {
      if (isa::to_string(static_cast<isa::TensorType>(i)) == b.spec.type) f.type = static_cast<isa::TensorType>(i);
    }
  }
  uint64_t pitch = m.type_given ? f.dim[0] * isa::element_bits(f.type) / 8 : f.dim[0] * bytes;
  for (uint32_t i = 0; i + 1 < f.rank && !m.strides_given; ++i) {
    f.stride[i] = pitch;
    pitch *= f.dim[i + 1];
  }
  return device.encode(f);
}

// Converts arguments to bytes for one device.
class ArgBytes {
 public:
  ArgBytes(const LaunchPlan& plan, const Buffers& buffers, Accelerator& device) : plan_(plan), buffers_(buffers), device_(device) {}

  std::vector<uint8_t> of(const ArgSpec& a) const {
    switch (a.kind) {
      case ArgSpec::Kind::pointer: return raw(find_buffer(buffers_, a.name).address.value() + a.offset);
      case ArgSpec::Kind::map: return raw(make_map(find_map(a.name), buffers_, device_).bytes);
      case ArgSpec::Kind::block: {
        std::vector<uint8_t> out(a.size, 0);
        for (const auto& [at, inner] : a.fields) {
          const auto bytes = of(inner);
          std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<ptrdiff_t>(at));
        }
        return out;
      }
      default: return a.bytes;
    }
  }

 private:
  template <class T>
  static std::vector<uint8_t> raw(const T& v) {
    const auto* p = reinterpret_cast<const uint8_t*>(&v);
    return {p, p + sizeof v};
  }
  const MapSpec& find_map(std::string_view name) const {
    for (const MapSpec& m : plan_.maps) {
      if (m.name == name) return m;
    }
    refuse_name("tensor map", name, names_of(plan_.maps));
  }
  const LaunchPlan& plan_;
  const Buffers& buffers_;
  Accelerator& device_;
};

BufferComparison compare(const ExpectSpec& e, const PlanBuffer& b) {
  const NpyArray want = read_npy(e.path);
  const ElementType& t = *find_element_type(b.type);
  if (want.data.size() != b.bytes.size()) {
    throw InputError(Code::E4409, fmt::format("{} has {} bytes, buffer '{}' has {}", e.path, want.data.size(), e.buffer, b.bytes.size()));
  }
  BufferComparison c{e.buffer, b.bytes.size() / t.bytes, 0, {}};
  const auto* expected = reinterpret_cast<const uint8_t*>(want.data.data());
  for (uint64_t i = 0; i < c.compared; ++i) {
    bool same = std::memcmp(b.bytes.data() + i * t.bytes, expected + i * t.bytes, t.bytes) == 0;
    const double x = element_value(t, b.bytes.data(), i), y = element_value(t, expected, i);
    if (!same && !e.exact) same = x == y || std::fabs(x - y) <= e.absolute + e.relative * std::fabs(y);
    if (same) continue;
    if (c.mismatches++ == 0) c.first = fmt::format("[{}]: {}, expected {}", i, x, y);
  }
  return c;
}

const PlanBuffer& find_result(const PlanResult& r, std::string_view name) {
  for (const PlanBuffer& b : r.buffers) {
    if (b.name == name) return b;
  }
  refuse_name("buffer", name, names_of(r.buffers));
}

std::string hint_for_entry(const isa::Module& m, std::string_view name) {
  std::vector<std::string_view> names;
  for (const isa::Function& f : m.functions)
    if (f.is_entry && !f.is_prototype) names.push_back(f.name);
  if (names.empty()) return "its functions are no kernels: a kernel is an .entry";
  const std::string near = did_you_mean(name, names);
  return fmt::format("{}{}kernels: {}", near, near.empty() ? "" : " ", join(names));
}

const isa::Function& find_entry(const isa::Module& m, const std::string& name) {
  const isa::Function* found = nullptr;
  for (const isa::Function& f : m.functions) {
    if (!f.is_entry || f.is_prototype || (!name.empty() && f.name != name)) continue;
    if (found != nullptr) throw InputError(Code::E4410, "the module has several kernels", fmt::format("name one with --entry, or entry = in the file; {}", hint_for_entry(m, name)));
    found = &f;
  }
  if (found == nullptr) throw InputError(Code::E4112, name.empty() ? "the module has no kernel" : fmt::format("no kernel '{}' in the module", name), hint_for_entry(m, name));
  return *found;
}

sim::LaunchConfig launch_config(const LaunchSpec& l, const isa::Function& f) {
  sim::LaunchConfig c = l.config;
  if (c.block.count() != 0) return c;
  c.block = {1, 1, 1};
  if (const auto& r = f.directives.reqntid; r.has_value()) c.block = {(*r)[0], (*r)[1], (*r)[2]};
  return c;
}

// Reports unknown names before the first launch.
void check_names(const LaunchPlan& plan, const Buffers& buffers) {
  for (const ExpectSpec& e : plan.expects) find_buffer(buffers, e.buffer);
  for (const auto& [name, path] : plan.saves) find_buffer(buffers, name);
}

/// Gives kernels the roles of their launches; of several launches of one kernel, those of the last one that has some.
void name_warps(const LaunchPlan& plan, isa::Module& module) {
  for (const LaunchSpec& l : plan.launches) {
    if (l.roles.empty()) continue;
    const std::string name = find_entry(module, l.entry).name;
    for (isa::Function& f : module.functions)
      if (f.name == name) f.roles = l.roles;
  }
}

}  // namespace

bool PlanResult::ok() const {
  for (const auto& r : runs)
    if (!r.ok()) return false;
  for (const auto& c : comparisons)
    if (c.mismatches != 0) return false;
  return true;
}

PlanResult run_plan(const LaunchPlan& plan, Accelerator& device, const PlanOptions& options) {
  const std::string text = read_text_file(plan.ptx_path);
  isa::ParseResult parsed = isa::parse_ptx(text, plan.ptx_path);
  if (parsed.diagnostics.has_errors()) throw InputError(std::move(parsed.diagnostics));
  isa::Module module = std::move(parsed.module);
  if (Diagnostics problems = isa::validate(module); problems.has_errors()) throw InputError(std::move(problems));
  name_warps(plan, module);
  device.load(module, text);
  Buffers buffers;
  for (const BufferSpec& b : plan.buffers) {
    if (buffers.contains(b.name)) throw InputError(Code::E4408, fmt::format("buffer '{}' is named twice", b.name));
    buffers.emplace(b.name, make_buffer(b, buffers.size(), device));
  }
  check_names(plan, buffers);
  const ArgBytes bytes(plan, buffers, device);
  PlanResult result;
  result.warnings = std::move(parsed.diagnostics);
  for (const LaunchSpec& l : plan.launches) {
    const isa::Function& f = find_entry(module, l.entry);
    sim::Args args;
    for (const ArgSpec& a : l.args) args.add_bytes(bytes.of(a));
    result.launches.push_back({l.name.empty() ? f.name : l.name, f.name, launch_config(l, f)});
    result.runs.push_back(device.launch(f.name, result.launches.back().config, args, options.run));
    if (options.launched) options.launched(result.runs.back());
    if (!result.runs.back().ok()) return result;
  }
  for (const BufferSpec& spec : plan.buffers) {
    const Buffer& b = find_buffer(buffers, spec.name);
    PlanBuffer p{spec.name, b.spec.type, b.spec.shape, std::vector<uint8_t>(b.spec.bytes())};
    device.read(p.bytes.data(), b.address, p.bytes.size());
    result.buffers.push_back(std::move(p));
  }
  for (const ExpectSpec& e : plan.expects) result.comparisons.push_back(compare(e, find_result(result, e.buffer)));
  return result;
}

void save_buffers(const LaunchPlan& plan, const PlanResult& result) {
  for (const auto& [name, path] : plan.saves) {
    const PlanBuffer& b = find_result(result, name);
    write_npy(path, NpyArray::of_bytes(std::string(find_element_type(b.type)->dtype), std::as_bytes(std::span(b.bytes)), b.shape));
  }
}

}  // namespace drywell::kernels
