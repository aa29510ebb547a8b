"""The routes of the page: each reads, builds a view, and renders it."""
