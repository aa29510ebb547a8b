"""The store: everything that is read from and written to the graph, over Bolt.

One implementation serves Neo4j and the embedded engine. `open_store` gives a `Store`;
its parts are named after what they hold: `processes`, `reading`, `trails`, `queries`.
"""

from graph.store.address import DatabaseAddress
from graph.store.database import Database
from graph.store.process_state import StoredState
from graph.store.processes import ProcessStore
from graph.store.queries import QueryLibrary, QueryResult
from graph.store.reading import NodeReader
from graph.store.store import Store, open_store
from graph.store.trails import TrailStore

__all__ = [
    "Database",
    "DatabaseAddress",
    "NodeReader",
    "ProcessStore",
    "QueryLibrary",
    "QueryResult",
    "Store",
    "StoredState",
    "TrailStore",
    "open_store",
]
