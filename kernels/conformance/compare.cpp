#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "kernels/conformance/program.h"

namespace drywell::kernels::conformance {
namespace {

// Distance of two floats on the number line of representable values.
uint64_t ulp_distance(uint32_t a, uint32_t b) {
  const float fa = std::bit_cast<float>(a), fb = std::bit_cast<float>(b);
  if (std::isnan(fa) || std::isnan(fb)) return std::isnan(fa) && std::isnan(fb) ? 0 : ~uint64_t{0};
  const auto place = [](uint32_t v) { return (v >> 31) != 0 ? -static_cast<int64_t>(v & 0x7FFFFFFF) : static_cast<int64_t>(v); };
  const int64_t d = place(a) - place(b);
  return static_cast<uint64_t>(d < 0 ? -d : d);
}

std::string hex(const uint8_t* p, size_t n) {
  std::string s = "0x";
  for (size_t i = n; i-- > 0;) s += fmt::format("{:02x}", p[i]);
  return s;
}

void mismatch(Outcome& out, size_t buffer, size_t at, const uint8_t* got, const uint8_t* want, size_t n) {
  if (out.mismatches++ == 0) out.detail = fmt::format("buffer {} byte {}: {}, expected {}", buffer, at, hex(got, n), hex(want, n));
}

void compare_ulps(Outcome& out, const ProgramBuffer& b, size_t index, const std::vector<uint8_t>& got) {
  for (size_t i = 0; i + 4 <= b.expected.size(); i += 4) {
    if (!b.mask.empty() && b.mask[i] == 0) continue;
    uint32_t g, w;
    std::memcpy(&g, got.data() + i, 4);
    std::memcpy(&w, b.expected.data() + i, 4);
    ++out.compared;
    if (ulp_distance(g, w) > b.ulps) mismatch(out, index, i, got.data() + i, b.expected.data() + i, 4);
  }
}

void compare_f64(Outcome& out, const ProgramBuffer& b, size_t index, const std::vector<uint8_t>& got) {
  for (size_t i = 0; i + 8 <= b.expected.size(); i += 8) {
    double g, w;
    std::memcpy(&g, got.data() + i, 8);
    std::memcpy(&w, b.expected.data() + i, 8);
    out.compared += 8;
    if (std::isnan(g) && std::isnan(w)) continue;
    if (std::memcmp(&g, &w, 8) != 0) mismatch(out, index, i, got.data() + i, b.expected.data() + i, 8);
  }
}

// Eight bytes at a time name the whole value that differs.
void compare_bytes(Outcome& out, const ProgramBuffer& b, size_t index, const std::vector<uint8_t>& got) {
  for (size_t i = 0; i < b.expected.size(); ++i) {
    if (!b.mask.empty() && b.mask[i] == 0) continue;
    ++out.compared;
    if (got[i] == b.expected[i]) continue;
    const size_t first = i & ~size_t{7}, n = std::min<size_t>(8, b.expected.size() - first);
    mismatch(out, index, first, got.data() + first, b.expected.data() + first, n);
    i = first + n - 1;
  }
}

}  // namespace

Outcome compare(const Program& p, const std::vector<std::vector<uint8_t>>& results) {
  Outcome out;
  for (size_t k = 0; k < p.buffers.size(); ++k) {
    const ProgramBuffer& b = p.buffers[k];
    if (b.expected.empty()) continue;
    switch (b.compare) {
      case Compare::bits: compare_bytes(out, b, k, results[k]); break;
      case Compare::ulp_f32: compare_ulps(out, b, k, results[k]); break;
      case Compare::any_nan: compare_f64(out, b, k, results[k]); break;
    }
  }
  if (out.mismatches != 0) out.status = Outcome::Status::failed;
  return out;
}

Outcome run(const Program& p, Accelerator& device, const sim::RunOptions& options) {
  std::vector<GmemAddr> at;
  sim::Args args;
  for (const ProgramBuffer& b : p.buffers) {
    at.push_back(device.allocate(b.initial.size(), "buffer " + std::to_string(at.size())));
    device.write(at.back(), b.initial.data(), b.initial.size());
    args.add(at.back());
  }
  for (const ProgramMap& m : p.maps) {
    isa::TensorMapFields f = m.fields;
    f.address = at[m.buffer].value() + m.offset;
    args.add(device.encode(f));
  }
  device.load(p.module);
  const sim::RunResult r = device.launch(p.kernel().name, p.launch, args, options);
  std::vector<std::vector<uint8_t>> results;
  for (size_t k = 0; k < p.buffers.size(); ++k) {
    results.emplace_back(p.buffers[k].initial.size());
    if (r.ok()) device.read(results.back().data(), at[k], results.back().size());
    device.release(at[k]);
  }
  if (!r.ok()) {
    Outcome out;
    out.status = Outcome::Status::faulted;
    out.detail = r.fault->to_string();
    return out;
  }
  return compare(p, results);
}

}  // namespace drywell::kernels::conformance
