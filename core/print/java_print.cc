#include "core/print/java_print.h"

#include "core/path/path.h"
#include "core/print/value_print.h"

namespace koios {
namespace {

class JavaPrinter {
 public:
  explicit JavaPrinter(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Recurses at most kMaxValueDepth deep.
  void Print(const Value& value) {
    if (full()) return;
    if (value.is_collection()) return PutMembers("[", value.AsList());
    if (value.kind() == ValueKind::kPath) return PutMembers("path[", PathObjects(value.AsPath()));
    if (value.kind() == ValueKind::kMap) return PutMap(value.AsMap());
    out_ += PrintValue(value, {.max_bytes = max_bytes_ + 1});
  }

  std::string Take() { return std::move(out_); }

 private:
  bool full() const { return out_.size() > max_bytes_; }

  template <typename Members>
  void PutMembers(const char* open, const Members& members) {
    out_ += open;
    for (size_t i = 0; i < members.size() && !full(); ++i) {
      if (i > 0) out_ += ", ";
      Print(members[i]);
    }
    out_ += "]";
  }

  void PutMap(const ValueMap& map) {
    out_ += "{";
    for (size_t i = 0; i < map.size() && !full(); ++i) {
      if (i > 0) out_ += ", ";
      Print(map[i].first);
      out_ += "=";
      Print(map[i].second);
    }
    out_ += "}";
  }

  const size_t max_bytes_;
  std::string out_;
};

}  // namespace

std::string PrintAsJava(const Value& value, size_t max_bytes) {
  JavaPrinter printer(max_bytes);
  printer.Print(value);
  return printer.Take();
}

}  // namespace koios
