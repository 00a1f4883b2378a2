#include "import/csv/byte_source.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace koios::import {
namespace {

std::string Write(const std::string& name, const std::string& bytes) {
  std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

StatusOr<std::string> ReadAll(const std::string& path) {
  auto source = OpenByteSource(path, 8 << 20);
  if (!source.ok()) return source.status();
  std::string text;
  char buffer[700];
  while (true) {
    ASSIGN_OR_RETURN(size_t got, (*source)->Read(buffer, sizeof(buffer)));
    if (got == 0) return text;
    text.append(buffer, got);
  }
}

const std::string& Text() {
  static const std::string kText = [] {
    std::string t;
    for (int i = 0; i < 20000; ++i) t += std::to_string(i * 7919) + ",";
    return t;
  }();
  return kText;
}

TEST(ByteSourceTest, PlainGzipAndZstdAreToldByTheirFirstBytes) {
  EXPECT_EQ(*ReadAll(Write("plain.csv", Text())), Text());
  EXPECT_EQ(*ReadAll(Write("a.csv.gz", Gzip(Text()))), Text());
  EXPECT_EQ(*ReadAll(Write("no_suffix", Gzip(Text()))), Text());
  EXPECT_EQ(*ReadAll(Write("a.csv.zst", Zstd(Text()))), Text());
}

TEST(ByteSourceTest, ConcatenatedMembersAreOneStream) {
  EXPECT_EQ(*ReadAll(Write("two.gz", Gzip("ab") + Gzip("cd"))), "abcd");
  EXPECT_EQ(*ReadAll(Write("two.zst", Zstd("ab") + Zstd("cd"))), "abcd");
}

TEST(ByteSourceTest, TruncatedStreamsAreErrorsNotShortFiles) {
  for (const char* name : {"cut.gz", "cut.zst"}) {
    std::string whole = name == std::string("cut.gz") ? Gzip(Text()) : Zstd(Text());
    auto text = ReadAll(Write(name, whole.substr(0, whole.size() / 2)));
    EXPECT_EQ(text.status().code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST(ByteSourceTest, ASuffixThatLiesIsRefused) {
  EXPECT_EQ(ReadAll(Write("lie.gz", "a,b\n")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadAll(Write("lie.zst", "a,b\n")).status().code(), StatusCode::kInvalidArgument);
}

TEST(ByteSourceTest, EmptyAndMissingFiles) {
  EXPECT_EQ(*ReadAll(Write("empty.csv", "")), "");
  EXPECT_EQ(ReadAll("/no/such/file.csv").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace koios::import
