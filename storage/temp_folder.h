// TempFolder: a folder for one test, under the system's folder for such things, removed at the end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "core/status.h"
#include "storage/disk/files.h"

namespace koios::storage {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "koios-XXXXXX").string();
    CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempFolder() { RemovePath(path_).IgnoreError(); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace koios::storage
