#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

#include "drywell/core/files.h"
#include "drywell/core/npy.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "kernels/launch/element_type.h"
#include "kernels/launch/plan.h"
#include "kernels/support/generate.h"

namespace drywell::kernels {
namespace {

struct Buffer {
  BufferSpec spec;  // with type and shape known
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

void fill_number(const ElementType& t, std::vector<uint8_t>& data, bool iota) {
  for (uint64_t i = 0; i < data.size() / t.bytes; ++i) {
    const uint64_t n = iota ? i : 1;
    const double d = static_cast<double>(n);
    const auto f = static_cast<float>(n);
    const uint16_t half = t.kind == ElementType::Kind::real && t.bytes == 2 ? encode_half(t, f) : 0;
    const void* from = &n;
    if (t.kind == ElementType::Kind::real) from = t.bytes == 8 ? static_cast<const void*>(&d) : t.bytes == 4 ? static_cast<const void*>(&f) : &half;
    std::memcpy(data.data() + i * t.bytes, from, t.bytes);
  }
}

Buffer make_buffer(const BufferSpec& given, sim::Device& device) {
  Buffer b{given, {}};
  std::vector<uint8_t> data;
  if (given.init == BufferSpec::Init::file) {
    const NpyArray a = read_npy(given.path);
    const ElementType* t = element_type_of(a.dtype);
    if (t == nullptr) throw InputError("E4407", fmt::format("{}: no element type for dtype {}", given.path, a.dtype));
    b.spec.type = std::string(t->name);
    b.spec.shape = a.shape;
    data.resize(a.data.size());
    std::memcpy(data.data(), a.data.data(), data.size());
  } else {
    const ElementType& t = *find_element_type(given.type);
    data.resize(given.bytes());
    if (given.init == BufferSpec::Init::ones || given.init == BufferSpec::Init::iota) fill_number(t, data, given.init == BufferSpec::Init::iota);
    if (given.init == BufferSpec::Init::random) fill_random(t, given.seed, data);
    if (given.init == BufferSpec::Init::poison) std::fill(data.begin(), data.end(), uint8_t{0xFF});
  }
  b.address = device.allocate(data.size(), given.name);
  device.write(b.address, data.data(), data.size());
  return b;
}

const Buffer& find_buffer(const Buffers& all, std::string_view name) {
  const auto it = all.find(name);
  if (it == all.end()) throw InputError("E4408", fmt::format("there is no buffer '{}'", name));
  return it->second;
}

isa::TensorMap make_map(const MapSpec& m, const Buffers& all) {
  const Buffer& b = find_buffer(all, m.buffer);
  isa::TensorMapFields f = m.fields;
  f.address = b.address.value();
  const uint32_t bytes = find_element_type(b.spec.type)->bytes;
  if (!m.dims_given) {
    f.rank = static_cast<uint32_t>(std::min<size_t>(5, b.spec.shape.size()));
    for (uint32_t i = 0; i < f.rank; ++i) f.dim[i] = b.spec.shape[b.spec.shape.size() - 1 - i];
  }
  uint64_t pitch = bytes;
  for (uint32_t i = 0; i + 1 < f.rank; ++i) {
    pitch *= f.dim[i];
    if (m.fields.stride[i] == 0) f.stride[i] = pitch;
  }
  // Without an explicit type, the buffer's.
  if (m.fields.type == isa::TensorType::u8 && bytes != 1) {
    for (unsigned i = 0; i < isa::kTensorTypeCount; ++i) {
      if (isa::to_string(static_cast<isa::TensorType>(i)) == b.spec.type) f.type = static_cast<isa::TensorType>(i);
    }
  }
  return isa::encode(f);
}

sim::Args make_args(const LaunchSpec& l, const LaunchPlan& plan, const Buffers& all) {
  sim::Args args;
  for (const ArgSpec& a : l.args) {
    if (a.kind == ArgSpec::Kind::pointer) {
      args.add(find_buffer(all, a.name).address.value() + a.offset);
    } else if (a.kind == ArgSpec::Kind::bytes) {
      args.add_bytes(a.bytes);
    } else {
      const MapSpec* map = nullptr;
      for (const MapSpec& m : plan.maps) if (m.name == a.name) map = &m;
      if (map == nullptr) throw InputError("E4408", fmt::format("there is no tensor map '{}'", a.name));
      args.add(make_map(*map, all));
    }
  }
  return args;
}

BufferComparison compare(const ExpectSpec& e, const Buffer& b, sim::Device& device) {
  const NpyArray want = read_npy(e.path);
  const ElementType& t = *find_element_type(b.spec.type);
  std::vector<uint8_t> got(b.spec.bytes());
  device.read(got.data(), b.address, got.size());
  if (want.data.size() != got.size()) {
    throw InputError("E4409", fmt::format("{} has {} bytes, buffer '{}' has {}", e.path, want.data.size(), e.buffer, got.size()));
  }
  BufferComparison c{e.buffer, b.spec.count(), 0, {}};
  const auto* expected = reinterpret_cast<const uint8_t*>(want.data.data());
  for (uint64_t i = 0; i < c.compared; ++i) {
    bool same = std::memcmp(got.data() + i * t.bytes, expected + i * t.bytes, t.bytes) == 0;
    const double x = element_value(t, got.data(), i), y = element_value(t, expected, i);
    if (!same && !e.exact) same = std::fabs(x - y) <= e.absolute + e.relative * std::fabs(y);
    if (same) continue;
    if (c.mismatches++ == 0) c.first = fmt::format("[{}]: {}, expected {}", i, x, y);
  }
  return c;
}

void save(const Buffer& b, const std::string& path, sim::Device& device) {
  std::vector<std::byte> data(b.spec.bytes());
  device.read(data.data(), b.address, data.size());
  write_npy(path, NpyArray::of_bytes(std::string(find_element_type(b.spec.type)->dtype), data, b.spec.shape));
}

}  // namespace

bool PlanResult::ok() const {
  for (const auto& r : runs) if (!r.ok()) return false;
  for (const auto& c : comparisons) if (c.mismatches != 0) return false;
  return true;
}

PlanResult run_plan(const LaunchPlan& plan, sim::Device& device, const sim::RunOptions& options) {
  isa::Module parsed = isa::parse_ptx_or_throw(read_text_file(plan.ptx_path), plan.ptx_path);
  if (Diagnostics problems = isa::validate(parsed); problems.has_errors()) throw InputError(std::move(problems));
  const sim::LoadedModule module = device.load(std::move(parsed));
  Buffers buffers;
  for (const BufferSpec& b : plan.buffers) {
    if (buffers.contains(b.name)) throw InputError("E4408", fmt::format("buffer '{}' is named twice", b.name));
    buffers.emplace(b.name, make_buffer(b, device));
  }
  PlanResult result;
  for (const LaunchSpec& l : plan.launches) {
    std::string entry = l.entry;
    if (entry.empty()) {
      for (const isa::Function& f : module.module().functions) {
        if (f.is_entry && !f.is_prototype) entry = entry.empty() ? f.name : throw InputError("E4410", "the module has several kernels", "name one with --entry");
      }
    }
    result.runs.push_back(device.launch(module, entry, l.config, make_args(l, plan, buffers), options));
    if (!result.runs.back().ok()) return result;
  }
  for (const ExpectSpec& e : plan.expects) result.comparisons.push_back(compare(e, find_buffer(buffers, e.buffer), device));
  for (const auto& [name, path] : plan.saves) save(find_buffer(buffers, name), path, device);
  return result;
}

}  // namespace drywell::kernels
