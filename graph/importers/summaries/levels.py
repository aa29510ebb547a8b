"""Hierarchical summaries: lists of texts, level by level, up to a final summary.

BooookScore keeps them under `summaries_dict` and without the source texts; plain lists stand
under `levels`; FABLES holds the final summary alone, with claims about it. Source text is what
stands under `chunks`, or says `"origin": "source"` in the lowest level. A level summarises the
level below. So a level of one text has all texts below it as inputs, and that needs no
inference. Which texts of a level one of several texts above it summarises is either recorded
(`children`, `parents`) or inferred from the order.

Source: BooookScore, arXiv:2310.00785, 2.2 and its program; FABLES, arXiv:2404.01261, 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from veritrail_graph.graph.counted import counted, some
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header, is_written
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.importers.summaries import claims, texts
from veritrail_graph.graph.importers.summaries.grouping import SURE, by_order
from veritrail_graph.graph.importers.summaries.texts import Text
from veritrail_graph.graph.model import Inference, Origin

NAME = "summaries"
BOOOOKSCORE = "summaries_dict"
PLAIN = "levels"
_KNOWN = {
    BOOOOKSCORE, PLAIN, "children", "parents", "claims", "general_comment", *texts.CHUNKS,
    *texts.FINAL, *texts.ABOUT,
}  # fmt: skip

_MOST_DOUBTS = 5


@dataclass(slots=True)
class _Level:
    """The texts of a level; `key` is its place in the file, `prefix` that of its node_ids."""

    key: str
    texts: list[Text]
    prefix: str
    kind: str
    stage_name: str


@dataclass(slots=True)
class _Warned:
    """The remarks to make about the edges, by the keys of the levels above."""

    guessed: list[str] = field(default_factory=list)
    misfit: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    inferred: int = 0
    context: int = 0


def read_levels(
    value: Mapping[str, Any], where: str, name: str | None, options: ImportOptions
) -> Draft:
    """The process of an entry with `summaries_dict`, `levels`, chunks or a final summary.

    Args:
        value: The entry.
        where: Its place, for messages.
        name: The key that it has in its file, if any.
        options: `grouping` and `only_explicit` are heeded.

    Raises:
        InputError: A level is missing or holds something else than texts, or a place of
            another text is out of range.
    """
    of_booookscore = BOOOOKSCORE in value
    levels = _levels(value, where)
    draft = Draft(Header(NAME))
    warned = _Warned()
    names: list[str] = []
    for number, level in enumerate(levels):
        under = levels[number - 1] if number else None
        names = _add_level(
            draft, level, under, names, number, value, warned, options,
            in_a_row=of_booookscore and level.prefix.startswith("level"),
        )  # fmt: skip
    only_final = len(levels) == 1 and levels[0].kind == "final summary"
    leading_on = texts.outgoing(draft)
    used = {node.stage for node in draft.nodes.values()}
    terminals = tuple(one for one in dict.fromkeys(names) if one not in leading_on)
    doubts = _add_claims(draft, value, terminals, where)
    draft.header = Header(
        NAME,
        name=texts.name_of(value, name),
        question=texts.question_of(value, where),
        stage_names={
            number: level.stage_name for number, level in enumerate(levels, 1) if number in used
        },
        terminals=terminals,
        may_lack_edges=options.only_explicit,
        warnings=(
            *_of_sources(levels, draft, only_final),
            *_of_edges(warned, options),
            *_of_end(terminals),
            *texts.not_read(value, _KNOWN),
            *doubts,
        ),
    )
    return draft


def _levels(value: Mapping[str, Any], where: str) -> list[_Level]:
    """The levels that hold texts, from the source to the end."""
    found = []
    key = next((key for key in texts.CHUNKS if value.get(key) is not None), None)
    if key is not None:
        chunks = texts.read_texts(value[key], f"{where}, {key}")
        if chunks:
            found.append(_Level(key, chunks, "chunk", "chunk", "source chunk"))
    middle = BOOOOKSCORE if BOOOOKSCORE in value else PLAIN
    listed = _by_level(value.get(middle), f"{where}, {middle}")
    per_level = [
        texts.read_texts(one, f"{where}, {middle}[{number}]") for number, one in enumerate(listed)
    ]
    _read_tables(value, per_level, bool(found), where)
    while per_level and not per_level[-1]:  # a run that was cut short leaves empty levels
        per_level.pop()
    for number, level in enumerate(per_level):
        if not level:
            raise InputError(f"{where}, {middle}[{number}]: the level is empty. Remove it.")
        source = not found and all(_says_source(one) for one in level)
        last = number > 0 and number == len(per_level) - 1 and len(level) == 1
        kind = "chunk" if source else "final summary" if last else "summary"
        label = "source chunk" if source else "final summary" if last else f"summaries {number}"
        found.append(_Level(f"{middle}[{number}]", level, f"level/{number}", kind, label))
    final = files.first_of(value, texts.FINAL)
    if final is not None:
        _read_final(found, texts.read_text(final, f"{where}, final summary"))
    if not found:
        raise InputError(f"{where}: there are no texts in it.")
    return found


def _read_final(found: list[_Level], final: Text) -> None:
    """Add the final summary, if it is not the one text of the last level itself."""
    last = found[-1] if found else None
    if last is not None and [one.text for one in last.texts] == [final.text]:
        return
    if last is not None and last.kind == "final summary":
        last.stage_name = f"summaries {last.prefix.removeprefix('level/')}"
        last.kind = "summary"
    found.append(_Level("final summary", [final], "final", "final summary", "final summary"))


def _by_level(value: Any, where: str) -> list[Any]:
    """A list with an entry for each level, or an object with the numbers of levels as keys."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise InputError(
            f"{where}: a list, or an object with a key for each level is needed, "
            f"not {texts.kind_of(value)}."
        )
    try:
        numbered = {int(key): one for key, one in value.items()}
    except ValueError:
        raise InputError(f"{where}: the keys must be the numbers of the levels.") from None
    if sorted(numbered) != list(range(len(value))):
        raise InputError(
            f"{where}: the levels must be numbered 0, 1, 2, ... without a gap, "
            f"and are {', '.join(map(str, sorted(numbered)))}."
        )
    return [numbered[number] for number in range(len(value))]


def _read_tables(
    value: Mapping[str, Any], levels: list[list[Text]], has_chunks: bool, where: str
) -> None:
    """Lists of children or parents beside the levels: to each text what its own keys may say."""
    tables = {key: value[key] for key in ("children", "parents") if value.get(key) is not None}
    for key, table in tables.items():
        at = f"{where}, {key}"
        if not isinstance(table, list):
            raise InputError(f"{at}: a list with an entry for each level is needed.")
        # The lowest level has no children and the highest no parents: they may be left out.
        short = len(table) == len(levels) - 1 and not (key == "children" and has_chunks)
        if len(table) != len(levels) and not short:
            raise InputError(
                f"{at}: it has {len(table)} entries for {len(levels)} levels. "
                "Write one for each level, null where nothing is recorded."
            )
        first = 1 if short and key == "children" else 0
        for number, entries in enumerate(table, start=first):
            level = levels[number]
            if entries is None or entries == []:
                continue
            place = f"{at}[{number - first}]"
            if not isinstance(entries, list) or len(entries) != len(level):
                raise InputError(
                    f"{place}: a list with one entry for each of the {len(level)} texts of level "
                    f"{number} is needed."
                )
            for index, entry in enumerate(entries):
                read = texts.places(entry, f"{place}[{index}]")
                if key == "children":
                    level[index].children = read
                else:
                    level[index].parents = read


def _add_level(
    draft: Draft,
    level: _Level,
    under: _Level | None,
    names_under: Sequence[str],
    number: int,
    value: Mapping[str, Any],
    warned: _Warned,
    options: ImportOptions,
    *,
    in_a_row: bool,
) -> list[str]:
    """Add the nodes of a level and their edges.

    Args:
        draft: Where to.
        level: The level.
        under: The level below; None for the lowest.
        names_under: The node_ids of its texts.
        number: How many levels are below.
        value: The entry.
        warned: What to warn about.
        options: Options of the import.
        in_a_row: Whether each merged summary was also given the one before it.

    Returns:
        The node_ids of its texts.
    """
    inputs, same, recorded = _inputs(under, level, warned, options)
    names = []
    for place, one in enumerate(level.texts):
        if place in same:
            names.append(names_under[same[place]])
            continue
        source = under is None and _is_source(one, level)
        about = {key: said for key, said in one.about.items() if key != "origin"}
        if not source:
            about = {**texts.makers(value), **about}
        names.append(
            draft.node(
                level.prefix if level.prefix == "final" else f"{level.prefix}/{place}",
                one.text,
                one.where,
                origin=Origin.SOURCE if source else Origin.GENERATED,
                kind="chunk" if source else level.kind,
                step=None
                if source
                else "merge"
                if under and under.kind != "chunk"
                else "summarise",
                stage=number + 1,
                metadata=about,
            )
        )
    used = set(same.values())
    for place, below, score in inputs:
        used.add(below)
        if score is None:
            draft.edge(names_under[below], names[place], level.texts[place].where)
        elif not options.only_explicit:
            where = level.texts[place].where
            draft.edge(names_under[below], names[place], where, Inference.ORDER, score)
        warned.inferred += score is not None
    if under is not None:
        left = [names_under[place] for place in range(len(under.texts)) if place not in used]
        warned.unused += left
    # BooookScore gives every merge but the first of a level the summary before it as context.
    if in_a_row and under is not None and under.kind != "chunk" and not recorded:
        for place in range(1, len(names)):
            if place not in same:
                warned.context += 1
                if not options.only_explicit:
                    where = level.texts[place].where
                    draft.edge(names[place - 1], names[place], where, Inference.ORDER, SURE)
    return names


def _says_source(text: Text) -> bool:
    return text.about.get("origin") == Origin.SOURCE


def _is_source(text: Text, level: _Level) -> bool:
    """Return whether a text of the lowest level is source text: a chunk, or one that says so."""
    if level.prefix == "chunk":
        return not is_written(text.about)
    return level.kind != "final summary" and _says_source(text)


_Input = tuple[int, int, float | None]
"""Place above, place below, and the score if it is inferred."""


def _inputs(
    under: _Level | None, level: _Level, warned: _Warned, options: ImportOptions
) -> tuple[list[_Input], dict[int, int], bool]:
    """The inputs of the texts of a level, and the texts that were passed on from below.

    Returns:
        Inputs; places above of texts passed on, with their places below; whether the file
        records the inputs.
    """
    recorded = _recorded(under, level)
    if under is None:
        return [], {}, False
    many, few = len(under.texts), len(level.texts)
    inputs = recorded
    if inputs is None and min(many, few) == 1:
        # One text summarises all of the level below, or all of a level comes from one text.
        inputs = [list(range(many)) for _ in range(few)]
    if inputs is not None:
        same = {
            place: below[0]
            for place, below in enumerate(inputs)
            if len(below) == 1 and _repeats(under.texts[below[0]], level.texts[place])
        }
        pairs: list[_Input] = [
            (place, one, None)
            for place, below in enumerate(inputs)
            if place not in same
            for one in below
        ]
        return pairs, same, recorded is not None
    grouped = by_order(
        [one.text for one in under.texts], [one.text for one in level.texts], options.grouping
    )
    if grouped.guessed:
        warned.guessed.append(level.key)
    if grouped.misfit:
        warned.misfit.append(level.key)
    return [(link.above, link.below, link.score) for link in grouped.links], grouped.same, False


def _repeats(below: Text, above: Text) -> bool:
    return bool(above.text.strip()) and below.text == above.text


def _recorded(under: _Level | None, level: _Level) -> list[list[int]] | None:
    """The places below of the inputs of each text, as the file records them; None: it does not."""
    for one in level.texts:
        for place in one.children or ():
            if under is None or not 0 <= place < len(under.texts):
                raise InputError(
                    f"{one.where}, children: there is no text {place} in the level below"
                    + (f", which has {len(under.texts)}." if under else "; this is the lowest one.")
                )
    below = under.texts if under else []
    for one in below:
        for place in one.parents or ():
            if not 0 <= place < len(level.texts):
                raise InputError(
                    f"{one.where}, parents: there is no text {place} in the level above, "
                    f"which has {len(level.texts)}."
                )
    known = any(one.children is not None for one in level.texts)
    if not known and all(one.parents is None for one in below):
        return None
    inputs = [list(one.children or ()) for one in level.texts]
    for place, one in enumerate(below):
        for parent in one.parents or ():
            if place not in inputs[parent]:
                inputs[parent].append(place)
    return inputs


def _add_claims(
    draft: Draft, value: Mapping[str, Any], terminals: Sequence[str], where: str
) -> list[str]:
    """Add the claims, which are about the final summary, and what their readers wrote.

    Returns:
        Warnings about labels that are not known.
    """
    if value.get("claims") is None and value.get("general_comment") is None:
        return []
    if len(terminals) != 1:
        raise InputError(
            f"{where}: there are claims and {len(terminals)} final summaries. Name the one that "
            "the claims are about under `final_summary`."
        )
    (final,) = terminals
    doubts: list[str] = []
    draft.claims.extend(claims.read_claims(value.get("claims"), final, where, doubts))
    if len(doubts) > _MOST_DOUBTS:
        more = counted(
            len(doubts) - _MOST_DOUBTS,
            "more claim has a label that is not known.",
            "more claims have labels that are not known.",
        )
        doubts[_MOST_DOUBTS:] = [more]
    said = {
        "general_comment": value.get("general_comment"),
        "annotations": claims.notes(value.get("claims"), where) or None,
    }
    node = draft.nodes[final]
    kept = {key: one for key, one in said.items() if one is not None}
    draft.nodes[final] = replace(node, metadata={**node.metadata, **kept})
    return doubts


def _of_sources(levels: Sequence[_Level], draft: Draft, only_final: bool) -> list[str]:
    """Warnings about source texts that the file does not hold."""
    lowest = levels[0]
    if only_final:
        return [
            "The file holds the final summary alone, neither source texts nor other summaries: "
            "its claims and labels are kept, and there is nothing to verify them against. Add the "
            "summaries under `summaries_dict` or `levels`, or the source texts under `chunks`."
        ]
    if any(node.origin is Origin.SOURCE for node in draft.nodes.values()):
        return []
    if lowest.prefix == "chunk":
        return [
            "Each of the chunks names a model, a prompt or the kind of a summary, so none is "
            "source text: no claim can be supported."
        ]
    return [
        "The source texts are absent: the texts of level 0 are summaries, which are no source "
        "text, so no claim can be supported. Add the source texts under `chunks`; where the texts "
        'of level 0 are the source itself, move them there, or give them "origin": "source".'
    ]


def _of_edges(warned: _Warned, options: ImportOptions) -> list[str]:
    """Warnings about edges that the file does not record, and texts without any."""
    said = []
    if warned.guessed:
        kept = "left out" if options.only_explicit else "inferred by order"
        said.append(
            f"The file does not record the inputs of the texts in {', '.join(warned.guessed)}. "
            f"Neighbours are grouped as evenly as possible, which may be wrong; the edges are "
            f"{kept}. Record the inputs under `children`, or name the size of the groups "
            "with --grouping."
        )
    if warned.misfit:
        said.append(
            f"Groups of {options.grouping} do not make as many texts as there are in "
            f"{', '.join(warned.misfit)}; --grouping is not used there."
        )
    if warned.context:
        kept = "left out" if options.only_explicit else "inferred by order"
        edges = counted(warned.context, "such edge is", "such edges are")
        said.append(
            f"BooookScore also gives a merge the summary before it in its level; {edges} {kept}."
        )
    if options.only_explicit and warned.inferred:
        said.append(
            counted(warned.inferred, "inferred edge", "inferred edges")
            + f" between levels {'is' if warned.inferred == 1 else 'are'} left out."
        )
    if warned.unused:
        left = some(map(shown, warned.unused))
        said.append(
            counted(len(warned.unused), "text is an input", "texts are inputs")
            + f" of no other text: {left}."
        )
    return said


def _of_end(terminals: Sequence[str]) -> list[str]:
    """A warning where summarising did not end in one text."""
    if len(terminals) == 1:
        return []
    return [f"There is no single final summary: the last level has {len(terminals)} texts."]
