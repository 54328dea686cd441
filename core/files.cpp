#include "drywell/core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "drywell/core/error.h"

namespace drywell {
namespace {

[[noreturn]] void fail(Code code, const std::string& path, std::string message) {
  Diagnostics d;
  d.error(code, {path, 0, 0}, std::move(message));
  throw InputError(std::move(d));
}

/// Returns a name beside `path` with which `make` succeeds; empty if there is none (errno is the reason). A name is taken while
/// another writer uses it, or if such a writer was killed. It is short: `path` may have the longest name of the file system.
template <class Make>
std::string name_beside(const std::string& path, Make make) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = (folder / fmt::format(".drywell.tmp{}-{}", ::getpid(), attempt)).string();
    if (make(name.c_str())) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

/// Returns the target of a link, whether it exists or not: the target is replaced, and the link stays. Empty for links without end.
std::string behind_links(std::string path) {
  constexpr int kMost = 40;  // limit of Linux
  std::error_code none;
  for (int i = 0; i < kMost; ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, none);
    if (none) return path;
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return {};
}

}  // namespace

namespace {

// A file that is replaced stays as readable as it was. Only root can give a file away: without that, the mode alone is kept.
void keep_owner_and_mode(int fd, const struct stat& as) {
  const bool given = ::fchown(fd, as.st_uid, as.st_gid) == 0;
  ::fchmod(fd, as.st_mode & (given ? 0777 : 0707));
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path) {
  const auto cannot = [&](const char* why) { fail(Code::E4001, path, fmt::format("cannot be read: {}", why)); };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) cannot(std::strerror(errno));
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};
  struct stat st {};
  if (::fstat(fd, &st) != 0) cannot(std::strerror(errno));
  if (!S_ISREG(st.st_mode)) cannot("not a regular file");
  std::vector<std::byte> bytes(static_cast<size_t>(st.st_size));
  size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + got, bytes.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot(std::strerror(errno));
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

std::string read_text_file(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

PendingFile::PendingFile(std::string path) : path_(std::move(path)) {
  struct stat st {};
  const bool exists = ::stat(path_.c_str(), &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) {
    drywell::fail(Code::E4008, path_, "cannot be written: it exists and is not a regular file");
  }
  const std::string target = behind_links(path_);
  if (target.empty()) fail(ELOOP);
  path_ = target;
  // The file has no name if the file system allows that and /proc can name it later: a run that is killed then leaves no
  // file.
  const std::filesystem::path directory = std::filesystem::path(path_).parent_path();
  if (::access("/proc/self/fd", X_OK) == 0) fd_ = ::open(directory.empty() ? "." : directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd_ < 0) beside_ = name_beside(path_, [&](const char* name) { return (fd_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0; });
  if (fd_ < 0) fail(errno);
  if (exists) keep_owner_and_mode(fd_, st);
}

PendingFile::~PendingFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void PendingFile::fail(int error) {
  drywell::fail(Code::E4008, path_, fmt::format("cannot be written: {}", std::strerror(error)));
}

void PendingFile::write(std::span<const std::byte> bytes) {
  for (size_t put = 0; put < bytes.size();) {
    const ssize_t n = ::write(fd_, bytes.data() + put, bytes.size() - put);
    if (n >= 0) {
      put += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void PendingFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

// A nameless file gets its path at once if nothing has that path. Linux cannot replace a file by a nameless one: it gets a name beside the
// path first. The two calls follow each other, since SIGKILL between them leaves that name (docs/cli.md).
bool PendingFile::name() {
  const std::string nameless = fmt::format("/proc/self/fd/{}", fd_);
  const auto link = [&](const char* name) { return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0; };
  if (link(path_.c_str())) return true;
  beside_ = name_beside(path_, link);
  return !beside_.empty() && ::rename(beside_.c_str(), path_.c_str()) == 0;
}

void PendingFile::commit() {
  const bool nameless = beside_.empty();
  if (nameless && !name()) fail(errno);
  if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
  if (!nameless && ::rename(beside_.c_str(), path_.c_str()) != 0) fail(errno);
  beside_.clear();
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  PendingFile f(path);
  f.write(bytes);
  f.commit();
}

void write_file_atomically(const std::string& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace drywell
