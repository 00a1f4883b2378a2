// is1
MATCH (p:Person {id: $personId})-[:isLocatedIn]->(c:Place)
RETURN p.firstName, p.lastName, p.birthday, p.locationIP, p.browserUsed, c.id, p.gender,
       p.creationDate
// is2
MATCH (p:Person {id: $personId})<-[:hasCreator]-(m:Message)
WITH m ORDER BY m.creationDate DESC, m.id DESC LIMIT 10
OPTIONAL MATCH (m)-[e:replyOf* SHORTEST 1..30]->(r:Message) WHERE r.post
WITH m, coalesce(r.id, m.id) AS root
MATCH (r:Message {id: root})-[:hasCreator]->(a:Person)
RETURN m.id AS id, coalesce(m.imageFile, m.content, ''), m.creationDate AS time, r.id, a.id,
       a.firstName, a.lastName
ORDER BY time DESC, id DESC
// is3
MATCH (p:Person {id: $personId})-[k:knows]-(f:Person)
RETURN f.id AS id, f.firstName, f.lastName, k.creationDate AS time ORDER BY time DESC, id
// is4
MATCH (m:Message {id: $messageId}) RETURN m.creationDate, coalesce(m.imageFile, m.content, '')
// is5
MATCH (m:Message {id: $messageId})-[:hasCreator]->(p:Person)
RETURN p.id, p.firstName, p.lastName
// is6
MATCH (m:Message {id: $messageId})-[:replyOf*0..30]->(r:Message)<-[:containerOf]-(f:Forum),
      (f)-[:hasModerator]->(p:Person)
RETURN f.id, f.title, p.id, p.firstName, p.lastName
// is7
MATCH (m:Message {id: $messageId})-[:hasCreator]->(c:Person)
MATCH (m)<-[:replyOf]-(r:Message)-[:hasCreator]->(a:Person)
RETURN r.id, coalesce(r.content, ''), r.creationDate AS time, a.id AS author, a.firstName,
       a.lastName, EXISTS { MATCH (a)-[:knows]-(c) }
ORDER BY time DESC, author
// ic1
MATCH (p:Person {id: $personId})-[k:knows* SHORTEST 1..3]-(f:Person)
WHERE f.firstName = $firstName AND f.id <> $personId
WITH f, length(k) AS distance ORDER BY distance, f.lastName, f.id LIMIT 20
MATCH (f)-[:isLocatedIn]->(c:Place)
OPTIONAL MATCH (f)-[s:studyAt]->(u:Organisation)-[:isLocatedIn]->(t:Place)
WITH f, distance, c, collect([u.name, CAST(s.classYear AS STRING), t.name]) AS studies
OPTIONAL MATCH (f)-[w:workAt]->(o:Organisation)-[:isLocatedIn]->(h:Place)
WITH f, distance, c, studies, collect([o.name, CAST(w.workFrom AS STRING), h.name]) AS jobs
RETURN f.id AS id, f.lastName AS name, distance, f.birthday, f.creationDate, f.gender,
       f.browserUsed, f.locationIP, f.email, f.language, c.name, studies, jobs
ORDER BY distance, name, id
// ic2
MATCH (p:Person {id: $personId})-[:knows]-(f:Person)<-[:hasCreator]-(m:Message)
WHERE m.creationDate <= $maxDate
RETURN f.id, f.firstName, f.lastName, m.id AS id, coalesce(m.imageFile, m.content, ''),
       m.creationDate AS time
ORDER BY time DESC, id LIMIT 20
// ic3
MATCH (p:Person {id: $personId})-[:knows*1..2]-(f:Person) WHERE f.id <> $personId
WITH DISTINCT f
MATCH (c:Place)<-[:isLocatedIn]-(m:Message)-[:hasCreator]->(f),
      (f)-[:isLocatedIn]->(:Place)-[:isPartOf]->(h:Place)
WHERE h.name <> $countryXName AND h.name <> $countryYName
  AND m.creationDate >= $startDate AND m.creationDate < $endDate
  AND (c.name = $countryXName OR c.name = $countryYName)
WITH f, CAST(sum(CASE WHEN c.name = $countryXName THEN 1 ELSE 0 END) AS INT64) AS x,
     CAST(sum(CASE WHEN c.name = $countryYName THEN 1 ELSE 0 END) AS INT64) AS y
WHERE x > 0 AND y > 0
RETURN f.id AS id, f.firstName, f.lastName, x, y, x + y AS n ORDER BY n DESC, id LIMIT 20
// ic4
MATCH (p:Person {id: $personId})-[:knows]-(f:Person)<-[:hasCreator]-(m:Message)
WHERE m.post AND m.creationDate < $endDate
MATCH (m)-[:hasTag]->(t:Tag)
WITH t.name AS name, count(*) AS n, min(m.creationDate) AS first WHERE first >= $startDate
RETURN name, n ORDER BY n DESC, name LIMIT 10
// ic5
MATCH (p:Person {id: $personId})-[:knows*1..2]-(f:Person) WHERE f.id <> $personId
WITH DISTINCT f
MATCH (f)<-[j:hasMember]-(o:Forum) WHERE j.joinDate > $minDate
WITH f, o
OPTIONAL MATCH (o)-[:containerOf]->(m:Message)-[:hasCreator]->(f)
WITH o.id AS id, o.title AS title, count(m.id) AS n ORDER BY n DESC, id LIMIT 20
RETURN title, n
// ic6
MATCH (p:Person {id: $personId})-[:knows*1..2]-(f:Person) WHERE f.id <> $personId
WITH DISTINCT f
MATCH (f)<-[:hasCreator]-(m:Message)-[:hasTag]->(x:Tag {name: $tagName}) WHERE m.post
WITH m
MATCH (m)-[:hasTag]->(t:Tag) WHERE t.name <> $tagName
RETURN t.name AS name, count(*) AS n ORDER BY n DESC, name LIMIT 10
// ic7
MATCH (p:Person {id: $personId})<-[:hasCreator]-(m:Message)<-[l:likes]-(f:Person)
WITH f.id AS friend, max(l.creationDate) AS latest ORDER BY latest DESC, friend LIMIT 20
MATCH (p:Person {id: $personId})<-[:hasCreator]-(m:Message)<-[l:likes]-(f:Person)
WHERE l.creationDate = latest AND f.id = friend
WITH friend, latest, min(m.id) AS first
MATCH (p:Person {id: $personId})<-[:hasCreator]-(m:Message)<-[l:likes]-(f:Person)
WHERE m.id = first AND f.id = friend AND l.creationDate = latest
RETURN f.id AS id, f.firstName, f.lastName, latest, m.id, coalesce(m.imageFile, m.content, ''),
       (latest - m.creationDate) / 60000, NOT EXISTS { MATCH (f)-[:knows]-(p) }
ORDER BY latest DESC, id
// ic8
MATCH (p:Person {id: $personId})<-[:hasCreator]-(m:Message)<-[:replyOf]-(c:Message)
MATCH (c)-[:hasCreator]->(a:Person)
RETURN a.id, a.firstName, a.lastName, c.creationDate AS time, c.id AS id, coalesce(c.content, '')
ORDER BY time DESC, id LIMIT 20
// ic9
MATCH (p:Person {id: $personId})-[:knows*1..2]-(f:Person) WHERE f.id <> $personId
WITH DISTINCT f
MATCH (f)<-[:hasCreator]-(m:Message) WHERE m.creationDate < $maxDate
RETURN f.id, f.firstName, f.lastName, m.id AS id, coalesce(m.imageFile, m.content, ''),
       m.creationDate AS time
ORDER BY time DESC, id LIMIT 20
// ic10
MATCH (p:Person {id: $personId})-[:knows]-(:Person)-[:knows]-(f:Person)
WHERE f.id <> $personId AND NOT EXISTS { MATCH (p)-[:knows]-(f) }
WITH DISTINCT f, epoch_ms(f.birthday) AS born
WHERE (date_part('month', born) = $month AND date_part('day', born) >= 21)
   OR (date_part('month', born) = $month % 12 + 1 AND date_part('day', born) <= 21)
MATCH (f)-[:isLocatedIn]->(c:Place)
WITH f, c
OPTIONAL MATCH (f)<-[:hasCreator]-(m:Message) WHERE m.post
WITH f, c, m
OPTIONAL MATCH (m)-[:hasTag]->(t:Tag)<-[:hasInterest]-(p:Person {id: $personId})
WITH f, c, m.id AS message, count(t.id) AS common
RETURN f.id AS id, f.firstName, f.lastName,
       CAST(sum(CASE WHEN message IS NULL THEN 0 WHEN common > 0 THEN 1 ELSE -1 END) AS INT64) AS score,
       f.gender, c.name
ORDER BY score DESC, id LIMIT 10
// ic11
MATCH (p:Person {id: $personId})-[:knows*1..2]-(f:Person) WHERE f.id <> $personId
WITH DISTINCT f
MATCH (f)-[w:workAt]->(o:Organisation)-[:isLocatedIn]->(c:Place {name: $countryName})
WHERE w.workFrom < $workFromYear
RETURN f.id AS id, f.firstName, f.lastName, o.name AS company, w.workFrom AS year
ORDER BY year, id, company DESC LIMIT 10
// ic12
MATCH (t:Tag)-[:hasType]->(k:TagClass)-[:isSubclassOf*0..10]->(s:TagClass {name: $tagClassName})
WITH DISTINCT t
MATCH (t)<-[:hasTag]-(m:Message)<-[:replyOf]-(c:Message)-[:hasCreator]->(f:Person),
      (f)-[:knows]-(p:Person {id: $personId})
WHERE m.post
RETURN f.id AS id, f.firstName, f.lastName, list_sort(collect(DISTINCT t.name)),
       count(DISTINCT c.id) AS n
ORDER BY n DESC, id LIMIT 20
// ic13
MATCH (a:Person {id: $person1Id}), (b:Person {id: $person2Id})
OPTIONAL MATCH (a)-[e:knows* SHORTEST 1..30]-(b)
RETURN coalesce(length(e), -1)
// ic14
MATCH w = (a:Person {id: $person1Id})-[:knows* ALL SHORTEST 1..30]-(b:Person {id: $person2Id})
WITH properties(nodes(w), 'id') AS ids
UNWIND range(1, size(ids) - 1) AS i
WITH ids, ids[i] AS x, ids[i + 1] AS y
OPTIONAL MATCH (p:Person)<-[:hasCreator]-(r:Message)-[:replyOf]->(m:Message)-[:hasCreator]->(q:Person)
WHERE (p.id = x AND q.id = y) OR (p.id = y AND q.id = x)
WITH ids, sum(CASE WHEN m.id IS NULL THEN 0.0 WHEN m.post THEN 1.0 ELSE 0.5 END) AS weight
RETURN ids, weight ORDER BY weight DESC
