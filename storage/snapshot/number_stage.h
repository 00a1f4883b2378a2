// NumberStage: an array of numbers on its way into a section that is 4 bytes wide while all of them
// fit, and 8 otherwise. What is gathered narrow is widened when it is written, at most once.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "storage/snapshot/format.h"
#include "storage/snapshot/snapshot_writer.h"
#include "storage/snapshot/spill.h"

namespace koios::storage {

// What those who build sections share.
struct StageContext {
  SpillSpace* space = nullptr;
  NarrowRefs refs{1};
  uint64_t most_narrow = 0xFFFFFFFF;  // larger numbers make an array wide

  uint8_t WidthFor(uint64_t largest) const { return largest <= most_narrow ? 4 : 8; }
};

struct PlainNumbers {
  uint64_t most_narrow;
  bool Fits(uint64_t number) const { return number <= most_narrow; }
  uint32_t Narrow(uint64_t number) const { return static_cast<uint32_t>(number); }
  uint64_t Widen(uint32_t narrow) const { return narrow; }
};
struct VertexNumbers {
  NarrowRefs refs;
  bool Fits(uint64_t bits) const { return refs.Fits(VertexRef{bits}); }
  uint32_t Narrow(uint64_t bits) const { return refs.Narrow(VertexRef{bits}); }
  uint64_t Widen(uint32_t narrow) const { return refs.Widen(narrow).bits; }
};

template <typename Numbers>
class NumberStage {
 public:
  NumberStage(SpillSpace* space, Numbers numbers)
      : numbers_(numbers), narrow_(space), wide_(space) {}

  void Add(uint64_t number) {
    if (is_wide_ || !numbers_.Fits(number)) {
      is_wide_ = true;
      wide_.AppendNumber(number);
    } else {
      narrow_.AppendNumber(numbers_.Narrow(number));
    }
  }
  uint64_t size() const { return narrow_.bytes() / 4 + wide_.bytes() / 8; }
  uint64_t bytes() const { return size() * (is_wide_ ? 8 : 4); }

  Status Write(const SectionName& name, SnapshotWriter* writer) const {
    writer->Begin(name, is_wide_ ? 8 : 4, bytes());
    SpillReader narrow(narrow_), wide(wide_);
    if (is_wide_) {
      for (uint32_t number = 0; narrow.ReadNumber(&number);) {
        writer->AppendNumber(numbers_.Widen(number));
      }
    } else {
      Copy(&narrow, writer);
    }
    Copy(&wide, writer);
    RETURN_IF_ERROR(narrow.status());
    RETURN_IF_ERROR(wide.status());
    return writer->End(size());
  }

 private:
  static void Copy(SpillReader* from, SnapshotWriter* writer) {
    for (std::string_view bytes = from->Next(); !bytes.empty(); bytes = from->Next()) {
      writer->Append(bytes);
    }
  }

  const Numbers numbers_;
  bool is_wide_ = false;
  SpillBuffer narrow_, wide_;
};

}  // namespace koios::storage
