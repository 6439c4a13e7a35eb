"""The pages that the search engine knows: articles of sites of the simulated internet, each with the engines that find it."""

from __future__ import annotations

from dataclasses import dataclass

ENGINES = ("google", "bing", "duckduckgo", "brave", "qwant", "wikipedia", "wikidata")
"""The engines behind the search, in their order (S4-43)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixturePage:
    """A page: where it is, what it says, and which engines list it. `again` are other ways in which engines write its URL."""

    url: str
    title: str
    author: str = ""
    published: str = ""
    paragraphs: tuple[str, ...]
    engines: tuple[str, ...]
    again: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """The site's host."""
        return self.url.split("/")[2]

    @property
    def path(self) -> str:
        """The path of the page at its site."""
        return "/" + self.url.split("/", 3)[3]


PAGES: tuple[FixturePage, ...] = (
    FixturePage(
        url="https://harbour-times.example.com/2026/ferry-timetable",
        title="Night ferries return to the strait",
        author="Ada Lindqvist",
        published="2026-10-04",
        paragraphs=(
            "After eleven years without a night service, two ferries will cross the strait again from the first of December. "
            "The port authority expects four hundred passengers on an ordinary night, and twice as many before holidays.",
            "The timetable has a departure at 21:40 from the northern harbour and one at 22:10 from the southern one. "
            "Both arrive shortly before five in the morning, in time for the first trains.",
            "Tickets cost 38 euros, with a berth 64. Bicycles travel free, cars are not taken at night: the crew that "
            "would load them is not there. Seats can be booked until an hour before departure.",
        ),
        engines=("google", "bing", "brave", "qwant"),
        again=(
            "https://harbour-times.example.com/2026/ferry-timetable/",
            "http://harbour-times.example.com/2026/ferry-timetable",
        ),
    ),
    FixturePage(
        url="https://harbour-times.example.com/2026/battery-ferry",
        title="What a battery ferry costs in a year",
        author="Jonas Weber",
        published="2026-09-18",
        paragraphs=(
            "The battery ferry that has crossed the fjord for a year has used 2.9 gigawatt hours of electricity, a third less "
            "than was planned. Its operator paid 348,000 euros for them, against 910,000 for the diesel of the ship before.",
            "Not all of that is saved: the chargers on both sides cost 4.2 million euros, and the batteries will have to be "
            "replaced after ten years. The operator counts on nine years until the ship has paid for itself.",
        ),
        engines=("google", "duckduckgo", "bing"),
        again=("https://harbour-times.example.com/2026/battery-ferry#costs",),
    ),
    FixturePage(
        url="https://field-notes.example.org/bees/winter",
        title="How bees keep warm in winter",
        author="Miriam Oyelaran",
        published="2025-12-01",
        paragraphs=(
            "Honey bees do not sleep through the winter. They gather around their queen in a cluster the size of a football, "
            "and shiver: their flight muscles turn honey into heat, while their wings stand still.",
            "At the centre of the cluster it is 34 degrees when there is brood, and 21 degrees when there is none. The bees at "
            "its edge cool down to 9 degrees, and change places with those inside before they are too cold to move.",
            "A colony eats about fifteen kilograms of honey from October to March. What it needs most is to be left alone.",
        ),
        engines=("google", "brave", "wikipedia"),
        again=("https://FIELD-NOTES.example.org/bees/winter",),
    ),
    FixturePage(
        url="https://field-notes.example.org/rivers/tides",
        title="Rivers that flow backwards twice a day",
        author="Miriam Oyelaran",
        published="2026-03-21",
        paragraphs=(
            "Where a river meets a sea with strong tides, the flood runs upstream, sometimes as a wave: a tidal bore. Some "
            "sixty rivers of the world have one, and a ferry that crosses them waits until it has passed.",
            "How high the wave is depends on the moon, on the wind and on how much rain the river carries. The highest of a "
            "year come at the equinoxes, and can be told years ahead to the minute.",
        ),
        engines=("bing", "duckduckgo", "qwant", "wikidata"),
    ),
    FixturePage(
        url="https://httpbin.org/html",
        title="httpbin: a page of HTML",
        paragraphs=(
            "This page is here to be fetched. Whoever tries a client of HTTP can read it and see whether all of it has come: "
            "it has two paragraphs, and this is the first of them.",
            "The second paragraph ends the page. A service for trying clients answers what it was asked, in JSON as well.",
        ),
        engines=("duckduckgo", "brave", "wikipedia", "wikidata"),
    ),
)
