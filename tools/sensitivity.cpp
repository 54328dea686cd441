#include "tools/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "drywell/core/files.h"
#include "tools/common/temporary_folder.h"

namespace drywell::tools {
namespace {

namespace fs = std::filesystem;

constexpr double kAssumedError = 0.25, kDerivedError = 0.10;
constexpr double kVisible = 0.0005;  // a change of the time that the table shows

double error_of(const sim::ArchEntry& e) {
  if (e.provenance == sim::Provenance::assumed) return kAssumedError;
  return e.provenance == sim::Provenance::derived ? kDerivedError : 0;
}

double number(const std::string& text) {
  double v = 0;
  std::from_chars(text.data(), text.data() + text.size(), v);
  return v;
}

bool is_varied(const sim::ArchEntry& e, const std::vector<sim::ArchKey>& schema) {
  if (error_of(e) == 0 || e.key.starts_with("power.") || e.unit == "GHz" || number(e.value) == 0)
    return false;
  return std::any_of(schema.begin(), schema.end(),
                     [&](const sim::ArchKey& k) { return k.key == e.key && k.type == "real"; });
}

class Experiment {
 public:
  Experiment(const std::string& arch, const TimeOn& time)
      : base_(fs::exists(arch) ? fs::absolute(arch).string() : arch), time_(time) {}

  double seconds_with(const sim::ArchEntry& e, double value) const {
    const size_t dot = e.key.find('.');
    const std::string path = folder_.file("varied.toml");
    write_file_atomically(
        path,
        fmt::format("base = \"{}\"\nname = \"varied\"\ndescription = \"one figure varied\"\n[{}]\n{} = {{ "
                    "value = {:.9g}, unit = \"{}\", provenance = \"assumed\", source = \"varied\" }}\n",
                    base_, e.key.substr(0, dot), e.key.substr(dot + 1), value, e.unit));
    return time_(path);
  }

 private:
  std::string base_;
  const TimeOn& time_;
  TemporaryFolder folder_{fs::temp_directory_path() / "drywell-"};
};

Effect effect_of(const sim::ArchEntry& e, const sim::ArchKey& k, const Experiment& x, double seconds) {
  const double value = number(e.value), error = error_of(e);
  const auto relative = [&](double v) {
    return x.seconds_with(e, std::clamp(v, k.least, k.greatest)) / seconds;
  };
  return {e, error, relative(value * (1 - error)), relative(value * (1 + error))};
}

// Nothing if the machine would contradict itself.
std::optional<Effect> effect_if_possible(const sim::ArchEntry& e, const sim::ArchKey& k, const Experiment& x,
                                         double seconds) {
  try {
    return effect_of(e, k, x, seconds);
  } catch (const InputError& error) {
    if (error.code() != Code::E2011) throw;
    return std::nullopt;
  }
}

// Errors that do not depend on each other add as squares.
void add_range(Sensitivity& s) {
  double less = 0, more = 0;
  for (const Effect& e : s.effects) {
    const auto [low, high] = std::minmax({e.with_less - 1, e.with_more - 1});
    less += std::min(0.0, low) * std::min(0.0, low);
    more += std::max(0.0, high) * std::max(0.0, high);
  }
  s.least = s.seconds * (1 - std::sqrt(less));
  s.most = s.seconds * (1 + std::sqrt(more));
}

std::string change_of(double ratio) {
  return std::abs(ratio - 1) < kVisible ? "0 %" : fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

}  // namespace

double Effect::most() const { return std::max(std::abs(with_less - 1), std::abs(with_more - 1)); }

Sensitivity sensitivity(const std::string& arch, const TimeOn& time,
                        const std::function<void(size_t, size_t)>& progress) {
  const sim::ArchConfig machine = sim::load_arch(arch);
  const std::vector<sim::ArchKey> schema = sim::arch_schema(machine.tensor);
  const Experiment experiment(arch, time);
  Sensitivity s;
  s.seconds = time(arch);
  for (const sim::ArchEntry& e : machine.entries) s.varied += is_varied(e, schema) ? 1 : 0;
  size_t done = 0;
  for (const sim::ArchEntry& e : machine.entries) {
    if (!is_varied(e, schema)) continue;
    progress(++done, s.varied);
    const auto key =
        std::find_if(schema.begin(), schema.end(), [&](const sim::ArchKey& k) { return k.key == e.key; });
    const std::optional<Effect> effect = effect_if_possible(e, *key, experiment, s.seconds);
    if (!effect.has_value())
      ++s.bound;
    else if (effect->most() >= kVisible)
      s.effects.push_back(*effect);
  }
  std::stable_sort(s.effects.begin(), s.effects.end(),
                   [](const Effect& a, const Effect& b) { return a.most() > b.most(); });
  add_range(s);
  return s;
}

std::string to_text(const Sensitivity& s) {
  std::string out = fmt::format(
      "predicted {:.2f} us, {:.2f} to {:.2f} us if each figure that is not measured on this chip may be "
      "wrong:\n"
      "an assumed one by {:.0f} %, a derived one by {:.0f} %, independently of each other\n\n",
      s.seconds * 1e6, s.least * 1e6, s.most * 1e6, 100 * kAssumedError, 100 * kDerivedError);
  out += fmt::format("  {:<28} {:>10} {:<9} {:>9} {:>9}\n", "figure", "value", "", "if less", "if more");
  for (const Effect& e : s.effects)
    out += fmt::format("  {:<28} {:>10} {:<9} {:>9} {:>9}\n", e.figure.key, e.figure.value,
                       sim::provenance_name(e.figure.provenance), change_of(e.with_less), change_of(e.with_more));
  return out + fmt::format(
                   "\n{} more figures of {} change the time by less than {:.2f} %; {} are bound by others "
                   "and were not varied\n",
                   s.varied - s.effects.size() - s.bound, s.varied, 100 * kVisible, s.bound);
}

}  // namespace drywell::tools
