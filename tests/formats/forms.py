"""One board in every form that the documentation of forms shows, and texts that must be refused."""

from __future__ import annotations

import json

import numpy as np

from tests.formats.samples import BOARD, BOXES, GRID, LINE, ROWS, solution

ZEROS = LINE.replace(".", "0")
SOLUTION = str(solution(BOXES))
SPACED = "\n".join(row.replace(".", " ") for row in ROWS)
NUMBERS = BOARD.grid.tolist()
NULLS = [[digit or None for digit in row] for row in NUMBERS]
BARRED = [f"{row[:3]}|{row[3:6]}|{row[6:]}" for row in ROWS]
FIELDS = [[cell.strip(".") for cell in row] for row in ROWS]
MARKDOWN = ["| " + " | ".join(cell or " " for cell in row) + " |" for row in FIELDS]
RULE = "|---" * 9 + "|"
MINUS_ONES = [[digit or -1 for digit in row] for row in NUMBERS]
BRACES = str(NUMBERS).replace("[", "{").replace("]", "}").replace("}, ", "},\n")


def ruled(rows: list[str], top: str, rule: str, bottom: str) -> str:
    """Join rows with rules between the bands, and rules above and below unless they are empty."""
    bands = ["\n".join(rows[i : i + 3]) + "\n" for i in range(0, 9, 3)]
    return f"{top}\n{rule.join(bands)}{bottom}".strip("\n")


def spread(bar: str, padding: str) -> list[str]:
    """Return rows with blanks between cells and in empty cells, and padding around bars."""
    padded_bar = f"{padding}{bar}{padding}"
    lines = []
    for row in BARRED:
        boxes = row.replace(".", " ").split("|")
        cells = padded_bar.join(" ".join(box) for box in boxes)
        lines.append(f"{bar}{padding}{cells}{padding}{bar}")
    return lines


def labelled(rows: list[list[str]], delimiter: str) -> str:
    """Return a table whose first row has the numbers of columns, and the first column of rows."""
    lines = [["", *map(str, range(1, 10))]]
    lines += [[str(number), *row] for number, row in enumerate(rows, 1)]
    return "\n".join(map(delimiter.join, lines))


FORUM = ["+-------+-------+-------+", "+-------+-------+-------+\n", "+-------+-------+-------+"]

TEXTS = {
    "line": LINE,
    "line of zeros": LINE.replace(".", "0"),
    "line of stars": LINE.replace(".", "*"),
    "line of underscores": LINE.replace(".", "_"),
    "line with a count": f"{LINE}:1",
    "line with two fields": f"{LINE}:1:0.5 s",
    "line with a comment": f"  {LINE}  # hard",
    "numbers on a line": " ".join(LINE),
    "numbers and commas on a line": ", ".join(LINE.replace(".", "0")),
    "line in groups": " ".join(LINE[i : i + 9] for i in range(0, 81, 9)),
    "grid": GRID,
    "grid with CRLF": GRID.replace("\n", "\r\n") + "\r\n",
    "grid with byte-order mark": "\ufeff" + GRID,
    "grid with comments": "# a\n" + GRID.replace("\n", " # row\n# between\n"),
    "numbers and blanks": "\n".join(" ".join(row) for row in ROWS),
    "numbers and tabs": "\n".join("\t".join(row) for row in ROWS),
    "numbers and commas": "\n".join(",".join(row) for row in ROWS),
    "zero-padded numbers": "\n".join("0" + " 0".join(row) for row in ROWS).replace(".", "0"),
    "bars": "\n".join(BARRED),
    "box rules": ruled([f"|{row}|" for row in BARRED], "", "+---+---+---+\n", "+---+---+---+"),
    "box rules and blanks": ruled(
        [" ".join(row) for row in BARRED], "", "------+-------+------\n", ""
    ),
    "rules around every cell": "\n".join("+-" * 9 + "+\n|" + "|".join(row) + "|" for row in ROWS),
    "sdk": f"#AAuthor\n#DDescription, with 123\n[Puzzle]\n{GRID}\n[State]\n{GRID[::-1]}\n[x]\nyz",
    "sdk without a header": f"#AAuthor\n#B2024\n{GRID}\n",
    "sdk with the state first": f"[State]\n{GRID[::-1]}\n\n[PUZZLE]\n{GRID}",
    "csv": f"puzzle\n{LINE}",
    "csv of two columns": f"quizzes,solutions\n{LINE},12345\n",
    "csv with quotes": f'"id","Board"\n"a, ""b""","{LINE}"\n',
    "csv with semicolons": f"id; PUZZLE\r\n7;{LINE}\r\n",
    "csv of one column of numbers": 'puzzle\n"' + ",".join(LINE) + '"\n',
    "table of one column of numbers": "puzzle\n" + ",".join(LINE) + "\n",
    "csv of numbers": 'id,puzzle\n1,"' + ",".join(LINE) + '"\n',
    "tsv": f"name\tboard\tcount\n\n# comment\na\t{LINE}\t1\n",
    "tsv with a header behind #": f"# one, more\n# name\tboard\tcount (exact)\na\t{LINE}\t1\n",
}
"""The usual forms of batch files; each text has BOARD, alone in its file."""

FORMS = {
    "dashes": LINE.replace(".", "-"),
    "question marks": LINE.replace(".", "?"),
    "x": LINE.replace(".", "x"),
    "grid of X": GRID.replace(".", "X"),
    "numbers and X": "\n".join(" ".join(row) for row in ROWS).replace(".", "X"),
    "grid of dashes with rules": ruled(
        [row.replace(".", "-") for row in BARRED], "", "---+---+---\n", ""
    ),
    "quotes": f'"{LINE}"',
    "other quotes and a comma": f"'{LINE}',",
    "grid in quotes": "\n".join(f'"{row}",' for row in ROWS),
    "message": "\n".join(f"> {row}" for row in ROWS),
    "return alone": GRID.replace("\n", "\r"),
    "bands": ruled(ROWS, "", "\n", ""),
    "bands of numbers": ruled([" ".join(row) for row in ROWS], "", "\n", ""),
    "forum": ruled([f"| {' | '.join(map(' '.join, row.split('|')))} |" for row in BARRED], *FORUM),
    "dots in corners": ruled([f"| {' | '.join(map(' '.join, row.split('|')))} |" for row in BARRED],
                             ".-------.-------.-------.", ":-------+-------+-------:\n",
                             "'-------'-------'-------'"),
    "stars in corners": ruled([f"|{row}|" for row in BARRED],
                              "*-----------*", "|---+---+---|\n", "*-----------*"),
    "box drawing": ruled([f"║{row.replace('|', '║')}║" for row in BARRED],
                         "╔═══╦═══╦═══╗", "╠═══╬═══╬═══╣\n", "╚═══╩═══╩═══╝"),
    "box drawing around cells": "┌───" + "┬───" * 8 + "┐\n"
    + f"├───{'┼───' * 8}┤\n".join("│" + row[1:-1].replace("|", "│") + "│\n" for row in MARKDOWN)
    + "└───" + "┴───" * 8 + "┘",
    "blanks": SPACED,
    "blanks and bars": ruled([row.replace(".", " ") for row in BARRED], "", "---+---+---\n", ""),
    "blanks in and between cells": "\n".join(" ".join(row) for row in SPACED.split("\n")),
    "blanks, ruled": ruled(spread("|", " "), *FORUM),
    "blanks, box drawing": ruled(spread("│", " "), "┌───────┬───────┬───────┐",
                                 "├───────┼───────┼───────┤\n", "└───────┴───────┴───────┘"),
    "blanks, no bars outside": ruled([row[1:-1] for row in spread("|", " ")],
                                     "", "-------+-------+-------\n", ""),
    "blanks, nothing beside bars": ruled([row[1:-1] for row in spread("|", "")],
                                         "", "-----+-----+-----\n", ""),
    "bars around cells": "\n".join(f"|{'|'.join(row)}|" for row in SPACED.split("\n")),
    "bars around cells, rules around bands": ruled(MARKDOWN, "", "+---" * 9 + "+\n", ""),
    "double lines around boxes": "╔" + "═══╤═══╤═══╦" * 3 + "\n"
    + ("╠" + "═══╪═══╪═══╬" * 3 + "\n").join(
        ("╟" + "───┼───┼───╫" * 3 + "\n").join(
            "║" + "║".join(row[i : i + 11].replace("|", "│") for i in (1, 13, 25)) + "║\n"
            for row in MARKDOWN[band : band + 3])
        for band in (0, 3, 6)),
    "fence": f"```text\n{GRID}\n```",
    "fence below a title": f"Easy 17\n\n~~~\n{GRID}\n~~~",
    "forum tags": "[CODE]\n" + ruled(spread("|", " "), *FORUM) + "\n[/CODE]",
    "tags of HTML": f"<pre><code>\n{LINE}\n</code></pre>",
    "title of nine characters": f"Sudoku 9x9\n{GRID}",
    "title of one word": f"Difficult\n\n{GRID}",
    "remark": f"{GRID}\nRating: 9.0",
    "remarks": f"{GRID}\n\nRating: 9.0\nSource: a newspaper\n",
    "markdown with the first row as head": "\n".join([MARKDOWN[0], RULE, *MARKDOWN[1:]]),
    "markdown with names": "\n".join(["|c1" * 9 + "|", RULE, *MARKDOWN]),
    "markdown with an empty head": "\n".join(["|   " * 9 + "|", RULE, *MARKDOWN]),
    "markdown, aligned": "\n".join(["|   " * 9 + "|", "|:-:" * 9 + "|", *MARKDOWN]),
    "spreadsheet": "\n".join(map(",".join, FIELDS)),
    "spreadsheet with semicolons": "\n".join(map(";".join, FIELDS)),
    "spreadsheet with tabs": "\n".join(map("\t".join, FIELDS)),
    "spreadsheet with quotes": "\n".join(",".join(f'"{cell}"' for cell in row) for row in FIELDS),
    "line of fields": ",".join(cell for row in FIELDS for cell in row),
    "name and rating": f"{LINE};a name;9.0\n",
    "number in front": f"17: {LINE}\n",
    "bar and number": f"{LINE} | 42\n",
    "rating": f"{LINE} ED=7.1/1.2/1.2\n",
    "a blank and its solution": f"{ZEROS} {SOLUTION}\n",
    "link": f"https://www.sudokuwiki.org/sudoku.htm?bd={ZEROS}&x=1\n",
    "line of HoDoKu's library": f":0000:x:{LINE.replace('7', '+7', 1)}:411 412::\n",
    "name": f"{LINE};a name\n",
    "name in front": f"a name\t{LINE}\n",
    "with its solution": f"{ZEROS},{SOLUTION}\n",
    "below its solution": f"{SOLUTION},{ZEROS}\n",
    "data set": f"quizzes,solutions\n{ZEROS},{SOLUTION}\n",
    "unusual names": f"id,start,end\n1,{LINE},{SOLUTION}\n",
    "one name and a comma": f"Puzzle,\n{LINE},\n",
    "title": f"Easy 17\n{GRID}",
    "title with quotes": f'Puzzle No. 3: "The third"\n\n{GRID}',
    "title that is a name of columns": f"Sudoku\n{GRID}",
    "flat list": str(BOARD.cells.tolist()),
    "list of lists": str(NUMBERS),
    "list with a name": f"grid: list = {NULLS}".replace("], ", "],  # row\n        "),
    "JSON": json.dumps(NULLS, indent=1),
    "rows as they are printed": "\n".join(map(str, NUMBERS)),
    "array": str(BOARD.grid),
    "array that says so": repr(BOARD.grid),
    "list of texts": str(ROWS),
    "list of lists of texts": str(FIELDS),
    "list of lines": str([LINE]),
    "object": json.dumps({"id": 1, "board": LINE}),
    "object with lists": json.dumps({"puzzle": NULLS, "solution": NUMBERS}),
    "XML of OpenSudoku": "<opensudoku>\n<name>x</name>\n"
    + f'<game data="{ZEROS}" /></opensudoku>\n',
    "XML that OpenSudoku exports": '<opensudoku>\n<game state="1" data="version: 2&#10;'
    + "".join(f"{digit}|0|0|" if digit != "0" else "0|24|1|" for digit in ZEROS)
    + '"/></opensudoku>\n',
    "XML with other things": '<?xml version="1.0" encoding="UTF-8"?>\n'
    + f'<!-- <game data="{SOLUTION}"/>\n--><a><note x="é">&lt;</note>\n'
    + f'<game\n data="{ZEROS}"\n created="1"></game></a>',
    "object with rows": json.dumps({"Puzzle": ROWS}),
    "object with a grid": json.dumps({"question": GRID, "answer": SOLUTION}),
    "object on several lines": json.dumps({"id": 1, "board": LINE, "tags": ["x"]}, indent=2),
    "objects in an array": json.dumps([{"id": 1, "puzzle": NUMBERS}], indent=1),
    "objects around one": json.dumps({"newboard": {"grids": [
        {"value": NUMBERS, "solution": solution(BOXES).grid.tolist()}], "results": 1}}),
    "braces of C": f"int grid[9][9] =\n{BRACES};",
    "braces of Java": f"int[][] b = new int[][]{BRACES};".replace("\n", " "),
    "braces around rows": BRACES[1:-1],
    "grid with -1": "\n".join(" ".join(map(str, row)) for row in MINUS_ONES),
    "line with -1": ",".join(str(cell) for row in MINUS_ONES for cell in row),
    "list with -1": str(MINUS_ONES),
    "decimals": "\n".join(",".join(cell and f"{cell}.0" for cell in row) for row in FIELDS),
    "scientific notation": "\n".join(
        " ".join(f"{cell:.18e}" for cell in row) for row in BOARD.grid),
    "nan": "\n".join(",".join(f"{cell}.0" if cell else "nan" for cell in row) for row in FIELDS),
    "csv with a grid": f'id,puzzle,name\n1,"{GRID}","a\nb"\n',
    "csv with a list": f'id,puzzle\n1,"{NUMBERS}"\n',
}  # fmt: skip
"""All other forms. A test also reads files with three copies, separated by blank lines."""

ONLY_ALONE = {"blanks", "spreadsheet with tabs", "return alone"}
"""Forms of which a file has only one, as it is with tables."""


def candidates_of(row: int, column: int) -> str:
    """Return a cell's clue, or the candidates that the clues leave.

    A single candidate would look like a clue, so all digits take its place.
    """
    if ROWS[row][column] != ".":
        return ROWS[row][column]
    mask = int(BOARD.candidates[9 * row + column])
    digits = [str(digit) for digit in range(1, 10) if mask >> digit - 1 & 1]
    return "".join(digits) if len(digits) > 1 else "123456789"


GROUPS = [[candidates_of(row, column) for column in range(9)] for row in range(9)]
PADDED = [[group.ljust(9) for group in row] for row in GROUPS]
PM_ROWS = [" ".join(("|", *row[:3], "|", *row[3:6], "|", *row[6:], "|")) for row in PADDED]
PM_RULE = "-" * 31
CANDIDATES = {
    "HoDoKu": ruled(PM_ROWS, f".{PM_RULE}.{PM_RULE}.{PM_RULE}.",
                    f":{PM_RULE}+{PM_RULE}+{PM_RULE}:\n", f"'{PM_RULE}'{PM_RULE}'{PM_RULE}'"),
    "Simple Sudoku": ruled(PM_ROWS, f" *{PM_RULE * 3}--*", f" |{PM_RULE}+{PM_RULE}+{PM_RULE}|\n",
                           f" *{PM_RULE * 3}--*"),
    "groups without a frame": "\n".join(" ".join(row) for row in PADDED),
    "groups on a line": " ".join(group for row in GROUPS for group in row),
    "sdx": "\n".join(" ".join(row) for row in GROUPS).replace(" 8 ", " u8 "),
    "braces": "".join(f"{{{group}}}" for row in GROUPS for group in row),
    "a character for every candidate": "".join(
        digit if digit in group else "." for row in GROUPS for group in row for digit in "123456789"
    ),
    "a zero for every other candidate": "".join(
        digit if digit in group else "0" for row in GROUPS for group in row for digit in "123456789"
    ),
    "SudokuWiki": "".join(
        np.base_repr(sum(2 << int(digit) - 1 for digit in group) + (group == clue), 32)
        .lower().rjust(2, "0")
        for clue, group in zip(LINE, (group for row in GROUPS for group in row), strict=True)
    ),
}  # fmt: skip
"""The board with all candidates that its clues leave, in the forms of several programs."""

FORMS |= {f"candidates: {name}": text for name, text in CANDIDATES.items()}

REFUSED = {
    "a row is missing": ("\n".join(ROWS[:8]), "1: 8 rows of 9 cells, expected 9"),
    "lost blanks": ("\n".join(row.rstrip() for row in SPACED.split("\n")),
        "1: row 1 of a grid with blanks for empty cells has 5 cells, expected 9: were blanks lost"),
    "lost fields": ("\n".join(",".join(row).rstrip(",") for row in FIELDS),
        "1: row 1 of a grid has 5 cells, expected 9: were empty cells lost"),
    "two blanks between cells and one in them": (
        "\n".join("  ".join(row) for row in SPACED.split("\n")),
        "1: 9 rows of 25 cells, where blanks are cells, expected 25 rows, or a sign in every"),
    "a letter among blanks": (ruled(spread("│", " "), *FORUM).replace("3", "a", 1),
        "2:5: r1c2 holds 'a', which is digit 10, expected 1 to 9"),
    "cells in two kinds of columns": (ruled(spread("|", " "), *FORUM).replace(" 3 ", "3  ", 1),
        "1: 9 rows of 21 cells, where blanks are cells, expected 21 rows"),
    "dots beside blanks": (ruled(spread("|", " "), *FORUM).replace(" 3 ", " . ", 1),
        "3: row 2 of a grid has 4 cells, expected 3"),
    "a title that may be a damaged row": (f"1234567ab\n{GRID}", "1: 10 rows of 9 cells, expected"),
    "a title of nine digits": (f"123456789\n{GRID}",
        "1: '123456789' is ambiguous, a title or a row of 9 cells: begin a title with #"),
    "a fence with nothing": ("```\n```", " no board found"),
    "two boards on a line": (f"{LINE},{LINE[::-1]}", "1: an ambiguous line: field 1 with"),
    "two columns of boards": (f"id,a,b\n1,{LINE},{LINE[::-1]}",
        f"1: an ambiguous table, 'a' with {LINE} or 'b' with {LINE[::-1]}"),
    "x beside dots": (LINE.replace(".", "x", 3), "1:3: r1c3 holds 'x', which is digit 33"),
    "nothing beside zeros": (",".join(ZEROS[:-1]).replace(",0,", ",,", 1) + ",9",
        "1: an empty cell without a sign, and other empty cells with one"),
    "candidates beside an empty cell": ("\n".join(map(" ".join, ROWS)).replace(".", "12", 9),
        "1:5: r1c3 holds '12', expected a number from 0 to 9, or candidates in all cells"),
    "candidates with a digit twice": (CANDIDATES["HoDoKu"].replace(" 24 ", " 22 "),
        "4:55: r3c6 holds '22', expected different digits from 1 to 9"),
    "candidates in braces with a digit twice": (CANDIDATES["braces"].replace("{24}", "{22}", 1),
        "1: r3c6 holds '22' in braces, expected different digits from 1 to 9"),
    "a candidate at a wrong place": ("1234" * 15 + "1243",
        "1:63: '4' among the candidates of r4c4, expected 3 or a sign for empty"),
    "too few candidates in braces": ("{12}" * 15,
        "1: 15 cells in braces, expected as many as a board has"),
    "two boards without empty signs": (SOLUTION * 2, "1: 162 cells make no board, the nearest is"),
    "candidates or a larger board": ("1..." * 8 + "...." * 8,
        "1: 64 characters are ambiguous: give box=\"2x4\" for a board of 8x8 or box=\"2x2\" for "
        "the candidates of one of 4x4"),
    "rules or rows": ("---------\n---------\n" + GRID[20:].replace(".", "-") + "\n---------",
        "1: 7 rows of 9 cells, expected 9 (a blank line ends a grid), and 3 lines of dashes"),
    "only dashes": ("-" * 81, " no board found"),
    "16 lines in bands": ("\n\n".join(["\n".join([f"1{'.' * 15}"] * 4)] * 4),
        "1: 16 lines of 16 cells are ambiguous"),
    "a list with a short row": (str([NUMBERS[0][:8], *NUMBERS[1:]]),
        "1: row 1 of a grid has 8 cells, expected 9"),
    "an object with a short row": (json.dumps({"board": [[1, 2], [3]]}),
        "1: 2 rows, not all of 2 cells"),
    "a sign in a list": ("[1, @]", "1: '@]' in a list, expected numbers, None or null"),
    "objects in brackets that break off": ('[\n{"puzzle": ',
        "2:12: JSON that cannot be read: Expecting value"),
    "a bracket too many": ("[1]]", "1: ']' without its opening bracket"),
    "lists that are too deep": ("[" * 7, "1: too many nested lists, expected a board"),
    "an object with a number": ('{"puzzle": 5}', "1: '5', expected a board as text or list"),
    "one cell in a table": ("id,puzzle\n1,1",
        "2: 1 cell is not a board: the board is missing, or give"),
    "boards that make one": (",".join(["." * 16] * 4),
        "1: an ambiguous line: one board"),
    "a list that breaks off": ("\n[[1, 2],\n[3", "2: a list that does not end"),
    "nothing between commas": (",,,,,,,,,,,,,,,", "1: nothing between commas, expected a board"),
    "a list of cells and rows": (f"[1, [{LINE}]]", "1: a list of both cells and rows"),
    "XML without a game": ("<svg>\n<g/>\n</svg>", " no board found"),
    "an object without a board": ('{"a": 1}', "1: a JSON object with no board, expected one name"),
    "a numbered board, damaged": (f"1: {LINE[:40]}=\n", "1: unknown character '='"),
    "a numbered board in a table": (f"id,puzzle\n7,1:{LINE}",
        "2: an ambiguous line: 1 before a colon or"),
    "numbered rows and columns": (labelled(FIELDS, ","), "1: a grid with numbered rows and col"),
    "a row that may be a comment": (f"id,puzzle\n#2,{LINE}",
        f"2: '#2,{LINE[:36]}…' is ambiguous, a comment or a row"),
    "an XML tag that does not end": ("<svg>\n<g/>\n", "2: XML that cannot be read: mismatched tag"),
    "XML with entities": ("<!DOCTYPE a [<!ENTITY b 'c'>]>\n<a/>", "1: XML that cannot be read"),
    "a game without data": ("<a><game/></a>", "1: a <game> without a board as its data"),
    "an element with a board": (f"<a>\n<sudoku\ndata='{LINE}'/></a>",
        "3: a board in 'data of <sudoku>', expected it as in <game data=\"BOARD\">"),
    "a board between tags": (f"<a>\n<b>{GRID}</b></a>",
        '10: a board between tags, expected it as in <game data="BOARD">'),
    "two boards of one name": (json.dumps({"puzzle": LINE})[:-1] + f', "puzzle": "{SOLUTION}"}}',
        "1: JSON that cannot be read: a JSON object with two values of 'puzzle'"),
    "a list with a comment": (f"['{LINE}', '# a']", "1: '# a', expected a board"),
    "a lone surrogate": (LINE.replace(".", "�", 1), "1:3: unknown character '�'"),
}  # fmt: skip
