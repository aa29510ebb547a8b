"""Abbreviations of several languages whose full stop ends no sentence, beyond Punkt's tables."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    "bijv bspw bzw cf d.h d.w.z e.g eg evtl ggf i.a i.e ie insb m.a.o n.b např np o.a p.e "
    "p.ej p.ex resp sog t.ex tj tzn u.a v.a vgl viz vs z.b zb "
    "напр т.е डॉ प्रो श्री"  # noqa: RUF001
)
"""What goes on whatever follows."""

TITLES = _words(
    "adm capt cmdr col dipl doc dott dr dra fr frl gen gov hon hr ing insp lt maj messrs mgr "
    "mlle mme mr mrs ms mss mt pfr pres prof rep rev sen sgt sig sr sra srta ste "
    "г проф"  # noqa: RUF001
)
"""What stands before a name."""

NUMBERED = _words(
    "abb abs anm app approx apr arg art arts aug avr bd bl c ca cap ch chap chaps circa cl "
    "dec dez dic déc ed ene eq eqs ex exs ext feb fig figs févr jan janv juil jul jun kap max "
    "min mär n no nos nov nr nrs num núm oct okt ott p pag par para paras pl pp pt pts pág "
    "págs ref refs reg rn s sec secs sect sep sept set sez tab tabs tbl tel ver vol vols z "
    "гл рис с ст стр табл"  # noqa: RUF001
)
"""What stands before a number."""

DATED = _words("b c ca d fl r")
"""What stands before a year in parentheses: born, about, died, flourished, reigned."""

INNER = _words(
    "abbr adj al approx ariz assn ave avg bldg blvd bros ca calif circa cit co colo conn corp "
    "dept dev esp est etc excl exkl fig figs gal govt hist hrs ibid inc incl ind inkl intl jr "
    "lbs ltd mass max mfg mich min minn mio misc mo mrd mt no nos nr op orig pp resp sq std temp "
    "tsd univ usu usw var vb vol vols yr yrs zzgl "
    "г гг д др млн млрд т тыс"  # noqa: RUF001
)
"""What may end a sentence, and does not where a lower-case letter follows."""

COMPANY = _words(
    "ag co company corp corporation gmbh inc incorporated intl limited llc llp lp ltd nv plc sa"
)
"""Forms of companies, which follow a name: "Yahoo! Inc.", "Tyco Intl. Ltd."."""

MARKED = _words("e jeopardy yahoo")
"""Names that are written with a mark and stand before other names: "E! News", "Yahoo! Finance"."""

MONTHS = _words(
    "april august dezember februar januar juli juni jänner mai märz november oktober september"
)
"""Months that are written behind a day with a full stop: "3. Oktober"."""

ORDINAL_AFTER = _words("ab am bis das dem den der des die im seit vom zum zur")
"""German words behind which "2." counts and ends nothing."""

ORDINAL_AND = _words("und oder bis sowie bzw")
"""German words that lead from one such number to the next: "2. und 3. Mai"."""

NAME_AFTER = _words("& and by et from of to und van von with y")
"""Words behind which a single letter with a full stop begins a name."""

STARTERS = _words(
    "a an and as at but by das der die ein eine el er es for he her his however i if in it "
    "its la las le les los on she sie so that the then there these they this those to we when "
    "with you"
)
"""Words that begin a sentence, and no name."""
