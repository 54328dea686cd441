// Messages of the Debug Adapter Protocol: JSON behind a Content-Length header, over two descriptors.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace drywell::sim::dap {

using Json = nlohmann::json;

class Wire {
 public:
  Wire(int in, int out) : in_(in), out_(out) {}

  /// Something is there to read (or the other end is gone).
  bool ready() const;
  struct Message {
    Json body;
    std::string error;  // why there is none: the bytes were no message
  };
  /// Waits for the next message; nothing when the other end is gone.
  std::optional<Message> receive();
  /// Adds "seq". What cannot be delivered is dropped.
  void send(Json message);

 private:
  std::optional<std::string> line();
  bool fill();

  int in_, out_;
  std::string buffer_;
  uint64_t next_ = 1;
};

}  // namespace drywell::sim::dap
