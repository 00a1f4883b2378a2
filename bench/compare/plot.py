"""A bar chart as SVG: each query's time by each engine, on a logarithmic scale."""
import math
from xml.sax.saxutils import escape

import report

COLOURS = {"koios": "#c0392b", "kuzu": "#2e86c1", "duckdb": "#d4ac0d", "neo4j": "#27ae60",
           "tinkergraph": "#8e44ad", "limit1": "#7f8c8d"}
LEFT, WIDTH, BAR, GAP, TOP = 260, 700, 9, 12, 50
LEAST_SECONDS = 1e-6


def _text(x, y, text, anchor="start"):
    return '<text x="%.0f" y="%.0f" text-anchor="%s">%s</text>' % (x, y, anchor, escape(text))


def _place(seconds, top):
    """Where a time ends on the scale from LEAST_SECONDS to `top`, both in seconds."""
    span = math.log10(top / LEAST_SECONDS)
    return LEFT + WIDTH * max(0.0, math.log10(seconds / LEAST_SECONDS)) / span


def _times(results):
    """[(query, [(peer, seconds)])]"""
    keys = results.cells.get("koios", {})
    return [(key, [(peer, results.cells[peer][key]["median"]) for peer in COLOURS
                   if "median" in results.cells.get(peer, {}).get(key, {})]) for key in keys]


def write(path, results):
    rows = [x for x in _times(results) if x[1]]
    if not rows:
        return
    top = 10 ** math.ceil(math.log10(max(s for _, bars in rows for _, s in bars)))
    height = TOP + sum(len(bars) * BAR + GAP for _, bars in rows) + 20
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
             'font-family="sans-serif" font-size="11">' % (LEFT + WIDTH + 70, height),
             '<rect width="100%" height="100%" fill="white"/>',
             _text(10, 18, "%s: median time" % results.data.name)]
    for i, (peer, colour) in enumerate(COLOURS.items()):
        lines.append('<rect x="%d" y="10" width="10" height="10" fill="%s"/>' % (
            LEFT + 110 * i, colour))
        lines.append(_text(LEFT + 110 * i + 14, 19, report.TITLES[peer]))
    decade = LEAST_SECONDS
    while decade <= top * 1.001:
        x = _place(decade, top)
        lines.append('<line x1="%.0f" y1="%d" x2="%.0f" y2="%d" stroke="#ddd"/>' % (
            x, TOP - 8, x, height - 15))
        lines.append(_text(x, TOP - 12, "%g ms" % (decade * 1000), "middle"))
        decade *= 10
    y = TOP
    for key, bars in rows:
        name = report.NAMES.get(key, key)
        lines.append(_text(LEFT - 8, y + len(bars) * BAR / 2 + 4, name, "end"))
        for peer, seconds in bars:
            end = _place(seconds, top)
            lines.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
                LEFT, y, max(1.0, end - LEFT), BAR - 1, COLOURS[peer]))
            y += BAR
        y += GAP
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines + ["</svg>"]) + "\n")
