"""`ferryman cost`: what executions cost on Google Cloud, by measured counts and list prices; nothing is requested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import click

from ferryman.billing.cloud.figures import LIMITS, Figures
from ferryman.billing.cloud.measured import load_measurement
from ferryman.billing.cloud.model import CostLine, compute_lines
from ferryman.billing.cloud.open_pages import OpenPageCost, compute_open_pages
from ferryman.billing.cloud.prices import CloudPrice, load_price_list
from ferryman.billing.cloud.rest import IdleCost, compute_idle_costs
from ferryman.billing.prices import Prices
from ferryman.cli import exits
from ferryman.cli.commands import screen_command
from ferryman.cli.screen import Screen
from ferryman.domain.counts import say_count
from ferryman.domain.problem import InvalidInputError, build_input_error

COLUMNS = ("item", "amount", "unit", "price", "cost", "beyond_free")
OPEN_PAGES = ("item", "reads", "requests", "cost", "beyond_free")
AT_REST = ("item", "amount", "cost", "beyond_free")
SHARED = 40
"""Executions at once, for comparison."""

_DEFAULTS = Figures()


def _figure(name: str, summary: str) -> Callable[[Any], Any]:
    least, most = LIMITS[name]
    default = None if name == "turns" else getattr(_DEFAULTS, name)
    whole = isinstance(getattr(_DEFAULTS, name), int)
    default_text = "calls + 1" if default is None else f"{default:,}"
    text = f"{summary} {least} to {most:,}. [default: {default_text}]"
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
@_figure("page_hours", "Hours in which a page of the console is open and seen.")
@click.option("--watched", is_flag=True, help="Somebody looks on while each runs, as `ferryman run` does.")
@click.option("--by-document", is_flag=True, help="An application's document asks for each, in place of a request to the API.")
@click.option(
    "--recovery/--no-recovery",
    default=True,
    help="The database keeps its last seven days, as it is deployed unless told otherwise.",
)
@click.option("--model", help="A model of `ferryman models`: adds what its tokens cost, uncached.")
@click.option("--input-tokens", type=click.IntRange(0, 1_000_000), default=6_000, show_default=True, help="Of each turn.")
@click.option("--output-tokens", type=click.IntRange(0, 1_000_000), default=300, show_default=True, help="Of each turn.")
@screen_command
async def cost(
    screen: Screen, /, model: str | None, input_tokens: int, output_tokens: int, turns: int | None, **options: Any
) -> int | None:
    """Estimate what executions cost on Google Cloud in a month, and what storage costs when nothing runs.

    Counts were measured on the local cloud; prices are list prices, written down on the day that is shown. Check them against
    Google's own. Beyond free: where nothing else uses what is free. docs/cost.md has the formulas.
    """
    read: dict[str, Any] = {name: Decimal(str(value)) if isinstance(value, float) else value for name, value in options.items()}
    figures = Figures(turns=options["calls"] + 1 if turns is None else turns, **read)
    try:
        tokens = _tokens(figures, model, input_tokens, output_tokens)
        used = [*compute_lines(figures), *tokens]
        pages = compute_open_pages(figures)
        resting = compute_idle_costs(figures)
    except InvalidInputError as refused:
        errors = [(f"--{line.field.replace('_', '-')}", line.message) for line in refused.problems]
        screen.print_error("these figures cannot be used", errors=errors)
        return exits.USAGE
    screen.print_json(_record(figures, used, pages, resting))
    shared = f", {figures.at_once} at once" if figures.at_once > 1 else ", one at a time"
    executions = say_count(figures.executions, "executions")
    screen.print_line(
        f"{executions} of {say_count(figures.calls, 'calls')} in {say_count(figures.turns, 'turns')}{shared}", "bold"
    )
    _print_section(screen, used, COLUMNS)
    if figures.at_once == 1:
        sharing = [*compute_lines(replace(figures, at_once=SHARED)), *tokens]
        screen.print_line(f"with {SHARED} at once, which share instances: {_usd(_sum(sharing, 'cost'))}")
    if model is None:
        screen.print_line("without the model's tokens, which mostly cost far more than this: --model NAME adds them")
    screen.print_line(f"\na page of the console, open and seen for {figures.page_hours:,f} h".replace(".0 h", " h"), "bold")
    screen.print_lines([_describe_page(page) for page in pages], *OPEN_PAGES)
    screen.print_line("\nat rest, a month", "bold")
    _print_section(screen, resting, AT_REST)
    screen.print_line()
    prices = load_price_list()
    screen.print_line(f"list prices of {prices.region}, written down on {prices.as_of}: check them against Google's own")
    return None


def _tokens(figures: Figures, model: str | None, made_of: int, answered: int) -> list[CostLine]:
    if model is None:
        return []
    price = Prices().find(model)
    if price is None:
        raise build_input_error("model", f"has no price; priced are: {', '.join(sorted(Prices()))}")
    turns = Decimal(figures.executions * figures.turns)
    kinds = (("input", made_of, price.input), ("output", answered, price.output))
    return [
        CostLine(
            name=f"{kind}_tokens",
            title=f"{model}: {kind}",
            amount=turns * tokens,
            price=CloudPrice(usd=usd, per=1_000_000, unit="tokens", free=Decimal(0)),
        )
        for kind, tokens, usd in kinds
    ]


def _print_section(screen: Screen, lines: Sequence[CostLine] | Sequence[IdleCost], columns: tuple[str, ...]) -> None:
    rows = []
    for line in lines:
        row = {"item": line.title, "cost": _usd(line.cost), "beyond_free": _usd(line.beyond_free)}
        if isinstance(line, CostLine):
            per = "" if line.price.per == 1 else f" for {line.price.per:,}"
            rows.append({**row, "amount": _amount(line.amount), "unit": line.price.unit, "price": f"${line.price.usd}{per}"})
        else:
            rows.append({**row, "amount": line.amount})
    screen.print_lines(rows, *columns)
    screen.print_line(f"together {_usd(_sum(lines, 'cost'))}, {_usd(_sum(lines, 'beyond_free'))} beyond what is free")


def _describe_page(page: OpenPageCost) -> dict[str, str]:
    amounts = {name: _amount(page.amounts[name]) for name in ("reads", "requests")}
    return {"item": page.title, **amounts, "cost": _usd(page.cost), "beyond_free": _usd(page.beyond_free)}


def _record(
    figures: Figures, used: Sequence[CostLine], pages: Sequence[OpenPageCost], resting: Sequence[IdleCost]
) -> dict[str, Any]:
    prices = load_price_list()
    return {
        "as_of": prices.as_of,
        "region": prices.region,
        "measured_by": load_measurement().command,
        "figures": {
            **{name: str(getattr(figures, name)) for name in LIMITS},
            **{name: getattr(figures, name) for name in ("watched", "by_document", "recovery")},
        },
        "lines": [
            {
                **{"name": line.name, "amount": str(line.amount), "unit": line.price.unit, "usd": str(line.price.usd)},
                **{"per": line.price.per, "free": str(line.price.free), **_in_dollars(line)},
            }
            for line in used
        ],
        "cost_usd": str(_sum(used, "cost")),
        "beyond_free_usd": str(_sum(used, "beyond_free")),
        "open_pages": [
            {"item": page.title, **{name: str(amount) for name, amount in page.amounts.items()}, **_in_dollars(page)}
            for page in pages
        ],
        "at_rest": [{"item": line.title, "amount": line.amount, **_in_dollars(line)} for line in resting],
    }


def _in_dollars(line: CostLine | OpenPageCost | IdleCost) -> dict[str, str]:
    return {"cost_usd": str(line.cost), "beyond_free_usd": str(line.beyond_free)}


def _sum(lines: Iterable[CostLine | IdleCost], name: str) -> Decimal:
    return sum((getattr(line, name) for line in lines), Decimal(0))


def _amount(amount: Decimal) -> str:
    return f"{amount:,.0f}" if amount >= 100 or amount == int(amount) else f"{amount:,.3f}"


def _usd(usd: Decimal) -> str:
    return f"${usd:,.4f}"
