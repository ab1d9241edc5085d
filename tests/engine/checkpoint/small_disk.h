// A file system of few bytes.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace fourhold::engine::testing {

// Stands at `path` while this lives. Mounting takes privileges: is_mounted says whether it did.
class SmallDisk {
 public:
  // `size` as mount(8) takes it of a tmpfs: "256k".
  SmallDisk(std::string path, const std::string& size) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(path_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_mounted() const { return mounted_; }
  void fill() const {
    const std::string page(4096, 'x');
    std::ofstream file(path_ + "/filler", std::ios::binary);
    while (file.write(page.data(), 4096) && file.flush()) {
    }
  }

 private:
  std::string path_;
  bool mounted_ = false;
};

inline constexpr const char* kMountingTakesPrivileges =
    "mounting a small file system takes privileges: test as root";

}  // namespace fourhold::engine::testing
