#include "app/help_format.h"

#include <memory>
#include <string>
#include <vector>

#include "core/text/name_distance.h"

namespace koios::app {
namespace {

// A flag with its kind of value and default; ranges and what excludes what are told when it
// matters.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    std::string kind = option->get_type_name();
    kind = kind.substr(0, kind.find_first_of(": "));
    if (kind == "UINT" || kind == "INT") kind = "N";
    std::string text = " " + kind;
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_expected_max() > 1) text += " ...";
    return text;
  }
};

// The first flag that nobody knows, whatever else CLI11 says about it; else nothing.
std::string UnknownFlag(const CLI::App* app) {
  for (const CLI::App* command : app->get_subcommands()) {
    if (std::string message = UnknownFlag(command); !message.empty()) return message;
  }
  for (const std::string& argument : app->remaining()) {
    const std::string flag = argument.substr(0, argument.find('='));
    if (!flag.starts_with('-') || flag == "-" || flag == "--") continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    std::string message = "There is no flag '" + flag.substr(0, 100) + "'";
    const auto nearest = NearestName(flag, known);
    return message + (nearest ? "; did you mean '" + *nearest + "'?" : ".");
  }
  return "";
}

std::string UsageError(const CLI::App* app, const CLI::Error& error) {
  if (const std::string message = UnknownFlag(app); !message.empty()) {
    return "koios: " + message + "\nkoios COMMAND --help lists the flags.\n";
  }
  return "koios: " + std::string(error.what()) + "\nkoios COMMAND --help lists the flags.\n";
}

}  // namespace

void SetHelpFormat(CLI::App* app) {
  const auto format = std::make_shared<HelpFormat>();
  app->formatter(format);
  app->failure_message(&UsageError);
  for (CLI::App* command : app->get_subcommands({})) command->formatter(format);
}

}  // namespace koios::app
