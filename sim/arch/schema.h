// The rows that an architecture file is checked against, generated from drywell/sim/arch_keys.inc and isa::TimingClass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/sim/arch_config.h"

namespace drywell::sim {

enum class ValueType : uint8_t {
  integer,
  real,
  flag,
  pipe
};
std::string_view value_type_name(ValueType t);

struct SchemaRow {
  std::string key;
  ValueType type = ValueType::real;
  std::string unit;
  double least = 0, greatest = 0;
  std::optional<double> fallback;
  std::string doc;
  /// The row's member: ArchConfig::Integer, Real, Flag or Pipe by type.
  void* (*field)(ArchConfig&) = nullptr;  // rows of arch_keys.inc
  double ClassCost::*number = nullptr;    // rows of a timing class; both null: its pipe
  isa::TimingClass timing_class = isa::TimingClass::none;

  void* member(ArchConfig& arch) const;
};

/// All rows of an architecture with this tensor core, in the order of the file.
std::vector<SchemaRow> schema_rows(TensorCore tensor);

/// Description of a section ("smem" -> "shared memory"); empty if there is no such section.
std::string_view section_doc(std::string_view section);

bool parse_pipe(std::string_view text, Pipe& out);
bool parse_provenance(std::string_view text, Provenance& out);

}  // namespace drywell::sim
