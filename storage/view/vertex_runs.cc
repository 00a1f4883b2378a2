#include "storage/view/vertex_runs.h"

#include <algorithm>

namespace koios::storage {

VertexRuns::VertexRuns(std::span<const PartitionSnapshot* const> snapshots) {
  for (const PartitionSnapshot* snapshot : snapshots) {
    const std::optional<std::span<const LabelRun>> runs = snapshot->Runs();
    if (!runs) return;
    const uint32_t partition = snapshot->partition();
    const auto first_table = static_cast<uint32_t>(tables_.size());
    begins_.push_back(static_cast<uint32_t>(runs_.size()));
    for (uint32_t set = 0; set < snapshot->label_sets().size(); ++set) {
      tables_.push_back({partition, set});
    }
    for (const LabelRun& run : *runs) {
      const std::vector<LabelId>& labels = snapshot->label_sets()[run.set].labels;
      runs_.push_back({VertexRef::Make(partition, run.first_local), run.count, run.first_row,
                       first_table + run.set, labels.empty() ? kNoName : labels.front()});
    }
  }
  begins_.push_back(static_cast<uint32_t>(runs_.size()));
  whole_ = true;
}

VertexRuns::Labelled::Labelled(const VertexRuns& runs, std::span<const LabelId> labels)
    : num_partitions_(runs.begins_.size() - 1) {
  std::vector<std::vector<Stretch>> of(num_partitions_);
  for (size_t partition = 0; partition < of.size(); ++partition) {
    for (uint32_t i = runs.begins_[partition]; i < runs.begins_[partition + 1]; ++i) {
      const Run& run = runs.runs_[i];
      if (std::find(labels.begin(), labels.end(), run.label) == labels.end()) continue;
      std::vector<Stretch>& some = of[partition];
      if (!some.empty() && some.back().first.bits + some.back().count == run.first.bits) {
        some.back().count += run.count;
      } else {
        some.push_back({run.first, run.count});
      }
    }
    stride_ = std::max(stride_, of[partition].size());
  }
  stretches_.resize((num_partitions_ + 1) * stride_);
  for (size_t partition = 0; partition < of.size(); ++partition) {
    std::copy(of[partition].begin(), of[partition].end(),
              stretches_.begin() + static_cast<std::ptrdiff_t>(partition * stride_));
  }
}

VertexRuns::Reader::Reader(const VertexRuns& runs, std::vector<uint32_t>* lasts)
    : runs_(runs), lasts_(*lasts) {
  lasts_.assign(runs.begins_.begin(), runs.begins_.end() - 1);
}

const VertexRuns::Run* VertexRuns::Reader::Search(VertexRef vertex) {
  const uint32_t partition = vertex.partition();
  for (uint32_t i = runs_.begins_[partition]; i < runs_.begins_[partition + 1]; ++i) {
    if (!runs_.runs_[i].Has(vertex)) continue;
    lasts_[partition] = i;
    return run_ = &runs_.runs_[i];
  }
  return nullptr;
}

}  // namespace koios::storage
