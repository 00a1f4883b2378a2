"""DuckDB in the process of worker.py. An edge that every row of a table has once is a column of it,
the rest are tables of two columns; what is looked up by has an index."""
import os
import shutil
import threading
import time

import duckdb
from worker import Worker

_TYPES = {"long": "BIGINT", "int": "BIGINT", "string": "VARCHAR", "strings": "VARCHAR",
          "bool": "BOOLEAN"}

_RMAT = ("CREATE TABLE node AS FROM file_node",
         "CREATE TABLE link AS SELECT \"from\" AS src, \"to\" AS dst FROM file_node_link_node")
_RMAT_INDEXES = ("CREATE UNIQUE INDEX node_id ON node (id)", "CREATE INDEX link_src ON link (src)")

_SNB = (
    "CREATE TABLE place AS SELECT p.id, p.name, p.type, e.\"to\" AS parentId "
    "FROM file_Place p LEFT JOIN file_Place_isPartOf_Place e ON e.\"from\" = p.id",
    "CREATE TABLE organisation AS SELECT o.id, o.type, o.name, e.\"to\" AS placeId "
    "FROM file_Organisation o "
    "LEFT JOIN file_Organisation_isLocatedIn_Place e ON e.\"from\" = o.id",
    "CREATE TABLE tagclass AS SELECT t.id, t.name, e.\"to\" AS parentId FROM file_TagClass t "
    "LEFT JOIN file_TagClass_isSubclassOf_TagClass e ON e.\"from\" = t.id",
    "CREATE TABLE tag AS SELECT t.id, t.name, e.\"to\" AS classId FROM file_Tag t "
    "LEFT JOIN file_Tag_hasType_TagClass e ON e.\"from\" = t.id",
    "CREATE TABLE person AS SELECT p.*, e.\"to\" AS cityId FROM file_Person p "
    "LEFT JOIN file_Person_isLocatedIn_Place e ON e.\"from\" = p.id",
    "CREATE TABLE forum AS SELECT f.*, e.\"to\" AS moderatorId FROM file_Forum f "
    "LEFT JOIN file_Forum_hasModerator_Person e ON e.\"from\" = f.id",
    "CREATE TABLE message AS SELECT m.id, m.post, m.imageFile, m.creationDate, m.locationIP, "
    "m.browserUsed, m.content, m.length, c.\"to\" AS creatorId, l.\"to\" AS countryId, "
    "r.\"to\" AS parentId, f.\"from\" AS forumId FROM file_Message m "
    "LEFT JOIN file_Message_hasCreator_Person c ON c.\"from\" = m.id "
    "LEFT JOIN file_Message_isLocatedIn_Place l ON l.\"from\" = m.id "
    "LEFT JOIN file_Message_replyOf_Message r ON r.\"from\" = m.id "
    "LEFT JOIN file_Forum_containerOf_Message f ON f.\"to\" = m.id",
    "CREATE TABLE knows AS SELECT \"from\" AS a, \"to\" AS b, creationDate "
    "FROM file_Person_knows_Person UNION ALL "
    "SELECT \"to\", \"from\", creationDate FROM file_Person_knows_Person ORDER BY 1, 2",
    "CREATE TABLE hasInterest AS SELECT \"from\" AS personId, \"to\" AS tagId "
    "FROM file_Person_hasInterest_Tag",
    "CREATE TABLE studyAt AS SELECT \"from\" AS personId, \"to\" AS organisationId, classYear "
    "FROM file_Person_studyAt_Organisation",
    "CREATE TABLE workAt AS SELECT \"from\" AS personId, \"to\" AS organisationId, workFrom "
    "FROM file_Person_workAt_Organisation",
    "CREATE TABLE hasMember AS SELECT \"from\" AS forumId, \"to\" AS personId, joinDate "
    "FROM file_Forum_hasMember_Person",
    "CREATE TABLE messageTag AS SELECT \"from\" AS messageId, \"to\" AS tagId "
    "FROM file_Message_hasTag_Tag",
    "CREATE TABLE likes AS SELECT \"from\" AS personId, \"to\" AS messageId, creationDate "
    "FROM file_Person_likes_Message",
)
_SNB_INDEXES = (
    "CREATE UNIQUE INDEX person_id ON person (id)",
    "CREATE UNIQUE INDEX message_id ON message (id)",
    "CREATE INDEX message_creator ON message (creatorId)",
    "CREATE INDEX message_parent ON message (parentId)",
    "CREATE INDEX forum_id ON forum (id)",
    "CREATE INDEX knows_a ON knows (a)",
)


def _file(path, spec, columns):
    """What reads a file; strings stay as they are where nothing is quoted."""
    quote = ", quote='', escape=''" if spec["delimiter"] == "|" else ""
    return "read_csv('%s', header=true, delim='%s', columns={%s}%s)" % (
        path, spec["delimiter"],
        ", ".join("'%s': '%s'" % (name, _TYPES[kind]) for name, kind in columns), quote)


class DuckDb(Worker):
    def __init__(self):
        super().__init__()
        self.connection = None

    def load(self, spec, path):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        self.open(spec, path, 4 << 30)
        for node in spec["nodes"]:
            self.connection.execute("CREATE TEMP VIEW file_%s AS FROM %s" % (
                node["label"], _file(node["file"], spec, node["columns"])))
        for edge in spec["edges"]:
            columns = [("from", "long"), ("to", "long")] + edge["columns"]
            self.connection.execute("CREATE TEMP VIEW file_%s_%s_%s AS FROM %s" % (
                edge["from"], edge["type"], edge["to"], _file(edge["file"], spec, columns)))
        rmat = spec["nodes"][0]["label"] == "node"
        started = time.perf_counter()
        for statement in _RMAT if rmat else _SNB:
            self.connection.execute(statement)
        seconds = time.perf_counter() - started
        for statement in _RMAT_INDEXES if rmat else _SNB_INDEXES:
            self.connection.execute(statement)
        self.connection.execute("CHECKPOINT")
        return {"seconds": seconds}

    def open(self, spec, path, memory_bytes):
        self.spec = spec
        self.connection = duckdb.connect(os.path.join(path, "db"), config={
            "memory_limit": "%dMB" % (memory_bytes >> 20),
            "temp_directory": os.path.join(path, "spill")})

    def query(self, text, parameters, timeout):
        timer = threading.Timer(timeout, self.connection.interrupt)
        timer.start()
        try:
            return self.connection.execute(text, parameters).fetchall()
        finally:
            timer.cancel()

    def reader(self):
        connection = self.connection.cursor()

        def read(number):
            return connection.execute("SELECT name FROM node WHERE id = $v",
                                      {"v": number}).fetchone()[0]
        return read


def make():
    return DuckDb()
