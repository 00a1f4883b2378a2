// What core/plan/operator_table.h says of an operator is what the registry makes of it.
#include <set>
#include <string>

#include "core/plan/operator_table.h"
#include "core/value_codec.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using Field = google::protobuf::FieldDescriptor;

// The operator with each flag of its message set and not, final and partial.
std::vector<plan::Operator> FormsOf(const Field& kind) {
  plan::Operator plain;
  google::protobuf::Message* message = plain.GetReflection()->MutableMessage(&plain, &kind);
  for (int i = 0; i < kind.message_type()->field_count(); ++i) {
    const Field* field = kind.message_type()->field(i);
    if (field->is_repeated() || field->message_type() != plan::Expr::descriptor()) continue;
    plan::Expr truth;
    truth.add_nodes()->set_constant(EncodeValue(Value::Bool(true)));
    message->GetReflection()->MutableMessage(message, field)->CopyFrom(truth);
  }
  std::vector<plan::Operator> forms = {plain};
  for (int i = 0; i < kind.message_type()->field_count(); ++i) {
    const Field* field = kind.message_type()->field(i);
    plan::Operator form = plain;
    google::protobuf::Message* changed = form.GetReflection()->MutableMessage(&form, &kind);
    if (field->cpp_type() == Field::CPPTYPE_BOOL) {
      changed->GetReflection()->SetBool(changed, field, true);
    } else if (field->name() == "stage") {
      changed->GetReflection()->SetEnumValue(changed, field, plan::PARTIAL);
    } else if (field->name() == "side_effect") {
      changed->GetReflection()->SetString(changed, field, "x");
    } else {
      continue;
    }
    forms.push_back(std::move(form));
  }
  return forms;
}

TEST(RegistryTest, MakesABarrierWhereTheTableHasOne) {
  const auto* kinds = plan::Operator::descriptor()->FindOneofByName("kind");
  std::set<std::string_view> barriers;
  for (int i = 0; i < kinds->field_count(); ++i) {
    for (const plan::Operator& op : FormsOf(*kinds->field(i))) {
      SCOPED_TRACE(op.ShortDebugString());
      TestHost host;
      const StatusOr<OperatorBundle> bundle = MakeOperator(op, 2, &host);
      if (!bundle.ok()) continue;  // a change without a transaction, a stage that is not there
      // The driver goes by the table: with another class behind it a query would not end.
      EXPECT_EQ(bundle->barrier != nullptr, plan::IsBarrier(op));
      if (bundle->barrier != nullptr) barriers.insert(plan::NameOf(op));
    }
  }
  plan::Operator partial;
  partial.mutable_tail()->set_stage(plan::PARTIAL);
  TestHost host;
  EXPECT_EQ(MakeOperator(partial, 2, &host).status().code(), StatusCode::kInternal);
  EXPECT_EQ(barriers, (std::set<std::string_view>{"Tail", "Sample", "Order", "Dedup", "Reduce",
                                                  "Group", "Barrier", "Aggregate", "Cap"}));
}

}  // namespace
}  // namespace koios::engine
