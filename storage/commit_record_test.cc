#include "storage/commit_record.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <limits>
#include <string>
#include <string_view>

#include "core/value_codec.h"
#include "core/value_compare.h"
#include "storage/commit_limits.h"
#include "storage/meta_state.h"

namespace koios::storage {
namespace {

// Something of everything that a record may have.
CommitRecord FullRecord() {
  CommitRecord record;
  record.request = {0xFEDCBA9876543210ull, 7};
  record.attempt = 3;
  record.read_version = 1000;
  record.keys = {{1, 2, std::numeric_limits<uint64_t>::max()}, {0}, {5, 6}};
  record.vertices.push_back({Value::String("a"),
                             "person",
                             {{"name", Value::String("marko")}, {"age", Value::Int(29)}},
                             VertexRef{77},
                             false});
  record.vertices.push_back({Value::Long(-3), "software", {}, VertexRef::Make(3, 9), true});
  record.edges.push_back({Value::String("e"),
                          "knows",
                          {0, VertexRef{77}},
                          {std::nullopt, VertexRef::Make(1, 2)},
                          {{"weight", Value::Double(0.5)}},
                          uint64_t{1} << 40});
  record.edges.push_back({std::nullopt, "made", {std::nullopt, VertexRef{5}}, {1, {}}, {}, 0});
  record.vertex_properties.push_back({VertexRef{5}, "k", Value::Null()});
  record.vertex_properties.push_back({VertexRef{5}, "gone", std::nullopt});
  record.edge_properties.push_back({11, "since", Value::Long(2009)});
  record.edge_properties.push_back({12, "since", std::nullopt});
  record.dropped_vertices = {VertexRef{8}, VertexRef{9}};
  record.dropped_edges = {1, 2, 3};
  return record;
}

void ExpectSame(const PropertyList& a, const PropertyList& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first, b[i].first);
    EXPECT_TRUE(Equivalent(a[i].second, b[i].second));
  }
}

template <typename T>
void ExpectSameValue(const T& a, const T& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (a) {
    EXPECT_TRUE(Equivalent(*a, *b));
  }
}

void ExpectSame(const VertexHandle& a, const VertexHandle& b) {
  EXPECT_EQ(a.added, b.added);
  EXPECT_EQ(a.existing, b.existing);
}

void ExpectSame(const CommitRecord& a, const CommitRecord& b) {
  EXPECT_EQ(a.request, b.request);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.read_version, b.read_version);
  EXPECT_EQ(a.keys, b.keys);
  ASSERT_EQ(a.vertices.size(), b.vertices.size());
  for (size_t i = 0; i < a.vertices.size(); ++i) {
    ExpectSameValue(a.vertices[i].id, b.vertices[i].id);
    EXPECT_EQ(a.vertices[i].label, b.vertices[i].label);
    ExpectSame(a.vertices[i].properties, b.vertices[i].properties);
    EXPECT_EQ(a.vertices[i].ref, b.vertices[i].ref);
    EXPECT_EQ(a.vertices[i].assigned, b.vertices[i].assigned);
  }
  ASSERT_EQ(a.edges.size(), b.edges.size());
  for (size_t i = 0; i < a.edges.size(); ++i) {
    ExpectSameValue(a.edges[i].id, b.edges[i].id);
    EXPECT_EQ(a.edges[i].label, b.edges[i].label);
    ExpectSame(a.edges[i].out, b.edges[i].out);
    ExpectSame(a.edges[i].in, b.edges[i].in);
    ExpectSame(a.edges[i].properties, b.edges[i].properties);
    EXPECT_EQ(a.edges[i].number, b.edges[i].number);
  }
  ASSERT_EQ(a.vertex_properties.size(), b.vertex_properties.size());
  for (size_t i = 0; i < a.vertex_properties.size(); ++i) {
    EXPECT_EQ(a.vertex_properties[i].vertex, b.vertex_properties[i].vertex);
    EXPECT_EQ(a.vertex_properties[i].key, b.vertex_properties[i].key);
    ExpectSameValue(a.vertex_properties[i].value, b.vertex_properties[i].value);
  }
  ASSERT_EQ(a.edge_properties.size(), b.edge_properties.size());
  for (size_t i = 0; i < a.edge_properties.size(); ++i) {
    EXPECT_EQ(a.edge_properties[i].number, b.edge_properties[i].number);
    EXPECT_EQ(a.edge_properties[i].key, b.edge_properties[i].key);
    ExpectSameValue(a.edge_properties[i].value, b.edge_properties[i].value);
  }
  EXPECT_EQ(a.dropped_vertices, b.dropped_vertices);
  EXPECT_EQ(a.dropped_edges, b.dropped_edges);
}

// With a checksum that is right for what stands before it.
std::string Sealed(std::string_view bytes) {
  std::string sealed(bytes);
  PutFixed64(XXH3_64bits(bytes.data(), bytes.size()), &sealed);
  return sealed;
}

std::string_view Unsealed(const std::string& bytes) {
  return std::string_view(bytes).substr(0, bytes.size() - 8);
}

TEST(CommitRecordTest, ComesBackAsItWas) {
  const CommitRecord record = FullRecord();
  const std::string bytes = EncodeCommitRecord(record);
  const StatusOr<CommitRecord> decoded = DecodeCommitRecord(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ExpectSame(record, *decoded);
  EXPECT_EQ(EncodeCommitRecord(*decoded), bytes);
}

TEST(CommitRecordTest, OneWithoutChangesComesBack) {
  CommitRecord record;
  record.request = {1, 1};
  const StatusOr<CommitRecord> decoded = DecodeCommitRecord(EncodeCommitRecord(record));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ExpectSame(record, *decoded);
  EXPECT_FALSE(decoded->HasChanges());
}

TEST(CommitRecordTest, WhatIsCutShortIsDamaged) {
  const std::string bytes = EncodeCommitRecord(FullRecord());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Status cut = DecodeCommitRecord(std::string_view(bytes).substr(0, size)).status();
    EXPECT_EQ(cut.code(), StatusCode::kDataLoss) << size;
    EXPECT_NE(cut.message().find(" at byte "), std::string::npos) << cut;
    // Also where the checksum is right.
    if (size + 8 >= bytes.size()) continue;
    EXPECT_EQ(DecodeCommitRecord(Sealed(bytes.substr(0, size))).status().code(),
              StatusCode::kDataLoss)
        << size;
  }
  EXPECT_EQ(DecodeCommitRecord(Sealed(std::string(Unsealed(bytes)) + '\0')).status().code(),
            StatusCode::kDataLoss);
}

TEST(CommitRecordTest, EveryChangedByteIsSeen) {
  const std::string bytes = EncodeCommitRecord(FullRecord());
  size_t read = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int flip = 1; flip < 256; ++flip) {
      std::string other = bytes;
      other[at] = static_cast<char>(static_cast<unsigned char>(other[at]) ^ flip);
      EXPECT_EQ(DecodeCommitRecord(other).status().code(), StatusCode::kDataLoss) << at;
      if (at + 8 >= bytes.size()) continue;
      // Somebody who makes the checksum right gets a record or an error, never more.
      const StatusOr<CommitRecord> decoded = DecodeCommitRecord(Sealed(Unsealed(other)));
      if (!decoded.ok()) {
        EXPECT_EQ(decoded.status().code(), StatusCode::kDataLoss) << at;
        continue;
      }
      ++read;
      const StatusOr<CommitRecord> again = DecodeCommitRecord(EncodeCommitRecord(*decoded));
      ASSERT_TRUE(again.ok()) << at << ": " << again.status();
      CheckRecord(*decoded, 4, 1 << 20, 1 << 20).IgnoreError();  // it asks for what is not there
    }
  }
  EXPECT_GT(read, 0u);
}

TEST(CommitRecordTest, FieldsAreBounded) {
  CommitRecord long_name = FullRecord();
  long_name.vertices[0].label = std::string(kMaxNameBytes + 1, 'x');
  EXPECT_EQ(DecodeCommitRecord(EncodeCommitRecord(long_name)).status().code(),
            StatusCode::kDataLoss);
  CommitRecord no_vertex = FullRecord();
  no_vertex.edges[0].out.added = 2;
  EXPECT_EQ(DecodeCommitRecord(EncodeCommitRecord(no_vertex)).status().code(),
            StatusCode::kDataLoss);
  CommitRecord nobody = FullRecord();
  nobody.request = {};
  EXPECT_EQ(DecodeCommitRecord(EncodeCommitRecord(nobody)).status().code(), StatusCode::kDataLoss);
  // A count of what could not be there takes no memory.
  std::string many(Unsealed(EncodeCommitRecord(FullRecord())));
  many.resize(1 + 16 + 1 + 2);  // in front of the keys
  PutVarint(uint64_t{1} << 60, &many);
  const Status counted = DecodeCommitRecord(Sealed(many)).status();
  EXPECT_EQ(counted.code(), StatusCode::kDataLoss);
  EXPECT_NE(counted.message().find("at byte 20"), std::string::npos) << counted;
}

}  // namespace
}  // namespace koios::storage
