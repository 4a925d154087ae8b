// Elements, made in one line each; and arrow keys in lists of buttons.

/**
 * @param {string} tag
 * @param {object} [attributes]
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * Set a text if it differs: screen readers repeat a text that is set again.
 *
 * @param {HTMLElement} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A button; `data-action` tells it apart.
 *
 * @param {string} action
 * @param {string} label
 * @param {() => void} act
 * @returns {HTMLButtonElement}
 */
export function makeButton(action, label, act) {
  const button = make("button", { type: "button", "data-action": action }, label);
  button.addEventListener("click", act);
  return button;
}

/**
 * A part of the panel with a heading.
 *
 * @param {string} part What `data-part` tells.
 * @param {string} title
 * @param {...Node} children
 * @returns {HTMLElement}
 */
export function makeCard(part, title, ...children) {
  const heading = make("h2", {}, title);
  return make("section", { class: `gs-card gs-${part}`, "data-part": part, "aria-label": title },
    heading, ...children);
}

/**
 * Make a list of buttons one stop of the tab key, in which the arrow keys move.
 *
 * @param {HTMLElement} list
 */
export function moveByArrows(list) {
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  list.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    const buttons = [...list.querySelectorAll("button:not(:disabled)")];
    const at = buttons.indexOf(event.target);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[Math.min(Math.max(at + step, 0), buttons.length - 1)].focus();
  });
  list.addEventListener("focusin", ({ target }) => {
    for (const button of list.querySelectorAll("button")) {
      button.tabIndex = button === target ? 0 : -1;
    }
  });
}

/**
 * Scroll a list, and nothing around it, until a row is seen.
 *
 * @param {HTMLElement} list
 * @param {HTMLElement} row
 */
export function scrollWithin(list, row) {
  const above = row.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientTop;
  const below = above + row.offsetHeight - list.clientHeight;
  if (above < 0) list.scrollTop += above;
  else if (below > 0) list.scrollTop += below;
}

/**
 * A sentence that begins with a capital letter and ends with a full stop.
 *
 * @param {string} text
 * @returns {string}
 */
export function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(first) ? first : `${first}.`;
}
