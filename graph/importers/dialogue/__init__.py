"""Dialogues: files of the format, chats in the layouts of others, and traces of assistants."""

from veritrail_graph.graph.importers.dialogue.file import process_of, read_dialogue
from veritrail_graph.graph.importers.dialogue.importer import DialogueImporter
from veritrail_graph.graph.model.dialogue import FORMAT

__all__ = ["FORMAT", "DialogueImporter", "process_of", "read_dialogue"]
