#include "app/settings.h"

#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/text/name_distance.h"

namespace koios::app {
namespace {

using FileSettings = std::map<std::string, std::vector<std::string>>;

std::string EnvironmentName(const std::string& flag) {
  std::string name = "KOIOS_";
  for (const char c : flag) {
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

// The long names of a command's flags that a file may set.
std::vector<std::string> SettableFlags(CLI::App* command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "help" && name != "config") names.push_back(name);
    }
  }
  return names;
}

Status UnknownKey(const std::string& path, const YAML::Node& key,
                  const std::vector<std::string>& flags) {
  const std::string name = key.as<std::string>();
  std::string message = path + ", line " + std::to_string(key.Mark().line + 1) +
                        ": there is no setting '" + name.substr(0, 100) + "'";
  if (const auto nearest = NearestName(name, flags))
    message += "; did you mean '" + *nearest + "'?";
  return InvalidArgument(message);
}

StatusOr<FileSettings> ReadNodes(const std::string& path, const YAML::Node& root,
                                 const std::vector<std::string>& flags) {
  FileSettings settings;
  if (root.IsNull()) return settings;
  if (!root.IsMap()) return InvalidArgument(path + ": settings are written `name: value`.");
  const std::set<std::string> known(flags.begin(), flags.end());
  for (const auto& entry : root) {
    if (!entry.first.IsScalar()) return InvalidArgument(path + ": a setting's name is a word.");
    const auto name = entry.first.as<std::string>();
    if (known.count(name) == 0) return UnknownKey(path, entry.first, flags);
    if (settings.count(name) > 0) {
      return InvalidArgument(path + ", line " + std::to_string(entry.first.Mark().line + 1) +
                             ": '" + name + "' is set twice.");
    }
    std::vector<std::string>& values = settings[name];
    if (entry.second.IsScalar()) {
      values.push_back(entry.second.as<std::string>());
    } else if (entry.second.IsSequence()) {
      for (const auto& item : entry.second) values.push_back(item.as<std::string>());
    } else {
      return InvalidArgument(path + ", line " + std::to_string(entry.first.Mark().line + 1) +
                             ": '" + name + "' needs a value or a list of values.");
    }
  }
  return settings;
}

StatusOr<FileSettings> ReadFile(const std::string& path, const std::vector<std::string>& flags) {
  try {
    return ReadNodes(path, YAML::LoadFile(path), flags);
  } catch (const YAML::BadFile&) {
    return NotFound("The configuration file " + path + " can't be read.");
  } catch (const YAML::Exception& error) {
    return InvalidArgument(path + ", line " + std::to_string(error.mark.line + 1) + ": " +
                           error.msg);
  }
}

// A flag that can't stand beside one that was given.
bool IsExcluded(const CLI::Option* option) {
  for (const CLI::Option* other : option->get_excludes()) {
    if (other->count() > 0) return true;
  }
  return false;
}

Status Give(CLI::Option* option, const std::vector<std::string>& values, const std::string& where) {
  try {
    for (const std::string& value : values) option->add_result(value);
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(where + ": " + error.what());
  }
  return OkStatus();
}

}  // namespace

Status ApplySettings(CLI::App* command, const std::string& config_path) {
  FileSettings file;
  if (!config_path.empty()) {
    ASSIGN_OR_RETURN(file, ReadFile(config_path, SettableFlags(command)));
  }
  for (CLI::Option* option : command->get_options()) {
    if (option->count() > 0 || option->get_lnames().empty() || IsExcluded(option)) continue;
    const std::string& flag = option->get_lnames().front();
    if (flag == "help") continue;
    const std::string variable = EnvironmentName(flag);
    const char* value = std::getenv(variable.c_str());
    if (value != nullptr && *value != '\0') {
      RETURN_IF_ERROR(Give(option, {value}, "the environment variable " + variable));
    } else if (const auto it = file.find(flag); it != file.end()) {
      RETURN_IF_ERROR(Give(option, it->second, config_path + ": " + flag));
    }
  }
  return OkStatus();
}

}  // namespace koios::app
