// The pictures on buttons, drawn with lines on a square of 20 by 20.

const NAMESPACE = "http://www.w3.org/2000/svg";
const LINES = {
  undo: "M7 4 3.5 7.5 7 11M4 7.5h7.5a4.5 4.5 0 0 1 0 9H7",
  redo: "M13 4l3.5 3.5L13 11M16 7.5H8.5a4.5 4.5 0 0 0 0 9H13",
  paste: "M7 4.5H5.2A1.2 1.2 0 0 0 4 5.7v10.1A1.2 1.2 0 0 0 5.2 17h9.6a1.2 1.2 0 0 0 1.2-1.2V5.7" +
    "a1.2 1.2 0 0 0-1.2-1.2H13M7.5 3h5v3h-5zM10 8.5v5.5M7.7 11.8 10 14.1l2.3-2.3",
  copy: "M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4",
  link: "M8.5 11.5a3 3 0 0 0 4.3 0l2.9-2.9a3 3 0 0 0-4.3-4.3l-1 1M11.5 8.5a3 3 0 0 0-4.3 0" +
    "l-2.9 2.9a3 3 0 0 0 4.3 4.3l1-1",
  picture: "M10 3v9M6.5 8.8 10 12.3l3.5-3.5M3.5 13v2.8A1.2 1.2 0 0 0 4.7 17h10.6a1.2 1.2 0 0 0 " +
    "1.2-1.2V13",
  print: "M6 7V3h8v4M6 14H4.2A1.2 1.2 0 0 1 3 12.8V8.2A1.2 1.2 0 0 1 4.2 7h11.6A1.2 1.2 0 0 1 17 " +
    "8.2v4.6a1.2 1.2 0 0 1-1.2 1.2H14M6 11.5h8V17H6z",
};

/** @returns {SVGElement} The picture with a name, in the colour of the text around it. */
export function icon(name) {
  const svg = document.createElementNS(NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "gs-icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(NAMESPACE, "path");
  path.setAttribute("d", LINES[name]);
  svg.append(path);
  return svg;
}
