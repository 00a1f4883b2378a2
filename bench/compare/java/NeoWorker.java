// Neo4j in its client's process: answers each line of JSON on the standard input with one, as
// worker.py does. Every label has an index by id; that a message is a post or a comment is a label.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.GraphDatabaseService;
import org.neo4j.graphdb.Label;
import org.neo4j.graphdb.Result;
import org.neo4j.graphdb.Transaction;

public class NeoWorker {
  private static final Map<String, String> NAMED =
      Map.of("Tag", "name", "Place", "name", "TagClass", "name", "Person", "firstName");
  private static final long RANDOM_STEP = 2654435761L;

  private DatabaseManagementService service;
  private GraphDatabaseService database;

  private void open(String path) {
    service =
        new DatabaseManagementServiceBuilder(Path.of(path))
            .setConfig(GraphDatabaseSettings.pagecache_memory, 2L << 30)
            .build();
    database = service.database("neo4j");
    if (!database.isAvailable(120_000)) throw new IllegalStateException("it is not available");
  }

  // Every label by its id, and what is looked up by name.
  private Map<String, Object> index(List<String> labels) {
    for (String label : labels) {
      try (Transaction transaction = database.beginTx()) {
        transaction.schema().constraintFor(Label.label(label)).assertPropertyIsUnique("id").create();
        transaction.commit();
      }
    }
    for (Map.Entry<String, String> index : NAMED.entrySet()) {
      if (!labels.contains(index.getKey())) continue;
      try (Transaction transaction = database.beginTx()) {
        transaction.schema().indexFor(Label.label(index.getKey())).on(index.getValue()).create();
        transaction.commit();
      }
    }
    try (Transaction transaction = database.beginTx()) {
      transaction.schema().awaitIndexesOnline(10, TimeUnit.MINUTES);
    }
    service.shutdown();
    return Map.of();
  }

  private static void delete(File file) {
    final File[] inside = file.listFiles();
    if (inside != null) for (File one : inside) delete(one);
    file.delete();
  }

  private Map<String, Object> timed(String text, Map<String, Object> parameters, double timeout) {
    final List<List<Object>> rows = new ArrayList<>();
    final long started = System.nanoTime();
    try (Transaction transaction =
            database.beginTx((long) (timeout * 1000), TimeUnit.MILLISECONDS);
        Result result = transaction.execute(text, parameters)) {
      final List<String> columns = result.columns();
      while (result.hasNext()) {
        final Map<String, Object> row = result.next();
        final List<Object> values = new ArrayList<>(columns.size());
        for (String column : columns) values.add(row.get(column));
        rows.add(values);
      }
    }
    return Map.of("seconds", (System.nanoTime() - started) / 1e9, "rows", rows);
  }

  private interface Operation {
    void run(long number) throws Exception;
  }

  // Each connection is a thread.
  private static Map<String, Object> work(int connections, double seconds, Operation operation)
      throws Exception {
    final List<Double> times = Collections.synchronizedList(new ArrayList<>());
    final List<String> errors = Collections.synchronizedList(new ArrayList<>());
    final List<Thread> threads = new ArrayList<>();
    final long begin = System.nanoTime();
    for (int i = 0; i < connections; ++i) {
      final long first = i + 1;
      threads.add(
          new Thread(
              () -> {
                final List<Double> mine = new ArrayList<>();
                long number = first;
                try {
                  while ((System.nanoTime() - begin) / 1e9 < seconds) {
                    number = (number * RANDOM_STEP + 1) & Long.MAX_VALUE;
                    final long started = System.nanoTime();
                    operation.run(number);
                    mine.add((System.nanoTime() - started) / 1e9);
                  }
                } catch (Exception e) {
                  errors.add(e.toString());
                }
                times.addAll(mine);
              }));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    final double took = (System.nanoTime() - begin) / 1e9;
    if (!errors.isEmpty()) throw new IllegalStateException(errors.get(0));
    Collections.sort(times);
    return Map.of(
        "rate", times.size() / took,
        "median", times.get(times.size() / 2),
        "p95", times.get(times.size() * 95 / 100));
  }

  private void readOne(long number, long vertices) {
    final long vertex = number % vertices;
    try (Transaction transaction = database.beginTx();
        Result result =
            transaction.execute("MATCH (v:node {id: $v}) RETURN v.name", Map.of("v", vertex))) {
      if (!result.next().get("v.name").equals("n" + vertex)) {
        throw new IllegalStateException("a wrong name");
      }
    }
  }

  private void commitOne(long number) {
    try (Transaction transaction = database.beginTx()) {
      transaction.execute("CREATE (:mark {n: $n})", Map.of("n", number)).close();
      transaction.commit();
    }
  }

  // On a new graph, in place of the one that is open.
  private Map<String, Object> commits(int connections, double seconds, String path)
      throws Exception {
    service.shutdown();
    delete(new File(path));
    try {
      open(path);
      return work(connections, seconds, this::commitOne);
    } finally {
      service.shutdown();
      delete(new File(path));
    }
  }

  private Map<String, Object> answer(Map<String, Object> request) throws Exception {
    final String path = (String) request.get("path");
    final int connections = ((Number) request.getOrDefault("connections", 1)).intValue();
    final double seconds = ((Number) request.getOrDefault("seconds", 1.0)).doubleValue();
    switch ((String) request.get("do")) {
      case "index":
        return index((List<String>) request.get("labels"));
      case "open":
        open(path);
        return Map.of();
      case "timed":
        return timed(
            (String) request.get("text"),
            (Map<String, Object>) request.get("parameters"),
            ((Number) request.get("timeout")).doubleValue());
      case "read_points":
        final long vertices = ((Number) request.get("vertices")).longValue();
        return work(connections, seconds, number -> readOne(number, vertices));
      case "commit":
        return commits(connections, seconds, path);
      default:
        throw new IllegalArgumentException("no such request");
    }
  }

  public static void main(String[] words) throws IOException {
    final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    final NeoWorker worker = new NeoWorker();
    final ObjectMapper json = new ObjectMapper();
    final BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Map<String, Object> answer;
      try {
        answer = worker.answer(json.readValue(line, Map.class));
      } catch (Exception e) {
        answer = Map.of("error", e.getClass().getSimpleName() + ": " + e.getMessage());
      }
      out.println(json.writeValueAsString(answer));
    }
    System.exit(0);
  }
}
