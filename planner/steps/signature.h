// Argument signatures of steps, written as text in the catalogue:
//   "n:integer | scope:Scope, n:integer"      two signatures
//   "labels:string*"                          any number;  + at least one;  ? may be left out
//   "key:string, value:value/P/traversal"     one of several kinds
// Kinds: string, integer, number, boolean, datetime, null, list, map, value (any constant), P,
// traversal; a capitalised word is an enum (T, Scope, Order, Pop, Column, ...).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/argument.h"

namespace koios::planner {

struct ArgumentSpec {
  std::string name;
  std::vector<std::string> kinds;
  bool optional = false;
  bool repeated = false;  // with optional: any number, else at least one
};

using Signature = std::vector<ArgumentSpec>;

// REQUIRES: well-formed (the catalogue's test checks every row).
std::vector<Signature> ParseSignatures(std::string_view text);
bool MatchesSignature(const Signature& signature, const std::vector<Bound>& arguments);
// "limit(n: integer)"
std::string SignatureText(std::string_view step, const Signature& signature);
bool IsKnownKind(std::string_view kind);

}  // namespace koios::planner
