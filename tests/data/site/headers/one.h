// A header with two entities that have no comment (tests/CMakeLists.txt, site.headers).
#pragma once

/// With a comment.
struct Described {
  int a = 0, b = 0;  // both of them
  int c = 0;
  /// This one, too.
  int d = 0;
};
void nothing_said();
