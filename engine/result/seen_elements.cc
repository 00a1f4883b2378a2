#include "engine/result/seen_elements.h"

#include <algorithm>
#include <utility>

#include "engine/account/call_work.h"
#include "engine/result/element_resolver.h"

namespace koios::engine {
namespace {

Status NotRead() { return Internal("An element of a value was not read where it is."); }

}  // namespace

Status SeenElements::Add(uint64_t key, Element element, Table* table, size_t* work) {
  if (table->Contains(key)) return OkStatus();
  ASSIGN_OR_RETURN(const size_t moved, table->MakeRoom(key, &room_));
  SpendMoved(moved, work);
  table->Emplace(key, std::move(element));
  return OkStatus();
}

Status SeenElements::Add(const Value& pair, size_t* work) {
  ASSIGN_OR_RETURN(const DetachedElement one, DetachedElement::Of(pair));
  const Value& element = pair.AsList()[1];
  if (one.reference.kind() == ValueKind::kVertex) {
    return Add(one.reference.AsVertex().bits, {element, true}, &vertices_, work);
  }
  return Add(one.reference.AsEdge().id, {element, false}, &edges_, work);
}

StatusOr<Value> SeenElements::Of(VertexRef vertex) {
  const auto* found = vertices_.Find(vertex.bits);
  if (found == nullptr) return NotRead();
  return found->second.value;
}

StatusOr<Value> SeenElements::Of(const EdgeRef& edge) {
  auto* found = edges_.Find(edge.id);
  if (found == nullptr) return NotRead();
  Element& element = found->second;
  if (element.is_whole) return element.value;
  const auto* out = vertices_.Find(edge.out.bits);
  const auto* in = vertices_.Find(edge.in.bits);
  if (out == nullptr || in == nullptr) return NotRead();
  ElementData whole = element.value.AsElement();
  whole.out_id = out->second.value.AsElement().id;
  whole.out_label = out->second.value.AsElement().label;
  whole.in_id = in->second.value.AsElement().id;
  whole.in_label = in->second.value.AsElement().label;
  ASSIGN_OR_RETURN(element.value, Value::Of(std::move(whole)));
  element.is_whole = true;
  made_bytes_ += static_cast<int64_t>(element.value.ByteSize());
  return element.value;
}

bool SeenElements::Free(size_t* work) {
  constexpr int64_t kFew = 1 << 20;  // bytes, which are freed anyway
  constexpr size_t kWorkOfShare = 1 << 10;
  if (room_.bytes < kFew) return true;
  while (!is_free_) {
    if (*work == 0) return false;
    *work -= std::min(*work, kWorkOfShare);
    int64_t freed = 0;
    is_free_ = vertices_.FreeSome(&freed) && edges_.FreeSome(&freed);
  }
  return true;
}

}  // namespace koios::engine
