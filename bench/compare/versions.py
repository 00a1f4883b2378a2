"""What the peers are fetched as; the only place with their versions."""

# By name of the peer: packages of its Python.
PYTHON = {"kuzu": ["kuzu==0.11.3"], "duckdb": ["duckdb==2.0.0"]}

# By name of the peer: group, artifact and version of its Java libraries.
JAVA = {
    "tinkergraph": [("org.apache.tinkerpop", "gremlin-server", "3.8.1"),
                    ("org.apache.tinkerpop", "tinkergraph-gremlin", "3.8.1"),
                    ("org.slf4j", "slf4j-simple", "1.7.25")],
    "neo4j": [("org.neo4j", "neo4j", "5.26.0")],
}
