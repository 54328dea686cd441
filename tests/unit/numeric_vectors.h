// Reads the result words under tests/data/numerics (see the README there).
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "drywell/sim/numeric/mma.h"
#include "support/paths.h"

namespace drywell::numeric::test {

struct VectorRow {
  unsigned line = 0;
  std::string arch, kind, a_type, b_type, d_type, scale_type, origin, note;
  std::vector<uint32_t> a, b, a_scales, b_scales;
  uint32_t c = 0, d = 0;

  bool unverified() const { return note.find("unverified") != std::string::npos; }
  bool integer() const { return d_type == "s32"; }
};

inline std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char ch : line) {
    if (ch == '"') {
      quoted = !quoted;
    } else if (ch == ',' && !quoted) {
      fields.emplace_back();
    } else if (ch != '\r') {
      fields.back() += ch;
    }
  }
  return fields;
}

inline std::vector<uint32_t> hex_list(const std::string& text) {
  std::vector<uint32_t> codes;
  std::istringstream in(text);
  for (std::string word; in >> word;) codes.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
  return codes;
}

inline std::vector<VectorRow> read_vectors(const std::string& name) {
  std::ifstream in(drywell::test::source_path("tests/data/numerics/") + name);
  if (!in) throw std::runtime_error("cannot read " + name);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> header = split_csv(line);
  std::vector<VectorRow> rows;
  for (unsigned number = 2; std::getline(in, line); ++number) {
    const std::vector<std::string> fields = split_csv(line);
    std::map<std::string, std::string> f;
    for (size_t i = 0; i < fields.size(); ++i) f[header.at(i)] = fields[i];
    rows.push_back({number, f["arch"], f["kind"], f["atype"], f["btype"], f["dtype"], f["sf_type"],
                    f["origin"], f["note"], hex_list(f["a_hex"]), hex_list(f["b_hex"]),
                    hex_list(f["sfa_hex"]), hex_list(f["sfb_hex"]), hex_list(f["c_hex"]).at(0),
                    hex_list(f["d_hex"]).at(0)});
  }
  return rows;
}

inline Format format_named(const std::string& name) {
  for (unsigned i = 0; i < kFormatCount; ++i) {
    if (format_info(static_cast<Format>(i)).name == name) return static_cast<Format>(i);
  }
  throw std::runtime_error("unknown format " + name);
}

inline MmaKind kind_named(const std::string& name, Format a) {
  static const std::map<std::string, MmaKind> kinds = {
      {"f16", MmaKind::f16}, {"tf32", MmaKind::tf32}, {"f8f6f4", MmaKind::f8f6f4}, {"mxf8f6f4", MmaKind::mxf8f6f4}, {"mxf4", MmaKind::mxf4}, {"mxf4nvf4", MmaKind::mxf4nvf4}};
  if (const auto it = kinds.find(name); it != kinds.end()) return it->second;
  if (format_info(a).bits() <= 8) return MmaKind::f8f6f4;
  return a == Format::tf32 ? MmaKind::tf32 : MmaKind::f16;
}

/// The table row that governs a vector (floating-point rows only).
inline const MmaRow* row_of(const VectorRow& v) {
  MmaQuery q;
  const bool blackwell = v.arch == "blackwell-sm100-tcgen05" || v.arch == "b200";
  q.arch = blackwell ? MmaArch::sm_100 : MmaArch::sm_90;
  q.instruction = v.arch == "blackwell-sm100-tcgen05" ? MmaInstruction::tcgen05
                  : v.kind.rfind("mma.sync", 0) == 0  ? MmaInstruction::mma_sync
                                                      : MmaInstruction::wgmma;
  q.a = format_named(v.a_type);
  q.b = format_named(v.b_type);
  q.d = format_named(v.d_type);
  q.kind = kind_named(v.kind, q.a);
  if (!v.scale_type.empty()) q.scale = format_named(v.scale_type);
  return find_mma(q);
}

}  // namespace drywell::numeric::test
