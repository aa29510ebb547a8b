"""The graph for assistants, over the Model Context Protocol: where did this come from?"""
