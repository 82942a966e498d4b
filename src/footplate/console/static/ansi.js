// Text with the colours of terminals, as elements. What a program printed is only ever text.

const SEQUENCE = /\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b./g;
const LEVELS = [0, 95, 135, 175, 215, 255];

function colour256(number) {
  if (number < 16) return number;
  if (number > 231) {
    const grey = 8 + (number - 232) * 10;
    return `rgb(${grey}, ${grey}, ${grey})`;
  }
  const at = number - 16;
  return `rgb(${LEVELS[Math.floor(at / 36)]}, ${LEVELS[Math.floor(at / 6) % 6]}, ${LEVELS[at % 6]})`;
}

function extended(codes, at) {
  if (codes[at + 1] === 5) return [colour256(codes[at + 2] & 255), at + 2];
  if (codes[at + 1] === 2) {
    const [r, g, b] = codes.slice(at + 2, at + 5).map((part) => part & 255);
    return [`rgb(${r | 0}, ${g | 0}, ${b | 0})`, at + 4];
  }
  return [null, codes.length];
}

function apply(style, text) {
  const codes = text === "" ? [0] : text.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at];
    if (code === 0) style = {};
    else if (code === 1) style = { ...style, bold: true };
    else if (code === 2) style = { ...style, dim: true };
    else if (code === 3) style = { ...style, italic: true };
    else if (code === 4) style = { ...style, underline: true };
    else if (code === 22) style = { ...style, bold: false, dim: false };
    else if (code === 23) style = { ...style, italic: false };
    else if (code === 24) style = { ...style, underline: false };
    else if (code >= 30 && code <= 37) style = { ...style, front: code - 30 };
    else if (code >= 90 && code <= 97) style = { ...style, front: code - 82 };
    else if (code === 39) style = { ...style, front: null };
    else if (code >= 40 && code <= 47) style = { ...style, back: code - 40 };
    else if (code >= 100 && code <= 107) style = { ...style, back: code - 92 };
    else if (code === 49) style = { ...style, back: null };
    else if (code === 38 || code === 48) {
      const [colour, last] = extended(codes, at);
      style = { ...style, [code === 38 ? "front" : "back"]: colour };
      at = last;
    }
  }
  return style;
}

function paint(element, style) {
  for (const name of ["bold", "dim", "italic", "underline"]) {
    if (style[name]) element.classList.add(`ansi-${name}`);
  }
  if (typeof style.front === "number") element.classList.add(`ansi-f${style.front}`);
  else if (style.front) element.style.color = style.front;
  if (typeof style.back === "number") element.classList.add(`ansi-b${style.back}`);
  else if (style.back) element.style.backgroundColor = style.back;
}

// A part of the text, which begins at `offset` of the plain text; `ranges` of that are marked.
function put(target, text, style, offset, ranges) {
  if (!text) return;
  const plain = Object.values(style).every((value) => value === false || value === null);
  const element = plain ? target : document.createElement("span");
  if (!plain) {
    paint(element, style);
    target.append(element);
  }
  let at = 0;
  for (const [start, end] of ranges) {
    const from = Math.max(start - offset, at);
    const to = Math.min(end - offset, text.length);
    if (from >= to) continue;
    element.append(text.slice(at, from));
    const hit = document.createElement("mark");
    hit.textContent = text.slice(from, to);
    element.append(hit);
    at = to;
  }
  element.append(text.slice(at));
}

// Without the sequences of terminals.
export const plainText = (text) => text.replace(SEQUENCE, "");

// Append `text` to `target`; `ranges`, [start, end] of its plain text in order, are marked.
export function appendAnsi(target, text, ranges = []) {
  let style = {};
  let at = 0;
  let offset = 0;
  const show = (end) => {
    const part = text.slice(at, end);
    put(target, part, style, offset, ranges);
    offset += part.length;
  };
  for (const match of text.matchAll(SEQUENCE)) {
    show(match.index);
    if (match[1] !== undefined) style = apply(style, match[1]);
    at = match.index + match[0].length;
  }
  show(text.length);
}
