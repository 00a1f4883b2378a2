-- is1
SELECT firstName, lastName, birthday, locationIP, browserUsed, cityId, gender, creationDate
FROM person WHERE id = $personId
-- is2
WITH RECURSIVE recent AS (
  SELECT id, post, parentId, coalesce(imageFile, content, '') AS text, creationDate
  FROM message WHERE creatorId = $personId ORDER BY creationDate DESC, id DESC LIMIT 10),
chain AS (
  SELECT id AS start, id, post, parentId FROM recent
  UNION ALL
  SELECT c.start, m.id, m.post, m.parentId FROM chain c JOIN message m ON m.id = c.parentId
  WHERE NOT c.post)
SELECT r.id, r.text, r.creationDate, m.id, p.id, p.firstName, p.lastName
FROM recent r JOIN chain c ON c.start = r.id AND c.post
JOIN message m ON m.id = c.id JOIN person p ON p.id = m.creatorId
ORDER BY r.creationDate DESC, r.id DESC
-- is3
SELECT p.id, p.firstName, p.lastName, k.creationDate
FROM knows k JOIN person p ON p.id = k.b WHERE k.a = $personId ORDER BY k.creationDate DESC, p.id
-- is4
SELECT creationDate, coalesce(imageFile, content, '') FROM message WHERE id = $messageId
-- is5
SELECT p.id, p.firstName, p.lastName
FROM message m JOIN person p ON p.id = m.creatorId WHERE m.id = $messageId
-- is6
WITH RECURSIVE chain AS (
  SELECT post, parentId, forumId FROM message WHERE id = $messageId
  UNION ALL
  SELECT m.post, m.parentId, m.forumId FROM chain c JOIN message m ON m.id = c.parentId
  WHERE NOT c.post)
SELECT f.id, f.title, p.id, p.firstName, p.lastName
FROM chain c JOIN forum f ON f.id = c.forumId JOIN person p ON p.id = f.moderatorId WHERE c.post
-- is7
SELECT r.id, coalesce(r.content, ''), r.creationDate, p.id, p.firstName, p.lastName,
       EXISTS (SELECT 1 FROM knows k WHERE k.a = m.creatorId AND k.b = p.id)
FROM message m JOIN message r ON r.parentId = m.id JOIN person p ON p.id = r.creatorId
WHERE m.id = $messageId ORDER BY r.creationDate DESC, p.id
-- ic1
WITH RECURSIVE near AS (
  SELECT $personId::BIGINT AS id, 0 AS distance
  UNION
  SELECT k.b, n.distance + 1 FROM near n JOIN knows k ON k.a = n.id WHERE n.distance < 3),
found AS (
  SELECT p.*, min(n.distance) AS distance
  FROM near n JOIN person p ON p.id = n.id
  WHERE p.firstName = $firstName AND p.id <> $personId GROUP BY ALL),
named AS (SELECT * FROM found ORDER BY distance, lastName, id LIMIT 20)
SELECT p.id, p.lastName, p.distance, p.birthday, p.creationDate, p.gender, p.browserUsed,
       p.locationIP, p.email, p.language, c.name,
       (SELECT coalesce(list([o.name, s.classYear::VARCHAR, t.name]), [])
        FROM studyAt s JOIN organisation o ON o.id = s.organisationId
        JOIN place t ON t.id = o.placeId WHERE s.personId = p.id),
       (SELECT coalesce(list([o.name, w.workFrom::VARCHAR, t.name]), [])
        FROM workAt w JOIN organisation o ON o.id = w.organisationId
        JOIN place t ON t.id = o.placeId WHERE w.personId = p.id)
FROM named p JOIN place c ON c.id = p.cityId ORDER BY p.distance, p.lastName, p.id
-- ic2
SELECT p.id, p.firstName, p.lastName, m.id, coalesce(m.imageFile, m.content, ''), m.creationDate
FROM knows k JOIN person p ON p.id = k.b JOIN message m ON m.creatorId = p.id
WHERE k.a = $personId AND m.creationDate <= $maxDate
ORDER BY m.creationDate DESC, m.id LIMIT 20
-- ic3
WITH friend AS (SELECT b AS id FROM knows WHERE a = $personId),
circle AS (
  SELECT id FROM friend
  UNION SELECT k.b FROM friend f JOIN knows k ON k.a = f.id),
stranger AS (
  SELECT p.id, p.firstName, p.lastName
  FROM circle JOIN person p ON p.id = circle.id JOIN place c ON c.id = p.cityId
  JOIN place h ON h.id = c.parentId
  WHERE p.id <> $personId AND h.name NOT IN ($countryXName, $countryYName))
SELECT s.id, s.firstName, s.lastName, count(*) FILTER (c.name = $countryXName) AS x,
       count(*) FILTER (c.name = $countryYName) AS y, count(*) AS n
FROM stranger s JOIN message m ON m.creatorId = s.id JOIN place c ON c.id = m.countryId
WHERE m.creationDate >= $startDate AND m.creationDate < $endDate
  AND c.name IN ($countryXName, $countryYName)
GROUP BY ALL HAVING x > 0 AND y > 0 ORDER BY n DESC, s.id LIMIT 20
-- ic4
SELECT t.name, count(*) AS n
FROM knows k JOIN message m ON m.creatorId = k.b JOIN messageTag g ON g.messageId = m.id
JOIN tag t ON t.id = g.tagId
WHERE k.a = $personId AND m.post AND m.creationDate < $endDate
GROUP BY t.name HAVING min(m.creationDate) >= $startDate ORDER BY n DESC, t.name LIMIT 10
-- ic5
WITH friend AS (SELECT b AS id FROM knows WHERE a = $personId),
circle AS (
  SELECT id FROM friend WHERE id <> $personId
  UNION SELECT k.b FROM friend f JOIN knows k ON k.a = f.id WHERE k.b <> $personId),
joined AS (
  SELECT j.forumId, j.personId FROM circle JOIN hasMember j ON j.personId = circle.id
  WHERE j.joinDate > $minDate)
SELECT f.title, count(m.id) AS n
FROM joined j JOIN forum f ON f.id = j.forumId
LEFT JOIN message m ON m.forumId = j.forumId AND m.creatorId = j.personId AND m.post
GROUP BY f.id, f.title ORDER BY n DESC, f.id LIMIT 20
-- ic6
WITH friend AS (SELECT b AS id FROM knows WHERE a = $personId),
circle AS (
  SELECT id FROM friend WHERE id <> $personId
  UNION SELECT k.b FROM friend f JOIN knows k ON k.a = f.id WHERE k.b <> $personId),
tagged AS (
  SELECT m.id FROM circle JOIN message m ON m.creatorId = circle.id
  JOIN messageTag g ON g.messageId = m.id JOIN tag t ON t.id = g.tagId
  WHERE m.post AND t.name = $tagName)
SELECT t.name, count(*) AS n
FROM tagged JOIN messageTag g ON g.messageId = tagged.id JOIN tag t ON t.id = g.tagId
WHERE t.name <> $tagName GROUP BY t.name ORDER BY n DESC, t.name LIMIT 10
-- ic7
WITH latest AS (
  SELECT l.personId, l.creationDate AS liked, m.id, coalesce(m.imageFile, m.content, '') AS text,
         m.creationDate
  FROM message m JOIN likes l ON l.messageId = m.id WHERE m.creatorId = $personId
  QUALIFY row_number() OVER (PARTITION BY l.personId ORDER BY l.creationDate DESC, m.id) = 1)
SELECT p.id, p.firstName, p.lastName, l.liked, l.id, l.text, (l.liked - l.creationDate) // 60000,
       NOT EXISTS (SELECT 1 FROM knows k WHERE k.a = $personId AND k.b = p.id)
FROM latest l JOIN person p ON p.id = l.personId ORDER BY l.liked DESC, p.id LIMIT 20
-- ic8
SELECT p.id, p.firstName, p.lastName, r.creationDate, r.id, coalesce(r.content, '')
FROM message m JOIN message r ON r.parentId = m.id JOIN person p ON p.id = r.creatorId
WHERE m.creatorId = $personId ORDER BY r.creationDate DESC, r.id LIMIT 20
-- ic9
WITH friend AS (SELECT b AS id FROM knows WHERE a = $personId),
circle AS (
  SELECT id FROM friend WHERE id <> $personId
  UNION SELECT k.b FROM friend f JOIN knows k ON k.a = f.id WHERE k.b <> $personId)
SELECT p.id, p.firstName, p.lastName, m.id, coalesce(m.imageFile, m.content, ''), m.creationDate
FROM circle JOIN person p ON p.id = circle.id JOIN message m ON m.creatorId = p.id
WHERE m.creationDate < $maxDate ORDER BY m.creationDate DESC, m.id LIMIT 20
-- ic10
WITH friend AS (SELECT b AS id FROM knows WHERE a = $personId),
further AS (
  SELECT DISTINCT p.* FROM friend f JOIN knows k ON k.a = f.id JOIN person p ON p.id = k.b
  WHERE p.id <> $personId AND p.id NOT IN (SELECT id FROM friend)),
born AS (
  SELECT * FROM further
  WHERE (month(epoch_ms(birthday)) = $month AND day(epoch_ms(birthday)) >= 21)
     OR (month(epoch_ms(birthday)) = $month % 12 + 1 AND day(epoch_ms(birthday)) <= 21)),
liked AS (
  SELECT DISTINCT g.messageId FROM hasInterest i JOIN messageTag g ON g.tagId = i.tagId
  WHERE i.personId = $personId)
SELECT b.id, b.firstName, b.lastName,
       sum(CASE WHEN m.id IS NULL THEN 0 WHEN l.messageId IS NULL THEN -1 ELSE 1 END)::BIGINT AS s,
       b.gender, c.name
FROM born b JOIN place c ON c.id = b.cityId
LEFT JOIN message m ON m.creatorId = b.id AND m.post LEFT JOIN liked l ON l.messageId = m.id
GROUP BY b.id, b.firstName, b.lastName, b.gender, c.name ORDER BY s DESC, b.id LIMIT 10
-- ic11
WITH friend AS (SELECT b AS id FROM knows WHERE a = $personId),
circle AS (
  SELECT id FROM friend WHERE id <> $personId
  UNION SELECT k.b FROM friend f JOIN knows k ON k.a = f.id WHERE k.b <> $personId)
SELECT p.id, p.firstName, p.lastName, o.name, w.workFrom
FROM circle JOIN person p ON p.id = circle.id JOIN workAt w ON w.personId = p.id
JOIN organisation o ON o.id = w.organisationId JOIN place c ON c.id = o.placeId
WHERE c.name = $countryName AND w.workFrom < $workFromYear
ORDER BY w.workFrom, p.id, o.name DESC LIMIT 10
-- ic12
WITH RECURSIVE class AS (
  SELECT id FROM tagclass WHERE name = $tagClassName
  UNION SELECT t.id FROM class c JOIN tagclass t ON t.parentId = c.id)
SELECT p.id, p.firstName, p.lastName, list_sort(list(DISTINCT t.name)), count(DISTINCT r.id) AS n
FROM knows k JOIN person p ON p.id = k.b JOIN message r ON r.creatorId = p.id
JOIN message m ON m.id = r.parentId AND m.post JOIN messageTag g ON g.messageId = m.id
JOIN tag t ON t.id = g.tagId JOIN class c ON c.id = t.classId
WHERE k.a = $personId GROUP BY p.id, p.firstName, p.lastName ORDER BY n DESC, p.id LIMIT 20
-- ic13
WITH RECURSIVE near(id, distance) USING KEY (id) AS (
  SELECT $person1Id::BIGINT, 0
  UNION
  SELECT k.b, min(n.distance) + 1
  FROM near n JOIN knows k ON k.a = n.id LEFT JOIN recurring.near r ON r.id = k.b
  WHERE r.id IS NULL GROUP BY k.b)
SELECT coalesce((SELECT distance FROM near WHERE id = $person2Id), -1)
-- ic14
WITH RECURSIVE near(id, distance) USING KEY (id) AS (
  SELECT $person1Id::BIGINT, 0
  UNION
  SELECT k.b, min(n.distance) + 1
  FROM near n JOIN knows k ON k.a = n.id LEFT JOIN recurring.near r ON r.id = k.b
  WHERE r.id IS NULL GROUP BY k.b),
back AS (
  SELECT id, distance, [id] AS ids FROM near WHERE id = $person2Id
  UNION ALL
  SELECT n.id, n.distance, list_prepend(n.id, b.ids)
  FROM back b JOIN knows k ON k.a = b.id JOIN near n ON n.id = k.b
  WHERE n.distance = b.distance - 1),
walk AS (SELECT ids FROM back WHERE distance = 0),
pair AS (SELECT DISTINCT ids[i] AS a, ids[i + 1] AS b
         FROM walk, unnest(range(1, len(ids))) AS u(i)),
weight AS (
  SELECT x.a, x.b, sum(CASE WHEN m.post THEN 1.0 ELSE 0.5 END) AS w
  FROM pair x JOIN message r ON r.creatorId IN (x.a, x.b) JOIN message m ON m.id = r.parentId
  WHERE m.creatorId IN (x.a, x.b) AND m.creatorId <> r.creatorId GROUP BY x.a, x.b)
SELECT walk.ids, coalesce(sum(w.w), 0)::DOUBLE AS total
FROM walk, unnest(range(1, len(walk.ids))) AS u(i)
LEFT JOIN weight w ON w.a = walk.ids[i] AND w.b = walk.ids[i + 1]
GROUP BY walk.ids ORDER BY total DESC, walk.ids
