// Paths of sources, as debug information has them.
#pragma once

#include <string_view>

namespace drywell {

/// As seen from the repository: build tools may have made a path relative to the build folder.
inline std::string_view from_repository(std::string_view path) {
  while (path.starts_with("../")) path.remove_prefix(3);
  return path;
}
/// The last component.
inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace drywell
