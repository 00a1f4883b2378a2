"""The data sets as CSV that every peer can load, kept in build/compare: rmat graphs, and LDBC SNB
from the shared folder with one file for each kind of vertex and of edge."""
import json
import os
import shutil
import subprocess

import fetch
from driver import environment

BUCKETS = 100
_BUCKET_STEP = 7919  # as in limit.cc

# label: columns and their types. An id is unique in its label; a message's kind is a label too.
_SNB_NODES = {
    "Place": "id:long name:string url:string type:string",
    "Organisation": "id:long type:string name:string url:string",
    "Tag": "id:long name:string url:string",
    "TagClass": "id:long name:string url:string",
    "Person": "id:long firstName:string lastName:string gender:string birthday:long "
              "creationDate:long locationIP:string browserUsed:string language:strings "
              "email:strings",
    "Forum": "id:long title:string creationDate:long",
    "Message": "id:long kind:string post:bool imageFile:string creationDate:long locationIP:string "
               "browserUsed:string language:string content:string length:int",
}
# (type, from, to, columns, files)
_SNB_EDGES = (
    ("isPartOf", "Place", "Place", "", "place_isPartOf_place"),
    ("isLocatedIn", "Organisation", "Place", "", "organisation_isLocatedIn_place"),
    ("isLocatedIn", "Person", "Place", "", "person_isLocatedIn_place"),
    ("isLocatedIn", "Message", "Place", "", "post_isLocatedIn_place comment_isLocatedIn_place"),
    ("hasType", "Tag", "TagClass", "", "tag_hasType_tagclass"),
    ("isSubclassOf", "TagClass", "TagClass", "", "tagclass_isSubclassOf_tagclass"),
    ("hasInterest", "Person", "Tag", "", "person_hasInterest_tag"),
    ("studyAt", "Person", "Organisation", "classYear:int", "person_studyAt_organisation"),
    ("workAt", "Person", "Organisation", "workFrom:int", "person_workAt_organisation"),
    ("knows", "Person", "Person", "creationDate:long", "person_knows_person"),
    ("hasModerator", "Forum", "Person", "", "forum_hasModerator_person"),
    ("hasMember", "Forum", "Person", "joinDate:long", "forum_hasMember_person"),
    ("hasTag", "Forum", "Tag", "", "forum_hasTag_tag"),
    ("hasTag", "Message", "Tag", "", "post_hasTag_tag comment_hasTag_tag"),
    ("containerOf", "Forum", "Message", "", "forum_containerOf_post"),
    ("hasCreator", "Message", "Person", "", "post_hasCreator_person comment_hasCreator_person"),
    ("replyOf", "Message", "Message", "", "comment_replyOf_post comment_replyOf_comment"),
    ("likes", "Person", "Message", "creationDate:long",
     "person_likes_post person_likes_comment"),
)


class DataSet:
    """name; kind: rmat or snb; folder: where everybody's copy of it is; spec: its files, see
    _finish; source: the shared folder of an snb graph; scale: of an rmat graph."""

    def __init__(self, name, kind, source=None, scale=0):
        self.name, self.kind, self.source, self.scale = name, kind, source, scale
        self.folder = os.path.join(fetch.root(), name)
        self.spec = None

    def csv(self, *parts):
        return os.path.join(self.folder, "csv", *parts)

    def prepare(self, koios):
        """Makes the CSV files unless they are there. The spec names them in full, so that a folder
        that was moved is made anew."""
        done = self.csv("spec.json")
        if os.path.exists(done):
            with open(done, encoding="utf-8") as f:
                self.spec = json.load(f)
            if os.path.dirname(self.spec["nodes"][0]["file"]) == self.csv():
                return
        shutil.rmtree(self.csv(), ignore_errors=True)
        os.makedirs(self.csv())
        self.spec = self._rmat(koios) if self.kind == "rmat" else self._snb()
        with open(done, "w", encoding="utf-8") as f:
            json.dump(self.spec, f)

    def _rmat(self, koios):
        subprocess.run([koios, "generate", "rmat", "--scale", str(self.scale), "--out",
                        self.csv()], stdout=subprocess.DEVNULL, check=True)
        vertices, edges = self.csv("vertices.csv"), self.csv("edges.csv")
        made = edges + ".made"
        os.rename(edges, made)
        with open(made, "rb") as old, open(edges, "wb") as f:
            old.readline()
            f.write(b":START_ID,:END_ID\n")
            shutil.copyfileobj(old, f, 1 << 20)
        os.unlink(made)
        with open(vertices, "w", encoding="utf-8") as f:
            f.write("id:ID,bucket:int,name\n")
            for v in range(1 << self.scale):
                f.write("%d,%d,n%d\n" % (v, v * _BUCKET_STEP % BUCKETS, v))
        return _finish(",", [("node", "id:long bucket:int name:string", vertices)],
                       [("link", "node", "node", "", edges)])

    def _snb(self):
        nodes = []
        for label, columns in _SNB_NODES.items():
            path = self.csv(label + ".csv")
            header = _node_header(label, columns)
            if label == "Message":
                self._messages(path, header)
            else:
                self._join(path, header, [label.lower()])
            nodes.append((label, columns, path))
        edges = []
        for kind, tail, head, columns, files in _SNB_EDGES:
            path = self.csv("%s_%s_%s.csv" % (tail, kind, head))
            self._join(path, _edge_header(tail, head, columns), files.split())
            edges.append((kind, tail, head, columns, path))
        return _finish("|", nodes, edges)

    def _lines(self, table):
        for part in ("static", "dynamic"):
            path = os.path.join(self.source, part, table + "_0_0.csv.zst")
            if os.path.exists(path):
                with subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE) as process:
                    next(process.stdout)
                    yield from process.stdout

    def _join(self, path, header, tables):
        with open(path, "wb") as f:
            f.write(header)
            for table in tables:
                f.writelines(self._lines(table))

    def _messages(self, path, header):
        with open(path, "wb") as f:
            f.write(header)
            for line in self._lines("post"):
                number, rest = line.split(b"|", 1)
                f.write(number + b"|Post|true|" + rest)
            for line in self._lines("comment"):
                number, time, place, browser, rest = line.split(b"|", 4)
                f.write(b"|".join((number, b"Comment|false|", time, place, browser, b"", rest)))

    def csv_bytes(self):
        return sum(os.path.getsize(x["file"]) for x in self.spec["nodes"] + self.spec["edges"])

    def num_rows(self):
        return self.spec["num_vertices"] + self.spec["num_edges"]


# Headers are neo4j-admin's; the others take the names from the spec.
_HEADER_TYPES = {"long": ":long", "int": ":int", "bool": ":boolean", "string": "", "strings": ""}


def _header(columns):
    return [name + _HEADER_TYPES[kind] for name, kind in _columns(columns)]


def _node_header(label, columns):
    names = ["id:ID(%s)" % label] + [":LABEL" if x == "kind" else x for x in _header(columns)[1:]]
    return "|".join(names).encode() + b"\n"


def _edge_header(tail, head, columns):
    names = [":START_ID(%s)" % tail, ":END_ID(%s)" % head] + _header(columns)
    return "|".join(names).encode() + b"\n"


def _columns(text):
    return [x.split(":") for x in text.split()]


def _count(path):
    with open(path, "rb") as f:
        return sum(block.count(b"\n") for block in iter(lambda: f.read(1 << 20), b"")) - 1


def _finish(delimiter, nodes, edges):
    """The files with what is in them. Each has a header; of edges the first two columns are ids."""
    return {
        "delimiter": delimiter,
        "nodes": [{"label": label, "columns": _columns(columns), "file": path}
                  for label, columns, path in nodes],
        "edges": [{"type": kind, "from": tail, "to": head, "columns": _columns(columns),
                   "file": path} for kind, tail, head, columns, path in edges],
        "num_vertices": sum(_count(path) for _, _, path in nodes),
        "num_edges": sum(_count(path) for *_, path in edges),
    }


def named(name):
    """None when an snb graph is not there."""
    if name.startswith("rmat-"):
        return DataSet(name, "rmat", scale=int(name[len("rmat-"):]))
    source = environment.shared_folder(os.path.join("data", name))
    return DataSet(name, "snb", source=source) if source and shutil.which("zstd") else None
