// Tells a save that goes on from the leftovers of one that was killed, and ranks that see rank 0's
// folder from ranks that see another of the same name.
#pragma once

#include <string>

namespace fourhold::engine {

inline constexpr const char* kSaveLockName = ".saving";

// A file that rank 0 locks in the folder it fills (flock), and that holds a random token. The lock
// ends with the process; where a file system has no locks, nothing looks held.
class SaveLock {
 public:
  // Error when another save has the folder.
  explicit SaveLock(const std::string& folder);
  ~SaveLock();
  SaveLock(const SaveLock&) = delete;
  SaveLock& operator=(const SaveLock&) = delete;

  [[nodiscard]] const std::string& token() const { return token_; }
  // Error when another save has taken the folder, which now stands at `folder`, all the same.
  void require(const std::string& folder) const;
  // Lets go of the folder, which now stands at `folder`, and removes the file.
  void release(const std::string& folder);

 private:
  int file_ = -1;
  std::string token_;
};

// Removes a folder of a save that was killed; false when one is still filling it.
[[nodiscard]] bool remove_unless_saving(const std::string& folder);

// The token in the folder of rank 0, as another rank finds it. Error when it does not.
[[nodiscard]] std::string find_token(const std::string& folder);

}  // namespace fourhold::engine
