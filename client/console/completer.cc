#include "client/console/completer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "parser/words.h"

namespace koios::client {
namespace {

void SortUnique(std::vector<std::string>* words) {
  std::sort(words->begin(), words->end());
  words->erase(std::unique(words->begin(), words->end()), words->end());
}

// Where the string that is open at the end of `text` starts; npos when none is.
size_t OpenStringStart(std::string_view text) {
  char quote = '\0';
  size_t start = std::string_view::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote == '\0') {
      if (text[i] == '"' || text[i] == '\'') {
        quote = text[i];
        start = i + 1;
      }
    } else if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      quote = '\0';
      start = std::string_view::npos;
    }
  }
  return start;
}

Completions Matching(const std::vector<std::string>& sorted, std::string_view prefix) {
  Completions found;
  found.replaced = prefix.size();
  auto it = std::lower_bound(sorted.begin(), sorted.end(), prefix);
  for (; it != sorted.end() && it->compare(0, prefix.size(), prefix) == 0; ++it) {
    found.words.push_back(*it);
  }
  return found;
}

std::string_view LastWord(std::string_view text) {
  size_t start = text.size();
  while (start > 0 &&
         (std::isalnum(static_cast<unsigned char>(text[start - 1])) || text[start - 1] == '_')) {
    --start;
  }
  return text.substr(start);
}

std::vector<std::string> Sorted(std::vector<std::string> words) {
  SortUnique(&words);
  return words;
}

// What may stand behind "Order." or "P."; nothing behind what is no type.
std::vector<std::string> WordsOfType(std::string_view type) {
  std::vector<std::string_view> words;
  if (type == "P" || type == "TextP") words = parser::PredicateNames(type);
  if (parser::IsEnumType(type)) words = parser::EnumWordsOf(type);
  return Sorted({words.begin(), words.end()});
}

}  // namespace

Completer::Completer(std::vector<std::string> steps, std::vector<std::string> commands)
    : steps_(std::move(steps)), commands_(std::move(commands)) {
  SortUnique(&steps_);
  SortUnique(&commands_);
}

void Completer::SetSchemaWords(std::vector<std::string> words) {
  schema_words_ = std::move(words);
  SortUnique(&schema_words_);
}

void Completer::SetArguments(const std::string& command,
                             std::function<std::vector<std::string>()> words) {
  arguments_[command] = std::move(words);
}

Completions Completer::Complete(std::string_view text) const {
  if (!text.empty() && text.front() == ':' && text.find(' ') == std::string_view::npos) {
    return Matching(commands_, text);
  }
  if (const auto argument = arguments_.find(text.substr(0, text.find(' ')));
      argument != arguments_.end()) {
    return Matching(Sorted(argument->second()), LastWord(text));
  }
  if (const size_t start = OpenStringStart(text); start != std::string_view::npos) {
    return Matching(schema_words_, text.substr(start));
  }
  const size_t start = text.size() - LastWord(text).size();
  const bool after_dot = start > 0 && text[start - 1] == '.';
  if (!after_dot && start == text.size()) return {};  // nothing typed, and anything may come
  if (after_dot) {
    const std::vector<std::string> words = WordsOfType(LastWord(text.substr(0, start - 1)));
    if (!words.empty()) return Matching(words, text.substr(start));
  }
  return Matching(steps_, text.substr(start));
}

}  // namespace koios::client
