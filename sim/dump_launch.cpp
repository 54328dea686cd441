#include "drywell/sim/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "drywell/core/files.h"
#include "drywell/isa/print.h"

namespace drywell::sim {
namespace {

using Bytes = std::span<const uint8_t>;

template <class List>
std::string extents(const List& list, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += fmt::format("{}{}", i == 0 ? "" : "x", list[i]);
  return out;
}

std::string hex_of(Bytes bytes) {
  std::string out = "hex:";
  for (const uint8_t b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

class Dump {
 public:
  Dump(const Device& device, std::string folder) : device_(device), folder_(std::move(folder)) {}

  /// The word of a launch file for one parameter.
  std::string argument(Bytes bytes) {
    const std::vector<Piece> pieces = split(bytes);
    if (pieces.size() == 1) return pieces[0].word;
    std::string out = fmt::format("block:{}", bytes.size());
    for (const Piece& p : pieces) out += fmt::format(";{}={}", p.offset, p.word);
    return out;
  }
  const std::vector<std::string>& buffers() const { return buffers_; }
  const std::vector<std::string>& maps() const { return maps_; }

 private:
  struct Piece {
    size_t offset = 0;
    std::string word;
  };

  /// Tensor maps, pointers, and the bytes between them.
  std::vector<Piece> split(Bytes bytes) {
    std::vector<Piece> out;
    size_t plain = 0;  // where bytes that are neither begin
    const auto flush = [&](size_t end) {
      if (end > plain) out.push_back({plain, hex_of(bytes.subspan(plain, end - plain))});
    };
    for (size_t at = 0; at + 8 <= bytes.size();) {
      std::optional<std::string> word = map_at(bytes, at);
      const size_t size = word.has_value() ? isa::kTensorMapBytes : 8;
      if (!word.has_value()) word = pointer_at(bytes, at);
      if (word.has_value()) {
        flush(at);
        out.push_back({at, *word});
        plain = at + size;
      }
      at += size;
    }
    flush(bytes.size());
    return out;
  }

  std::optional<std::string> pointer_at(Bytes bytes, size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    const std::optional<MemoryRange> range = device_.find(GmemAddr(value));
    if (!range.has_value()) return std::nullopt;
    const uint64_t offset = value - range->base.value();
    return offset == 0 ? "@" + buffer_of(*range) : fmt::format("@{}+{}", buffer_of(*range), offset);
  }

  /// 128 bytes that a driver's encode function would make, of a tensor in an allocation.
  std::optional<std::string> map_at(Bytes bytes, size_t at) {
    if (at % isa::kTensorMapAlignment != 0 || at + isa::kTensorMapBytes > bytes.size()) return std::nullopt;
    isa::TensorMap map;
    std::memcpy(map.bytes.data(), bytes.data() + at, isa::kTensorMapBytes);
    Diagnostics problems;
    const isa::TensorMapFields f = isa::decode(map, problems);
    const std::optional<MemoryRange> range =
        problems.has_errors() || !isa::is_by_driver(map) ? std::nullopt : device_.find(GmemAddr(f.address));
    if (!range.has_value()) return std::nullopt;
    if (f.mode != isa::TensorMapMode::tile) throw Unsupported("dump_launch: a tensor map that is not tiled");
    return "map:" + map_of(f, *range);
  }

  std::string buffer_of(const MemoryRange& range) {
    const auto [it, fresh] = names_.try_emplace(range.base.value(), fmt::format("b{}", names_.size()));
    if (!fresh) return it->second;
    const std::string file = it->second + ".raw";
    write_file_atomically(folder_ + "/" + file,
                          std::string_view(reinterpret_cast<const char*>(range.host), range.bytes));
    buffers_.push_back(fmt::format("{} = \"u8[{}]:file={}\"", it->second, range.bytes, file));
    return it->second;
  }

  std::string map_of(const isa::TensorMapFields& f, const MemoryRange& range) {
    static constexpr std::string_view kInterleaves[] = {"none", "16B", "32B"},
                                      kPromotions[] = {"none", "64B", "128B", "256B"};
    const std::string name = fmt::format("m{}", maps_.size());
    std::string words = fmt::format(
        "{},type={},dims={},box={},element-strides={},offset={},swizzle={},interleave={},l2={},fill={}",
        buffer_of(range), isa::to_string(f.type), extents(f.dim, f.rank), extents(f.box, f.rank),
        extents(f.element_stride, f.rank), f.address - range.base.value(), isa::to_string(f.swizzle),
        kInterleaves[static_cast<size_t>(f.interleave)], kPromotions[static_cast<size_t>(f.l2_promotion)],
        f.oob_fill == isa::OobFill::nan ? "nan" : "zero");
    if (f.rank > 1) words += ",strides=" + extents(f.stride, f.rank - 1);
    maps_.push_back(fmt::format("{} = \"{}\"", name, words));
    return name;
  }

  const Device& device_;
  std::string folder_;
  std::map<uint64_t, std::string> names_;  // by address
  std::vector<std::string> buffers_, maps_;
};

std::string section(std::string_view name, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  return fmt::format("\n[{}]\n{}\n", name, fmt::join(lines, "\n"));
}

/// The line of the warps' names, which PTX text does not have; nothing without them.
std::string roles_of(const isa::Function& f) {
  std::vector<std::string> words;
  for (const isa::WarpRole& r : f.roles) words.push_back(fmt::format("\"{}-{} {}\"", r.first, r.last, r.name));
  return words.empty() ? std::string() : fmt::format("roles = [{}]\n", fmt::join(words, ", "));
}

/// The module with the values that its variables have now. Variables that hold addresses keep their initial ones: the addresses of another
/// run are others.
isa::Module as_it_is(const Device& device, const LoadedModule& loaded) {
  isa::Module m = loaded.module();
  for (isa::Variable& v : m.variables) {
    const std::optional<GmemAddr> at = v.relocations.empty() ? loaded.symbol(v.name) : std::nullopt;
    const std::optional<MemoryRange> range = at.has_value() ? device.find(*at) : std::nullopt;
    if (!range.has_value() || at->value() - range->base.value() + v.bytes() > range->bytes) continue;
    const uint8_t* const begin = range->host + (at->value() - range->base.value());
    v.init.assign(begin, begin + v.bytes());
    while (!v.init.empty() && v.init.back() == 0) v.init.pop_back();
  }
  return m;
}

std::string triple(const Dim3& d) { return fmt::format("[{}, {}, {}]", d.x, d.y, d.z); }

}  // namespace

std::string dump_folder(const std::string& folder, size_t launch, std::string_view kernel) {
  constexpr size_t kLongest = 60;
  std::string name(kernel.substr(0, std::min(kernel.find_first_of("(<"), kLongest)));
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return fmt::format("{}/{:03}-{}", folder, launch, name);
}

std::string dump_launch(const Device& device, const LoadedModule& module, std::string_view kernel,
                        const LaunchConfig& config, const Args& args, const std::string& folder) {
  const auto& functions = module.module().functions;
  const auto function = std::find_if(functions.begin(), functions.end(), [&](const isa::Function& f) { return f.name == kernel; });
  if (function == functions.end())
    throw InputError(Code::E4112, fmt::format("no kernel '{}' in the module", kernel));
  std::error_code ignored;  // a folder that cannot be made is a file that cannot be written
  std::filesystem::create_directories(folder, ignored);
  Dump dump(device, folder);
  std::vector<std::string> words;
  for (const std::vector<uint8_t>& value : args.values())
    words.push_back(fmt::format("\"{}\"", dump.argument(value)));
  write_file_atomically(folder + "/kernel.ptx", isa::print_module(as_it_is(device, module)));
  const std::string launch = fmt::format(
      "\n[[launch]]\nentry = \"{}\"\ngrid = {}\nblock = {}\ncluster = {}\nsmem = {}\nargs = [{}]\n{}", kernel,
      triple(config.grid), triple(config.block), triple(config.cluster), config.dynamic_smem,
      fmt::join(words, ", "), roles_of(*function));
  const std::string path = folder + "/launch.toml";
  write_file_atomically(path, "module = \"kernel.ptx\"\n" + section("buffers", dump.buffers()) +
                                  section("maps", dump.maps()) + launch);
  return path;
}

}  // namespace drywell::sim
