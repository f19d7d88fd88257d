"""Reviews of three invented products, and their summaries by four invented systems."""

from dataclasses import dataclass

SYSTEMS = ("first-sentences", "small-model", "large-model", "editor")


@dataclass(frozen=True)
class Product:
    """A document: its reviews, and one summary for each of SYSTEMS, in that order."""

    key: str
    title: str
    reviews: tuple[str, ...]
    summaries: tuple[str, ...]


KETTLE = Product(
    key="kettle",
    title="Electric kettle, 1.7 litres",
    reviews=(
        "Boils a full pot in under four minutes, which is faster than my old one by half. The handle stays cool. "
        "My only complaint is the lid, which needs two hands to open.",
        "Quick and quiet enough for an open kitchen. After three months there is limescale on the spout filter, "
        "but it comes off with vinegar.",
        "The lid is stiff! My mother cannot open it at all. A pity, because the water is hot in no time.",
        "Looks smart, pours without dripping. I measured 3:50 minutes for 1.7 litres. The cord could be longer.",
        "Leaked from the base after six weeks. The shop replaced it without questions and the new one has been fine.",
        "Good kettle for the price. Cool handle, no plastic taste. The cord barely reaches my socket.",
    ),
    summaries=(
        "Boils a full pot in under four minutes, which is faster than my old one by half. Quick and quiet enough for "
        "an open kitchen. The lid is stiff!",
        "This kettle is a great kettle. Reviewers love the kettle and the temperature control of the kettle. It is "
        "quiet and the the cord is long.",
        "Reviewers agree that the kettle is fast, boiling a full pot in about four minutes, and that its handle stays "
        "cool. The stiff lid and the short cord are the main complaints; one unit leaked and was replaced.",
        "Fast, quiet and cool to hold: most buyers are content, above all for the price. The lid takes strength to "
        "open, and the cord is short for some kitchens.",
    ),
)

BACKPACK = Product(
    key="backpack",
    title="Day backpack, 22 litres",
    reviews=(
        "Carried it for two weeks in Norway in constant rain and nothing inside got wet. Straps are soft.",
        "Comfortable straps, but the zip of the front pocket broke on the third day. Sewed in a new one myself.",
        "The laptop sleeve is too small for a 15-inch machine, although the label says otherwise.",
        "Light, waterproof, and the straps do not cut in even with eight kilos. I use it every day for work.",
        "Zip stuck from the start. Returned it.",
        "My son has used it for school for a year. The fabric looks like new; the zips are another story.",
    ),
    summaries=(
        "Carried it for two weeks in Norway in constant rain and nothing inside got wet. Comfortable straps, but the "
        "zip of the front pocket broke on the third day.",
        "A backpack that is liked by everyone. Waterproof. Zips are good, straps are good, laptop is good.",
        "The backpack keeps rain out and its straps are comfortable even under load. Several buyers had trouble with "
        "the zips, and one found the laptop sleeve smaller than stated.",
        "Praised for staying dry inside and sitting softly on the shoulders; blamed for zips that jam or break. Check "
        "the size of your laptop before you buy.",
    ),
)

LAMP = Product(
    key="lamp",
    title="Desk lamp with three colours of light",
    reviews=(
        "Warm light in the evening, cold light for drawing: exactly what I wanted. Touch buttons react at once.",
        "It hums. Very softly, but in a quiet room I hear nothing else.",
        "Stable foot, bends in every direction, and stays where you put it.",
        "The brightness is wonderful for embroidery. It remembers the last setting, which I love.",
        "Mine hums on the lowest level only. I keep it one step brighter and am happy with it.",
        "The touch buttons are so sensitive that my cat operates the lamp.",
    ),
    summaries=(
        "Warm light in the evening, cold light for drawing: exactly what I wanted. It hums. Stable foot, bends in "
        "every direction, and stays where you put it.",
        "The lamp has light. It is good for cat and embroidery and drawing. Buttons is sensitive. No one complains "
        "about any noise.",
        "Buyers value the choice between warm and cold light, the brightness and the stable, flexible arm. Two of six "
        "hear a soft hum, at least on the lowest level, and the touch buttons are very sensitive.",
        "Bright, adjustable and steady, this lamp suits fine work such as drawing or embroidery. A faint hum bothers "
        "those who work in silence.",
    ),
)

PRODUCTS = (KETTLE, BACKPACK, LAMP)

# How good each system's summaries are, by dimension, before raters differ about it.
QUALITY = {
    "fluency": (4, 2, 5, 5),
    "coherence": (2, 2, 4, 5),
    "faithfulness": (5, 1, 5, 4),
    "aspect-coverage": (2, 2, 5, 4),
}
