#include "engine/exchange/destinations.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/value_compare.h"
#include "engine/effect/member_set.h"
#include "engine/expr/element_functions.h"

namespace koios::engine {
namespace {

uint32_t OwnerOf(uint32_t partition, const ExchangePlace& place) {
  return partition % place.num_workers;
}

// Where the partitions of the vertices and edges in `column` are owned; `other(row, value)` says it
// of the rest.
template <typename Other>
void ToOwnersOr(const Column& column, const ExchangePlace& place, std::vector<uint32_t>* to,
                const Other& other) {
  Operand operand;
  operand.column = &column;
  const ElementRows elements = ElementRows::Of(operand, column.size());
  for (size_t i = 0; i < elements.vertices.size(); ++i) {
    (*to)[elements.vertex_rows[i]] = OwnerOf(elements.vertices[i].partition(), place);
  }
  for (size_t i = 0; i < elements.edges.size(); ++i) {
    (*to)[elements.edge_rows[i]] = OwnerOf(elements.edges[i].out.partition(), place);
  }
  for (uint32_t row : elements.other_rows) {
    if (!column.IsAbsent(row)) (*to)[row] = other(row, operand.Get(row));
  }
}

// Properties to where what they are of is; other values stay.
void ToOwners(const Column& column, const ExchangePlace& place, std::vector<uint32_t>* to) {
  ToOwnersOr(column, place, to, [&](uint32_t row, const Value& value) {
    if (value.kind() == ValueKind::kVertexProperty) {
      return OwnerOf(value.AsVertexProperty().owner.partition(), place);
    }
    if (value.kind() == ValueKind::kProperty) {
      return OwnerOf(value.AsProperty().owner.out.partition(), place);
    }
    return (*to)[row];
  });
}

void ToInOwners(const Column& column, const ExchangePlace& place, std::vector<uint32_t>* to) {
  for (size_t row = 0; row < to->size(); ++row) {
    const Value edge = column.Get(row);
    if (edge.kind() == ValueKind::kEdge) {
      (*to)[row] = OwnerOf(edge.AsEdge().in.partition(), place);
    }
  }
}

double CountOf(const LabelCounts& counts, const Schema& schema, const plan::Scan* scan) {
  double all = 0, of_labels = 0;
  for (const auto& [label, count] : counts) all += static_cast<double>(count);
  if (scan == nullptr || scan->labels().empty()) return all;
  for (const std::string& name : scan->labels()) {
    of_labels += static_cast<double>(counts.Count(schema.labels.Find(name)));
  }
  return of_labels;
}

// Elements that a scan and those who ask its vertices for their edges look at, about.
double NumElements(const plan::Exchange& exchange, const ExchangePlace& place) {
  if (exchange.expected() > 0) return static_cast<double>(exchange.expected());
  const Schema& schema = place.view->schema();
  const double edges = CountOf(schema.edge_counts, schema, nullptr);
  if (place.scan != nullptr && place.scan->element() == plan::EDGE) {
    return CountOf(schema.edge_counts, schema, place.scan);
  }
  const double vertices = CountOf(schema.vertex_counts, schema, nullptr);
  const double scanned = CountOf(schema.vertex_counts, schema, place.scan);
  // A value that is counted is a small part of the work of a row.
  constexpr double kValuesOfRow = 32;
  if (place.scan != nullptr && !place.scan->value_key().empty()) return scanned / kValuesOfRow;
  return scanned + edges * scanned / std::max(vertices, 1.0);
}

Status ToPartitions(const plan::Exchange& exchange, const Column& column,
                    const ExchangePlace& place, std::vector<uint32_t>* to) {
  const auto enough = static_cast<double>(place.spread_after_rows);
  if (place.stay && NumElements(exchange, place) < enough) return OkStatus();
  if (column.kind() != Column::Kind::kInt) {
    return Internal("An exchange by partition needs partition numbers.");
  }
  for (size_t row = 0; row < to->size(); ++row) {
    (*to)[row] = OwnerOf(static_cast<uint32_t>(column.ints()[row]), place);
  }
  return OkStatus();
}

void ToIds(const Column& column, const ExchangePlace& place, std::vector<uint32_t>* to) {
  for (size_t row = 0; row < to->size(); ++row) {
    Value id = column.Get(row);
    if (id.kind() == ValueKind::kVertex || id.kind() == ValueKind::kEdge) continue;
    if (id.kind() == ValueKind::kElement) id = id.AsElement().id;
    (*to)[row] = OwnerOf(place.view->PartitionOfId(id), place);
  }
}

// Values to where all that are equal to them go.
void ToPlaces(const Column& column, const ExchangePlace& place, std::vector<uint32_t>* to) {
  ToOwnersOr(column, place, to, [&](uint32_t, const Value& value) {
    return static_cast<uint32_t>((MemberHash(value) >> 16) % place.num_workers);
  });
}

void ToHashes(const plan::Exchange& exchange, const Batch& batch, const ExchangePlace& place,
              std::vector<uint32_t>* to) {
  for (size_t row = 0; row < batch.rows; ++row) {
    uint64_t hash = 0;
    for (uint32_t slot : exchange.hash_slots()) {
      if (!batch.Has(slot)) continue;
      hash = hash * 0x9E3779B97F4A7C15ull + EquivalenceHash(batch.slots[slot].Get(row));
    }
    (*to)[row] = static_cast<uint32_t>((hash >> 16) % place.num_workers);
  }
}

}  // namespace

StatusOr<std::vector<uint32_t>> Destinations(const plan::Exchange& exchange, const Batch& batch,
                                             const ExchangePlace& place) {
  std::vector<uint32_t> to(batch.rows, place.worker);
  if (batch.rows == 0) return to;  // all were dropped, and columns of none may have any kind
  switch (exchange.key()) {
    case plan::Exchange::OWNER:
      if (!place.stay && batch.Has(exchange.slot())) {
        ToOwners(batch.slots[exchange.slot()], place, &to);
      }
      return to;
    case plan::Exchange::PARTITION:
      RETURN_IF_ERROR(ToPartitions(exchange, batch.slots[0], place, &to));
      return to;
    case plan::Exchange::ID:
      if (!place.stay) ToIds(batch.slots[exchange.slot()], place, &to);
      return to;
    case plan::Exchange::IN_OWNER:
      if (!place.stay) ToInOwners(batch.slots[exchange.slot()], place, &to);
      return to;
    case plan::Exchange::HOME: {
      size_t row = 0;
      for (const Run& run : batch.runs) {
        for (uint32_t i = 0; i < run.count; ++i) to[row++] = run.instance.home;
      }
      return to;
    }
    case plan::Exchange::VALUE:
      if (batch.Has(exchange.slot())) ToPlaces(batch.slots[exchange.slot()], place, &to);
      return to;
    case plan::Exchange::HASH:
      ToHashes(exchange, batch, place, &to);
      return to;
    default:
      return Internal("The plan has an unknown exchange.");
  }
}

}  // namespace koios::engine
