#include "import/load/id_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/random.h"
#include "core/value.h"
#include "storage/codec/element_id.h"

namespace koios::import {
namespace {

const IdSpaces kSpaces({"Person", "a:b"});

IdName NameOf(const std::string& bytes) { return IdName::OfBytes(bytes, kSpaces); }
std::string TextBytes(const std::string& text) { return storage::IdBytes(Value::String(text)); }

TEST(IdTableTest, WhatIsANumberOfASpace) {
  const IdName person = NameOf(TextBytes("Person:7"));
  EXPECT_TRUE(person.is_number);
  EXPECT_EQ(person.space, kSpaces.Find("Person"));
  EXPECT_EQ(person.number, 7);
  EXPECT_EQ(NameOf(TextBytes("a:b:-1")).number, -1);
  for (const char* text : {"7", "Person:07", "Person:", "Person:x", "City:7", ":7", "a:b", "x"}) {
    EXPECT_FALSE(NameOf(TextBytes(text)).is_number) << text;
  }
  const std::string number = storage::IdBytes(Value::Long(7));
  EXPECT_TRUE(NameOf(number).is_number);
  EXPECT_EQ(NameOf(number).space, 0u);
}

// Ids of all kinds, inserted by two threads; each finds its own, and no other does.
void CheckTable(const std::vector<std::string>& ids, const std::vector<std::string>& others) {
  IdCounts counts;
  for (const std::string& id : ids) counts.Note(NameOf(id));
  IdTable table(counts);
  const auto insert = [&](size_t begin) {
    for (size_t i = begin; i < ids.size(); i += 2) {
      table.Insert(NameOf(ids[i]), VertexRef{1000 + i});
    }
  };
  std::thread other(insert, 1);
  insert(0);
  other.join();
  for (size_t i = 0; i < ids.size(); ++i) {
    const IdName name = NameOf(ids[i]);
    table.Prefetch(name);
    const auto found = table.Find(name);
    ASSERT_TRUE(found.has_value()) << i;
    EXPECT_EQ(found->bits, 1000 + i);
  }
  for (const std::string& id : others) EXPECT_FALSE(table.Find(NameOf(id)).has_value());
}

TEST(IdTableTest, FindsWhatWasInserted) {
  std::vector<std::string> dense, sparse, mixed;
  Rng rng(3);
  for (int64_t i = 0; i < 5000; ++i) {
    dense.push_back(storage::IdBytes(Value::Long(i - 2500)));
    sparse.push_back(storage::IdBytes(Value::Long(i << 40 | i)));
    mixed.push_back(i % 3 == 0   ? TextBytes("Person:" + std::to_string(i))
                    : i % 3 == 1 ? TextBytes("name " + std::to_string(i))
                                 : storage::IdBytes(Value::Long(i * i)));
  }
  sparse.push_back(storage::IdBytes(Value::Long(std::numeric_limits<int64_t>::min())));
  sparse.push_back(storage::IdBytes(Value::Long(std::numeric_limits<int64_t>::max())));
  const std::vector<std::string> others = {storage::IdBytes(Value::Long(2501)),
                                           storage::IdBytes(Value::Long(-1'000'000)),
                                           TextBytes("Person:1"),
                                           TextBytes("name 0"),
                                           TextBytes("a:b:3"),
                                           TextBytes("17")};
  CheckTable(dense, others);
  CheckTable(sparse, others);
  CheckTable(mixed, others);
  CheckTable({}, others);
}

TEST(IdTableTest, BytesAreToldBeforeTheyAreTaken) {
  IdCounts dense, sparse, texts;
  for (int64_t i = 0; i < 1000; ++i) {
    dense.Note(IdName::Number(0, i));
    sparse.Note(IdName::Number(0, i << 32));
    texts.Note(IdName::Text("some name", kSpaces));
  }
  EXPECT_LE(IdTable::BytesFor(dense), 1000u * 3 * 8 + 8);
  EXPECT_LE(IdTable::BytesFor(sparse), 1000u * 24 + 16);
  EXPECT_GE(IdTable::BytesFor(texts), 1000u * (9 + 48));
}

}  // namespace
}  // namespace koios::import
