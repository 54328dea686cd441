#include "kernels/golden.h"

#include <fmt/format.h>

#include <charconv>

#include "drywell/core/text.h"

namespace drywell::kernels {

void parse_driver(std::string_view text, sim::RunOptions& options) {
  static constexpr std::string_view kNames[] = {"eager", "lazy", "shuffled", "timed"};
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name != kNames[i]) continue;
    options.driver = static_cast<sim::DriverKind>(i);
    options.seed = 0;
    if (colon == std::string_view::npos) return;
    const std::string_view seed = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), options.seed);
    if (options.driver == sim::DriverKind::shuffled && error == std::errc() &&
        end == seed.data() + seed.size())
      return;
    break;
  }
  throw InputError("E4306", fmt::format("no driver '{}'", text),
                   did_you_mean(name, kNames) + (did_you_mean(name, kNames).empty() ? "" : " ") +
                       "drivers: eager, lazy, shuffled:SEED, timed");
}

std::string print_driver(const sim::RunOptions& options) {
  const std::string_view name = sim::driver_name(options.driver);
  return options.driver == sim::DriverKind::shuffled ? fmt::format("{}:{}", name, options.seed)
                                                     : std::string(name);
}

RunSpec RunSpec::parse(std::string_view words) {
  RunSpec spec;
  std::vector<std::pair<std::string, std::string>> given;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(words.size(), end + 1));
    if (word.empty()) continue;
    if (spec.kernel == nullptr) {
      spec.kernel = &find_kernel(word);
      continue;
    }
    if (!word.starts_with("--") || word.find('=') == std::string_view::npos)
      throw InputError("E4307", fmt::format("'{}' is not --name=value", word));
    const std::string_view name = word.substr(2, word.find('=') - 2), value = word.substr(word.find('=') + 1);
    if (name == "driver") {
      parse_driver(value, spec.context.options);
    } else if (name == "arch") {
      spec.context.arch = value;
    } else {
      given.emplace_back(name, value);
    }
  }
  if (spec.kernel == nullptr) throw InputError("E4307", "no kernel is named");
  spec.context.params = Params(spec.kernel->name, spec.kernel->parameters, given);
  return spec;
}

std::string record_again(const sim::TraceHeader& header) {
  if (header.run.empty()) throw InputError("E4203", "the trace's header names no run");
  RunSpec spec = RunSpec::parse(header.run);
  sim::TraceText text;
  sim::TraceWriter writer(
      text, {header.profile, header.values, header.run, spec.context.arch, spec.context.options.seed});
  spec.context.options.listeners.push_back(writer.listener());
  writer.finish(spec.kernel->run(spec.context).run);
  return std::move(text.text);
}

}  // namespace drywell::kernels
