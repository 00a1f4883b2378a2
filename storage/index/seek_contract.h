// The contract of GraphView::SeekVertices as a test suite: a seek gives all that a scan and a
// comparison find, each vertex once, at any limit. Its tests are in seek_contract_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/big_number.h"
#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/value_compare.h"
#include "storage/codec/value_place.h"
#include "storage/contract_graph.h"

namespace koios::storage {

// Values that a property may have, of many kinds; few enough that some are met again.
inline std::vector<Value> SeekValues() {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<Value> values = {
      Value::Bool(true),
      Value::Char('x'),
      Value::Of(Uuid{3, 4}),
      ListOf({Value::Int(1)}),
      Value::Of(DateTime{1'700'000'000, 5, 0}),
      Value::Of(DateTime{-1, 0, 3600}),
      Value::Double(infinity),
      Value::Double(-infinity),
      Value::Float(16777216.0f),
      Value::Int(16777217),
      Value::Double(std::numeric_limits<double>::quiet_NaN()),
      Value::Of(BigNumber::ParseDecimal("2.0000000000000000001").value()),
      Value::String("öl"),
      Value::String("ö"),
      Value::String(std::string("a\0b", 3)),
      Value::String("a"),
      Value::String("ab"),
      Value::String("abc"),
      Value::String(""),
      Value::String(std::string(300, 'y')),
      Value::String(std::string(300, 'y') + "z"),
  };
  for (int i = -3; i <= 3; ++i) {
    values.push_back(Value::Int(i));
    values.push_back(Value::Long(i));
    values.push_back(Value::Double(i + 0.5));
    values.push_back(Value::Double(i));
  }
  return values;
}

inline bool Meets(const Value& value, const KeyBound& bound) {
  if (bound.op == KeyBound::Op::kStartsWith) {
    return value.kind() == ValueKind::kString && bound.value.kind() == ValueKind::kString &&
           value.AsString().starts_with(bound.value.AsString());
  }
  const auto order = Compare(value, bound.value);
  if (!order.has_value()) return false;
  const bool equal = *order == std::partial_ordering::equivalent;
  const bool less = *order == std::partial_ordering::less;
  const bool greater = *order == std::partial_ordering::greater;
  switch (bound.op) {
    case KeyBound::Op::kGreater:
      return greater;
    case KeyBound::Op::kAtLeast:
      return greater || equal;
    case KeyBound::Op::kLess:
      return less;
    case KeyBound::Op::kAtMost:
      return less || equal;
    case KeyBound::Op::kStartsWith:
      break;
  }
  return false;
}

inline bool Meets(const Value& value, const SoughtKey& sought) {
  const auto meets = [&](const KeyBound& bound) { return Meets(value, bound); };
  if (!sought.bounds.empty()) return std::ranges::all_of(sought.bounds, meets);
  return std::ranges::any_of(sought.any_of, [&](const Value& one) { return Equals(value, one); });
}

class SeekContract : public ::testing::TestWithParam<BackendMaker> {
 protected:
  void SetUp() override {
    const std::vector<Value> values = SeekValues();
    for (int i = 0; i < 160; ++i) {
      PropertyList properties;
      for (const char* key : {"x", "y"}) {
        if (!rng_.Chance(0.85)) continue;
        properties.emplace_back(key, values[rng_.Uniform(values.size())]);
      }
      batch_.vertices.push_back({std::nullopt, i % 3 == 0 ? "b" : "a", std::move(properties)});
    }
    backend_->indexes = {{"a", {"x"}}, {"a", {"x", "y"}}, {"b", {"x"}}, {"b", {"y", "x"}}};
    graph_ = backend_->Build(batch_);
  }

  SoughtKey AnySought() {
    const std::vector<Value> values = SeekValues();
    const auto any = [&] { return values[rng_.Uniform(values.size())]; };
    SoughtKey sought;
    switch (rng_.Uniform(3)) {
      case 0:
        for (uint64_t i = rng_.Uniform(4); i > 0; --i) sought.any_of.push_back(any());
        break;
      case 1:
        sought.any_of.push_back(any());
        break;
      default:
        for (uint64_t i = 1 + rng_.Uniform(2); i > 0; --i) {
          sought.bounds.push_back({static_cast<KeyBound::Op>(rng_.Uniform(5)), any()});
        }
        break;
    }
    return sought;
  }

  // The vertices of the labels (empty: all) that are what is sought.
  std::set<VertexRef> Expected(const std::vector<std::string>& labels,
                               const std::vector<std::string>& keys,
                               const std::vector<SoughtKey>& sought) const {
    std::set<VertexRef> expected;
    for (size_t i = 0; i < batch_.vertices.size(); ++i) {
      const AddedVertex& vertex = batch_.vertices[i];
      bool meets = labels.empty() || std::ranges::find(labels, vertex.label) != labels.end();
      for (size_t k = 0; k < sought.size() && meets; ++k) {
        const auto found = std::ranges::find_if(
            vertex.properties, [&](const auto& property) { return property.first == keys[k]; });
        meets = found != vertex.properties.end() && Meets(found->second, sought[k]);
      }
      if (meets) expected.insert(graph_.vertices[i]);
    }
    return expected;
  }

  Rng rng_{5};
  const std::unique_ptr<ContractBackend> backend_ = GetParam()();
  WriteBatch batch_;
  BuiltGraph graph_;
};

}  // namespace koios::storage
