// koios_snapshot_reads SNAPSHOTS: reads from the snapshots of a graph (its folder snapshots/, as
// `koios admin snapshot` wrote them, all of one number) beside the same reads from plain arrays,
// and prints nanoseconds per row, median of nine runs. Random rows, one thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/random.h"
#include "storage/codec/element_id.h"
#include "storage/disk/files.h"
#include "storage/snapshot/partition_snapshot.h"

namespace koios::bench {
namespace {

using storage::ListSlice;
using storage::PartitionSnapshot;
using storage::SectionIndex;
using storage::SnapshotAdjacency;
using storage::SnapshotColumn;

constexpr size_t kRows = size_t{1} << 20;
constexpr size_t kBatch = 1024;

uint64_t g_sum = 0;  // so that no read is left out

double NanosPerRow(size_t rows, const std::function<void()>& run) {
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count() / static_cast<double>(std::max<size_t>(rows, 1)));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<uint64_t> RandomRows(uint64_t bound) {
  Rng rng(1);
  std::vector<uint64_t> rows(kRows);
  for (uint64_t& row : rows) row = rng.Uniform(bound);
  return rows;
}

// A name of what the file is of is in its own header.
StatusOr<std::shared_ptr<const PartitionSnapshot>> OpenFile(const std::string& folder,
                                                            const std::string& name) {
  uint32_t partition = 0;
  storage::SnapshotFileName file;
  if (!storage::ParseSnapshotFileName(name, &partition, &file.number)) {
    return InvalidArgument(name + " is no snapshot.");
  }
  file.bytes = std::filesystem::file_size(folder + "/" + name);
  std::string page(storage::kSnapshotHeaderBytes, '\0');
  std::FILE* const in = std::fopen((folder + "/" + name).c_str(), "rb");
  if (in == nullptr || std::fread(page.data(), 1, page.size(), in) != page.size()) {
    return Unavailable("Can't read " + name + ".");
  }
  std::fclose(in);
  storage::SnapshotHeader header;
  RETURN_IF_ERROR(storage::DecodeSnapshotHeader(page, &header, &file.check));
  return PartitionSnapshot::Open(folder, partition, file);
}

void ReadColumn(const SnapshotColumn& column) {
  const auto rows = RandomRows(column.facts().rows);
  const auto* const mapped = column.Fixed<int64_t>();
  const std::vector<int64_t> array(mapped, mapped + column.facts().rows);
  std::vector<int64_t> out(kBatch);
  const auto gather = [&](const int64_t* values, bool touch) {
    for (size_t first = 0; first < kRows; first += kBatch) {
      const std::span<const uint64_t> batch(rows.data() + first, kBatch);
      if (touch) CHECK(column.Touch(batch).ok());
      for (size_t i = 0; i < kBatch; ++i) out[i] = values[batch[i]];
      g_sum += static_cast<uint64_t>(out[first % kBatch]);
    }
  };
  const double of_array = NanosPerRow(kRows, [&] { gather(array.data(), false); });
  const double of_mapping = NanosPerRow(kRows, [&] { gather(mapped, true); });
  std::printf("column of 8 bytes, %llu rows: array %.2f, mapped %.2f\n",
              static_cast<unsigned long long>(column.facts().rows), of_array, of_mapping);
}

void ReadLists(const SnapshotAdjacency& lists) {
  const auto rows = RandomRows(lists.facts().rows);
  std::vector<uint64_t> all(lists.facts().rows);
  std::iota(all.begin(), all.end(), uint64_t{0});
  std::vector<ListSlice> slices(all.size());
  CHECK(lists.Lists(all, slices.data()).ok());
  std::vector<uint32_t> offsets(1);
  for (const ListSlice& list : slices) {
    offsets.push_back(offsets.back() + static_cast<uint32_t>(list.count));
  }
  const std::vector<uint32_t> neighbours(lists.narrow(), lists.narrow() + lists.num_positions());
  uint64_t edges = 0;
  for (const uint64_t row : rows) edges += slices[row].count;
  const double of_array = NanosPerRow(kRows, [&] {
    for (const uint64_t row : rows) {
      for (uint32_t i = offsets[row]; i < offsets[row + 1]; ++i) g_sum += neighbours[i];
    }
  });
  std::vector<ListSlice> batch(kBatch);
  const double of_mapping = NanosPerRow(kRows, [&] {
    for (size_t first = 0; first < kRows; first += kBatch) {
      CHECK(lists.Lists({rows.data() + first, kBatch}, batch.data()).ok());
      for (const ListSlice& list : batch) {
        const uint32_t* const begin = lists.narrow() + list.begin;
        for (uint64_t i = 0; i < list.count; ++i) g_sum += begin[i];
      }
    }
  });
  const bool sparse = lists.facts().rows_with_any < lists.facts().rows;
  std::printf("%s lists, %llu rows, %.0f%% with any, %.1f edges a row: arrays %.1f, mapped %.1f\n",
              lists.name().index == SectionIndex::kOut ? "out" : "in",
              static_cast<unsigned long long>(lists.facts().rows),
              sparse ? 100.0 * static_cast<double>(lists.facts().rows_with_any) /
                           static_cast<double>(lists.facts().rows)
                     : 100.0,
              static_cast<double>(edges) / kRows, of_array, of_mapping);
}

void ReadInEdges(const PartitionSnapshot& snapshot, const SnapshotAdjacency& in) {
  const SnapshotAdjacency* const out =
      snapshot.FindAdjacency(in.name().set, Direction::kOut, in.name().parent);
  std::vector<uint64_t> ids(std::min<uint64_t>(kRows, in.num_positions())), found(ids.size());
  const double of_ids =
      NanosPerRow(ids.size(), [&] { CHECK(in.EdgeIdsFrom(0, ids.size(), ids.data()).ok()); });
  bool told = false;
  const double of_places = NanosPerRow(ids.size(), [&] {
    if (out != nullptr) told = out->FindByIds(ids, found.data()).value();
  });
  std::printf("ids of %zu in-edges: %.1f, and where they are: %.1f%s\n", ids.size(), of_ids,
              of_places, told ? "" : " (not told)");
}

void ReadIds(const PartitionSnapshot& snapshot) {
  std::vector<uint64_t> locals;
  uint64_t next = 0;
  while (locals.size() < 200'000 && next < snapshot.header().end_local) {
    CHECK(snapshot.ScanVertices(storage::kNoSet, &next, 1000, &locals).ok());
  }
  std::vector<std::string> ids;
  for (const uint64_t local : locals) {
    storage::VertexPlace place;
    std::vector<std::optional<Value>> id;
    CHECK(snapshot.Locate({&local, 1}, &place).ok());
    CHECK(snapshot.FindVertexColumn(place.set, kNoName)->Values({&place.row, 1}, &id).ok());
    ids.push_back(storage::IdBytes(*id[0]));
  }
  std::vector<std::string_view> views(ids.begin(), ids.end());
  Rng rng(1);
  std::shuffle(views.begin(), views.end(), RandomBits{&rng});
  std::vector<uint64_t> found(views.size());
  const double nanos =
      NanosPerRow(views.size(), [&] { CHECK(snapshot.FindIds(views, found.data()).ok()); });
  std::printf("ids found, of %zu: %.0f\n", views.size(), nanos);
}

// What the bytes of a column's values are as such: strings without ends and codes, numbers without
// the rows that have none.
uint64_t RawBytes(const SnapshotColumn& column) {
  const bool bits = column.form() == storage::ColumnForm::kFixed && column.fixed_width() == 0;
  if (column.form() == storage::ColumnForm::kFixed) {
    return bits ? (column.facts().values + 7) / 8 : column.facts().values * column.fixed_width();
  }
  if (column.form() != storage::ColumnForm::kDictionary) return 0;
  uint64_t bytes = 0;
  const uint64_t entries = column.by_item() ? column.facts().values : column.facts().rows;
  for (uint64_t i = 0; i < entries; ++i) {
    std::string_view text;
    if (!column.by_item() && !column.HasValue(i)) continue;
    CHECK(column.StringOf(NumberAt(column.codes(), i), &text).ok());
    bytes += text.size();
  }
  return bytes;
}

void PrintSizes(const std::vector<const PartitionSnapshot*>& all) {
  struct Sizes {
    uint64_t values = 0, bytes = 0, raw = 0;
  };
  std::map<storage::ColumnForm, Sizes> forms;
  for (const PartitionSnapshot* snapshot : all) {
    for (const auto& [name, column] : snapshot->columns()) {
      Sizes& sizes = forms[column->form()];
      sizes.values += column->facts().values;
      sizes.raw += RawBytes(*column);
      for (const auto& [section_name, section] : snapshot->sections()) {
        if (section_name.Of(name.kind) != name || section_name == name) continue;
        sizes.bytes += section->bytes().size();
        if (section_name.kind == storage::SectionKind::kHeap) sizes.raw += section->bytes().size();
      }
    }
  }
  const std::map<storage::ColumnForm, const char*> names = {
      {storage::ColumnForm::kFixed, "fixed"},
      {storage::ColumnForm::kDictionary, "dictionary"},
      {storage::ColumnForm::kHeap, "heap"},
      {storage::ColumnForm::kEncoded, "encoded"}};
  for (const auto& [form, sizes] : forms) {
    std::printf("columns %s: %llu values, %llu bytes, %llu raw\n", names.at(form),
                static_cast<unsigned long long>(sizes.values),
                static_cast<unsigned long long>(sizes.bytes),
                static_cast<unsigned long long>(sizes.raw));
  }
}

Status ReadAll(const std::string& folder) {
  std::vector<std::shared_ptr<const PartitionSnapshot>> snapshots;
  ASSIGN_OR_RETURN(const auto names, storage::ListFolder(folder));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(auto snapshot, OpenFile(folder, name));
    for (const auto& [section_name, section] : snapshot->sections()) {
      RETURN_IF_ERROR(section->TouchAll());
    }
    snapshots.push_back(std::move(snapshot));
  }
  if (snapshots.empty()) return NotFound("There are no snapshots.");
  std::vector<const PartitionSnapshot*> all;
  for (const auto& snapshot : snapshots) all.push_back(snapshot.get());
  PrintSizes(all);
  // The longest of each kind in the first partition.
  const SnapshotColumn* column = nullptr;
  for (const auto& [name, one] : all[0]->columns()) {
    const bool fits = one->form() == storage::ColumnForm::kFixed && one->fixed_width() == 8;
    if (fits && (column == nullptr || one->facts().rows > column->facts().rows)) column = one.get();
  }
  if (column != nullptr) ReadColumn(*column);
  const SnapshotAdjacency* longest = nullptr;
  for (const auto& [name, lists] : all[0]->adjacencies()) {
    if (lists->facts().edges > 10'000 && !lists->is_wide()) ReadLists(*lists);
    const bool more = longest == nullptr || lists->facts().edges > longest->facts().edges;
    if (name.index == SectionIndex::kIn && lists->has_edge_ids() && more) longest = lists.get();
  }
  if (longest != nullptr) ReadInEdges(*all[0], *longest);
  ReadIds(*all[0]);
  return OkStatus();
}

}  // namespace
}  // namespace koios::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "koios_snapshot_reads SNAPSHOTS\n");
    return 2;
  }
  const koios::Status status = koios::bench::ReadAll(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", koios::MessageOf(status).c_str());
  return status.ok() ? 0 : 1;
}
