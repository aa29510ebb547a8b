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
SET c.text = $text, c.caption = left($text, 40)
RETURN c.claim_id AS claim_id
