#include "cudart/api/nvjitlink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cudart/cubin.h"
#include "cudart/device_runtime.h"
#include "cudart/fatbin.h"
#include "cudart/serve.h"
#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/core/whole_number.h"
#include "drywell/isa/link.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"

namespace drywell::cudart {
namespace {

enum class LinkResult : int {
  success = 0,
  unrecognized_option = 1,
  invalid_input = 3,
  ptx_compile = 4,
  internal = 6,
  null_input = 10
};
// nvJitLinkInputType
enum class LinkInput : int {
  ltoir = 3,
  object = 5,
  library = 6,
  index = 7
};

/// What a nvJitLinkHandle points to.
struct PtxLink {
  std::vector<std::string> options, units;
  void* optimiser = nullptr;  // a link of the library's own, for code to be optimised at link time
  bool grid_barrier = false;  // the link has libcudadevrt.a
  std::string linked, image, log;
};

/// The library's own functions. A process with several libraries uses the one that it loaded last.
std::map<std::string, uintptr_t, std::less<>>& originals() {
  static std::map<std::string, uintptr_t, std::less<>> all;
  return all;
}

template <class... P>
int call_original(const char* name, P... arguments) {
  return reinterpret_cast<int (*)(P...)>(originals().at(name))(arguments...);
}

/// Runs `f(Context&)`; an exception's text becomes the link's log.
template <class F>
LinkResult run(const char* name, PtxLink* link, LinkResult failure, F&& f) {
  if (link == nullptr) return LinkResult::null_input;
  const CudaError error = serve_always(name, [&](Context& c) {
    try {
      f(c);
    } catch (const Error& e) {
      link->log += fmt::format("{}\n", e.what());
      throw;
    }
  });
  return error == CudaError::success ? LinkResult::success : failure;
}

bool is_device_runtime(const char* name) { return name != nullptr && std::strstr(name, "libcudadevrt") != nullptr; }

constexpr std::string_view kRegisters = "-maxrregcount=";

/// The number of -maxrregcount. Throws for what ptxas calls an invalid value; it ignores a number that is too big, and one below zero.
std::optional<uint32_t> registers_of(std::string_view value) {
  constexpr uint32_t kLeast = 24, kMost = 255;  // ptxas: "adjusting per thread register count of 10 to lower bound of 24"
  std::string_view text = value;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto number = whole_number_or_hex<uint64_t>(text);
  if (!number.has_value()) throw InputError(Code::E4606, fmt::format("Invalid value '{}' for option 'maxrregcount'", value));
  if (negative || *number > kMost) return std::nullopt;
  return std::max(static_cast<uint32_t>(*number), kLeast);
}

/// -maxrregcount=N, or nothing: its kernels have at most so many registers a thread.
std::optional<uint32_t> most_registers(const std::vector<std::string>& options) {
  std::optional<uint32_t> most;
  for (const std::string& o : options) {
    if (o.starts_with(kRegisters)) most = registers_of(std::string_view(o).substr(kRegisters.size()));
  }
  return most;
}

isa::Module parse_unit(const std::string& text, size_t number) {
  isa::Module part = isa::parse_ptx_or_throw(text, fmt::format("unit {} of a link", number));
  if (Diagnostics problems = isa::validate(part); problems.has_errors()) throw InputError(std::move(problems));
  return part;
}

void limit_registers(isa::Module& m, uint32_t most) {
  for (isa::Function& f : m.functions) {
    if (f.is_entry) f.directives.maxnreg = std::min(f.directives.maxnreg.value_or(most), most);
  }
}

/// Several units are one text; a single one without a limit stays as it was written, with its comments and lines.
std::string link_units(const std::vector<std::string>& units, std::optional<uint32_t> registers) {
  if (units.size() == 1 && !registers.has_value()) return units.front();
  std::vector<isa::Module> parts;
  for (const std::string& text : units) parts.push_back(parse_unit(text, parts.size()));
  isa::Module whole = isa::link(std::move(parts));
  if (registers.has_value()) limit_registers(whole, *registers);
  return isa::print_module(whole);
}

LinkResult destroy(PtxLink** link) {
  if (link == nullptr) return LinkResult::null_input;
  if (*link != nullptr && (*link)->optimiser != nullptr)
    call_original("nvJitLinkDestroy", &(*link)->optimiser);
  delete *link;
  *link = nullptr;
  return LinkResult::success;
}

/// The log of a link of the library's own.
std::string own_log(void* link) {
  size_t bytes = 0;
  call_original("nvJitLinkGetErrorLogSize", link, &bytes);
  std::string log(bytes, '\0');
  if (bytes != 0) call_original("nvJitLinkGetErrorLog", link, log.data());
  return log.c_str();
}

/// What the library itself says of the options: it needs no device for that.
LinkResult judge_options(PtxLink& link, uint32_t count, const char** options) {
  void* own = nullptr;
  const auto result = static_cast<LinkResult>(call_original("nvJitLinkCreate", &own, count, options));
  if (own == nullptr) return result;
  if (result != LinkResult::success) link.log = own_log(own);
  call_original("nvJitLinkDestroy", &own);
  return result;
}

LinkResult create(PtxLink** out, uint32_t count, const char** options) {
  if (out == nullptr || (count != 0 && options == nullptr)) return LinkResult::null_input;
  *out = new PtxLink{.options = {options, options + count}};
  return judge_options(**out, count, options);
}

/// Ends the call with the log of the library's own link.
[[noreturn]] void optimiser_failed(const PtxLink& link) {
  throw InputError(Code::E4603, fmt::format("nvJitLink cannot make PTX of its input: {}", own_log(link.optimiser)));
}

void add_to_optimiser(PtxLink& link, const void* data, size_t bytes, const char* name) {
  if (link.optimiser == nullptr) {
    std::vector<const char*> options;
    for (const std::string& o : link.options) options.push_back(o.c_str());
    for (const char* wanted : {"-lto", "-ptx"}) {
      if (std::find(link.options.begin(), link.options.end(), wanted) == link.options.end())
        options.push_back(wanted);
    }
    if (call_original("nvJitLinkCreate", &link.optimiser, static_cast<uint32_t>(options.size()),
                      options.data()) != 0)
      throw Unsupported(fmt::format("nvJitLink makes no PTX with the options {}", fmt::join(options, " ")));
  }
  if (call_original("nvJitLinkAddData", link.optimiser, LinkInput::ltoir, data, bytes, name) != 0)
    optimiser_failed(link);
}

std::string optimised(const PtxLink& link) {
  size_t bytes = 0;
  if (call_original("nvJitLinkComplete", link.optimiser) != 0 ||
      call_original("nvJitLinkGetLinkedPtxSize", link.optimiser, &bytes) != 0)
    optimiser_failed(link);
  std::string text(bytes, '\0');
  if (call_original("nvJitLinkGetLinkedPtx", link.optimiser, text.data()) != 0) optimiser_failed(link);
  text.resize(std::strlen(text.c_str()));
  return text;
}

/// The library refuses an option's value where PTX is added.
LinkResult check_values(PtxLink* link) {
  return run("nvJitLinkAddData", link, LinkResult::ptx_compile, [&](Context&) { (void)most_registers(link->options); });
}

LinkResult add_data(PtxLink* link, LinkInput type, const void* data, size_t bytes, const char* name) {
  if (const LinkResult checked = type == LinkInput::ltoir ? LinkResult::success : check_values(link); checked != LinkResult::success) return checked;
  return run("nvJitLinkAddData", link, LinkResult::invalid_input, [&](Context& c) {
    if (type == LinkInput::ltoir) return add_to_optimiser(*link, data, bytes, name);
    if (is_device_runtime(name)) {
      link->grid_barrier = true;
      return;
    }
    if (type == LinkInput::object || type == LinkInput::library || type == LinkInput::index)
      throw Unsupported(
          fmt::format("a link of {}: Drywell links PTX, not objects", name != nullptr ? name : "an object"));
    link->units.push_back(best_image(read_fatbin(data, bytes), c.device().arch().target).ptx());
  });
}

LinkResult add_file(PtxLink* link, LinkInput type, const char* path) {
  if (is_device_runtime(path)) return add_data(link, type, nullptr, 0, path);
  std::vector<std::byte> file;
  const LinkResult found = run("nvJitLinkAddFile", link, LinkResult::invalid_input, [&](Context&) {
    require_value(path != nullptr);
    file = read_file(path);
  });
  return found == LinkResult::success ? add_data(link, type, file.data(), file.size(), path) : found;
}

LinkResult complete(PtxLink* link) {
  return run("nvJitLinkComplete", link, LinkResult::ptx_compile, [&](Context&) {
    if (link->optimiser != nullptr) link->units.push_back(optimised(*link));
    require_value(!link->units.empty());
    if (link->grid_barrier) link->units.emplace_back(grid_barrier());
    link->linked = link_units(link->units, most_registers(link->options));
    link->image = cubin_envelope(link->linked);
  });
}

using Member = std::string PtxLink::*;

template <Member kWhat, size_t kMore>
LinkResult bytes_of(const PtxLink* link, size_t* out) {
  if (link == nullptr || out == nullptr) return LinkResult::null_input;
  *out = (link->*kWhat).size() + kMore;
  return LinkResult::success;
}

template <Member kWhat, size_t kMore>
LinkResult content_of(const PtxLink* link, char* out) {
  if (link == nullptr || out == nullptr) return LinkResult::null_input;
  std::memcpy(out, (link->*kWhat).c_str(), (link->*kWhat).size() + kMore);
  return LinkResult::success;
}

LinkResult no_info_bytes(const PtxLink*, size_t* out) {
  if (out == nullptr) return LinkResult::null_input;
  *out = 1;
  return LinkResult::success;
}

LinkResult no_info(const PtxLink*, char* out) {
  if (out == nullptr) return LinkResult::null_input;
  *out = 0;
  return LinkResult::success;
}

struct LinkFunction {
  std::string_view name;
  const void* address;
};

template <class F>
const void* address(F* f) {
  return reinterpret_cast<const void*>(f);
}

}  // namespace

const void* nvjitlink_function(std::string_view name, uintptr_t original) {
  // A text ends with a zero, an image does not.
  static const LinkFunction kAll[] = {
      {"nvJitLinkCreate", address(&create)},
      {"nvJitLinkDestroy", address(&destroy)},
      {"nvJitLinkAddData", address(&add_data)},
      {"nvJitLinkAddFile", address(&add_file)},
      {"nvJitLinkComplete", address(&complete)},
      {"nvJitLinkGetLinkedCubinSize", address(&bytes_of<&PtxLink::image, 0>)},
      {"nvJitLinkGetLinkedCubin", address(&content_of<&PtxLink::image, 0>)},
      {"nvJitLinkGetLinkedPtxSize", address(&bytes_of<&PtxLink::linked, 1>)},
      {"nvJitLinkGetLinkedPtx", address(&content_of<&PtxLink::linked, 1>)},
      {"nvJitLinkGetErrorLogSize", address(&bytes_of<&PtxLink::log, 1>)},
      {"nvJitLinkGetErrorLog", address(&content_of<&PtxLink::log, 1>)},
      {"nvJitLinkGetInfoLogSize", address(&no_info_bytes)},
      {"nvJitLinkGetInfoLog", address(&no_info)},
  };
  for (const LinkFunction& f : kAll) {
    if (f.name != name) continue;
    originals()[std::string(name)] = original;
    return f.address;
  }
  return nullptr;
}

}  // namespace drywell::cudart
