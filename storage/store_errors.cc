#include "storage/store_errors.h"

#include <algorithm>

namespace koios::storage {
namespace {

constexpr std::string_view kWayOut =
    " Restore the graph from a backup, or see what can be kept of it: "
    "koios admin check --repair --data DIR.";

Status WithMessage(const Status& status, std::string_view message) {
  if (const auto detail = DetailOf(status)) return MakeStatus(status.code(), message, *detail);
  return MakeStatus(status.code(), message);
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsDatabaseFile(std::string_view name) {
  constexpr std::string_view kManifest = "MANIFEST-";
  if (name == "CURRENT" || name == "IDENTITY") return true;
  if (name.starts_with(kManifest)) return IsNumber(name.substr(kManifest.size()));
  for (const std::string_view ending : {".sst", ".log"}) {
    if (name.ends_with(ending)) return IsNumber(name.substr(0, name.size() - ending.size()));
  }
  return false;
}

}  // namespace

Status OpenForReadingOnly() {
  return FailedPrecondition(
      "The graph can't be changed: its data folder is open for reading only, as it was asked for "
      "or "
      "because the folder or its disk can't be written.");
}

Status OfNewerVersion(std::string_view what) {
  return FailedPrecondition("The graph has " + std::string(what) +
                            ", which this version of Koios does not read: use a newer one.");
}

Status WithWayOut(const Status& status) {
  const std::string message = MessageOf(status);
  if (status.code() != StatusCode::kDataLoss || message.find(kWayOut) != std::string::npos) {
    return status;
  }
  return WithMessage(status, message + std::string(kWayOut));
}

std::string DamageIn(const Status& status) {
  std::string message = MessageOf(status);
  const size_t at = message.find(kWayOut);
  if (at != std::string::npos) message.erase(at, kWayOut.size());
  return message;
}

Status WithoutPath(const Status& status, std::string_view path) {
  if (path.empty()) return status;
  std::string message = MessageOf(status);
  bool changed = false;
  for (size_t at = 0; (at = message.find(path, at)) != std::string::npos; changed = true) {
    size_t length = path.size();
    if (at + length < message.size() && message[at + length] == '/') ++length;
    message.erase(at, length);
  }
  return changed ? WithMessage(status, message) : status;
}

std::string DatabaseFileIn(std::string_view text) {
  constexpr std::string_view kBetween = " /:,;'\"()[]\t\n";
  while (!text.empty()) {
    const size_t end = text.find_first_of(kBetween);
    std::string_view word = text.substr(0, end);
    if (word.ends_with('.')) word.remove_suffix(1);
    if (IsDatabaseFile(word)) return std::string(word);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return "";
}

}  // namespace koios::storage
