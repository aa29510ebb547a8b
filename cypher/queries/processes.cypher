// purpose: Processes that are stored, in the order of their ids.
// param after: string = null - only process_ids behind this one, to turn a page
// param limit: integer = 100 in 1..10000 - at most this many
// column process_id: string - the process
// column name: string - its name
// column nodes: integer - its nodes
// column edges: integer - its edges
// column terminals: integer - its terminal nodes
// column claims: integer - its claims
// column verifications: integer - its verifications, whatever their status
// column created_at: string - when it was stored
// group: The process as a graph
// example: limit=10
// source: ours
MATCH (p:Process)
WHERE p.process_id > coalesce($after, '') AND p.status = 'ready'
WITH p ORDER BY p.process_id LIMIT $limit
RETURN p.process_id AS process_id, p.name AS name, p.nodes AS nodes, p.edges AS edges,
       size(p.terminals) AS terminals,
       COUNT { MATCH (c:Claim {process_id: p.process_id}) WHERE c.origin IS NULL } AS claims,
       COUNT {
         MATCH (v:Verification {process_id: p.process_id, method: 'veritrail'})
       } AS verifications,
       p.created_at AS created_at
ORDER BY p.process_id
