#include "engine/expr/java_string.h"

#include <string>

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using Parts = std::vector<std::string_view>;

constexpr char kFace[] = "\xF0\x9F\x98\x80";  // one character, two UTF-16 units
constexpr char kUnknown[] = "\xEF\xBF\xBD";

TEST(JavaStringTest, LengthsCountUtf16Units) {
  EXPECT_EQ(CountUtf16(""), 0);
  EXPECT_EQ(CountUtf16("abc"), 3);
  EXPECT_EQ(CountUtf16("\xC3\xA9\xE3\x80\x80"), 2);
  EXPECT_EQ(CountUtf16(kFace), 2);
}

TEST(JavaStringTest, PlacesOfASubstringCountFromEitherEnd) {
  EXPECT_EQ(SubstringUtf16("abcdef", 2, 100), "cdef");
  EXPECT_EQ(SubstringUtf16("abcdef", -2, 6), "ef");
  EXPECT_EQ(SubstringUtf16("abcdef", -100, -4), "ab");
  EXPECT_EQ(SubstringUtf16("abcdef", 4, 2), "");
  EXPECT_EQ(SubstringUtf16("", -1, 5), "");
}

TEST(JavaStringTest, HalfACharacterIsUnknown) {
  const std::string text = std::string("a") + kFace + "b";
  EXPECT_EQ(SubstringUtf16(text, 1, 3), kFace);
  EXPECT_EQ(SubstringUtf16(text, 2, 4), std::string(kUnknown) + "b");
  EXPECT_EQ(SubstringUtf16(text, 0, 2), std::string("a") + kUnknown);
  EXPECT_EQ(SubstringUtf16(text, 2, 2), "");
}

TEST(JavaStringTest, CaseMayChangeTheNumberOfCharacters) {
  EXPECT_EQ(*ToUpperCase("stra\xC3\x9F"
                         "e"),
            "STRASSE");
  EXPECT_EQ(*ToLowerCase("\xCE\xA3\xCE\x91\xCE\xA3"), "\xCF\x83\xCE\xB1\xCF\x82");
  EXPECT_EQ(*ToUpperCase("i"), "I");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "\xC5\x89";  // each becomes three bytes
  EXPECT_EQ(ToUpperCase(many)->size(), 3000);
}

TEST(JavaStringTest, BlanksAreThoseThatBreakALine) {
  EXPECT_EQ(TrimStart(" \t\xE3\x80\x80"
                      "a "),
            "a ");
  EXPECT_EQ(TrimEnd(" a\xE2\x80\x83\n"), " a");
  EXPECT_EQ(TrimStart("\xC2\xA0"
                      "a"),
            "\xC2\xA0"
            "a");
  EXPECT_EQ(TrimEnd("\xE2\x80\x87"), "\xE2\x80\x87");
  EXPECT_EQ(TrimEnd("   "), "");
}

Parts Split(std::string_view text, std::optional<std::string_view> separator) {
  TextParts parts(text, separator);
  Parts all;
  while (const auto part = parts.Next()) all.emplace_back(*part);
  EXPECT_FALSE(parts.Next().has_value());
  return all;
}

TEST(JavaStringTest, CharactersStayWhole) {
  EXPECT_EQ(Reversed(std::string("a") + kFace + "b"), std::string("b") + kFace + "a");
  EXPECT_EQ(Split(std::string("a") + kFace, ""), (Parts{"a", kFace}));
  EXPECT_EQ(Split("", ""), (Parts{""}));
}

TEST(JavaStringTest, SeparatorsInARowAreOne) {
  EXPECT_EQ(Split("a,,b", ","), (Parts{"a", "b"}));
  EXPECT_EQ(Split(",a", ","), (Parts{"a"}));
  EXPECT_EQ(Split("a,", ","), (Parts{"a", ""}));
  EXPECT_EQ(Split(",", ","), (Parts{""}));
  EXPECT_EQ(Split("", ","), Parts{});
  EXPECT_EQ(Split("  a \t b", std::nullopt), (Parts{"a", "b"}));
  EXPECT_EQ(Split("a ", std::nullopt), (Parts{"a"}));
  EXPECT_EQ(Split(" ", std::nullopt), Parts{});
}

}  // namespace
}  // namespace koios::engine
