#include "app/help_format.h"

#include <memory>
#include <string>

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

std::string UsageError(const CLI::App*, const CLI::Error& error) {
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
