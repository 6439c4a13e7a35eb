"""The curve of approvals against tasks done, as an SVG."""

from __future__ import annotations

from collections.abc import Sequence

from bench.agentdojo.measuring import BenchFigures

WIDTH, HEIGHT, MARGIN, RIGHT, TOP, BOTTOM = 820, 360, 60, 300, 30, 50
PUBLISHED = (("CaMeL, a real model, nobody asked: 77 %", 77.0), ("AgentFlow, a real model, nobody asked: 63.3 %", 63.3))
LEAST = 40
"""The percentage at the bottom."""

INK, GRID, FIRST, SECOND, OTHER = "#334155", "#cbd5e1", "#2563eb", "#0d9488", "#b45309"


def draw_curve(figures: BenchFigures) -> str:
    """Return the picture: tasks done with at most so many approvals each, beside published figures."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"',
        f'  fill="{INK}">',
        "<title>AgentDojo: tasks done by approvals</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="18">AgentDojo user tasks that are done, in percent</text>',
    ]
    for percent in range(LEAST, 101, 10):
        y = _get_y(float(percent))
        lines.append(f'<path d="M{MARGIN} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRID}"/>')
        lines.append(f'<text x="{MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">{percent}</text>')
    steps = len(figures.curve.done)
    lines += [
        f'<text x="{_get_x(step, steps):.1f}" y="{HEIGHT - 30}" text-anchor="middle">{step}</text>' for step in range(steps)
    ]
    middle = (MARGIN + WIDTH - RIGHT) / 2
    lines.append(
        f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">approvals that a person gives in one task, at most</text>'
    )
    for label, published in PUBLISHED:
        y = _get_y(published)
        lines.append(f'<path d="M{MARGIN} {y:.1f}H{WIDTH - RIGHT}" stroke="{OTHER}" stroke-dasharray="5 4"/>')
        lines.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y + 4:.1f}" fill="{OTHER}">{label}</text>')
    for done, color, label, offset in (
        (figures.curve.done, FIRST, "flow policy", -6),
        (figures.strict.done, SECOND, "tools answer with text", 12),
    ):
        lines += _draw_line([100 * number / figures.tasks for number in done], color)
        y = _get_y(100 * done[-1] / figures.tasks) + offset
        lines.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y + 4:.1f}" fill="{color}">{label}, scripted model</text>')
    return "\n".join([*lines, "</svg>", ""])


def _draw_line(percents: Sequence[float], color: str) -> list[str]:
    points = [(_get_x(step, len(percents)), _get_y(percent)) for step, percent in enumerate(percents)]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in points]
    return [f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>', *dots]


def _get_x(step: int, steps: int) -> float:
    return MARGIN + 20 + (WIDTH - MARGIN - RIGHT - 40) * step / (steps - 1)


def _get_y(percent: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (percent - LEAST) / (100 - LEAST)
