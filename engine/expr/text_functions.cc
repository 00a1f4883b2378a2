// Texts of values, and values of texts, as TinkerPop 3.8 defines them: null stays null, and a value
// of another kind is an error that says which one came. Names of functions are those of the steps.
#include "engine/expr/text_functions.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/path/path.h"
#include "engine/expr/java_string.h"
#include "engine/expr/made_value.h"
#include "engine/expr/members_in.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using Maybe = StatusOr<std::optional<Value>>;

std::string KindOf(const Value& value) { return std::string(KindName(value.kind())); }

// The arguments of one call that are constants: those behind the text and the flag of Scope.local.
using Constants = std::vector<const Value*>;

StatusOr<Value> LengthOf(const std::string& text, const Constants&) {
  return Value::Int(static_cast<int32_t>(CountUtf16(text)));
}

StatusOr<Value> UpperOf(const std::string& text, const Constants&) {
  RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(text.size()), "toUpper()"));
  ASSIGN_OR_RETURN(std::string upper, ToUpperCase(text));
  return Value::String(std::move(upper));
}

StatusOr<Value> LowerOf(const std::string& text, const Constants&) {
  RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(text.size()), "toLower()"));
  ASSIGN_OR_RETURN(std::string lower, ToLowerCase(text));
  return Value::String(std::move(lower));
}

StatusOr<Value> TrimmedOf(const std::string& text, const Constants&) {
  return Value::String(std::string(TrimEnd(TrimStart(text))));
}

StatusOr<Value> LeftTrimmedOf(const std::string& text, const Constants&) {
  return Value::String(std::string(TrimStart(text)));
}

StatusOr<Value> RightTrimmedOf(const std::string& text, const Constants&) {
  return Value::String(std::string(TrimEnd(text)));
}

StatusOr<Value> SubstringOf(const std::string& text, const Constants& places) {
  const int64_t end = places.size() > 1 ? places[1]->AsInteger() : kMaxMadeBytes * 64;
  return Value::String(SubstringUtf16(text, places[0]->AsInteger(), end));
}

StatusOr<Value> ReplacedOf(const std::string& text, const Constants& words) {
  if (words[0]->is_null() || words[1]->is_null()) return Value::String(text);
  const std::string& from = words[0]->AsString();
  const std::string& to = words[1]->AsString();
  if (from.empty()) return Value::String(text);
  std::string replaced;
  for (size_t at = 0;;) {
    const void* found = memmem(text.data() + at, text.size() - at, from.data(), from.size());
    const size_t end = found == nullptr
                           ? text.size()
                           : static_cast<size_t>(static_cast<const char*>(found) - text.data());
    replaced.append(text, at, end - at);
    if (found == nullptr) return Value::String(std::move(replaced));
    replaced += to;
    RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(replaced.size()), "replace()"));
    at = end + from.size();
  }
}

// The parts of a text as a list.
class TextInParts {
 public:
  // `separator`: null for blanks, empty for characters.
  TextInParts(const Value& text, const Value& separator)
      : text_(text), separator_(separator), parts_(text_.AsString(), SeparatorOf(separator_)) {}

  StatusOr<bool> Step(size_t* work) {
    constexpr size_t kWorkOfPart = 4;
    while (std::optional<std::string_view> part = parts_.Next()) {
      bytes_ += kPartBytes + static_cast<int64_t>(part->size());
      RETURN_IF_ERROR(CheckMadeBytes(bytes_, "split()"));
      made_.Add(Value::String(std::string(*part)));
      *work -= std::min(*work, kWorkOfPart + part->size() / kBytesPerWork);
      if (*work == 0) return false;
    }
    return made_.Gather(work);
  }
  size_t HeldBytes() const { return static_cast<size_t>(bytes_); }
  StatusOr<Value> Result() { return made_.Take(ValueKind::kList); }

 private:
  static constexpr int64_t kPartBytes = 64;  // of a short text in a list, about
  static constexpr size_t kBytesPerWork = 256;

  static std::optional<std::string_view> SeparatorOf(const Value& separator) {
    if (separator.is_null()) return std::nullopt;
    return separator.AsString();
  }

  Value text_, separator_;  // which the parts are of
  TextParts parts_;
  MadeList made_;
  int64_t bytes_ = 0;
};

StatusOr<Value> SplitOf(const std::string& text, const Constants& separator) {
  TextInParts parts(Value::String(text), *separator[0]);
  for (bool done = false; !done;) {
    size_t work = kWorkOfCall;
    ASSIGN_OR_RETURN(done, parts.Step(&work));
  }
  return parts.Result();
}

// One step over a text; with Scope.local over each text of a list, too. As the arguments of its
// function are: the value, whether it is local, constants.
using OfText = StatusOr<Value> (*)(const std::string& text, const Constants& constants);

class TextStep {
 public:
  TextStep(const char* step, OfText of_text, const Args& args)
      : step_(step), of_text_(of_text), local_(args[1]->constant.AsBool()) {
    for (size_t i = 2; i < args.size(); ++i) constants_.push_back(&args[i]->constant);
  }

  bool is_local() const { return local_; }
  StatusOr<Value> Apply(const Value& value) const {
    if (value.is_null()) return value;
    if (value.kind() == ValueKind::kString) return of_text_(value.AsString(), constants_);
    if (local_) return NoList(value);
    return InvalidArgument("The " + std::string(step_) +
                           "() step can only take string as argument, encountered " +
                           KindOf(value) + ".");
  }
  Status NoList(const Value& value) const {
    return InvalidArgument("The " + std::string(step_) +
                           "(local) step can only take string or list of strings, encountered " +
                           KindOf(value) + ".");
  }
  const char* name() const { return step_; }

 private:
  const char* step_;
  OfText of_text_;
  bool local_;
  Constants constants_;
};

// Such a step of each member of a list.
class TextSteps {
 public:
  TextSteps(const TextStep& step, MembersIn members) : step_(step), members_(std::move(members)) {}

  StatusOr<bool> Step(size_t* work) {
    const ValueList& all = members_.list();
    for (; results_.size() < all.size();) {
      if (*work == 0) return false;
      const Value& member = all[results_.size()];
      Spend(member, work);
      if (!member.is_null() && member.kind() != ValueKind::kString) return step_.NoList(member);
      ASSIGN_OR_RETURN(Value result, step_.Apply(member));
      bytes_ += static_cast<int64_t>(result.ByteSize());
      RETURN_IF_ERROR(CheckMadeBytes(bytes_, std::string(step_.name()) + "()"));
      results_.Add(std::move(result));
    }
    return results_.Gather(work);
  }
  size_t HeldBytes() const {
    return members_.copied_bytes() + static_cast<size_t>(bytes_) + results_.HeldBytes();
  }
  StatusOr<Value> Result() { return results_.Take(ValueKind::kList); }

 private:
  TextStep step_;
  MembersIn members_;
  MadeList results_;
  int64_t bytes_ = 0;
};

struct TextCall {
  const char* name;
  OfText of_text;
};

constexpr TextCall kLength{"length", LengthOf}, kToUpper{"toUpper", UpperOf},
    kToLower{"toLower", LowerOf}, kTrim{"trim", TrimmedOf}, kLTrim{"lTrim", LeftTrimmedOf},
    kRTrim{"rTrim", RightTrimmedOf}, kSubstring{"substring", SubstringOf},
    kReplace{"replace", ReplacedOf}, kSplit{"split", SplitOf};

template <const TextCall& kStep>
Status TextStepFunction(const EvalContext& context, const Args& args, Operand* out) {
  const TextStep step(kStep.name, kStep.of_text, args);
  const bool splits = kStep.of_text == SplitOf;
  if (!step.is_local() && !splits) {
    return EachRow(context, out,
                   [&](size_t row) -> Maybe { return step.Apply(args[0]->Get(row)); });
  }
  using Part = OneOf<Ready, TextSteps, TextInParts>;
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    const Value value = args[0]->Get(row);
    std::optional<MembersIn> members;
    if (step.is_local()) members = MembersIn::Of(value);
    if (members.has_value()) return BeginPart(part, TextSteps(step, *std::move(members)));
    if (splits && value.kind() == ValueKind::kString) {
      return BeginPart(part, TextInParts(value, args[2]->constant));
    }
    ASSIGN_OR_RETURN(Value result, step.Apply(value));
    return BeginPart(part, Ready{std::move(result)});
  });
}

class ReversedMembers {
 public:
  explicit ReversedMembers(MembersIn members) : members_(std::move(members)) {}

  StatusOr<bool> Step(size_t* work) {
    const ValueList& all = members_.list();
    for (; made_.size() < all.size();) {
      if (*work == 0) return false;
      *work -= std::min<size_t>(*work, 2);
      made_.Add(all[all.size() - 1 - made_.size()]);
    }
    return made_.Gather(work);
  }
  size_t HeldBytes() const { return members_.copied_bytes() + made_.HeldBytes(); }
  StatusOr<Value> Result() { return made_.Take(ValueKind::kList); }

 private:
  MembersIn members_;
  MadeList made_;
};

Status ReverseFunction(const EvalContext& context, const Args& args, Operand* out) {
  using Part = OneOf<Ready, ReversedMembers>;
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    Value value = args[0]->Get(row);
    if (value.kind() == ValueKind::kString) {
      return BeginPart(part, Ready{Value::String(Reversed(value.AsString()))});
    }
    std::optional<MembersIn> members = MembersIn::Of(value);
    if (members.has_value()) return BeginPart(part, ReversedMembers(*std::move(members)));
    return BeginPart(part, Ready{std::move(value)});
  });
}

// concat(text, parts...): all that is not null in one text; null when all is. Whatever a child made
// no part of is an error.
Status ConcatFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    if (!args[0]->Present(row)) return std::nullopt;
    std::string all;
    bool any = false;
    for (const Operand* arg : args) {
      if (!arg->Present(row)) {
        return InvalidArgument(
            "concat() needs a value of each of its traversals, and one maps this traverser to "
            "none.");
      }
      const Value part = arg->Get(row);
      if (part.is_null()) continue;
      if (part.kind() != ValueKind::kString) {
        return InvalidArgument("String concat() can only take string as argument, encountered " +
                               KindOf(part) + ". asString() makes one of other values.");
      }
      RETURN_IF_ERROR(
          CheckMadeBytes(static_cast<int64_t>(all.size() + part.AsString().size()), "concat()"));
      all += part.AsString();
      any = true;
    }
    return any ? Value::String(std::move(all)) : Value::Null();
  });
}

// Values without members of an operand, with their elements as users see them: those of all rows
// from the first on that is asked for are looked up together.
class ResolvedRows {
 public:
  ResolvedRows(const EvalContext& context, const Operand& operand, const Operand& present)
      : rows_(context.rows), operand_(operand), present_(present), resolver_(*context.view) {}

  StatusOr<Value> At(size_t row, const std::string& step) {
    if (!is_loaded_) RETURN_IF_ERROR(LoadFrom(row, step));
    return resolver_.Resolve(operand_.Get(row));
  }

 private:
  Status LoadFrom(size_t first, const std::string& step) {
    for (size_t row = first; row < rows_; ++row) {
      if (!present_.Present(row)) continue;
      const Value value = operand_.Get(row);
      const bool has_members = value.is_collection() || value.kind() == ValueKind::kPath ||
                               value.kind() == ValueKind::kMap;
      if (!has_members) resolver_.Collect(value);
    }
    RETURN_IF_ERROR(CheckCollected(resolver_, step));
    is_loaded_ = true;
    return resolver_.Load();
  }

  const size_t rows_;
  const Operand& operand_;
  const Operand& present_;
  ElementResolver resolver_;
  bool is_loaded_ = false;
};

// What Java prints of a list, a set, a path or a map.
JoinedText TextOfMembers(MembersIn members, const EvalContext& context, const char* step) {
  JoinedText::Form form{"[", ", ", "]"};
  if (members.is_path()) form.open = "path[";
  if (members.is_map()) form.open = "{", form.close = "}";
  return {ResolvedMembers(std::move(members), context.view, step), form};
}

StatusOr<Value> NoNullAsText(const Value& value) {
  if (value.is_null()) return InvalidArgument("Can't parse null as String.");
  ASSIGN_OR_RETURN(std::string text, MadeText(value, "asString()"));
  return Value::String(std::move(text));
}

// Or what Java's Map.Entry prints: a map of one may be an entry where it came out of unfold().
StatusOr<JoinedText> TextOfMap(const Value& map, const std::string& flow,
                               const EvalContext& context, const char* step) {
  if (flow == "map" || map.AsMap().size() != 1) {
    return TextOfMembers(MembersIn::OfMap(map), context, step);
  }
  if (flow == "member") {
    ErrorDetail detail;
    detail.reason = "NOT_THERE_YET";
    detail.hint = "unfold() it where its map is made, as in groupCount().unfold().";
    return Unimplemented("asString() can't tell an entry from a map of one here.", detail);
  }
  return JoinedText(ResolvedMembers(MembersIn::OfMap(map), context.view, step), {});
}

// The members as texts, each by itself.
class TextsOfMembers {
 public:
  explicit TextsOfMembers(ResolvedMembers members) : members_(std::move(members)) {}

  StatusOr<bool> Step(size_t* work) {
    ASSIGN_OR_RETURN(const bool all, members_.Step(work, [this](const Value& member) -> Status {
      ASSIGN_OR_RETURN(Value text, NoNullAsText(member));
      bytes_ += static_cast<int64_t>(text.ByteSize());
      texts_.Add(std::move(text));
      return CheckMadeBytes(bytes_, members_.step());
    }));
    return all && texts_.Gather(work);
  }
  size_t HeldBytes() const {
    return members_.copied_bytes() + static_cast<size_t>(bytes_) + texts_.HeldBytes();
  }
  StatusOr<Value> Result() { return texts_.Take(ValueKind::kList); }

 private:
  ResolvedMembers members_;
  MadeList texts_;
  int64_t bytes_ = 0;
};

using AsText = OneOf<Ready, JoinedText, TextsOfMembers>;

// asString(value, local, flow), where flow says what a map of one is: a "map", an "entry", or a
// "member" that may be either.
Status AsStringFunction(const EvalContext& context, const Args& args, Operand* out) {
  static constexpr char kStep[] = "asString()";
  const bool local = args[1]->constant.AsBool();
  const std::string& flow = args[2]->constant.AsString();
  ResolvedRows rows(context, *args[0], *out);
  return EachRowInParts<AsText>(
      context, out, [&](size_t row, std::optional<AsText>* part) -> Status {
        const Value of = args[0]->Get(row);
        if (of.kind() == ValueKind::kMap) {
          ASSIGN_OR_RETURN(JoinedText text, TextOfMap(of, flow, context, kStep));
          return BeginPart(part, std::move(text));
        }
        std::optional<MembersIn> members = MembersIn::Of(of);
        if (members.has_value()) {
          if (!local) return BeginPart(part, TextOfMembers(*std::move(members), context, kStep));
          return BeginPart(
              part, TextsOfMembers(ResolvedMembers(*std::move(members), context.view, kStep)));
        }
        ASSIGN_OR_RETURN(const Value value, rows.At(row, kStep));
        ASSIGN_OR_RETURN(Value text, NoNullAsText(value));
        return BeginPart(part, Ready{std::move(text)});
      });
}

// text_part(value): a value as a text puts it in; absent for null.
Status TextPartFunction(const EvalContext& context, const Args& args, Operand* out) {
  static constexpr char kStep[] = "format()";
  ResolvedRows rows(context, *args[0], *out);
  return EachRowInParts<AsText>(
      context, out, [&](size_t row, std::optional<AsText>* part) -> Status {
        const Value of = args[0]->Get(row);
        std::optional<MembersIn> members = MembersIn::Of(of);
        if (of.kind() == ValueKind::kMap) members = MembersIn::OfMap(of);
        if (members.has_value()) {
          return BeginPart(part, TextOfMembers(*std::move(members), context, kStep));
        }
        ASSIGN_OR_RETURN(const Value value, rows.At(row, kStep));
        if (value.is_null()) return OkStatus();
        ASSIGN_OR_RETURN(std::string text, MadeText(value, kStep));
        return BeginPart(part, Ready{Value::String(std::move(text))});
      });
}

// format(parts...): texts one behind the other.
Status FormatFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    std::string all;
    for (const Operand* arg : args) {
      ASSIGN_OR_RETURN(const std::string part, MadeText(arg->Get(row), "format()"));
      RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(all.size() + part.size()), "format()"));
      all += part;
    }
    return Value::String(std::move(all));
  });
}

}  // namespace

const std::vector<ScalarKernel>& TextFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"length", TextStepFunction<kLength>},
      {"toUpper", TextStepFunction<kToUpper>},
      {"toLower", TextStepFunction<kToLower>},
      {"trim", TextStepFunction<kTrim>},
      {"lTrim", TextStepFunction<kLTrim>},
      {"rTrim", TextStepFunction<kRTrim>},
      {"substring", TextStepFunction<kSubstring>},
      {"replace", TextStepFunction<kReplace>},
      {"split", TextStepFunction<kSplit>},
      {"reverse", ReverseFunction},
      {"concat", ConcatFunction},
      {"asString", AsStringFunction},
      {"text_part", TextPartFunction},
      {"format", FormatFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
