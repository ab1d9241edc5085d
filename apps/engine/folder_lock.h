// One run at a time in a folder of logs and checkpoints.
#pragma once

#include <string>

namespace fourhold::engine_app {

// Makes the folder if need be and holds it until destruction, also against a run that is killed:
// the system lets go. Throws Error where another process holds it, or the folder cannot be written
// to.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace fourhold::engine_app
