#include "drywell/core/npy.h"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>

#include "drywell/core/error.h"
#include "drywell/core/files.h"

namespace drywell {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are kept in memory as they lie in the file");

constexpr std::string_view kMagic = "\x93NUMPY";
// numpy never writes such a large header for a plain array (NEP 1: the header is one short dict literal).
constexpr uint64_t kMaxHeaderBytes = 1 << 20;

[[noreturn]] void fail(Code code, const std::string& name, std::string message,
                       std::string hint = {}) {
  Diagnostics d;
  d.error(code, {name, 0, 0}, std::move(message), std::move(hint));
  throw InputError(std::move(d));
}

/// Bytes per element of a normalised descriptor; nothing if this library does not support the type.
std::optional<uint32_t> dtype_size(std::string_view dtype) {
  constexpr std::string_view kKnown[] = {"|b1", "|i1", "|u1", "|V1", "<i2", "<u2", "<f2",
                                         "<V2", "<i4", "<u4", "<f4", "<i8", "<u8", "<f8"};
  for (std::string_view known : kKnown) {
    if (known == dtype) return static_cast<uint32_t>(dtype[2] - '0');
  }
  return std::nullopt;
}

const char* kind_name(char kind) {
  switch (kind) {
    case 'f': return "float";
    case 'i': return "int";
    case 'u': return "uint";
    case 'b': return "bool";
    default: return "void";
  }
}

std::string dtype_name(std::string_view dtype) {
  const auto size = dtype_size(dtype);
  return size ? fmt::format("{}{}", kind_name(dtype[1]), *size * 8) : std::string(dtype);
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// count * element size, or nothing if it does not fit 63 bits.
std::optional<uint64_t> byte_size(const std::vector<uint64_t>& shape, uint32_t element_size) {
  uint64_t bytes = element_size;
  bool empty = false;
  for (uint64_t extent : shape) empty = empty || extent == 0;
  if (empty) return 0;
  for (uint64_t extent : shape) {
    if (extent > (uint64_t{std::numeric_limits<int64_t>::max()}) / bytes) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

/// Reads the Python literal of the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string_literal();
      expect(':');
      if (key == "descr") {
        descr = take_once(descr, key, [&] { return descriptor(); });
      } else if (key == "fortran_order") {
        fortran = take_once(fortran, key, [&] { return boolean(); });
      } else if (key == "shape") {
        shape = take_once(shape, key, [&] { return tuple(); });
      } else {
        bad(fmt::format("unknown key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ < text_.size()) bad("text after the closing brace");
    if (!descr || !fortran || !shape) bad("'descr', 'fortran_order' and 'shape' must all be present");
  }

  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<uint64_t>> shape;

 private:
  [[noreturn]] void bad(const std::string& what) const {
    fail(Code::E4003, file_, fmt::format("bad .npy header at byte {}: {}", at_, what));
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad(fmt::format("'{}' expected", c));
  }
  template <class T, class Read>
  std::optional<T> take_once(const std::optional<T>& old, const std::string& key, Read read) {
    if (old) bad(fmt::format("key '{}' appears twice", key));
    return read();
  }
  std::string string_literal() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') bad("a string expected");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad("unterminated string");
    std::string s(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return s;
  }
  std::string descriptor() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') {
      fail(Code::E4005, file_, "structured arrays are not supported", "save one plain field as its own array");
    }
    return string_literal();
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{std::string_view("False"), false}, {"True", true}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    bad("True or False expected");
  }
  std::vector<uint64_t> tuple() {
    std::vector<uint64_t> out;
    expect('(');
    while (!accept(')')) {
      out.push_back(number());
      if (out.size() > 64) bad("more than 64 dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }
  uint64_t number() {
    skip_space();
    const size_t begin = at_;
    uint64_t v = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      const auto digit = static_cast<uint64_t>(text_[at_] - '0');
      if (v > (std::numeric_limits<uint64_t>::max() - digit) / 10) bad("a dimension does not fit 64 bits");
      v = v * 10 + digit;
    }
    if (at_ == begin) bad("a dimension (an integer of 0 or more) expected");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // the suffix of a long integer in Python 2
    return v;
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
};

std::string normalised_dtype(std::string descr, const std::string& file) {
  const bool one_byte = descr.ends_with('1') && descr.size() == 3;
  if (descr[0] == '>' && !one_byte) {
    fail(Code::E4005, file, fmt::format("big-endian data ('{}') is not supported", descr),
         "save with array.astype(array.dtype.newbyteorder('<'))");
  }
  if (descr[0] == '=' || descr[0] == '|' || descr[0] == '<' || descr[0] == '>')
    descr[0] = one_byte ? '|' : '<';
  if (!dtype_size(descr)) {
    fail(Code::E4005, file, fmt::format("dtype '{}' is not supported", descr),
         "bool, int8…int64, uint8…uint64, float16, float32, float64, or bfloat16 as two opaque bytes or "
         "uint16");
  }
  return descr;
}

}  // namespace

uint64_t NpyArray::count() const {
  uint64_t n = 1;
  for (uint64_t extent : shape) n *= extent;
  return n;
}

uint32_t NpyArray::element_size() const { return dtype_size(dtype).value_or(0); }

std::string NpyArray::describe() const { return dtype_name(dtype) + shape_text(shape); }

void NpyArray::require_dtype(std::string_view wanted) const {
  if (dtype == wanted) return;
  throw InputError(Code::E4007,
                   fmt::format("wrong dtype: {} needed, the array is {}", dtype_name(wanted), describe()));
}

NpyArray NpyArray::of_bytes(std::string dtype, std::span<const std::byte> bytes,
                            std::vector<uint64_t> shape) {
  const auto size = dtype_size(dtype);
  if (!size) throw InputError(Code::E4005, fmt::format("dtype '{}' is not supported", dtype));
  if (byte_size(shape, *size) != bytes.size()) {
    throw InputError(Code::E4006, fmt::format("{} bytes do not make {}{}", bytes.size(), dtype_name(dtype),
                                              shape_text(shape)));
  }
  return {std::move(dtype), std::move(shape), {bytes.begin(), bytes.end()}};
}

NpyArray parse_npy(std::span<const std::byte> file, const std::string& name) {
  const auto byte_at = [&](size_t i) { return static_cast<uint64_t>(file[i]); };
  if (file.size() < 8 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    fail(Code::E4002, name, "not a .npy file (bad magic)", "numpy.save(path, array) writes one");
  }
  const uint64_t major = byte_at(6), minor = byte_at(7);
  if (major < 1 || major > 3 || minor != 0) {
    fail(Code::E4003, name, fmt::format("unknown .npy format version {}.{}", major, minor));
  }
  const size_t length_bytes = major == 1 ? 2 : 4, header_at = 8 + length_bytes;
  if (file.size() < header_at) fail(Code::E4006, name, "truncated in the header");
  uint64_t header_bytes = 0;
  for (size_t i = 0; i < length_bytes; ++i) header_bytes |= byte_at(8 + i) << (8 * i);
  if (header_bytes > kMaxHeaderBytes) {
    fail(Code::E4003, name, fmt::format("bad .npy header: {} bytes long", header_bytes));
  }
  if (file.size() - header_at < header_bytes) fail(Code::E4006, name, "truncated in the header");

  HeaderParser header({reinterpret_cast<const char*>(file.data()) + header_at, header_bytes}, name);
  header.parse();
  NpyArray out;
  out.dtype = normalised_dtype(*header.descr, name);
  out.shape = *header.shape;
  if (*header.fortran && out.shape.size() > 1) {
    fail(Code::E4004, name, "the array is in Fortran (column-major) order",
         "save numpy.ascontiguousarray(array)");
  }
  const auto wanted = byte_size(out.shape, out.element_size());
  if (!wanted) fail(Code::E4006, name, fmt::format("shape {} is too large", shape_text(out.shape)));
  const auto data = file.subspan(header_at + header_bytes);
  if (data.size() != *wanted) {
    fail(Code::E4006, name,
         fmt::format("{} needs {} bytes of data, the file has {}{}", out.describe(), *wanted, data.size(),
                     data.size() < *wanted ? " (truncated)" : ""));
  }
  out.data.assign(data.begin(), data.end());
  return out;
}

NpyArray read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

std::vector<std::byte> format_npy(const NpyArray& array) {
  std::string shape = fmt::format("({}", fmt::join(array.shape, ", "));
  shape += array.shape.size() == 1 ? ",)" : ")";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", array.dtype, shape);
  // Data starts at a multiple of 64 bytes; the header ends with a newline (NEP 1).
  const bool long_header = header.size() + 64 + 10 > 0xFFFF;
  const size_t prefix = long_header ? 12 : 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';

  std::string text(kMagic);
  text += long_header ? '\2' : '\1';
  text += '\0';
  for (size_t i = 0; i < (long_header ? 4u : 2u); ++i)
    text += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  text += header;
  std::vector<std::byte> out(text.size() + array.data.size());
  std::memcpy(out.data(), text.data(), text.size());
  if (!array.data.empty()) std::memcpy(out.data() + text.size(), array.data.data(), array.data.size());
  return out;
}

void write_npy(const std::string& path, const NpyArray& array) {
  write_file_atomically(path, format_npy(array));
}

}  // namespace drywell
