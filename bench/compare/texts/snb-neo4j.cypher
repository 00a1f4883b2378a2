// is2
MATCH (p:Person {id: $personId})<-[:hasCreator]-(m:Message)
WITH m ORDER BY m.creationDate DESC, m.id DESC LIMIT 10
MATCH (m)-[:replyOf*0..30]->(r:Post)-[:hasCreator]->(a:Person)
RETURN m.id AS id, coalesce(m.imageFile, m.content, ''), m.creationDate AS time, r.id, a.id,
       a.firstName, a.lastName
ORDER BY time DESC, id DESC
// ic1
MATCH (p:Person {id: $personId}), (f:Person {firstName: $firstName}) WHERE f.id <> $personId
MATCH w = shortestPath((p)-[:knows*1..3]-(f))
WITH f, length(w) AS distance ORDER BY distance, f.lastName, f.id LIMIT 20
MATCH (f)-[:isLocatedIn]->(c:Place)
OPTIONAL MATCH (f)-[s:studyAt]->(u:Organisation)-[:isLocatedIn]->(t:Place)
WITH f, distance, c, collect([u.name, s.classYear, t.name]) AS studies
OPTIONAL MATCH (f)-[w:workAt]->(o:Organisation)-[:isLocatedIn]->(h:Place)
WITH f, distance, c, studies, collect([o.name, w.workFrom, h.name]) AS jobs
RETURN f.id AS id, f.lastName AS name, distance, f.birthday, f.creationDate, f.gender,
       f.browserUsed, f.locationIP, f.email, f.language, c.name, studies, jobs
ORDER BY distance, name, id
// ic3
MATCH (p:Person {id: $personId})-[:knows*1..2]-(f:Person) WHERE f.id <> $personId
WITH DISTINCT f
MATCH (f)-[:isLocatedIn]->(:Place)-[:isPartOf]->(h:Place)
WHERE h.name <> $countryXName AND h.name <> $countryYName
MATCH (f)<-[:hasCreator]-(m:Message)-[:isLocatedIn]->(c:Place)
WHERE m.creationDate >= $startDate AND m.creationDate < $endDate
  AND c.name IN [$countryXName, $countryYName]
WITH f, sum(CASE WHEN c.name = $countryXName THEN 1 ELSE 0 END) AS x,
     sum(CASE WHEN c.name = $countryYName THEN 1 ELSE 0 END) AS y
WHERE x > 0 AND y > 0
RETURN f.id AS id, f.firstName, f.lastName, x, y, x + y AS n ORDER BY n DESC, id LIMIT 20
// ic7
MATCH (p:Person {id: $personId})<-[:hasCreator]-(m:Message)<-[l:likes]-(f:Person)
WITH p, f, m, l ORDER BY l.creationDate DESC, m.id
WITH p, f, collect({message: m, time: l.creationDate})[0] AS last
RETURN f.id AS id, f.firstName, f.lastName, last.time AS time, last.message.id,
       coalesce(last.message.imageFile, last.message.content, ''),
       (last.time - last.message.creationDate) / 60000, NOT EXISTS { MATCH (f)-[:knows]-(p) }
ORDER BY time DESC, id LIMIT 20
// ic10
MATCH (p:Person {id: $personId})-[:knows*2..2]-(f:Person)
WHERE f.id <> $personId AND NOT EXISTS { MATCH (p)-[:knows]-(f) }
WITH DISTINCT p, f, datetime({epochMillis: f.birthday}) AS born
WHERE (born.month = $month AND born.day >= 21) OR (born.month = $month % 12 + 1 AND born.day <= 21)
MATCH (f)-[:isLocatedIn]->(c:Place)
OPTIONAL MATCH (f)<-[:hasCreator]-(m:Post)
WITH p, f, c, m, EXISTS { MATCH (m)-[:hasTag]->(:Tag)<-[:hasInterest]-(p) } AS liked
RETURN f.id AS id, f.firstName, f.lastName,
       sum(CASE WHEN m IS NULL THEN 0 WHEN liked THEN 1 ELSE -1 END) AS score, f.gender, c.name
ORDER BY score DESC, id LIMIT 10
// ic12
MATCH (p:Person {id: $personId})-[:knows]-(f:Person)<-[:hasCreator]-(c:Comment)-[:replyOf]->(m:Post)
MATCH (m)-[:hasTag]->(t:Tag)-[:hasType]->(:TagClass)-[:isSubclassOf*0..]->(:TagClass {name: $tagClassName})
WITH f, t.name AS tag, c ORDER BY tag
RETURN f.id AS id, f.firstName, f.lastName, collect(DISTINCT tag), count(DISTINCT c) AS n
ORDER BY n DESC, id LIMIT 20
// ic13
MATCH (a:Person {id: $person1Id}), (b:Person {id: $person2Id})
OPTIONAL MATCH w = shortestPath((a)-[:knows*]-(b))
RETURN coalesce(length(w), -1)
// ic14
MATCH (a:Person {id: $person1Id}), (b:Person {id: $person2Id})
MATCH w = allShortestPaths((a)-[:knows*]-(b))
WITH [p IN nodes(w) | p.id] AS ids, nodes(w) AS persons
UNWIND range(0, size(persons) - 2) AS i
WITH ids, persons[i] AS p, persons[i + 1] AS q
OPTIONAL MATCH (p)<-[:hasCreator]-(:Message)-[:replyOf]->(x:Message)-[:hasCreator]->(q)
WITH ids, p, q, sum(CASE WHEN x IS NULL THEN 0.0 WHEN x:Post THEN 1.0 ELSE 0.5 END) AS there
OPTIONAL MATCH (q)<-[:hasCreator]-(:Message)-[:replyOf]->(x:Message)-[:hasCreator]->(p)
WITH ids, p, q, there,
     sum(CASE WHEN x IS NULL THEN 0.0 WHEN x:Post THEN 1.0 ELSE 0.5 END) AS back
RETURN ids, sum(there + back) AS weight ORDER BY weight DESC
