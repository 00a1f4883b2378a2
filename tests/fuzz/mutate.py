"""Mutations of texts and bytes, from a random.Random: cuts, repeats, swaps, words of the language,
numbers at the edges, flipped bits."""

WORDS = ["g", "__", ".", "(", ")", "[", "]", "{", "}", ",", "'", '"', "\\", ";", "->", "//", "/*",
         "null", "true", "T.id", "V()", ".out()", ".repeat(", ".times(2)", ".until(", ".by(",
         ".union(", ".as('a')", ".select('a')", ".path()", ".fold()", ".order()", ".limit(",
         ".group()", ".dedup()", ".where(", ".emit()", ".count()", ".addV('x')", ".drop()", "\n",
         "\u00e9", "\u2028", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
         "\\u0000", "NaN", "1e999", "within(", "between("]
NUMBERS = ["0", "-1", "1", "2147483647", "2147483648", "-9223372036854775808", "1L", "0.5f",
           "9223372036854775808", "1e308", "99999999999999999999n", "0x", "1.5m", "00"]
FIELDS = ["", '"', '""', '"a', ";", ",", "\t", "~id", ":ID", "name:Int", "a:Date", "x:String[]",
          ":START_ID", ":END_ID", "~from", "~to", "~label", ":LABEL", ":TYPE", "2020-13-45",
          "1;2;3",
          "1e400", "true", "\ufeff", "\r", "\n", "-", "9" * 30, "x" * 5000, "\x00"]


def text(chance, source, others, words=tuple(WORDS + NUMBERS)):
    """`source` changed in 1 to 5 places; `others`: texts to take pieces of."""
    for _ in range(chance.randint(1, 5)):
        at = chance.randint(0, len(source))
        end = min(len(source), at + chance.randint(0, 12))
        kind = chance.randint(0, 6)
        if kind == 0:
            source = source[:at] + source[end:]
        elif kind == 1:
            source = source[:at] + chance.choice(words) + source[at:]
        elif kind == 2:
            source = source[:at] + chance.choice(words) + source[end:]
        elif kind == 3:
            source = source[:end] + source[at:end] * chance.randint(1, 30) + source[end:]
        elif kind == 4:
            other = chance.choice(others)
            start = chance.randint(0, len(other))
            source = source[:at] + other[start:start + chance.randint(1, 40)] + source[end:]
        elif kind == 5:
            odd = chr(chance.choice([0, 7, 34, 39, 92, 127, 160, 0x3c0]))
            source = source[:at] + odd + source[end:]
        else:
            source = source[:at]  # cut short
    return source[:20000]


def data(chance, source):
    """Bytes changed in 1 to 8 places."""
    result = bytearray(source)
    for _ in range(chance.randint(1, 8)):
        at = chance.randint(0, len(result))
        kind = chance.randint(0, 4)
        if kind == 0 and at < len(result):
            result[at] ^= 1 << chance.randint(0, 7)
        elif kind == 1:
            del result[at:at + chance.randint(1, 10)]
        elif kind == 2:
            result[at:at] = bytes(chance.randint(0, 255) for _ in range(chance.randint(1, 10)))
        elif kind == 3:
            result[at:at] = result[at:at + chance.randint(1, 50)] * chance.randint(1, 20)
        elif at < len(result):
            result[at] = chance.choice([0, 1, 127, 128, 255])
    return bytes(result)
