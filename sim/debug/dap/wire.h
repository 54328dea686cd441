// Messages of the Debug Adapter Protocol: JSON after a Content-Length header, over two descriptors.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace drywell::sim::dap {

using Json = nlohmann::json;

class Wire {
 public:
  Wire(int in, int out) : in_(in), out_(out) {}

  /// True if there are bytes to read (or the other end is closed).
  bool ready() const;
  struct Message {
    Json body;
    std::string error;  // empty: a valid message; else the reason why the bytes are not a message
  };
  /// Waits for the next message; returns nothing if the other end is closed.
  std::optional<Message> receive();
  /// Adds "seq" and sends the message. A message that cannot be delivered is dropped.
  void send(Json message);
  /// Sends a message of another party with its "seq".
  void pass(const Json& message);
  /// True if bytes have been read that receive() has not returned.
  bool holds() const { return !buffer_.empty(); }
  int descriptor() const { return in_; }

 private:
  std::optional<std::string> line();
  bool fill();

  int in_, out_;
  std::string buffer_;
  uint64_t next_ = 1;
};

}  // namespace drywell::sim::dap
