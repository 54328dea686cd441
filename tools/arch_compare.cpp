#include "tools/arch_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "drywell/isa/target.h"

namespace drywell::tools {
namespace {

using Cells = std::vector<std::string>;  // name, then a cell per machine

constexpr isa::Feature kLastFeature = isa::Feature::sm120a;

bool differs(const Cells& row) {
  return std::adjacent_find(row.begin() + 1, row.end(), std::not_equal_to<>()) != row.end();
}

/// "32 B (documented)"; a machine without the figure has "-".
std::string cell(const sim::ArchConfig& machine, const std::string& key) {
  for (const sim::ArchEntry& e : machine.entries) {
    if (e.key == key)
      return fmt::format("{}{}{} ({})", e.value, e.unit.empty() ? "" : " ", e.unit,
                         sim::provenance_name(e.provenance));
  }
  return "-";
}

/// The keys of all machines, in the order of their files.
std::vector<std::string> keys_of(std::span<const sim::ArchConfig> machines) {
  std::vector<std::string> keys;
  for (const sim::ArchConfig& m : machines) {
    for (const sim::ArchEntry& e : m.entries) {
      if (std::find(keys.begin(), keys.end(), e.key) == keys.end()) keys.push_back(e.key);
    }
  }
  return keys;
}

std::vector<Cells> identity_rows(std::span<const sim::ArchConfig> machines) {
  std::vector<Cells> rows = {{"machine"}, {"target"}, {"products beside mma.sync"}};
  for (const sim::ArchConfig& m : machines) {
    rows[0].push_back(m.description);
    rows[1].emplace_back(isa::target_name(m.target));
    rows[2].emplace_back(m.tensor == sim::TensorCore::umma    ? "tcgen05.mma"
                         : m.tensor == sim::TensorCore::wgmma ? "wgmma"
                                                              : "none");
  }
  return rows;
}

std::vector<Cells> feature_rows(std::span<const sim::ArchConfig> machines) {
  std::vector<Cells> rows;
  for (int i = 0; i <= static_cast<int>(kLastFeature); ++i) {
    const auto feature = static_cast<isa::Feature>(i);
    Cells row = {fmt::format("instructions of {}", isa::feature_name(feature))};
    for (const sim::ArchConfig& m : machines)
      row.emplace_back(isa::has_feature(m.target, feature) ? "yes" : "no");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Cells> figure_rows(std::span<const sim::ArchConfig> machines) {
  std::vector<Cells> rows;
  for (const std::string& key : keys_of(machines)) {
    Cells row = {key};
    for (const sim::ArchConfig& m : machines) row.push_back(cell(m, key));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string aligned(const std::vector<Cells>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const Cells& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}", row[c], widths[c] + 2);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

}  // namespace

std::string compare(std::span<const sim::ArchConfig> machines, bool all) {
  Cells head = {""};
  for (const sim::ArchConfig& m : machines) head.push_back(m.name);
  std::vector<Cells> rows = {head};
  for (const std::vector<Cells>& part :
       {identity_rows(machines), feature_rows(machines), figure_rows(machines)}) {
    std::copy_if(part.begin(), part.end(), std::back_inserter(rows),
                 [&](const Cells& row) { return all || differs(row); });
  }
  std::string out = aligned(rows) + '\n';
  for (const sim::ArchConfig& m : machines)
    out += fmt::format("{} loads PTX for {}\n", m.name, isa::targets_loaded_on(m.target));
  return out;
}

}  // namespace drywell::tools
