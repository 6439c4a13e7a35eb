"""`ferryman cost`: what executions cost on Google Cloud, by measured counts and list prices; nothing is asked of anybody."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import click

from ferryman.billing.cloud.figures import LIMITS, Figures
from ferryman.billing.cloud.measured import measured
from ferryman.billing.cloud.model import Line, lines
from ferryman.billing.cloud.prices import Price, price_list
from ferryman.billing.cloud.rest import Kept, at_rest
from ferryman.billing.prices import Prices
from ferryman.cli import exits
from ferryman.cli.screen import Screen
from ferryman.domain.problem import Invalid, invalid

COLUMNS = ("item", "amount", "unit", "price", "cost", "beyond_free")
AT_REST = ("item", "amount", "cost", "beyond_free")
SHARED = 40
"""Executions at once, for comparison."""

_DEFAULTS = Figures()


def _figure(name: str, told: str) -> Callable[[Any], Any]:
    least, most = LIMITS[name]
    default = None if name == "turns" else getattr(_DEFAULTS, name)
    whole = isinstance(getattr(_DEFAULTS, name), int)
    shown = "calls + 1" if default is None else f"{default:,}"
    text = f"{told} {least} to {most:,}. [default: {shown}]"
    kind = click.INT if whole else click.FLOAT
    return click.option(f"--{name.replace('_', '-')}", name, type=kind, default=default, metavar="N", help=text)


@click.command()
@_figure("executions", "Executions in a month.")
@_figure("calls", "Calls of tools in each.")
@_figure("turns", "Model calls in each; the last one answers.")
@_figure("model_seconds", "Seconds that the model takes for a turn.")
@_figure("call_seconds", "Seconds that a service takes for a call.")
@_figure("answer_kb", "KiB that a service answers.")
@_figure("request_kb", "KiB that a call sends, encryption included.")
@_figure("round_trip_ms", "Milliseconds that a request to Firestore takes.")
@_figure("startup_seconds", "Seconds that each function spends on starting, for each execution.")
@_figure("at_once", "Executions that run at once, and share instances as far as these have room.")
@click.option("--watched", is_flag=True, help="Somebody looks on while each runs, as `ferryman run` does.")
@click.option("--model", help="A model of `ferryman models`: adds what its tokens cost, uncached.")
@click.option("--input-tokens", type=click.IntRange(0, 1_000_000), default=6_000, show_default=True, help="Of each turn.")
@click.option("--output-tokens", type=click.IntRange(0, 1_000_000), default=300, show_default=True, help="Of each turn.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON.")
def cost(as_json: bool, model: str | None, input_tokens: int, output_tokens: int, turns: int | None, **given: Any) -> None:
    """What executions cost on Google Cloud in a month, and what remains when nobody asks anything.

    Counts were measured on the local cloud; prices are list prices, written down on the day that is shown. Check them against
    Google's own. Beyond free: where nothing else uses what is free. docs/cost.md has the formulas.
    """
    screen = Screen(as_json=as_json)
    read: dict[str, Any] = {name: Decimal(str(value)) if isinstance(value, float) else value for name, value in given.items()}
    figures = Figures(turns=given["calls"] + 1 if turns is None else turns, **read)
    try:
        tokens = _tokens(figures, model, input_tokens, output_tokens)
        used = [*lines(figures), *tokens]
        resting = at_rest(figures)
    except Invalid as refused:
        errors = [(f"--{each.field.replace('_', '-')}", each.message) for each in refused.problems]
        screen.wrong("these figures cannot be reckoned with", errors=errors)
        sys.exit(exits.USAGE)
    screen.record(_record(figures, used, resting))
    shared = f", {figures.at_once} at once" if figures.at_once > 1 else ", one at a time"
    screen.say(f"{figures.executions:,} executions of {figures.calls} calls in {figures.turns} turns{shared}", "bold")
    screen.lines([_row(each) for each in used], *COLUMNS)
    screen.say(f"together {_usd(_cost(used))}, {_usd(_beyond(used))} beyond what is free")
    if figures.at_once == 1:
        sharing = [*lines(replace(figures, at_once=SHARED)), *tokens]
        screen.say(f"with {SHARED} at once, which share instances: {_usd(_cost(sharing))}")
    if model is None:
        screen.say("without the model's tokens, which mostly cost far more than this: --model NAME adds them")
    screen.say()
    screen.say("at rest, a month", "bold")
    screen.lines([_kept(each) for each in resting], *AT_REST)
    screen.say(f"together {_usd(_cost(resting))}, {_usd(_beyond(resting))} beyond what is free")
    screen.say()
    prices = price_list()
    screen.say(f"list prices of {prices.region}, written down on {prices.as_of}: check them against Google's own")


def _tokens(figures: Figures, model: str | None, made_of: int, answered: int) -> list[Line]:
    if model is None:
        return []
    price = Prices().of(model)
    if price is None:
        raise invalid("model", f"has no price; priced are: {', '.join(sorted(Prices()))}")
    turns = Decimal(figures.executions * figures.turns)
    kinds = (("input", made_of, price.input), ("output", answered, price.output))
    return [
        Line(
            name=f"{kind}_tokens",
            title=f"{model}: {kind}",
            amount=turns * tokens,
            price=Price(usd=usd, per=1_000_000, unit="tokens", free=Decimal(0)),
        )
        for kind, tokens, usd in kinds
    ]


def _row(line: Line) -> dict[str, str]:
    per = "" if line.price.per == 1 else f" for {line.price.per:,}"
    return {
        "item": line.title,
        "amount": _amount(line.amount),
        "unit": line.price.unit,
        "price": f"${line.price.usd}{per}",
        "cost": _usd(line.cost),
        "beyond_free": _usd(line.beyond_free),
    }


def _kept(kept: Kept) -> dict[str, str]:
    return {"item": kept.title, "amount": kept.amount, "cost": _usd(kept.cost), "beyond_free": _usd(kept.beyond_free)}


def _record(figures: Figures, used: Sequence[Line], resting: Sequence[Kept]) -> dict[str, Any]:
    prices = price_list()
    return {
        "as_of": prices.as_of,
        "region": prices.region,
        "measured_by": measured().command,
        "figures": {**{name: str(getattr(figures, name)) for name in LIMITS}, "watched": figures.watched},
        "lines": [
            {
                "name": each.name,
                "amount": str(each.amount),
                "unit": each.price.unit,
                "usd": str(each.price.usd),
                "per": each.price.per,
                "free": str(each.price.free),
                "cost_usd": str(each.cost),
                "beyond_free_usd": str(each.beyond_free),
            }
            for each in used
        ],
        "cost_usd": str(_cost(used)),
        "beyond_free_usd": str(_beyond(used)),
        "at_rest": [
            {
                "item": each.title,
                "amount": each.amount,
                "cost_usd": str(each.cost),
                "beyond_free_usd": str(each.beyond_free),
            }
            for each in resting
        ],
    }


def _cost(all_of: Sequence[Line | Kept]) -> Decimal:
    return sum((each.cost for each in all_of), Decimal(0))


def _beyond(all_of: Sequence[Line | Kept]) -> Decimal:
    return sum((each.beyond_free for each in all_of), Decimal(0))


def _amount(amount: Decimal) -> str:
    return f"{amount:,.0f}" if amount >= 100 or amount == int(amount) else f"{amount:,.3f}"


def _usd(usd: Decimal) -> str:
    return f"${usd:,.4f}"
