"""Units of measure and money: their spellings, and what one of them is in a common unit."""

from __future__ import annotations

from decimal import Decimal

# Each line: the common unit, then groups of spellings of one unit, each headed by its size.
_MEASURES = """
g: 0.001 mg milligram milligrams | 1 g gram grams gramme grammes
   | 1000 kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes
ton: 1 t ton tons tonne tonnes
lb: 1 lb lbs
oz: 1 oz ounce ounces
m: 0.001 mm millimetre millimetres millimeter millimeters
   | 0.01 cm centimetre centimetres centimeter centimeters
   | 1 m metre metres meter meters | 1000 km kms kilometre kilometres kilometer kilometers
inch: 1 inch inches
ft: 1 ft foot feet
yd: 1 yd yard yards
mile: 1 mi mile miles
m2: 1 m2 sqm | 10000 ha hectare hectares | 1000000 km2
acre: 1 acre acres
ml: 1 ml millilitre millilitres milliliter milliliters | 1000 l litre litres liter liters
m3: 1 m3
gallon: 1 gallon gallons
barrel: 1 barrel barrels
s: 0.001 ms millisecond milliseconds | 1 sec secs seconds | 60 min mins minute minutes
   | 3600 h hr hrs hour hours
day: 1 day days | 7 week weeks
month: 1 month months | 12 yr yrs year years | 120 decade decades | 1200 centuries
kWh: 0.001 Wh | 1 kWh | 1000 MWh | 1000000 GWh | 1000000000 TWh
kW: 0.001 W watt watts | 1 kW kilowatt kilowatts | 1000 MW megawatt megawatts
   | 1000000 GW gigawatt gigawatts
MB: 0.001 KB kilobyte kilobytes | 1 MB megabyte megabytes | 1000 GB gigabyte gigabytes
   | 1000000 TB terabyte terabytes
degree: 1 degree degrees
"c: 1 celsius
"f: 1 fahrenheit
mph: 1 mph
kmh: 1 kph kmh
knot: 1 knot knots
Hz: 1 Hz | 1000 kHz | 1000000 MHz | 1000000000 GHz
point: 1 pp
"""
_MONEY = """USD: $ usd dollar dollars | EUR: \u20ac eur euro euros | GBP: \u00a3 gbp pound pounds
| JPY: \u00a5 jpy yen | INR: \u20b9 inr rupee rupees rs
| CHF: chf franc francs | CNY: cny yuan rmb renminbi
| CROWN: sek nok dkk czk crown crowns kronor kroner krona krone
| RUB: rub rouble roubles ruble rubles
| CENT: cent cents | PENNY: penny pence | KRW: krw | BRL: brl reais | PESO: peso pesos
| SHILLING: shilling shillings | GUILDER: guilder guilders | MARK: dm | CAD: cad | AUD: aud
| HKD: hkd | NZD: nzd
| EUR: \u6b27\u5143 | CNY: \u5143 | USD: \u7f8e\u5143 | JPY: \u5186 | JPY: \u65e5\u5143"""

# Spellings of other languages; "mil" is none: it is a thousand in some and a million in others.
_MILLIONS = """mln millionen millions millones milioni milh\u00f5es milh\u00e3o mill\u00f3n milion
miljoen miljoner miljon millioner"""
_MILLIARDS = """mld milliarde milliarden milliard milliards miliardi miliardo miljard miljarder
milliarder"""

SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "mio": 10**6,
    "billion": 10**9,
    "mrd": 10**9,
    "trillion": 10**12,
    "dozen": 12,
    "lakh": 10**5,
    "crore": 10**7,
    **dict.fromkeys(("tsd", "tausend", "duizend", "tusen"), 10**3),
    **dict.fromkeys(_MILLIONS.split(), 10**6),
    **dict.fromkeys(_MILLIARDS.split(), 10**9),
    "\u4e07": 10**4,
    "\u842c": 10**4,
    "\u4ebf": 10**8,
    "\u5104": 10**8,
}
SCALE_TAILS = {
    "k": 10**3,
    "K": 10**3,
    "mn": 10**6,
    "M": 10**6,
    "bn": 10**9,
    "tn": 10**12,
    "b": 10**9,
}
CASED = frozenset(("M", "K", "W", "T", "C", "F"))


def _measures() -> dict[str, tuple[str, Decimal]]:
    found: dict[str, tuple[str, Decimal]] = {}
    for line in _MEASURES.replace("\n  ", " ").strip().splitlines():
        unit, _, groups = line.partition(":")
        for group in groups.split("|"):
            size, *spellings = group.split()
            found |= dict.fromkeys(spellings, (unit.strip('"'), Decimal(size)))
    return found


MEASURES = _measures()
"""For each spelling of a unit: the common unit, and how many of it one is."""
MONEY = {
    spelling: unit.strip()
    for unit, _, spellings in (part.partition(":") for part in _MONEY.split("|"))
    for spelling in spellings.split()
}
"""For each sign, code or word of a currency: its code."""
DOLLARS = {"us": "USD", "a": "AUD", "c": "CAD", "hk": "HKD", "nz": "NZD"}
"""For letters before a dollar sign: the code of the currency."""
MONEY_SIGNS = frozenset("$\u20ac\u00a3\u00a5\u20b9")
SUFFIXES = frozenset(MEASURES) | frozenset(SCALE_TAILS) | frozenset(("m", "s", "x"))
"""What may stand at a number without a blank."""

_DIMENSIONS = (
    "g ton lb oz", "m inch ft yd mile", "m2 acre", "ml m3 gallon barrel", "mph kmh knot", "c f",
    "s day month", "kW kWh", " ".join(sorted(set(MONEY.values()))),
)  # fmt: skip
_DIMENSION_OF = {unit: line.split()[0] for line in _DIMENSIONS for unit in line.split()}


def dimension(unit: str) -> str:
    """Return what a common unit measures, as the first unit of it: a length, a mass, money."""
    return _DIMENSION_OF.get(unit, unit)
