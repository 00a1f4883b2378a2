// What a traverser carries beside its value and its labels: its path, where it came from, its sack.
// Each thing is a row of the table in traverser.cc and lives in a slot of its own name. The table
// says who stores it, what scopes, reducers and merging do with it. To add one: its row, and the
// function that stores it.
// Rule: nobody else knows these names. Like labels, such things are of the traverser's history: a
// reducer begins a new one, and rows that differ in what is read behind are never merged.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "planner/logical.h"
#include "planner/value_type.h"

namespace koios::planner {

struct CarriedThing {
  std::string_view name;  // begins with "~", as no label does
  // What is stored is made of what was there: a child that stores it reads the one from before.
  bool grows = false;
  // Any step may store another one: a later store does not follow from an earlier one.
  bool changes = false;
  // What has it behind a child that lets nothing out, as map(), flatMap() and coalesce() do, when
  // it was stored inside; null: the traverser that entered, as it was.
  ExpressionPtr (*behind_closed)() = nullptr;
};

std::span<const CarriedThing> CarriedThings();

bool IsLabel(std::string_view name);
// A label or a thing that the traverser carries: what local() and optional() let out of their
// child, what flatMap() keeps inside, what a reducer ends. Other names are the planner's own, of
// one step.
bool IsOfHistory(std::string_view name);
// The store of such a thing, which nobody has read when it ends a child, and which drops no row.
bool StoresCarried(const Op& op);
// What is stored under the name may be something else behind the next store.
bool Changes(std::string_view name);
// A child that stores the name reads what was there before.
bool GrowsInChild(std::string_view name);
// Rows that differ in what is stored under these names may become one: nobody reads any behind.
bool MayMerge(const std::set<std::string>& read_behind);

// What is to be stored in front of the scope, for those whose child stores it and keeps it inside.
std::vector<Project> StoresBefore(const Scope& scope);

// The path: kept only in queries that read paths, after each step that gives a new value.
ExpressionPtr CarriedPath();
// Begins one with the current value.
Project NewPath();
// Behind a step: with the current value, when that is new, and with labels of the step. nullopt: it
// stays as it is.
std::optional<Project> GrownPath(bool new_value, const std::vector<std::string>& labels);

// The vertex that otherV() must not return, stored before each expansion to edges.
Project StoreFrom();
const std::string& FromName();
bool HasFrom(const TypeEnv& env);

// The sack: what was stored, or else the initial one. A reducer begins with the initial one again.
ExpressionPtr CarriedSack(const PlanValue& initial, const TypeEnv& env);
Project StoreSack(ExpressionPtr value);
const std::string& SackName();

}  // namespace koios::planner
