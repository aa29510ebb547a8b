// purpose: Give a claim another text; one that was verified only where that is wished.
// param process_id: string - the process
// param claim_id: string - the claim
// param text: string - its new text
// param force: boolean - whether it may have been verified; being queued is not that
// column claim_id: string - the claim
// source: ours
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
WHERE $force
   OR NOT EXISTS { MATCH (c)<-[:VERIFIES]-(v:Verification) WHERE v.status <> 'queued' }
WITH c, replace(replace(replace($text, '\r\n', ' '), '\n', ' '), '\r', ' ') AS line
SET c.text = $text,
    c.caption = CASE WHEN left(line, 40) = line THEN line ELSE left(line, 39) + '…' END
RETURN c.claim_id AS claim_id
