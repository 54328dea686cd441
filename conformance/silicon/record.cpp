#include "conformance/silicon/record.h"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "conformance/programs/program_run.h"
#include "drywell/core/whole_number.h"
#include "kernels/support/record_text.h"
#include "launch/words.h"

namespace drywell::kernels::silicon {
namespace {

constexpr std::string_view kFirstLine = "# drywell silicon record, format 1";
constexpr size_t kPiece = 256;

std::string describe(std::span<const uint8_t> before, std::span<const uint8_t> after) {
  if (std::memcmp(before.data(), after.data(), after.size()) == 0) return "=";
  std::string out;
  for (size_t at = 0; at < after.size(); at += kPiece) {
    Digest d;
    d.add(after.subspan(at, std::min(kPiece, after.size() - at)));
    out += fmt::format("{}{:x}", at == 0 ? "" : ",", d.value());
  }
  return out;
}

}  // namespace

RecordLine observe(const Probe& probe, Accelerator& device, const sim::RunOptions& options) {
  const Program p = probe.make();
  RecordLine out;
  out.program = probe.digest;
  const conformance::ProgramRun r = conformance::run_program(p, device, options);
  if (!r.result.ok()) out.fault = std::string(code_name(r.result.fault->code)) + ": " + r.result.fault->message;
  for (size_t k = 0; k < r.buffers.size(); ++k) out.buffers.push_back(describe(p.buffers[k].initial, r.buffers[k]));
  return out;
}

std::string print_record(const Record& r) {
  std::string out(kFirstLine);
  out += '\n';
  for (const std::string& p : r.provenance) out += "# " + p + "\n";
  for (const auto& [name, line] : r.lines) {
    out += fmt::format("{} {:x}", name, line.program);
    if (!line.fault.empty()) out += " FAULT " + line.fault;
    for (const std::string& b : line.buffers) out += " " + b;
    out += '\n';
  }
  return out;
}

Record parse_record(std::string_view text, const std::string& name) {
  const RecordText read = read_record_text(text, name, kFirstLine);
  Record out{read.provenance, {}};
  for (const RecordText::Line& line : read.lines) {
    const auto& words = line.words;
    if (words.size() < 3) read.fail(line.number, "a line has a name, the program's digest and the digests of its buffers");
    RecordLine r;
    const auto digest = whole_number<decltype(r.program)>(words[1], 16);
    if (!digest.has_value()) read.fail(line.number, "the program's digest is no hexadecimal number");
    r.program = *digest;
    if (words[2] == "FAULT") {
      r.fault = std::string(line.text.substr(line.text.find("FAULT ") + 6));
    } else {
      r.buffers.assign(words.begin() + 2, words.end());
    }
    out.lines.emplace_back(std::string(words[0]), std::move(r));
  }
  return out;
}

std::string difference(const RecordLine& device, const RecordLine& simulator) {
  if (device.fault.empty() != simulator.fault.empty())
    return device.fault.empty() ? "the simulator faults: " + simulator.fault : "the device faults: " + device.fault;
  if (!device.fault.empty()) return {};
  for (size_t k = 0; k < device.buffers.size(); ++k) {
    const std::string &a = device.buffers[k], &b = k < simulator.buffers.size() ? simulator.buffers[k] : "";
    if (a == b) continue;
    if (a == "=" || b == "=") return fmt::format("buffer {}: {} leaves it as it was", k, a == "=" ? "the device" : "the simulator");
    const auto x = split(a, ','), y = split(b, ',');
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (x[i] != y[i]) return fmt::format("buffer {}, bytes {} to {}", k, i * kPiece, (i + 1) * kPiece - 1);
  }
  return {};
}

}  // namespace drywell::kernels::silicon
