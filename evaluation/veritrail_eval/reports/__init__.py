"""Reports of evaluations: HTML, Markdown, CSV and JSON of the same figures."""
