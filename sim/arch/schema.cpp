#include "sim/arch/schema.h"

#include <array>
#include <type_traits>

namespace drywell::sim {
namespace {

/// blackwell: umma or warp.
enum class Need : uint8_t {
  any,
  umma,
  wgmma,
  blackwell
};

bool applies(Need need, TensorCore tensor) {
  switch (need) {
    case Need::any: return true;
    case Need::umma: return tensor == TensorCore::umma;
    case Need::wgmma: return tensor == TensorCore::wgmma;
    case Need::blackwell: return tensor != TensorCore::wgmma;
  }
  return false;
}

/// Matrix unit that each timing class needs, by the number of the class.
constexpr Need kClassNeeds[] = {
#define TIMING_CLASS(OP_, NEED_) Need::NEED_,
#include "drywell/isa/table/timing_classes.inc"
#undef TIMING_CLASS
};

template <class T>
constexpr ValueType type_of() {
  return std::is_same_v<T, ArchConfig::Flag>   ? ValueType::flag
         : std::is_same_v<T, ArchConfig::Real> ? ValueType::real
                                               : ValueType::integer;
}

constexpr std::optional<double> fallback_of() { return std::nullopt; }
constexpr std::optional<double> fallback_of(double v) { return v; }

struct Section {
  const char* name;
  Need need;
  const char* doc;
};

constexpr Section kSections[] = {
#define ARCH_SECTION(SECTION_, NEED_, DOC_) {#SECTION_, Need::NEED_, DOC_},
#define ARCH_VALUE(...)
#define ARCH_END(SECTION_)
#include "drywell/sim/arch_keys.inc"
#undef ARCH_SECTION
#undef ARCH_VALUE
#undef ARCH_END
    {"class", Need::any, "cost of one warp instruction of each timing class"},
};

struct FigureRow {
  const char* section;
  const char* name;
  ValueType type;
  const char* unit;
  double least, greatest;
  const char* doc;
  std::optional<double> fallback;
  void* (*field)(ArchConfig&);
};

constexpr FigureRow kFigures[] = {
#define ARCH_SECTION(SECTION_, NEED_, DOC_)
#define ARCH_VALUE(SECTION_, NAME_, TYPE_, UNIT_, LEAST_, GREATEST_, DOC_, ...) \
  {#SECTION_,                                                                   \
   #NAME_,                                                                      \
   type_of<ArchConfig::TYPE_>(),                                                \
   UNIT_,                                                                       \
   LEAST_,                                                                      \
   GREATEST_,                                                                   \
   DOC_,                                                                        \
   fallback_of(__VA_ARGS__),                                                    \
   [](ArchConfig& arch) -> void* { return &arch.SECTION_.NAME_; }},
#define ARCH_END(SECTION_)
#include "drywell/sim/arch_keys.inc"
#undef ARCH_SECTION
#undef ARCH_VALUE
#undef ARCH_END
};

constexpr std::array kPipeNames = {"none", "alu", "fma", "half", "f64", "xu", "control",
                                   "mma", "lsu", "barrier", "tma", "tensor", "tmem"};
constexpr std::array kTensorCoreNames = {"umma", "wgmma", "warp"};
constexpr std::array kProvenanceNames = {"documented", "measured", "derived", "assumed"};

template <class Enum, size_t N>
bool parse_enum(std::string_view text, const std::array<const char*, N>& names, Enum& out) {
  for (size_t i = 0; i < N; ++i) {
    if (text == names[i]) {
      out = static_cast<Enum>(i);
      return true;
    }
  }
  return false;
}

void add_class_rows(isa::TimingClass c, std::vector<SchemaRow>& rows) {
  const std::string prefix = "class." + std::string(isa::timing_class_name(c));
  SchemaRow row{.unit = "cyc", .least = 0, .greatest = 100000, .timing_class = c};
  row.key = prefix + ".latency";
  row.number = &ClassCost::latency;
  row.doc = "issue to a dependent instruction; asynchronous work: to the issuing warp's next instruction";
  rows.push_back(row);
  row.key = prefix + ".interval";
  row.number = &ClassCost::interval;
  row.doc = "cycles one warp instruction occupies the pipe";
  rows.push_back(row);
  row.key = prefix + ".pipe";
  row.number = nullptr;
  row.type = ValueType::pipe;
  row.unit = "";
  row.doc = "what the instruction occupies";
  rows.push_back(row);
}

}  // namespace

void* SchemaRow::member(ArchConfig& arch) const {
  if (field != nullptr) return field(arch);
  ClassCost& cost = arch.classes[static_cast<size_t>(timing_class)];
  return number != nullptr ? static_cast<void*>(&(cost.*number)) : &cost.pipe;
}

std::vector<SchemaRow> schema_rows(TensorCore tensor) {
  std::vector<SchemaRow> rows;
  for (const Section& section : kSections) {
    if (!applies(section.need, tensor)) continue;
    for (const FigureRow& f : kFigures) {
      if (std::string_view(f.section) != section.name) continue;
      rows.push_back({.key = std::string(f.section) + '.' + f.name,
                      .type = f.type,
                      .unit = f.unit,
                      .least = f.least,
                      .greatest = f.greatest,
                      .fallback = f.fallback,
                      .doc = f.doc,
                      .field = f.field});
    }
  }
  for (size_t i = 0; i < static_cast<size_t>(isa::TimingClass::count_); ++i) {
    const auto c = static_cast<isa::TimingClass>(i);
    if (applies(kClassNeeds[i], tensor)) add_class_rows(c, rows);
  }
  return rows;
}

std::string_view section_doc(std::string_view section) {
  for (const Section& s : kSections) {
    if (section == s.name) return s.doc;
  }
  return {};
}

std::string_view value_type_name(ValueType t) {
  switch (t) {
    case ValueType::integer: return "integer";
    case ValueType::real: return "real";
    case ValueType::flag: return "flag";
    case ValueType::pipe: return "pipe";
  }
  return "?";
}

std::string_view pipe_name(Pipe p) { return kPipeNames[static_cast<size_t>(p)]; }
std::string_view tensor_core_name(TensorCore t) { return kTensorCoreNames[static_cast<size_t>(t)]; }
bool parse_tensor_core(std::string_view text, TensorCore& out) {
  return parse_enum(text, kTensorCoreNames, out);
}
std::string_view provenance_name(Provenance p) { return kProvenanceNames[static_cast<size_t>(p)]; }
bool parse_pipe(std::string_view text, Pipe& out) { return parse_enum(text, kPipeNames, out); }
bool parse_provenance(std::string_view text, Provenance& out) {
  return parse_enum(text, kProvenanceNames, out);
}

std::vector<ArchKey> arch_schema(TensorCore tensor) {
  std::vector<ArchKey> keys;
  for (const SchemaRow& row : schema_rows(tensor)) {
    keys.push_back({row.key, std::string(value_type_name(row.type)), row.unit, row.least, row.greatest,
                    !row.fallback.has_value(), row.doc});
  }
  return keys;
}

}  // namespace drywell::sim
