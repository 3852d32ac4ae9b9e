"""Which characters may go to a terminal or into a report: one decision, for every command and every form.

What comes from checked files, paths, configuration or the network may obey or deceive whoever shows it: control
characters drive terminals, line ends begin lines of their own, marks of direction reorder text, and characters that
take no room hide in it. All of these are shown escaped (`\\x1b`, `\\n`, `\\u202e`).
"""

from __future__ import annotations

import re

# Unicode's property Default_Ignorable_Code_Point: shown as nothing, whatever their category. The ranges are reserved
# for good, characters that are still to come included. https://www.unicode.org/Public/UNIDATA/DerivedCoreProperties.txt
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def safe(text: str) -> str:
    """`text` on one line, with every character escaped that is not seen as itself; tabs stay.

    Seen are the characters of Unicode's categories for letters, marks, numbers, punctuation and symbols, but for those
    with the property Default_Ignorable_Code_Point, and the space. Controls, formats (the marks of direction among them),
    surrogates, separators, private and unassigned characters are not.
    """
    if text.isprintable() and (text.isascii() or not _INVISIBLE.search(text)):
        return text
    return "".join(char if char == "\t" or is_seen(char) else ascii(char)[1:-1] for char in text)


def is_seen(char: str) -> bool:
    """Whether a character is seen as itself, and does nothing else."""
    return char.isprintable() and not _INVISIBLE.match(char)


def safe_text(text: str) -> str:
    """`text` made safe line by line; line feeds stay."""
    return text if text.isascii() and text.replace("\n", "").isprintable() else "\n".join(map(safe, text.split("\n")))
