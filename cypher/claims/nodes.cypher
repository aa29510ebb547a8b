// purpose: The nodes that claims are about, those with most claims first.
// param process_id: string - the process
// param limit: integer - the most rows
// column node_id: string - the node
// column claims: integer - how many claims are about it
// source: VeriTrail 3.1
MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL
RETURN c.node_id AS node_id, count(*) AS claims
ORDER BY claims DESC, node_id
LIMIT $limit
