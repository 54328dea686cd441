#include "sim/debug/dap/wire.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "drywell/core/whole_number.h"

namespace drywell::sim::dap {
namespace {

constexpr size_t kMostNesting = 64;
constexpr size_t kMostBytes = 16 << 20;  // of a message: the protocol's messages are far smaller

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string_view without_blanks(std::string_view text) {
  const size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// True if some bracket or brace outside strings is nested deeper than the protocol's messages are. The parser and the destructor of a
/// JSON value take a stack frame per level.
bool nested_too_deeply(std::string_view text) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;  // the character behind it does not end the string
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++depth > kMostNesting) return true;
    if ((c == ']' || c == '}') && depth != 0) --depth;
  }
  return false;
}

Wire::Message read_message(std::string_view text) {
  if (nested_too_deeply(text)) return {{}, "the message is nested too deeply"};
  Wire::Message m{Json::parse(text, nullptr, false), {}};
  if (m.body.is_discarded()) return {{}, "the message is not JSON"};
  if (!m.body.is_object()) return {{}, "the message is no object"};
  return m;
}

}  // namespace

bool Wire::ready() const {
  if (!buffer_.empty()) return true;
  pollfd p{in_, POLLIN, 0};
  return ::poll(&p, 1, 0) > 0;
}

bool Wire::fill() {
  char chunk[65536];
  ssize_t n;
  do n = ::read(in_, chunk, sizeof(chunk));
  while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  buffer_.append(chunk, static_cast<size_t>(n));
  return true;
}

std::optional<std::string> Wire::line() {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (buffer_.size() > kMostBytes) buffer_.clear();
    if (!fill()) return std::nullopt;
  }
  std::string text = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  if (!text.empty() && text.back() == '\r') text.pop_back();
  return text;
}

std::optional<Wire::Message> Wire::receive() {
  std::optional<size_t> length;
  while (true) {
    const std::optional<std::string> header = line();
    if (!header.has_value()) return std::nullopt;
    if (header->empty()) {
      if (length.has_value()) break;
      continue;
    }
    const std::string name = lower(header->substr(0, header->find(':')));
    if (name != "content-length") {
      if (name.starts_with("content-")) continue;
      return Message{{}, "a line that is no header: Content-Length: N is expected"};
    }
    length = whole_number<size_t>(without_blanks(std::string_view(*header).substr(std::min(header->find(':'), header->size() - 1) + 1)));
    if (length.value_or(kMostBytes + 1) > kMostBytes) return Message{{}, "a Content-Length that is no sensible number"};
  }
  while (buffer_.size() < *length) {
    if (!fill()) return std::nullopt;
  }
  Message m = read_message(std::string_view(buffer_).substr(0, *length));
  buffer_.erase(0, *length);
  return m;
}

void Wire::send(Json message) {
  message["seq"] = next_++;
  pass(message);
}

void Wire::pass(const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string all = "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
  for (size_t at = 0; at < all.size();) {
    const ssize_t n = ::write(out_, all.data() + at, all.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += static_cast<size_t>(n);
  }
}

}  // namespace drywell::sim::dap
