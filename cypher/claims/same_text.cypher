// purpose: Claims of the answer that have one of some texts.
// param process_id: string - the process
// param known: map - by text: that it is looked for
// column node_id: string - the node that the claim is about
// column text: string - its text
// column claim_id: string - the claim
// source: ours
MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL AND $known[c.text] IS NOT NULL
RETURN c.node_id AS node_id, c.text AS text, c.claim_id AS claim_id
ORDER BY c.position, c.claim_id
