#include "support/ptx_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/error.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "drywell/sim/arch_config.h"

namespace drywell::test {

std::string machine_for(const std::string& target) {
  const auto machines = sim::builtin_arch_names();
  const std::string chip = target.substr(0, target.find_last_of("0123456789") + 1) + "a";
  return std::find(machines.begin(), machines.end(), chip) != machines.end() ? chip : "sm_100a";
}
namespace {

struct Width {
  unsigned bits;
  const char* reg;
};
Width width_of(const std::string& reg) {
  switch (reg.at(0)) {
    case 'b': return {8, "b8"};
    case 'h': return {16, "b16"};
    case 'w': return {32, "b32"};
    case 'd': return {64, "b64"};
    case 'p': return {32, "pred"};
    default: throw InternalError("register name " + reg);
  }
}

std::string load_text(const std::string& reg, size_t column) {
  std::string s =
      fmt::format("  ld.param.u64 addr, [column{}];\n  mad.wide.u32 addr, index, 8, addr;\n", column);
  if (reg[0] == 'p')
    return s + fmt::format("  ld.global.u32 word, [addr];\n  setp.ne.u32 {}, word, 0;\n", reg);
  return s + fmt::format("  ld.global.{} {}, [addr];\n", width_of(reg).reg, reg);
}
std::string store_text(const std::string& reg, size_t column) {
  std::string s =
      fmt::format("  ld.param.u64 addr, [column{}];\n  mad.wide.u32 addr, index, 8, addr;\n", column);
  if (reg[0] == 'p')
    return s + fmt::format("  selp.u32 word, 1, 0, {};\n  st.global.u32 [addr], word;\n", reg);
  return s + fmt::format("  st.global.{} [addr], {};\n", width_of(reg).reg, reg);
}

std::string module_text(const std::string& body, const std::vector<std::string>& outputs,
                        const std::vector<std::string>& inputs, const std::vector<std::string>& extra) {
  std::string s = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry test(.param .u32 count";
  for (size_t i = 0; i < outputs.size() + inputs.size(); ++i) s += fmt::format(", .param .u64 column{}", i);
  s += ") {\n  .reg .b64 addr;\n  .reg .b32 index, word, limit;\n  .reg .pred outside;\n";
  std::vector<std::string> declared;
  for (const auto* list : {&inputs, &outputs, &extra}) {
    for (const std::string& r : *list) {
      if (std::find(declared.begin(), declared.end(), r) != declared.end()) continue;
      declared.push_back(r);
      s += fmt::format("  .reg .{} {};\n", width_of(r).reg, r);
    }
  }
  s += "  mov.u32 index, %ctaid.x;\n  mov.u32 word, %tid.x;\n  mad.lo.u32 index, index, 128, word;\n"
       "  ld.param.u32 limit, [count];\n  setp.ge.u32 outside, index, limit;\n  @outside bra DONE;\n";
  for (size_t i = 0; i < inputs.size(); ++i) s += load_text(inputs[i], outputs.size() + i);
  for (const std::string& r : outputs) {
    if (std::find(inputs.begin(), inputs.end(), r) != inputs.end() || r[0] == 'p' || r[0] == 'b') continue;
    s += fmt::format("  mov.{} {}, -1;\n", width_of(r).reg, r);
  }
  s += body + "\n";
  for (size_t i = 0; i < outputs.size(); ++i) s += store_text(outputs[i], i);
  return s + "DONE:\n  ret;\n}\n";
}

}  // namespace

isa::Module parse_or_throw(std::string_view text) {
  isa::ParseResult r = isa::parse_ptx(text, "test.ptx");
  if (r.diagnostics.has_errors()) throw InputError(std::move(r.diagnostics));
  Diagnostics found = isa::validate(r.module);
  if (found.has_errors()) throw InputError(std::move(found));
  return std::move(r.module);
}

std::vector<Column> run_lanes(const std::string& body, const std::vector<std::string>& outputs,
                              const std::vector<std::string>& inputs, const std::vector<Column>& values,
                              const std::vector<std::string>& extra) {
  const size_t count = values.at(0).size();
  sim::Device device;
  const sim::LoadedModule module = device.load(parse_or_throw(module_text(body, outputs, inputs, extra)));
  sim::Args args;
  args.add(static_cast<uint32_t>(count));
  std::vector<GmemAddr> addresses;
  for (size_t i = 0; i < outputs.size() + inputs.size(); ++i) {
    addresses.push_back(device.allocate(8 * count));
    device.fill(addresses.back(), 0, 8 * count);
    if (i >= outputs.size()) device.write(addresses.back(), values.at(i - outputs.size()).data(), 8 * count);
    args.add(addresses.back());
  }
  const auto blocks = static_cast<uint32_t>((count + 127) / 128);
  const sim::RunResult r =
      device.launch(module, "test", {.grid = {blocks}, .block = {128}}, args, {.threads = 1});
  if (!r.ok()) throw InputError(r.fault->code, r.fault->to_string());
  std::vector<Column> out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.emplace_back(count);
    device.read(out.back().data(), addresses[i], 8 * count);
  }
  return out;
}

uint64_t Words::next() {  // splitmix64
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

Column integer_values(unsigned bits, size_t count, uint64_t seed) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t top = uint64_t{1} << (bits - 1);
  Column c = {0,
              1,
              2,
              3,
              5,
              7,
              10,
              31,
              32,
              33,
              mask,
              mask - 1,
              top,
              top - 1,
              top + 1,
              top >> 1,
              mask >> 2,
              0x55555555'55555555ull & mask,
              0xAAAAAAAA'AAAAAAAAull & mask,
              255 & mask,
              0x8000 & mask};
  Words words(seed);
  // Rotated, so that two columns of the same width meet in many combinations.
  std::rotate(c.begin(), c.begin() + static_cast<ptrdiff_t>(seed % c.size()), c.end());
  while (c.size() < count) {
    const uint64_t v = words.next();
    c.push_back((v >> (words.next() % bits)) & mask);
    if (words.next() % 4 == 0) c.back() = c[words.next() % 21];
  }
  c.resize(count);
  return c;
}

Column float_values(unsigned exponent_bits, unsigned fraction_bits, size_t count, uint64_t seed) {
  const unsigned bits = 1 + exponent_bits + fraction_bits;
  const uint64_t sign = uint64_t{1} << (bits - 1), one = uint64_t{1} << fraction_bits;
  const uint64_t exponent_max = (uint64_t{1} << exponent_bits) - 1, infinity = exponent_max << fraction_bits,
                 bias = exponent_max / 2;
  Column c = {0,
              1,
              2,
              one - 1,
              one,
              one + 1,
              infinity - 1,
              infinity,
              infinity + 1,
              infinity | one >> 1,
              sign - 1,
              bias << fraction_bits,
              (bias << fraction_bits) + 1,
              (bias << fraction_bits) - 1,
              (bias + 1) << fraction_bits,
              ((bias + fraction_bits) << fraction_bits) + 1};
  const size_t edges = c.size();
  for (size_t i = 0; i < edges; ++i) c.push_back(c[i] | sign);
  std::rotate(c.begin(), c.begin() + static_cast<ptrdiff_t>(seed % c.size()), c.end());
  Words words(seed);
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  while (c.size() < count) {
    const uint64_t v = words.next();
    switch (words.next() % 4) {
      case 0: c.push_back(v & mask); break;
      case 1: c.push_back(c[v % (2 * edges)]); break;
      default: {  // near one, so that sums and products round in interesting places
        const uint64_t exponent = bias - 6 + (v >> 8) % 13;
        c.push_back((exponent << fraction_bits | (words.next() & (one - 1))) | (v & 1 ? sign : 0));
      }
    }
  }
  c.resize(count);
  return c;
}

}  // namespace drywell::test
