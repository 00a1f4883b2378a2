#include "planner/steps/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "parser/parser.h"

namespace koios::planner {
namespace {

// The steps of TinkerPop 3.8's GraphTraversal and GraphTraversalSource.
constexpr std::string_view kTinkerPopSteps[] = {"E",
                                                "V",
                                                "addE",
                                                "addV",
                                                "aggregate",
                                                "all",
                                                "and",
                                                "any",
                                                "as",
                                                "asBool",
                                                "asDate",
                                                "asNumber",
                                                "asString",
                                                "barrier",
                                                "both",
                                                "bothE",
                                                "bothV",
                                                "branch",
                                                "by",
                                                "call",
                                                "cap",
                                                "choose",
                                                "coalesce",
                                                "coin",
                                                "combine",
                                                "concat",
                                                "conjoin",
                                                "connectedComponent",
                                                "constant",
                                                "count",
                                                "cyclicPath",
                                                "dateAdd",
                                                "dateDiff",
                                                "dedup",
                                                "difference",
                                                "discard",
                                                "disjunct",
                                                "drop",
                                                "element",
                                                "elementMap",
                                                "emit",
                                                "fail",
                                                "filter",
                                                "flatMap",
                                                "fold",
                                                "format",
                                                "from",
                                                "group",
                                                "groupCount",
                                                "has",
                                                "hasId",
                                                "hasKey",
                                                "hasLabel",
                                                "hasNot",
                                                "hasValue",
                                                "id",
                                                "identity",
                                                "in",
                                                "inE",
                                                "inV",
                                                "index",
                                                "inject",
                                                "intersect",
                                                "io",
                                                "is",
                                                "key",
                                                "lTrim",
                                                "label",
                                                "length",
                                                "limit",
                                                "local",
                                                "loops",
                                                "map",
                                                "match",
                                                "math",
                                                "max",
                                                "mean",
                                                "merge",
                                                "mergeE",
                                                "mergeV",
                                                "min",
                                                "none",
                                                "not",
                                                "option",
                                                "optional",
                                                "or",
                                                "order",
                                                "otherV",
                                                "out",
                                                "outE",
                                                "outV",
                                                "pageRank",
                                                "path",
                                                "peerPressure",
                                                "product",
                                                "profile",
                                                "program",
                                                "project",
                                                "properties",
                                                "property",
                                                "propertyMap",
                                                "rTrim",
                                                "range",
                                                "read",
                                                "repeat",
                                                "replace",
                                                "reverse",
                                                "sack",
                                                "sample",
                                                "select",
                                                "shortestPath",
                                                "sideEffect",
                                                "simplePath",
                                                "skip",
                                                "split",
                                                "subgraph",
                                                "substring",
                                                "sum",
                                                "tail",
                                                "timeLimit",
                                                "times",
                                                "to",
                                                "toE",
                                                "toLower",
                                                "toUpper",
                                                "toV",
                                                "tree",
                                                "trim",
                                                "tx",
                                                "unfold",
                                                "union",
                                                "until",
                                                "value",
                                                "valueMap",
                                                "values",
                                                "where",
                                                "with",
                                                "withBulk",
                                                "withComputer",
                                                "withPath",
                                                "withSack",
                                                "withSideEffect",
                                                "withStrategies",
                                                "withoutStrategies",
                                                "write"};

TEST(CatalogueTest, HasEveryStepOfTinkerPopAndNoOther) {
  for (std::string_view name : kTinkerPopSteps) {
    EXPECT_NE(FindStep(name), nullptr) << name;
  }
  EXPECT_EQ(StepCatalogue().size(), std::size(kTinkerPopSteps));
}

TEST(CatalogueTest, RowsAreSortedDistinctAndHelpful) {
  const std::vector<StepSpec>& rows = StepCatalogue();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(rows[i - 1].name, rows[i].name);
    }
    EXPECT_FALSE(rows[i].help.empty()) << rows[i].name;
    EXPECT_EQ(FindStep(rows[i].name), &rows[i]);
  }
}

TEST(CatalogueTest, WhatIsThereHasAnExampleOfItself) {
  for (const StepSpec& row : StepCatalogue()) {
    EXPECT_TRUE(row.IsThere() || (row.build == nullptr && !row.Has(kModulates))) << row.name;
    if (!row.IsThere()) continue;
    EXPECT_NE(row.example.find("." + std::string(row.name) + "("), std::string_view::npos)
        << row.name << ": " << row.example;
    EXPECT_TRUE(parser::Parse(std::string(row.example)).ok()) << row.example;
  }
}

TEST(CatalogueTest, SignaturesAreWellFormed) {
  for (const StepSpec& row : StepCatalogue()) {
    const std::vector<Signature>& signatures = SignaturesOf(row);
    EXPECT_FALSE(signatures.empty()) << row.name;
    for (const Signature& signature : signatures) {
      for (const ArgumentSpec& argument : signature) {
        EXPECT_FALSE(argument.name.empty()) << row.name;
        EXPECT_FALSE(argument.kinds.empty()) << row.name;
        for (const std::string& kind : argument.kinds) {
          EXPECT_TRUE(IsKnownKind(kind)) << row.name << ": " << kind;
        }
      }
    }
  }
}

TEST(CatalogueTest, StepsThatTakeChildrenSayHowTheyRun) {
  for (const StepSpec& row : StepCatalogue()) {
    if (row.build == nullptr) continue;
    bool takes = row.Has(kTakesBy) || row.Has(kTakesOption);
    for (const Signature& signature : SignaturesOf(row)) {
      for (const ArgumentSpec& argument : signature) {
        takes = takes || std::count(argument.kinds.begin(), argument.kinds.end(), "traversal") > 0;
      }
    }
    EXPECT_EQ(takes, row.children != ChildScoping::kNone) << row.name;
  }
}

TEST(CatalogueTest, NearestNames) {
  EXPECT_EQ(NearestStep("hasLable"), "hasLabel");
  EXPECT_EQ(NearestStep("vlaues"), "values");
  EXPECT_EQ(NearestStep("zzzzzzzz"), "");
}

Bound Of(Value value) {
  Bound bound;
  bound.value = std::move(value);
  return bound;
}

TEST(SignatureTest, MatchesKindsAndNumbers) {
  const std::vector<Signature> signatures =
      ParseSignatures("n:integer | scope:Scope, n:integer | keys:string/null+");
  ASSERT_EQ(signatures.size(), 3u);
  Bound scope;
  scope.kind = Bound::Kind::kEnum;
  scope.qualifier = "Scope";
  EXPECT_TRUE(MatchesSignature(signatures[0], {Of(Value::Long(1))}));
  EXPECT_FALSE(MatchesSignature(signatures[0], {Of(Value::Double(1))}));
  EXPECT_FALSE(MatchesSignature(signatures[0], {}));
  EXPECT_TRUE(MatchesSignature(signatures[1], {scope, Of(Value::Int(1))}));
  EXPECT_FALSE(MatchesSignature(signatures[1], {Of(Value::Int(1)), scope}));
  EXPECT_FALSE(MatchesSignature(signatures[2], {}));
  EXPECT_TRUE(MatchesSignature(signatures[2], {Of(Value::String("a")), Of(Value())}));
  EXPECT_EQ(SignatureText("x", signatures[2]), "x(keys: string|null...)");
}

}  // namespace
}  // namespace koios::planner
