// Data inside the script element of a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace drywell::tools {

/// The text of `j`, without "</", which would end the script element.
inline std::string script_data(const nlohmann::json& j) {
  std::string data = j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);  // a source file may have any bytes
  for (size_t at = data.find("</"); at != std::string::npos; at = data.find("</", at + 3))
    data.replace(at, 2, "<\\/");
  return data;
}

}  // namespace drywell::tools
