"""The store: everything that is read from and written to the graph, over Bolt.

One implementation serves Neo4j and the embedded engine. `open_store` gives a `Store`;
its parts are named after what they hold: `processes`, `reading`, `trails`, `queries`.
"""

from veritrail_graph.graph.model.queried import QueryRows
from veritrail_graph.graph.store.database import Database, DatabaseAddress
from veritrail_graph.graph.store.processes import ProcessStore
from veritrail_graph.graph.store.queries import QueryLibrary
from veritrail_graph.graph.store.reading import NodeReader
from veritrail_graph.graph.store.states import StoredState
from veritrail_graph.graph.store.store import Store, open_store
from veritrail_graph.graph.store.trails import TrailStore

__all__ = [
    "Database",
    "DatabaseAddress",
    "NodeReader",
    "ProcessStore",
    "QueryLibrary",
    "QueryRows",
    "Store",
    "StoredState",
    "TrailStore",
    "open_store",
]
