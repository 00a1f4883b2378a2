// A random graph in plain maps, and its snapshots. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/testing/random_value.h"
#include "core/value_codec.h"
#include "storage/codec/element_id.h"
#include "storage/snapshot/partition_snapshot.h"
#include "storage/snapshot/snapshot_builder.h"

namespace koios::storage {

struct ModelVertex {
  std::vector<LabelId> labels;
  Value id;
  std::map<KeyId, std::string> properties;  // encoded
};
struct ModelEdge {
  VertexRef out, in;
  LabelId label = kNoName;
  Value id;  // null: assigned
  std::map<KeyId, std::string> properties;
};

struct SnapshotModel {
  uint32_t num_partitions = 1;
  std::map<VertexRef, ModelVertex> vertices;
  std::map<uint64_t, ModelEdge> edges;  // by number
  // The ends in their order: vertex, direction, label, neighbour, edge.
  std::set<std::tuple<VertexRef, Direction, LabelId, VertexRef, uint64_t>> ends;

  void AddEdge(uint64_t number, ModelEdge edge) {
    ends.insert({edge.out, Direction::kOut, edge.label, edge.in, number});
    ends.insert({edge.in, Direction::kIn, edge.label, edge.out, number});
    edges[number] = std::move(edge);
  }
};

struct ModelShape {
  uint32_t num_partitions = 3;
  uint64_t vertices = 60;
  uint64_t edges = 150;
  bool label_by_label = false;
  double gone = 0.1;  // share of locals that are nobody's
};

// Values of a key are of one kind, or lists of one kind, or anything.
inline Value ModelValue(KeyId key, koios::testing::RandomValues* values) {
  Rng& rng = values->rng();
  switch (key) {
    case 1:
      return Value::Bool(rng.Chance(0.5));
    case 2:
      return Value::Int(static_cast<int32_t>(rng.Next()));
    case 3:
      return Value::Long(static_cast<int64_t>(rng.Next()));
    case 4:
      return Value::Double(rng.Double());
    case 5:
      return Value::String("word" + std::to_string(rng.Uniform(4)));
    case 6:
      return Value::String(values->Text() + std::to_string(rng.Next()));
    case 7:
      return Value::Of(DateTime{static_cast<int64_t>(rng.Uniform(4'000'000'000)) - 1'000'000'000,
                                static_cast<int32_t>(rng.Uniform(1000) * 1'000'000), 3600});
    case 8:
      return Value::Of(DateTime{static_cast<int64_t>(rng.Next()), 1, 0});
    case 9: {
      ValueList list;
      for (uint64_t i = rng.Uniform(4); i > 0; --i) {
        list.push_back(Value::String("item" + std::to_string(rng.Uniform(3))));
      }
      return ListOf(std::move(list));
    }
    case 10:
      return Value::Byte(static_cast<int8_t>(rng.Next()));
    case 11:
      return Value::Of(Uuid{rng.Next(), rng.Next()});
    case 12:
      return Value::Float(static_cast<float>(rng.Double()));
    case 13:
      return Value::Short(static_cast<int16_t>(rng.Next()));
    case 14:
      return ListOf({});
    default:
      return values->Next(2, false);
  }
}
inline constexpr KeyId kModelKeys = 16;

inline std::map<KeyId, std::string> ModelProperties(koios::testing::RandomValues* values) {
  std::map<KeyId, std::string> out;
  for (KeyId key = 1; key <= kModelKeys; ++key) {
    if (values->rng().Chance(0.6)) out[key] = EncodeValue(ModelValue(key, values));
  }
  return out;
}

inline SnapshotModel MakeModel(uint64_t seed, const ModelShape& shape) {
  koios::testing::RandomValues values(seed);
  Rng& rng = values.rng();
  SnapshotModel model;
  model.num_partitions = shape.num_partitions;
  std::vector<uint64_t> next_local(shape.num_partitions, 1);
  std::vector<VertexRef> refs;
  for (uint64_t i = 0; i < shape.vertices; ++i) {
    const auto partition = static_cast<uint32_t>(rng.Uniform(shape.num_partitions));
    while (rng.Chance(shape.gone)) ++next_local[partition];
    ModelVertex vertex;
    const uint64_t pick = shape.label_by_label ? i * 3 / shape.vertices : rng.Uniform(3);
    vertex.labels =
        pick == 2 ? std::vector<LabelId>{1, 3} : std::vector<LabelId>{LabelId(pick + 1)};
    vertex.id = pick == 0 || rng.Chance(0.5) ? Value::Long(static_cast<int64_t>(i) - 20)
                                             : Value::String("id" + std::to_string(i));
    vertex.properties = ModelProperties(&values);
    refs.push_back(VertexRef::Make(partition, next_local[partition]++));
    model.vertices[refs.back()] = std::move(vertex);
  }
  // Labels 11 without properties, 12 with; 13 with one edge per vertex, 14 of few vertices.
  uint64_t number = uint64_t{1} << 40;
  for (uint64_t i = 0; i < shape.edges && !refs.empty(); ++i) {
    ModelEdge edge;
    edge.out = refs[rng.Uniform(refs.size())];
    edge.in =
        rng.Chance(0.1)
            ? edge.out
            : refs[rng.Uniform(rng.Chance(0.3) ? std::min<size_t>(2, refs.size()) : refs.size())];
    edge.label = static_cast<LabelId>(11 + rng.Uniform(2));
    for (uint64_t same = rng.Chance(0.3) ? 1 + rng.Uniform(5) : 1; same > 0; --same) {
      ModelEdge copy = edge;
      if (edge.label == 12) copy.properties = ModelProperties(&values);
      if (edge.label == 12 && rng.Chance(0.3))
        copy.id = Value::String("e" + std::to_string(number));
      number += rng.Uniform(3) + 1;
      model.AddEdge(VertexRef::Make(edge.out.partition(), number).bits, std::move(copy));
    }
  }
  for (const VertexRef ref : refs) {
    ModelEdge edge{ref, refs[0], 13, Value::Null(), {}};
    model.AddEdge(VertexRef::Make(ref.partition(), ++number).bits, edge);
    edge.label = 14;
    edge.in = ref;
    if (ref.local() % 16 == 0) {
      model.AddEdge(VertexRef::Make(ref.partition(), ++number).bits, std::move(edge));
    }
  }
  return model;
}

inline std::vector<std::pair<KeyId, std::string_view>> ViewsOf(
    const std::map<KeyId, std::string>& properties) {
  return {properties.begin(), properties.end()};
}

// Feeds the model's partition to a builder, as a reader of the truth would.
inline StatusOr<BuiltSnapshot> BuildModel(const SnapshotModel& model,
                                          const SnapshotBuildOptions& options) {
  SnapshotBuilder builder(options);
  for (const auto& [number, edge] : model.edges) {
    if (edge.out.partition() != options.partition) continue;
    if (edge.id.is_null() && edge.properties.empty()) continue;
    const auto properties = ViewsOf(edge.properties);
    const std::string id = edge.id.is_null() ? "" : IdBytes(edge.id);
    RETURN_IF_ERROR(builder.AddEdge({{number, edge.out, edge.in, edge.label}, id, properties}));
  }
  auto end = model.ends.lower_bound(
      {VertexRef::Make(options.partition, 0), Direction::kOut, 0, VertexRef{}, 0});
  for (const auto& [ref, vertex] : model.vertices) {
    if (ref.partition() != options.partition) continue;
    std::vector<PropertyInput> properties;
    for (const auto& [key, value] : vertex.properties) properties.push_back({key, value, {}, {}});
    for (PropertyInput& property : properties) property.cardinality = Cardinality::kSingle;
    const std::string id = IdBytes(vertex.id);
    RETURN_IF_ERROR(builder.AddVertex({ref.local(), vertex.labels, id, properties}));
    for (; end != model.ends.end() && std::get<0>(*end) == ref; ++end) {
      RETURN_IF_ERROR(builder.AddEnd(std::get<1>(*end), std::get<2>(*end), std::get<3>(*end),
                                     std::get<4>(*end)));
    }
  }
  return builder.Finish();
}

using Snapshots = std::vector<std::shared_ptr<const PartitionSnapshot>>;

inline Snapshots BuildAll(const SnapshotModel& model, SnapshotBuildOptions options) {
  Snapshots out;
  options.num_partitions = model.num_partitions;
  for (options.partition = 0; options.partition < model.num_partitions; ++options.partition) {
    const auto built = BuildModel(model, options);
    EXPECT_TRUE(built.ok()) << built.status();
    if (!built.ok()) return {};
    auto opened = PartitionSnapshot::Open(options.folder, options.partition, built->file);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return {};
    out.push_back(*std::move(opened));
  }
  return out;
}

}  // namespace koios::storage
