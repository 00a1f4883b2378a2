// Random values of every kind for tests: round trips, relations, columns. Seeded, so a failure
// reproduces; tests print the seed with SCOPED_TRACE. Included by tests only.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/big_number.h"
#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/value.h"
#include "core/value_compare.h"

namespace koios::testing {

class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : rng_(seed) {}

  Rng& rng() { return rng_; }

  // Any kind; containers nest at most `depth` deep. `references`: internal references, too.
  Value Next(int depth = 3, bool references = true) {
    const uint64_t choice = rng_.Uniform(depth > 0 ? 24 : 17);
    if (choice < 17) return Scalar(choice);
    switch (choice) {
      case 17:
        return ListOf(Members(depth - 1, references));
      case 18:
        return Made(MakeSet(Members(depth - 1, references)));
      case 19:
        return MapOf(Entries(depth - 1, references));
      case 20:
        return Path(depth - 1, references);
      case 21:
        return Element(depth - 1, references);
      default:
        return references ? Reference(choice, depth - 1) : Value::Null();
    }
  }

  Value Number() { return Scalar(2 + rng_.Uniform(8)); }

  std::string Text() {
    static constexpr const char* kPieces[] = {"a", "b", "marko", "é", "日本", "😀", "", "\n"};
    std::string text;
    for (uint64_t i = rng_.Uniform(4); i > 0; --i) text += kPieces[rng_.Uniform(8)];
    return text;
  }

  EdgeRef Edge() {
    return {rng_.Uniform(8), {rng_.Next()}, {rng_.Next()}, static_cast<LabelId>(rng_.Uniform(9))};
  }

 private:
  // Small numbers often, so that equal ones meet; else any.
  int64_t Integer() {
    return rng_.Chance(0.7) ? static_cast<int64_t>(rng_.Uniform(7)) - 3
                            : static_cast<int64_t>(rng_.Next());
  }

  double Real() {
    using Limits = std::numeric_limits<double>;
    static constexpr double kSpecial[] = {0.0,  -0.0, 1.0,    2.0,      0.5,
                                          -1.5, 1e10, 0x1p53, 0x1p63,   Limits::infinity(),
                                          0.1,  1e23, 1e300,  -0x1p63,  -Limits::infinity(),
                                          1e-4, 3.0,  1e-300, 16777217, Limits::quiet_NaN()};
    return rng_.Chance(0.8) ? kSpecial[rng_.Uniform(20)] : (rng_.Double() - 0.5) * 1e6;
  }

  BigNumber Big(bool decimal) {
    BigNumber number = BigNumber::FromInteger(Integer());
    if (rng_.Chance(0.3)) number.unscaled *= number.unscaled * 1'000'000'007;
    number.decimal = decimal;
    if (decimal) number.scale = static_cast<int32_t>(rng_.Uniform(9)) - 4;
    return number;
  }

  int32_t Nanos() { return static_cast<int32_t>(rng_.Uniform(3) * 499'999'999); }

  Value Scalar(uint64_t choice) {
    switch (choice) {
      case 0:
        return Value::Null();
      case 1:
        return Value::Bool(rng_.Chance(0.5));
      case 2:
        return Value::Byte(static_cast<int8_t>(Integer()));
      case 3:
        return Value::Short(static_cast<int16_t>(Integer()));
      case 4:
        return Value::Int(static_cast<int32_t>(Integer()));
      case 5:
        return Value::Long(Integer());
      case 6:
        return Value::Of(Big(false));
      case 7: {
        const double v = Real();
        const bool fits = !(std::abs(v) > std::numeric_limits<float>::max());
        return Value::Float(fits ? static_cast<float>(v) : 1.0f);
      }
      case 8:
        return Value::Double(Real());
      case 9:
        return Value::Of(Big(true));
      case 10:
        return Value::String(Text());
      case 11:
        return Value::Char(static_cast<char32_t>('a' + rng_.Uniform(3)));
      case 12:
        return Value::Of(
            DateTime{Integer(), Nanos(), static_cast<int32_t>(rng_.Uniform(2)) * 3600});
      case 13:
        return Value::Of(Duration{Integer(), Nanos()});
      case 14:
        return Value::Of(Uuid{rng_.Uniform(2) << 63, rng_.Next()});
      case 15:
        return Value::Binary(std::string(rng_.Uniform(4), '\xFF'));
      default:
        return rng_.Chance(0.5) ? Value::Of(static_cast<Token>(rng_.Uniform(4)))
                                : Value::Of(static_cast<Direction>(rng_.Uniform(3)));
    }
  }

  ValueList Members(int depth, bool references) {
    ValueList list;
    for (uint64_t i = rng_.Uniform(4); i > 0; --i) list.push_back(Next(depth, references));
    return list;
  }

  ValueMap Entries(int depth, bool references) {
    ValueMap map;
    for (Value& key : Members(depth, references)) {
      const auto same = [&](const auto& entry) { return Equivalent(entry.first, key); };
      if (std::none_of(map.begin(), map.end(), same)) {
        map.emplace_back(std::move(key), Next(depth, references));
      }
    }
    return map;
  }

  Value Path(int depth, bool references) {
    PathData path;
    path.objects = Members(depth, references);
    for (size_t i = 0; i < path.objects.size(); ++i) {
      path.labels.emplace_back(rng_.Uniform(3), "step");
    }
    return Made(Value::Of(std::move(path)));
  }

  Value Element(int depth, bool references) {
    ElementData e;
    e.type = static_cast<ElementData::Type>(rng_.Uniform(4));
    e.label = Text();
    if (e.type != ElementData::Type::kProperty) e.id = Value::Long(Integer());
    if (e.type == ElementData::Type::kEdge) {
      e.out_id = Value::Long(Integer());
      e.in_id = Value::String(Text());
      e.out_label = Text();
      e.in_label = Text();
    }
    if (e.type >= ElementData::Type::kVertexProperty) {
      e.value = Next(depth, references);
    } else if (rng_.Chance(0.5)) {
      e.properties = {{Value::String("name"), Next(depth, references)}};
    }
    return Made(Value::Of(std::move(e)));
  }

  Value Reference(uint64_t choice, int depth) {
    const VertexRef vertex{rng_.Uniform(5)};
    if (choice == 22) return rng_.Chance(0.5) ? Made(Value::Of(vertex)) : Value::Of(Edge());
    if (rng_.Chance(0.5))
      return Made(Value::Of(VertexPropertyData{vertex, "name", Next(depth, true)}));
    return Made(Value::Of(PropertyData{Edge(), "weight", Next(depth, true)}));
  }

  Rng rng_;
};

}  // namespace koios::testing
