// purpose: Way of a value (a figure, a name, a date): the nodes that have it, where it came in first, and which inputs have a like sentence without it.
// param process_id: string - the process
// param value: string in 1..200 - the value as it is written, line breaks as blanks; of a number every way to write its thousands, its fraction, its minus sign and a per cent counts; a number with another sign, or as a part of a longer one, is another
// param limit: integer = 100 in 1..10000 - at most this many
// column relation: string - first: none of its inputs has it; carried on: an input has it
// column node_id: string - a node that has the value
// column stage: integer - its stage
// column step: string - the step that produced it, or null
// column role: string - root, intermediate, terminal or unsourced
// column passage: string - its first sentence with the value
// column came_from: list - node_ids of at most 20 of its inputs that have it
// column otherwise: list - {node_id, sentence} of at most 3 inputs without it that share most of the passage's words, and at least half of them
// group: Where it went wrong
// example: process_id=harbour-summary value=84,200
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
// Blanks and line breaks in a row are one blank.
WITH reduce(said = '', word IN split(replace(toLower($value), '\n', ' '), ' ') | said +
       CASE WHEN said = '' OR word = '' THEN '' ELSE ' ' END + word) AS value
WITH CASE WHEN value =~ '[^a-z]*[0-9] per ?cent'
       THEN replace(replace(value, ' per cent', '%'), ' percent', '%') ELSE value END AS value
// A sign, a percent sign and what is between them, if that is a number.
WITH value,
     CASE WHEN value =~ '[-\u2212\u2013] ?[0-9].*' THEN ['-', '\u2212', '\u2013'] ELSE [''] END AS signs,
     CASE WHEN value =~ '.*[0-9] ?%'
       THEN ['%', ' %', '\u00a0%', '\u202f%', ' per cent', ' percent'] ELSE [''] END AS ends
WITH value, signs, ends,
     trim(substring(value, size(signs[0]), size(value) - size(signs[0]) - size(ends[0]))) AS number
WITH value, signs, ends, number,
     number =~ '[0-9]{1,3}([ ,.\\u00a0\\u2009\\u202f\'’])[0-9]{3}(\\1[0-9]{3}){0,3}' AS is_grouped,
     number =~ '[0-9]{1,15}' AS is_plain
WITH value, signs, ends, number, is_grouped, is_plain,
     CASE WHEN NOT is_grouped AND (number =~ '[0-9]{1,15}[.,][0-9]{1,15}' OR number =~
            '[0-9]{1,3}([ ,.\\u00a0\\u2009\\u202f\'’])[0-9]{3}(\\1[0-9]{3}){0,3}[.,][0-9]{1,15}')
       THEN last(split(replace(number, ',', '.'), '.')) END AS fraction
WITH value, signs, ends, number, is_plain, fraction,
     CASE WHEN fraction IS NOT NULL OR is_grouped OR is_plain THEN reduce(
       bare = '', i IN range(0, size(number) - 1 - coalesce(size(fraction) + 1, 0)) | bare +
         CASE WHEN substring(number, i, 1) =~ '[0-9]' THEN substring(number, i, 1) ELSE '' END)
     END AS bare
// Four digits without a mark are a year more often than a number.
WITH value, signs, ends, fraction, CASE WHEN bare IS NULL THEN [['', number]]
       WHEN size(bare) <= 3 OR (is_plain AND size(bare) = 4) THEN [['', bare]]
       ELSE [['', bare]] + [mark IN [',', '.', ' ', '\u00a0', '\u2009', '\u202f', '\'', '’'] |
         [mark, reduce(whole = '', i IN range(0, size(bare) - 1) | whole +
           CASE WHEN i > 0 AND (size(bare) - i) % 3 = 0 THEN mark ELSE '' END +
           substring(bare, i, 1))]] END AS numbers
WITH value, signs, ends, reduce(made = [], pair IN numbers | made + CASE
       WHEN fraction IS NULL THEN [pair[1]]
       ELSE [mark IN [',', '.'] WHERE mark <> pair[0] | pair[1] + mark + fraction]
     END) AS numbers
WITH value, reduce(made = [], number IN numbers | made + reduce(signed = [], sign IN signs |
       signed + [tail IN ends | sign + number + tail])) AS spellings
// A value that is part of a longer number or word is another one: 37 is not in 137, May not in Maybe,
// 3.5 not in -3.5.
WITH spellings,
     CASE WHEN value =~ '[0-9].*' THEN '(?s).?[0-9]|[0-9][.,]|[\\s(]?[-\u2212\u2013]'
          WHEN value =~ '[-\u2212\u2013] ?[0-9].*' THEN '(?s).?[0-9\\p{L}]'
          WHEN value =~ '[\\p{IsLatin}\\p{IsGreek}\\p{IsCyrillic}].*'
            THEN '(?s).?[\\p{IsLatin}\\p{IsGreek}\\p{IsCyrillic}]'
          ELSE '(?!)' END AS longer_before,
     CASE WHEN value =~ '.*[0-9]' THEN '(?s)[0-9].?|[.,][0-9]'
          WHEN value =~ '.*[0-9] ?%' THEN '(?s)\\p{L}.?'
          WHEN value =~ '.*[\\p{IsLatin}\\p{IsGreek}\\p{IsCyrillic}]'
            THEN '(?s)[\\p{IsLatin}\\p{IsGreek}\\p{IsCyrillic}].?'
          ELSE '(?!)' END AS longer_behind
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id >= ''
WITH spellings, longer_before, longer_behind, s,
     replace(toLower(s.text), '\n', ' ') AS lowered
WHERE any(spelling IN spellings WHERE lowered CONTAINS spelling)
UNWIND spellings AS spelling
WITH longer_before, longer_behind, s, lowered, spelling, split(lowered, spelling) AS pieces,
     // 250 is not in 1 250 000 either.
     CASE WHEN spelling =~ '[0-9]{3}(?:[^0-9].*)?'
       THEN '(?s)(?:.*[^0-9])?[0-9]{1,3}[ \u00a0\u2009\u202f\'’]' ELSE '(?!)' END AS group_before,
     CASE WHEN spelling =~ '[0-9]{1,3}(?:[ ,.\u00a0\u2009\u202f\'’][0-9]{3})*'
       THEN '(?s)[ \u00a0\u2009\u202f\'’][0-9]{3}(?:[^0-9].*)?' ELSE '(?!)' END AS group_behind
WHERE size(pieces) > 1
WITH s, lowered, spelling, pieces, head([i IN range(0, size(pieces) - 2)
       WHERE NOT right(pieces[i], 2) =~ longer_before
         AND NOT left(pieces[i + 1], 2) =~ longer_behind
         AND NOT right(pieces[i], 5) =~ group_before
         AND NOT left(pieces[i + 1], 5) =~ group_behind]) AS hit
WHERE hit IS NOT NULL
WITH s, lowered, spelling, reduce(start = hit * size(spelling), piece IN pieces[0..hit + 1] |
       start + size(piece)) AS start
ORDER BY start
WITH s, lowered, head(collect([start, start + size(spelling)])) AS place
// In few scripts a letter in lower case is two; then the text is shown so.
WITH s, place, CASE WHEN size(lowered) = size(s.text) THEN s.text ELSE lowered END AS text
WITH s, last(split(replace(left(text, place[0]), '\n', '. '), '. ')) +
        replace(substring(text, place[0], place[1] - place[0]), '\n', ' ') +
        head(split(replace(substring(text, place[1]), '\n', '. '), '. ')) AS passage
ORDER BY s.stage, s.position LIMIT $limit
WITH collect([s, passage]) AS found, collect(s.node_id) AS holders
UNWIND found AS pair
WITH holders, pair[0] AS s, pair[1] AS passage,
     [word IN split(toLower(pair[1]), ' ') WHERE size(word) > 2] AS words
OPTIONAL MATCH (s)<-[:INPUT_TO]-(u:Span)
WITH s, passage, size(words) AS asked, u, u.node_id IN holders AS has_it,
     CASE WHEN u.node_id IN holders THEN [0, ''] ELSE reduce(
       best = [0, ''],
       said IN [part IN split(replace(u.text, '\n', '. '), '. ') |
                [size([word IN words WHERE toLower(part) CONTAINS word]), part]] |
       CASE WHEN said[0] > best[0] THEN said ELSE best END) END AS nearest
ORDER BY nearest[0] DESC, u.position
WITH s, passage, collect(CASE WHEN has_it THEN u.node_id END) AS came_from,
     collect(CASE WHEN 2 * nearest[0] >= asked AND nearest[0] > 0
       THEN {node_id: u.node_id, sentence: nearest[1]} END) AS otherwise
RETURN CASE WHEN size(came_from) = 0 THEN 'first' ELSE 'carried on' END AS relation,
       s.node_id AS node_id, s.stage AS stage, s.step AS step, s.role AS role, passage,
       came_from[0..20] AS came_from, otherwise[0..3] AS otherwise
ORDER BY stage, s.position
