#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string>

#include "conformance/programs/program.h"
#include "conformance/programs/program_run.h"

namespace drywell::kernels::conformance {
namespace {

/// A binary interchange format: 1 + exponent + fraction bits.
struct Format {
  unsigned exponent, fraction;
  unsigned bytes() const { return (1 + exponent + fraction) / 8; }
  uint64_t magnitude(uint64_t v) const { return v & ((uint64_t{1} << (exponent + fraction)) - 1); }
  bool negative(uint64_t v) const { return (v >> (exponent + fraction) & 1) != 0; }
  bool nan(uint64_t v) const { return magnitude(v) > ((uint64_t{1} << exponent) - 1) << fraction; }
};
Format format_of(Compare c) {
  switch (c) {
    case Compare::ulp_f16: return {5, 10};
    case Compare::ulp_bf16: return {8, 7};
    case Compare::ulp_f64: return {11, 52};
    default: return {8, 23};
  }
}

// Distance of two values in representable values; +0 and -0 count as one value.
uint64_t ulp_distance(const Format& f, uint64_t a, uint64_t b) {
  if (f.nan(a) || f.nan(b)) return f.nan(a) && f.nan(b) ? 0 : ~uint64_t{0};
  if (f.negative(a) != f.negative(b)) return f.magnitude(a) + f.magnitude(b);
  return f.magnitude(a) > f.magnitude(b) ? f.magnitude(a) - f.magnitude(b) : f.magnitude(b) - f.magnitude(a);
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
  const Format f = format_of(b.compare);
  const size_t n = f.bytes();
  for (size_t i = 0; i + n <= b.expected.size(); i += n) {
    if (!b.mask.empty() && b.mask[i] == 0) continue;
    uint64_t g = 0, w = 0;
    std::memcpy(&g, got.data() + i, n);
    std::memcpy(&w, b.expected.data() + i, n);
    out.compared += n;
    if (ulp_distance(f, g, w) > b.ulps) mismatch(out, index, i, got.data() + i, b.expected.data() + i, n);
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

// Compares eight bytes at a time, so that a mismatch shows the whole value.
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

/// Judges a launch that ended with a fault: the expected fault, or another. A GPU reports no code of Drywell's.
Outcome outcome_of_fault(const Program& p, const sim::Fault& f) {
  Outcome out;
  out.launch_failed = true;
  const bool wanted = p.fault.has_value() && (f.code == p.fault || f.code == kLaunchFailedOnGpu);
  out.status = wanted ? Outcome::Status::passed : Outcome::Status::faulted;
  out.compared = wanted ? 1 : 0;
  if (!wanted) out.detail = f.to_string();
  return out;
}

}  // namespace

const isa::Function& Program::kernel() const {
  for (const isa::Function& f : module.functions) {
    if (f.is_entry) return f;
  }
  throw InternalError("a conformance program without an entry");
}

std::optional<Program> make_for(const ProgramSpec& s, std::span<const isa::Target> targets) {
  for (const isa::Target t : targets) {
    try {
      return s.make(t);
    } catch (const InputError& e) {
      if (e.code() != Code::E1210) throw;
    }
  }
  return std::nullopt;
}

std::set<isa::Opcode> rows_of(const ProgramSpec& s) {
  std::set<isa::Opcode> rows;
  if (const std::optional<Program> p = make_for(s, kSuiteTargets); p.has_value()) {
    for (const isa::Instruction& i : p->kernel().body) rows.insert(i.op);
  }
  return rows;
}

Outcome compare(const Program& p, const std::vector<std::vector<uint8_t>>& results) {
  Outcome out;
  for (size_t k = 0; k < p.buffers.size(); ++k) {
    const ProgramBuffer& b = p.buffers[k];
    if (b.expected.empty()) continue;
    switch (b.compare) {
      case Compare::bits: compare_bytes(out, b, k, results[k]); break;
      case Compare::any_nan: compare_f64(out, b, k, results[k]); break;
      default: compare_ulps(out, b, k, results[k]);
    }
  }
  if (out.mismatches != 0) out.status = Outcome::Status::failed;
  return out;
}

Outcome run(const Program& p, Accelerator& device, const sim::RunOptions& options) {
  const ProgramRun r = run_program(p, device, options);
  if (!r.result.ok()) return outcome_of_fault(p, *r.result.fault);
  if (!p.fault.has_value()) return compare(p, r.buffers);
  Outcome out;
  out.status = Outcome::Status::failed;
  out.detail = "the launch ended well, expected " + std::string(code_name(*p.fault));
  return out;
}

}  // namespace drywell::kernels::conformance
