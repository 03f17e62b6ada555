"""Draws what is on the app's screen, cell by cell, as a terminal would."""

from collections import Counter
from typing import Final

from PIL import Image, ImageDraw, ImageFont
from rich.color import Color
from textual.app import App
from textual.strip import Strip

FACES: Final = {
    (bold, italic): ImageFont.truetype(f"DejaVuSansMono{name}.ttf", 20)
    for (bold, italic), name in {
        (False, False): "",
        (True, False): "-Bold",
        (False, True): "-Oblique",
        (True, True): "-BoldOblique",
    }.items()
}
WIDTH: Final = 12
HEIGHT: Final = 23
"""Pixels of a cell."""
MARGIN: Final = 12
"""Pixels around the screen."""
COLOURS: Final = 256
"""A picture has so many: those of the theme, and the commonest of what smooths edges."""

Rgb = tuple[int, int, int]


def strips(app: App[None]) -> list[Strip]:
    """Give the lines of the screen."""
    return app.screen._compositor.render_strips()  # noqa: SLF001 - there is no other way to them


def drawn(app: App[None]) -> Image.Image:
    """Give a picture of what stands on the screen."""
    width, height = app.size
    ground = _rgb(app.screen.background_colors[1].rich_color, (0, 0, 0))
    size = (width * WIDTH + 2 * MARGIN, height * HEIGHT + 2 * MARGIN)
    image = Image.new("RGB", size, ground)
    pen = ImageDraw.Draw(image)
    used = {ground}
    for row, strip in enumerate(strips(app)[:height]):
        used |= _draw(pen, strip, MARGIN + row * HEIGHT, ground)
    return _with_few_colours(image, used)


def _draw(pen: ImageDraw.ImageDraw, strip: Strip, top: int, usual: Rgb) -> set[Rgb]:
    """Draw a line: its grounds first, so that no letter is cut by the ground of the next.

    Returns:
        The colours that were used.
    """
    used: set[Rgb] = set()
    left = MARGIN
    letters: list[tuple[int, str, Rgb, ImageFont.FreeTypeFont, bool]] = []
    for text, style, control in strip:
        if control or style is None:
            continue
        ground, ink = _rgb(style.bgcolor, usual), _rgb(style.color, (255, 255, 255))
        if style.reverse:
            ground, ink = ink, ground
        used |= {ground, ink}
        face = FACES[bool(style.bold), bool(style.italic)]
        for letter in text:
            full = letter == "█"  # the font's leaves a line between two rows
            cell = (left, top, left + WIDTH - 1, top + HEIGHT - 1)
            pen.rectangle(cell, fill=ink if full else ground)
            letters.append((left, letter, ink, face, bool(style.underline)))
            left += WIDTH
    for at, letter, ink, face, underlined in letters:
        if _BRAILLE <= ord(letter) < _BRAILLE + 256:
            _draw_dots(pen, at, top, ord(letter) - _BRAILLE, ink)
        else:
            pen.text((at, top), letter, fill=ink, font=face)
        if underlined:
            pen.line((at, top + HEIGHT - 3, at + WIDTH - 1, top + HEIGHT - 3), fill=ink)
    return used


_BRAILLE = 0x2800
_DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
"""Where the dot of each bit stands: column and row."""


def _draw_dots(pen: ImageDraw.ImageDraw, left: int, top: int, bits: int, ink: Rgb) -> None:
    """Draw a letter of braille, which the font does not have."""
    for bit, (column, row) in enumerate(_DOTS):
        if bits >> bit & 1:
            x = left + (2 * column + 1) * WIDTH // 4
            y = top + (2 * row + 1) * HEIGHT // 8
            pen.ellipse((x - 2, y - 2, x + 1, y + 1), fill=ink)


def _with_few_colours(image: Image.Image, used: set[Rgb]) -> Image.Image:
    counted = Counter(zip(*(band.get_flattened_data() for band in image.split()), strict=True))
    palette = Image.new("P", (1, 1))
    kept = dict.fromkeys([*used, *(rgb for rgb, _ in counted.most_common(COLOURS))])
    palette.putpalette([part for rgb in list(kept)[:COLOURS] for part in rgb])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def _rgb(colour: Color | None, usual: Rgb) -> Rgb:
    if colour is None or colour.is_default:
        return usual
    return tuple(colour.get_truecolor())  # type: ignore[return-value]  # three figures
