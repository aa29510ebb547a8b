// purpose: The claims of a dialogue whose turns were verified, with the categories that count; undecided ones have none.
// param process_id: string - the dialogue
// column claim_id: string - the claim
// column category: string - its category; null: it is undecided
// source: VISTA 3, steps 2 and 3
MATCH (c:Claim {process_id: $process_id})
WHERE c.category IS NOT NULL OR c.turn_status IS NOT NULL
RETURN c.claim_id AS claim_id, c.category AS category
ORDER BY claim_id
