// purpose: Every process that is not ready: being loaded, replaced or deleted, or left so.
// column process_id: string - the process
// column status: string - loading, replacing or deleting
// column owner: string - who is writing it
// column beat: string - last sign of life of the writer, ISO 8601 in UTC
// column replaces: string - process_id that a staged process takes over, or null
// source: ours
MATCH (p:Process)
WHERE p.process_id >= '' AND p.status <> 'ready'
RETURN p.process_id AS process_id, p.status AS status, p.owner AS owner, p.beat AS beat,
       p.replaces AS replaces
ORDER BY process_id
