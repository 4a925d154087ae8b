// The keyboard stays where it can do something.

const ROWS = ".gs-buttons, .gs-steps, .gs-foot";
const NOBODY = ":disabled, [hidden], [hidden] *";

/**
 * Hand the focus on when what has it is hidden or switched off: else it is nowhere, and keys do
 * nothing. It goes to the button before it in its row, or to the one behind it.
 *
 * @param {HTMLElement} element What is watched.
 * @param {(options: FocusOptions) => void} refuge Takes the focus where the row has no such button.
 * @returns {AbortController} Ends it.
 */
export function keepFocus(element, refuge) {
  const ended = new AbortController();
  const { signal } = ended;
  // A browser may take the focus away before this hears of the reason.
  let held = null;
  let isSeen = false;
  element.addEventListener("focusin", ({ target }) => {
    held = target;
    isSeen = target.matches(":focus-visible");
  }, { signal });
  element.addEventListener("focusout", ({ target }) => {
    if (!target.matches(NOBODY)) held = null;
  }, { signal });
  const observer = new MutationObserver(() => {
    if (held === null || !held.matches(NOBODY)) return;
    const lost = held;
    const now = element.getRootNode().activeElement;
    held = null;
    if (![lost, document.body, null].includes(now)) return;
    // Who uses the mouse looks at the button, and not at what takes its focus.
    const options = { preventScroll: !isSeen };
    const heir = heirOf(lost);
    if (heir === null) refuge(options);
    else {
      heir.focus(options);
      ignoreRepeats(heir);
    }
  });
  observer.observe(element, { subtree: true, attributeFilter: ["hidden", "disabled"] });
  signal.addEventListener("abort", () => observer.disconnect());
  return ended;
}

function heirOf(held) {
  const row = [...(held.closest(ROWS)?.querySelectorAll("button") ?? [])];
  const at = row.indexOf(held);
  const able = (button) => !button.matches(NOBODY);
  return row.slice(0, Math.max(at, 0)).findLast(able) ?? row.slice(at + 1).find(able) ?? null;
}

/** Enter that is held down was meant for another button. */
function ignoreRepeats(button) {
  const ended = new AbortController();
  const { signal } = ended;
  button.addEventListener("keydown", (event) => event.repeat && event.preventDefault(), { signal });
  for (const type of ["keyup", "blur"]) {
    button.addEventListener(type, () => ended.abort(), { signal });
  }
}
