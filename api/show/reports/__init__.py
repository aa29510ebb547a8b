"""Reports and dossiers: one material, and a writer for each format."""
