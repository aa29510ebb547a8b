"""An answer by the method of GraphRAG, with every text on the way kept.

Stages, kinds, ids and edges are those of an imported GraphRAG folder (`graph.importers.graphrag`).

Source: VeriTrail A, B.2.1, after Edge et al., 2025.
"""
