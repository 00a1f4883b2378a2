#include "core/text/text.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace koios {
namespace {

TEST(TextTest, ValidatesUtf8) {
  for (const char* good : {"", "plain ascii, longer than eight", "é", "日本語", "😀", "\x7F"}) {
    EXPECT_TRUE(IsValidUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "12345678\xE6\x97", "a\xC3(b"}) {
    EXPECT_FALSE(IsValidUtf8(bad));
    EXPECT_TRUE(IsValidUtf8(ToValidUtf8(bad)));
  }
  EXPECT_EQ(ToValidUtf8("a\xFFé"), "a\uFFFDé");
}

TEST(TextTest, CountsCodePoints) {
  EXPECT_EQ(CountCodePoints("é日😀a"), 4u);
  EXPECT_EQ(ColumnOf("é.out()", 0), 1u);
  EXPECT_EQ(ColumnOf("é.out()", 2), 2u);
  EXPECT_EQ(ColumnOf("é.out()", 8), 8u);
}

TEST(TextTest, TruncatesBetweenCodePoints) {
  EXPECT_EQ(TruncateUtf8("abc", 3), "abc");
  EXPECT_EQ(TruncateUtf8("abc", 2), "ab");
  EXPECT_EQ(TruncateUtf8("aé", 2), "a");
  EXPECT_EQ(TruncateUtf8("😀", 3), "");
  EXPECT_EQ(TruncateUtf8("x😀y", 5), "x😀");
  EXPECT_EQ(TruncateUtf8("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);
}

TEST(TextTest, AppendsEveryCodePointValid) {
  Rng rng(3);
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    AppendUtf8(static_cast<char32_t>(rng.Uniform(0x120000)), &text);
    ASSERT_TRUE(IsValidUtf8(text));
    ASSERT_EQ(CountCodePoints(text), 1u);
  }
  std::string text;
  AppendUtf8(U'é', &text);
  AppendUtf8(U'日', &text);
  AppendUtf8(U'😀', &text);
  AppendUtf8(0xD800, &text);
  EXPECT_EQ(text, "é日😀\uFFFD");
}

}  // namespace
}  // namespace koios
