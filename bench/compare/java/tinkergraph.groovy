// Gremlin Server runs this when it starts: reads the CSV files of a data set into `graph`. The file
// that names them is the system property compare.spec.

import groovy.json.JsonSlurper
import groovy.transform.CompileStatic
import org.apache.tinkerpop.gremlin.structure.T
import org.apache.tinkerpop.gremlin.structure.Vertex
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph

@CompileStatic
class CsvLoader {
  static Object typed(String text, String kind) {
    if (kind == 'long') return Long.valueOf(text)
    if (kind == 'int') return Integer.valueOf(text)
    if (kind == 'strings') return text.tokenize(';')
    return text
  }

  // Vertices of one file by their ids there.
  static Map<Long, Vertex> vertices(TinkerGraph graph, Map file, String delimiter, boolean own_ids) {
    List<List<String>> columns = (List<List<String>>) file.columns
    Map<Long, Vertex> found = new HashMap<>()
    new File((String) file.file).withReader('UTF-8') { Reader text ->
      BufferedReader reader = new BufferedReader(text)
      reader.readLine()
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        String[] fields = line.split(delimiter, -1)
        List<Object> parts = new ArrayList<>()
        if (own_ids) { parts.add(T.id); parts.add(Long.valueOf(fields[0])) }
        String label = (String) file.label
        for (int i = own_ids ? 1 : 0; i < columns.size(); ++i) {
          String name = columns.get(i).get(0)
          if (name == 'kind') label = fields[i]
          if (fields[i].isEmpty() || name == 'kind' || name == 'post') continue
          parts.add(name)
          parts.add(typed(fields[i], columns.get(i).get(1)))
        }
        parts.add(T.label)
        parts.add(label)
        found.put(Long.valueOf(fields[0]), graph.addVertex(parts.toArray()))
      }
    }
    return found
  }

  static void edges(Map file, String delimiter, Map<Long, Vertex> tails, Map<Long, Vertex> heads) {
    List<List<String>> columns = (List<List<String>>) file.columns
    new File((String) file.file).withReader('UTF-8') { Reader text ->
      BufferedReader reader = new BufferedReader(text)
      reader.readLine()
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        String[] fields = line.split(delimiter, -1)
        Object[] properties = new Object[2 * columns.size()]
        for (int i = 0; i < columns.size(); ++i) {
          properties[2 * i] = columns.get(i).get(0)
          properties[2 * i + 1] = typed(fields[2 + i], columns.get(i).get(1))
        }
        tails.get(Long.valueOf(fields[0])).addEdge((String) file.type,
            heads.get(Long.valueOf(fields[1])), properties)
      }
    }
  }

  static void load(TinkerGraph graph, String path) {
    Map spec = (Map) new JsonSlurper().parse(new File(path), 'UTF-8')
    String delimiter = '[' + spec.delimiter + ']'
    List<Map> nodes = (List<Map>) spec.nodes
    for (String key : ['id', 'name', 'firstName']) graph.createIndex(key, Vertex.class)
    Map<String, Map<Long, Vertex>> found = new HashMap<>()
    long started = System.nanoTime()
    for (Map file : nodes) {
      found.put((String) file.label, vertices(graph, file, delimiter, nodes.size() == 1))
    }
    for (Map file : (List<Map>) spec.edges) {
      edges(file, delimiter, found.get((String) file.from), found.get((String) file.to))
    }
    System.err.println('loaded in ' + (System.nanoTime() - started) / 1e9)
  }
}

CsvLoader.load((TinkerGraph) graph, System.getProperty('compare.spec'))
[g: traversal().withEmbedded(graph)]
