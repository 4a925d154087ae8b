"""Actions of a user on the page, and conditions on what the page shows."""

from tests.web.browser.screen import link

NOTE = "return document.querySelector('.gs-note').textContent"
"""The note below the board."""
SOLUTIONS_STATUS = (
    "return document.querySelector('[data-part=solutions] [role=status]').textContent"
)
"""The message of the card of solutions."""
CANDIDATES = """
return [...document.querySelectorAll('.gs-cell')].map((cell) =>
  [...cell.querySelectorAll('.gs-candidates:not([hidden]) > .gs-candidate:not(.gs-none)')].map(
    (candidate) => Number(candidate.dataset.digit)));
"""
"""The small digits of every cell."""
INTERCEPT = """
const [kind, error] = arguments;
const real = window.fetch;
window.fetch = (address, request) => {
  if (!String(address).endsWith(kind)) return real(address, request);
  if (error) return Promise.resolve(Response.json(error, { status: error.status }));
  return new Promise((_, reject) =>
    request.signal.addEventListener("abort", () => reject(request.signal.reason)));
};
window.answered = () => { window.fetch = real; };
"""
"""Let questions of a kind get an error, or no answer if there is no error.

``window.answered()`` ends this.
"""


def click(screen, action, part=""):
    """Click on a button, once it is enabled."""
    name = f"{f'[data-part={part}] ' if part else ''}button[data-action={action}]"
    screen.until("return document.querySelector(arguments[0]).disabled === false", name)
    screen.driver.find_element("css selector", name).click()


def choose(screen, action, value):
    """Choose an entry of a menu, as with the mouse."""
    screen.js(
        "const menu = document.querySelector(`[data-action=${arguments[0]}]`);"
        "menu.focus(); menu.value = arguments[1];"
        "menu.dispatchEvent(new Event('change', { bubbles: true }))",
        *(action, value),
    )


def load(screen, board):
    """Go to another board by its link, and wait until it is shown."""
    screen.js("location.hash = arguments[0]", link(board))
    wait_for_board(screen, board)


def wait_for_board(screen, board):
    """Wait until the grid shows a board with its box shape."""
    screen.until(
        "return document.querySelector('.gs-grid').dataset.shape === arguments[0] &&"
        " arguments[1] === [...document.querySelectorAll('.gs-cell')].map((cell) =>"
        " cell.querySelector('.gs-digit')?.textContent || '.').join('')",
        *(str(board.geometry), str(board)),
    )


def wait_for_note(screen, text):
    """Wait until the note below the board is ``text``."""
    screen.until(f"{NOTE} === arguments[0]", text)


def is_shown(screen, selector):
    """Return whether an element is visible."""
    return screen.js(
        "return document.querySelector(arguments[0]).checkVisibility({ visibilityProperty: true })",
        selector,
    )


def cells_of_class(screen, name):
    """Return the indices of the cells that have a CSS class."""
    return screen.js(
        "return [...document.querySelectorAll('.gs-cell')].flatMap((element, cell) =>"
        " element.classList.contains(arguments[0]) ? [cell] : [])",
        name,
    )


def focus_of(screen):
    """Return the index of the focused cell, or the action of the focused button."""
    return screen.js(
        "const { cell, action } = document.activeElement.dataset;"
        "return cell === undefined ? action ?? null : Number(cell)"
    )


def go_to(screen, text):
    """Enter the number of a solution."""
    field = screen.driver.find_element("css selector", "[data-part=number]")
    screen.js("arguments[0].value = ''", field)
    field.send_keys(text, "\n")


def copy(screen):
    """Press Ctrl+C; return the text on the clipboard."""
    screen.allow_clipboard()
    key = {"key": "c", "code": "KeyC", "windowsVirtualKeyCode": 67, "modifiers": 2}
    screen.cdp("Input.dispatchKeyEvent", type="rawKeyDown", commands=["copy"], **key)
    screen.cdp("Input.dispatchKeyEvent", type="keyUp", **key)
    wait_for_note(screen, "The board is copied.")
    return screen.clipboard()


def place_of(screen, selector):
    """Return the position of the middle of an element."""
    return screen.js(
        "const element = document.querySelector(arguments[0]);"
        "element.scrollIntoView({ block: 'nearest' });"
        "const box = element.getBoundingClientRect();"
        "return { x: box.x + box.width / 2, y: box.y + box.height / 2 }",
        selector,
    )
