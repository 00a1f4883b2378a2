#include "tests/golden/simulated/golden_graphs.h"

#include <fstream>
#include <iterator>
#include <map>

#include "import/csv/row_parser.h"
#include "import/generate/generate.h"
#include "import/header/column_type.h"
#include "storage/temp_folder.h"

namespace koios::golden {
namespace {

constexpr size_t kMaxFields = 64;
constexpr uint64_t kMoneyScale = 100;  // as tests/golden/run

class Loader {
 public:
  // `is_edges`: rows are edges, between vertices loaded before.
  Status Load(const std::string& path, bool is_edges) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return NotFound("There is no file " + path + ".");
    import::Chunk chunk;
    chunk.bytes.assign(std::istreambuf_iterator<char>(in), {});
    import::RowParser rows(chunk, {}, kMaxFields);
    import::Row row;
    if (!rows.Next(&row)) return InvalidArgument(path + " is empty.");
    RETURN_IF_ERROR(ReadHeader(row));
    while (rows.Next(&row)) {
      RETURN_IF_ERROR(ReadRow(row));
      RETURN_IF_ERROR(is_edges ? AddEdge() : AddVertex());
    }
    return OkStatus();
  }
  std::shared_ptr<storage::MemoryGraph> graph() const { return graph_; }

 private:
  struct Column {
    std::string name;  // "~id", or a property's
    import::ColumnType type;
  };

  Status ReadHeader(const import::Row& row) {
    columns_.clear();
    for (const import::Field& field : row.fields) {
      const std::string_view text = field.text;
      const size_t colon = text.find(':');
      Column column;
      column.name = text.substr(0, colon);
      if (colon != std::string_view::npos) {
        ASSIGN_OR_RETURN(column.type, import::ParseColumnType(text.substr(colon + 1)));
      }
      columns_.push_back(std::move(column));
    }
    return OkStatus();
  }

  Status ReadRow(const import::Row& row) {
    meta_.clear();
    properties_.clear();
    for (size_t i = 0; i < row.fields.size() && i < columns_.size(); ++i) {
      const std::string_view text = row.fields[i].text;
      if (text.empty()) continue;
      if (columns_[i].name.starts_with('~')) {
        meta_[columns_[i].name] = text;
        continue;
      }
      Value value;
      std::string why;
      if (!import::ParseField(columns_[i].type, text, {}, &value, &why)) {
        return InvalidArgument(columns_[i].name + ": " + why);
      }
      properties_.emplace_back(columns_[i].name, std::move(value));
    }
    return OkStatus();
  }

  // Ids of these files are numbers. nullopt where there is none.
  StatusOr<std::optional<Value>> Id(const std::string& column) const {
    const auto found = meta_.find(column);
    if (found == meta_.end()) return std::optional<Value>();
    Value value;
    std::string why;
    if (!import::ParseScalar(import::ScalarType::kLong, found->second, &value, &why)) {
      return InvalidArgument(column + ": " + why);
    }
    return std::optional<Value>(value);
  }

  Status AddVertex() {
    ASSIGN_OR_RETURN(const std::optional<Value> id, Id("~id"));
    ASSIGN_OR_RETURN(const VertexRef vertex, graph_->AddVertex(id, meta_["~label"], properties_));
    if (id.has_value()) vertices_[id->AsInteger()] = vertex;
    return OkStatus();
  }

  StatusOr<VertexRef> End(const std::string& column) const {
    ASSIGN_OR_RETURN(const std::optional<Value> id, Id(column));
    const auto found = id.has_value() ? vertices_.find(id->AsInteger()) : vertices_.end();
    if (found == vertices_.end()) return InvalidArgument("An edge's end is not there.");
    return found->second;
  }

  Status AddEdge() {
    ASSIGN_OR_RETURN(const VertexRef out, End("~from"));
    ASSIGN_OR_RETURN(const VertexRef in, End("~to"));
    ASSIGN_OR_RETURN(const std::optional<Value> id, Id("~id"));
    return graph_->AddEdge(out, in, meta_["~label"], properties_, id).status();
  }

  std::shared_ptr<storage::MemoryGraph> graph_ = std::make_shared<storage::MemoryGraph>();
  std::map<int64_t, VertexRef> vertices_;
  std::vector<Column> columns_;
  std::map<std::string, std::string> meta_;  // of the row at hand
  storage::PropertyList properties_;
};

}  // namespace

StatusOr<std::shared_ptr<storage::MemoryGraph>> LoadGraph(const std::vector<std::string>& nodes,
                                                          const std::vector<std::string>& edges) {
  Loader loader;
  for (const std::string& path : nodes) RETURN_IF_ERROR(loader.Load(path, false));
  for (const std::string& path : edges) RETURN_IF_ERROR(loader.Load(path, true));
  return loader.graph();
}

StatusOr<std::shared_ptr<storage::MemoryGraph>> MakeGraph(const std::string& name,
                                                          const std::string& data_folder) {
  if (name == "scratch") return std::make_shared<storage::MemoryGraph>();
  if (name == "modern") {
    return LoadGraph({data_folder + "/modern-vertices.csv"}, {data_folder + "/modern-edges.csv"});
  }
  if (name != "money") return NotFound("There is no graph " + name + ".");
  const storage::TempFolder folder;
  import::GenerateOptions options;
  options.kind = "money";
  options.scale = kMoneyScale;
  options.out = folder.path();
  ASSIGN_OR_RETURN(const import::GeneratedGraph made, import::Generate(options));
  return LoadGraph(made.nodes, made.edges);
}

void IndexAll(storage::MemoryGraph* graph) {
  const Schema schema = graph->schema();
  std::map<LabelId, std::vector<std::string>> keys_of;
  for (const auto& [name, kind] : schema.property_kinds) {
    if (schema.vertex_counts.contains(name.first)) {
      keys_of[name.first].push_back(schema.keys.Name(name.second));
    }
  }
  for (const auto& [label, keys] : keys_of) {
    for (const std::string& key : keys) {
      graph->IndexVertices(schema.labels.Name(label), {key});
      if (key != keys[0]) graph->IndexVertices(schema.labels.Name(label), {key, keys[0]});
    }
  }
  // For what the cases add.
  for (const char* label : {"person", "account", "software"}) {
    if (schema.labels.Find(label) == kNoName) graph->IndexVertices(label, {"name"});
  }
}

}  // namespace koios::golden
