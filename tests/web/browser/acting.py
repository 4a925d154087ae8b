"""What somebody does on the page, and what is seen there."""

from tests.web.browser.screen import link

NOTE = "return document.querySelector('.gs-note').textContent"
"""What is told below the board."""
SAID = "return document.querySelector('[data-part=solutions] [role=status]').textContent"
"""What is told of solutions by number and at random."""
CANDIDATES = """
return [...document.querySelectorAll('.gs-cell')].map((cell) =>
  [...cell.querySelectorAll('.gs-candidates:not([hidden]) > .gs-candidate:not(.gs-none)')].map(
    (each) => Number(each.dataset.digit)));
"""
"""The small digits of every cell."""
ANSWER = """
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
"""Questions of a kind are answered by an error, or without one not at all."""


def click(screen, action, part=""):
    """Click on a button, once that can be done."""
    name = f"{f'[data-part={part}] ' if part else ''}button[data-action={action}]"
    screen.until("return document.querySelector(arguments[0]).disabled === false", name)
    screen.driver.find_element("css selector", name).click()


def choose(screen, action, value):
    """Choose from a menu as with the mouse."""
    screen.js(
        "const menu = document.querySelector(`[data-action=${arguments[0]}]`);"
        "menu.focus(); menu.value = arguments[1];"
        "menu.dispatchEvent(new Event('change', { bubbles: true }))",
        *(action, value),
    )


def load(screen, board):
    """Go to another board by its link, and wait until it stands there."""
    screen.js("location.hash = arguments[0]", link(board))
    shows(screen, board)


def shows(screen, board):
    """Wait until a board stands there, in its shape."""
    screen.until(
        "return document.querySelector('.gs-grid').dataset.shape === arguments[0] &&"
        " arguments[1] === [...document.querySelectorAll('.gs-cell')].map((cell) =>"
        " cell.querySelector('.gs-digit')?.textContent || '.').join('')",
        *(str(board.geometry), str(board)),
    )


def says(screen, text):
    """Wait until something is told below the board."""
    screen.until(f"{NOTE} === arguments[0]", text)


def is_shown(screen, selector):
    return screen.js(
        "return document.querySelector(arguments[0]).checkVisibility({ visibilityProperty: true })",
        selector,
    )


def marked(screen, name):
    """Return the cells of a class."""
    return screen.js(
        "return [...document.querySelectorAll('.gs-cell')].flatMap((each, cell) =>"
        " each.classList.contains(arguments[0]) ? [cell] : [])",
        name,
    )


def focused(screen):
    """Return the cell that has the keyboard, or the action of the button."""
    return screen.js(
        "const { cell, action } = document.activeElement.dataset;"
        "return cell === undefined ? action ?? null : Number(cell)"
    )


def go_to(screen, text):
    """Write into the field of a solution's number."""
    field = screen.driver.find_element("css selector", "[data-part=number]")
    screen.js("arguments[0].value = ''", field)
    field.send_keys(text, "\n")


def copy(screen):
    """Press Ctrl+C, and return what is on the clipboard then."""
    screen.allow_clipboard()
    key = {"key": "c", "code": "KeyC", "windowsVirtualKeyCode": 67, "modifiers": 2}
    screen.cdp("Input.dispatchKeyEvent", type="rawKeyDown", commands=["copy"], **key)
    screen.cdp("Input.dispatchKeyEvent", type="keyUp", **key)
    says(screen, "The board is copied.")
    return screen.clipboard()


def place_of(screen, selector):
    """Return where the middle of an element is."""
    return screen.js(
        "const element = document.querySelector(arguments[0]);"
        "element.scrollIntoView({ block: 'nearest' });"
        "const box = element.getBoundingClientRect();"
        "return { x: box.x + box.width / 2, y: box.y + box.height / 2 }",
        selector,
    )
