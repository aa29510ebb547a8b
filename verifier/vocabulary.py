"""The small word tables of the lexical engine: ours, general, and short on purpose.

A table is written as groups of words; the stemmer is applied when it is built, so that one
form of a word stands for all of its regular forms.
"""

from __future__ import annotations

from functools import lru_cache

from veritrail_graph.graph.lean_imports import without_numbers


def word_set(table: str) -> frozenset[str]:
    """Return the words of a table, which blanks part."""
    return frozenset(table.split())


STOP = word_set(
    """a about also although am among an and any are as at be because been being both but by
    can could did do does doing during either else especially etc even ever for from further
    had has have having he hence her here hers herself him himself his how however i if in indeed
    instead into is it its itself just let like many may me might mine moreover most much must my
    namely of off on once one only onto or other others our ours out own per perhaps quite rather
    s same shall she should since so some such than that the their theirs them themselves then
    there thereby therefore these they this those though through thus to together too toward
    towards until up upon us very via was we were what when where whereas whether which while who
    whom whose why will with within would yet you your yours additionally furthermore meanwhile
    initially finally eventually according again around approximately roughly nearly almost t ll
    ve re d m"""
)

# Words that a careful reader would not ask evidence for, or that speak of the text itself.
LIGHT = word_set(
    """significant significantly substantial substantially extensive extensively considerable
    considerably notable notably important various several numerous key overall general generally
    particular particularly mention mentions mentioned discuss discusses discussed document
    documents documented described describes including include includes part way thing things
    kind type use used using make makes made get gets get got become became year years time
    total new different certain specific main major"""
)

APPROXIMATE = word_set("about around approximately roughly nearly almost circa some estimated")

PRONOUNS = word_set(
    "he she it they him them his her hers its their theirs this these those both who"
)

# "All" claims more than its words: evidence must say it as well, in one form or another.
UNIVERSAL = word_set("all every each everyone everybody everything always")
UNIVERSAL_KEY = "every"
NOT_UNIVERSAL_AFTER = word_set("in at after above of")  # in all, at all, after all, best of all

# A cue denies what follows it in its clause; the verbs among them are content as well.
NEGATIONS = word_set(
    """not no never none nobody nothing neither nor without cannot hardly scarcely fail fails
    failed refuse refuses refused deny denies denied unable lack lacks lacked lacking"""
)
NEGATION_STOPS = word_set(
    """not no never none nobody nothing neither nor without cannot hardly scarcely"""
)

# What is said with one of these is not said as a fact. Those in the second list are names of a
# month and of a power where they begin with a capital.
UNCERTAIN = word_set(
    """perhaps maybe possibly probably presumably allegedly reportedly apparently supposedly
    likely"""
)
UNCERTAIN_SMALL = word_set("may might could")

# Between a denial and what it denies ("not immediately lapse"), beside words in -ly.
_ADVERBS = word_set("always ever longer now often soon")
# These leave a denial whole; others qualify it: "not immediately" is "later, perhaps".
_PLAIN_ADVERBS = word_set(
    """actually allegedly apparently certainly clearly currently definitely ever evidently
    formerly longer now obviously officially previously really reportedly simply truly"""
)
_NO_ADVERBS = word_set(
    """ally anomaly apply assembly belly bully butterfly comply family fly imply italy jelly july
    monopoly multiply rally rely reply supply tally"""
)


def is_adverb(word: str) -> bool:
    """Return whether a lower-case word says how or when: it takes no denial for itself alone."""
    return word in _ADVERBS or (word.endswith("ly") and word not in _NO_ADVERBS)


def is_plain_adverb(word: str) -> bool:
    """Return whether a lower-case word does not change the meaning: actually, currently."""
    return word in _PLAIN_ADVERBS


def is_qualifier(word: str) -> bool:
    """Return whether a lower-case word makes a denial one in part: not immediately, not often."""
    return is_adverb(word) and word not in _PLAIN_ADVERBS


_IRREGULAR = """be been|become became|begin began begun|break broke broken|bring brought|
build built|buy bought|catch caught|choose chose chosen|come came|cut|deal dealt|draw drew drawn|
drive drove driven|eat ate eaten|fall fell fallen|feel felt|fight fought|find found|fly flew flown|
forget forgot forgotten|freeze froze frozen|give gave given|go went gone|grow grew grown|
hear heard|hide hid hidden|hold held|keep kept|know knew known|lead led|leave left|lend lent|
lose lost|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|
see saw seen|seek sought|sell sold|send sent|shake shook shaken|shoot shot|show showed shown|
sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|
steal stole stolen|strike struck|swim swam swum|take took taken|teach taught|tell told|
think thought|throw threw thrown|understand understood|wear wore worn|win won|withdraw withdrew
withdrawn|write wrote written|man men|woman women|child children|person people|foot feet|
tooth teeth|mouse mice|life lives|leaf leaves|half halves|thief thieves|good better best|
bad worse worst"""

_SYNONYMS = """buy purchase acquire|begin start commence launch|end finish conclude|
build construct erect|big large|little small|show indicate demonstrate reveal|
help assist aid|rise increase grow climb|fall decrease drop decline shrink|close shut|
repair fix mend|injure hurt wound|establish found|company firm|employee worker|
boat vessel ship|doctor physician|film movie|car automobile|approve accept adopt endorse|
reject refuse|say state tell announce declare|happen occur|need require|receive obtain|
leave depart|arrive reach|live reside|job occupation|aim goal objective|benefit advantage|
problem issue difficulty|choose select pick|keep retain|stop halt cease|allow permit|
forbid ban prohibit|wealthy rich|quick fast rapid|renew renovate refurbish|replace substitute|
attempt try|author writer|teacher instructor|percent percentage|rule regulation|plan scheme"""

# Each line: two sides that exclude each other where they speak of the same thing.
_OPPOSITES = """rise, fall|improve, worsen|approve, reject|open, close|begin, end|win, lose|
buy, sell|arrive, leave|allow, forbid|succeed, fail|agree, disagree|like, dislike|include, exclude|
support, oppose|early, late|high, low|big, little|hot, cold|cheap, expensive|strong, weak|
young, old|male, female|man, woman|north, south|east, west|northern, southern|eastern, western|
public, private|legal, illegal|guilty, innocent|safe, unsafe|dangerous, safe|alive, dead|
same, different|gain, lose|hire, dismiss|accelerate, slow|expand, contract|import, export|
appear, vanish|confirm, deny|join, quit|keep, abandon|lend, borrow|push, pull|wet, dry|
empty, full|rich, poor|good, bad|easy, hard|light, dark|positive, negative|profit, loss|
encourage, discourage|attack, defend|possible, impossible|permanent, temporary|major, minor"""

# Function words that exclude each other before the same word ("before the vote").
ORDERINGS = {
    "before": ("order", 1), "after": ("order", -1), "prior": ("order", 1),
    "following": ("order", -1), "more": ("amount", 1), "less": ("amount", -1),
    "fewer": ("amount", -1), "over": ("side", 1), "under": ("side", -1),
    "above": ("side", 1), "below": ("side", -1),
}  # fmt: skip

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"


def _counted(table: str, start: int) -> dict[str, int]:
    return {word: value for value, word in enumerate(table.split(), start)}


SMALL = _counted(_UNITS, 0) | {word: 10 * value for word, value in _counted(_TENS, 2).items()}
ORDINALS = _counted(_ORDINALS, 1)

NAME_LINKS = frozenset(("of", "de", "van", "von", "der", "du", "la", "le", "the", "al", "bin"))
TITLES = frozenset(("mr", "mrs", "ms", "dr", "st", "prof", "sir", "gen", "sen", "rep", "gov"))

# Small words that must be the same where a sentence says a claim; the first stands for its group.
_SMALL_WORDS = """before prior|after following|until till|since|without|against|only|than|if|unless|
or|both|more|less fewer|most|least|few|many|much|some|from|between|under|over|above|below|beyond|by|
all every each everyone everybody always"""

# What makes a sentence say less than its words without it.
NARROWING = word_set("only some few most less or if unless without")
# What stands before a time or a place that may stand at either end of a sentence.
ADJOINING = word_set("in on at during for since until throughout within")

DENIALS = word_set(
    """not no never none nobody nothing neither nor without cannot hardly scarcely barely except
    excluding nowhere"""
)

# Words by which something is said not as a fact, or not wholly; the first stands for its group.
_DOUBTS = """if|unless|whether|could couldn't|may|might|would wouldn't|should shouldn't|must|nearly|
almost|partly|perhaps|maybe|possibly|probably|likely|unlikely|allegedly|reportedly|apparently|
supposedly|officially|rumoured rumored|hypothetical|otherwise|instead|former formerly|will won't|
shall|plan plans planned planning intend intends intended|hope hopes hoped hoping want wants wanted
wish wishes|expect expects expected expecting forecast predicted|fail fails failed failing refuse
refuses refused|deny denies denied denying reject rejects rejected|propose proposes proposed
consider considers considered|try tries tried attempt attempts attempted unable|claim claims claimed
alleged accuse accuses accused|doubt doubts doubted suspect suspects suspected|false falsely wrong
wrongly untrue incorrect myth fake"""

# Small words that are those of one language alone: denials are known of English only.
ENGLISH = word_set(
    """the of and was were is are has have had with by from at which that for this these would
    could should they she he it its their his her not all every than more"""
)
FOREIGN = word_set(
    """der das und nicht kein keine ein eine mit den dem des von zu ist sind wurde le les une est
    dans du pas il elle sur por para que los las el una del y di che gli della nel ilà het een
    niet van voor och inte att som não um uma dos das na og ikke det ett er ble"""
)
OPENING_PRONOUNS = word_set(
    "he she it they we i you him them his her its their this these those that such both there"
)
ARTICLES = word_set("the a an its their his her our has have had also")
AT_A_MOMENT = word_set(
    "in on at during since of early late the end beginning start middle between and from to"
)
OPENING = word_set(
    """also however moreover meanwhile then and but additionally furthermore finally second third
    indeed today yesterday"""
)
# Behind a comma, these open what says where, when or for whom alone something holds.
LIMITING = word_set(
    """in on at for among when where while as provided given under within during with by to from
    once"""
)
# Words that take back what stands beside them: it is told, believed, excepted, not done.
TAKING_BACK = word_set(
    """but though although however except excepted exception exceptions excluding save apart
    until till unless other than rather alone say says said saying argue argues argued insist
    insists insisted believe believes believed belief think thinks thought allege alleges
    according rumour rumours rumor reports reported report reportedly story novel film fiction
    fictional dream tale legend myth mistaken mistakenly initially debunked disproved refuted
    lie lies lying lied pretend pretends pretended suppose supposed imagined imagine suggest
    suggests suggested warn warns warned threatened threatens promise promises promised decline
    declines declined forgot forget avoided avoid prevented prevent acquitted cleared cleared
    evidence ask asks asked forced force"""
)

# A short sentence with one of these may say of the sentence beside it that it is not so.
ABOUT_TRUTH = word_set(
    """true false untrue wrong incorrect invented fake hoax myth myths misconception
    misconceptions rejected withdrawn hypothetical imaginary fictional rumour rumours rumor rumors
    debunked disproved refuted retracted correction erratum mistaken mistake lie lies unfounded
    disputed fiction"""
)
# A sentence with one of these may say that two names are of the same one.
NAMING = word_set(
    """name names named rename renamed nickname nicknamed alias aka call calls called known identity
    formerly former previously pseudonym pen stage maiden née nee born originally now today also
    same spelling spelt spelled"""
)
# A figure behind one of these says which one, not how many: section 4, flight 310.
NUMBERED = word_set(
    """appendix annex apartment article block building bus case chapter channel class clause
    day exit experiment figure flat flight gate grade group highway house item level line model no
    number page paragraph part phase platform player question room round route rule section size
    stage step study table team test track train tram trial type unit version volume week"""
)

_CACHED_STEMS = 32_768


@lru_cache(maxsize=1)
def _stemmer() -> object:
    # NLTK takes a good tenth of a second to import: only when first needed.
    with without_numbers():
        from nltk.stem.snowball import EnglishStemmer

    return EnglishStemmer()


@lru_cache(maxsize=_CACHED_STEMS)
def stem(word: str) -> str:
    """The stem of a lower-case word, irregular forms led back to their base."""
    return _regular_stem(_irregular().get(word, word))


def _regular_stem(word: str) -> str:
    # Words of absurd length are data: the stemmer would only slow down on them.
    return word if len(word) > 40 else str(_stemmer().stem(word))  # type: ignore[attr-defined]


@lru_cache(maxsize=_CACHED_STEMS)
def key(word: str) -> str:
    """Return the key of a lower-case word in comparisons: its stem, or that of its synonyms."""
    stemmed = stem(word)
    return _synonyms().get(stemmed, stemmed)


def _groups(table: str) -> list[list[str]]:
    return [group.split() for group in table.replace("\n", " ").split("|")]


def _headed(table: str) -> dict[str, str]:
    """For each word of a table, the first of its group."""
    return {word: group[0] for group in _groups(table) for word in group}


SMALL_WORDS = _headed(_SMALL_WORDS)
DOUBTS = _headed(_DOUBTS)


@lru_cache(maxsize=1)
def _irregular() -> dict[str, str]:
    return {form: group[0] for group in _groups(_IRREGULAR) for form in group[1:]}


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, str]:
    return {
        _regular_stem(word): _regular_stem(group[0])
        for group in _groups(_SYNONYMS)
        for word in group
    }


@lru_cache(maxsize=1)
def opposites() -> dict[str, tuple[tuple[str, int], ...]]:
    """For each key that has an opposite: the pairs it is in, and on which side."""
    sides: dict[str, list[tuple[str, int]]] = {}
    for pair in _OPPOSITES.replace("\n", " ").split("|"):
        left, right = (key(word.strip()) for word in pair.split(","))
        name = f"{left}/{right}"
        sides.setdefault(left, []).append((name, 1))
        sides.setdefault(right, []).append((name, -1))
    return {word: tuple(found) for word, found in sides.items()}
