// A terminal over the service's shell protocol (docs/how-to/open-a-shell.md).

import "./strict_styles.js";
import { Terminal } from "./vendor/xterm.mjs";
import { FitAddon } from "./vendor/addon-fit.mjs";
import { colour, whenThemeChanges } from "./drawing.js";

const place = document.getElementById("terminal");
const status = document.getElementById("shell-status");
const again = document.getElementById("reconnect");
const encoder = new TextEncoder();
const INPUT_BYTES = 16384;
const MAX_UNDRAWN = 500000;

const theme = () => ({
  background: colour("--paper"), foreground: colour("--ink"), cursor: colour("--accent"), cursorAccent: colour("--paper"), selectionBackground: colour("--line"),
  black: colour("--ink"), red: colour("--bad"), green: colour("--good"), yellow: colour("--warn"), blue: colour("--r0"), magenta: colour("--r3"), cyan: colour("--r5"), white: colour("--faint"),
  brightBlack: colour("--faint"), brightRed: colour("--bad"), brightGreen: colour("--good"), brightYellow: colour("--warn"), brightBlue: colour("--r0"), brightMagenta: colour("--r3"), brightCyan: colour("--r5"), brightWhite: colour("--ink"),
});
const terminal = new Terminal({ theme: theme(), fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace', fontSize: 13, scrollback: 10000, screenReaderMode: true, cursorBlink: false });
const fit = new FitAddon();
terminal.loadAddon(fit);
terminal.open(place);
fit.fit();

let socket = null;
let undrawn = 0;

function say(text, isBad = false) {
  status.textContent = text;
  status.classList.toggle("bad-text", isBad);
}

function tell(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function end(text, isBad) {
  say(text, isBad);
  again.hidden = false;
  terminal.options.disableStdin = true;
  socket?.close();
  socket = null;
}

function hear(message) {
  if ("exit" in message) end(`The shell has ended with exit code ${message.exit}.`, message.exit !== 0);
  else if ("error" in message) end(message.error, true);
}

// A server that sends faster than a terminal draws would fill the page's memory.
function draw(mine, data) {
  undrawn += data.length;
  terminal.write(data, () => (undrawn -= data.length));
  if (undrawn > MAX_UNDRAWN && socket === mine) end("The shell printed more than this page can draw; for so much output, use the command below.", true);
}

function open() {
  again.hidden = true;
  terminal.options.disableStdin = false;
  terminal.reset();
  say("Opens a shell …");
  const mine = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/shell/v1/${place.dataset.token}`);
  mine.binaryType = "arraybuffer";
  socket = mine;
  mine.onopen = () => tell({ open: { size: [terminal.cols, terminal.rows], term: "xterm-256color" } });
  mine.onmessage = ({ data }) => {
    if (socket !== mine) return;
    if (typeof data === "string") hear(JSON.parse(data));
    else {
      if (status.textContent) say("");
      draw(mine, new Uint8Array(data));
    }
  };
  mine.onclose = () => {
    if (socket === mine) end("The connection to the shell has ended.", true);
  };
  terminal.focus();
}

function send(bytes) {
  for (let at = 0; at < bytes.length && socket?.readyState === WebSocket.OPEN; at += INPUT_BYTES) socket.send(bytes.subarray(at, at + INPUT_BYTES));
}

terminal.onData((text) => send(encoder.encode(text)));
terminal.onBinary((text) => send(Uint8Array.from(text, (each) => each.charCodeAt(0))));
terminal.onResize(({ cols, rows }) => tell({ resize: [cols, rows] }));
terminal.attachCustomKeyEventHandler((event) => {
  if (event.key !== "Escape" || !event.ctrlKey || !event.shiftKey) return true;
  terminal.blur();
  again.hidden ? document.querySelector("details summary").focus() : again.focus();
  return false;
});
again.addEventListener("click", open);
new ResizeObserver(() => fit.fit()).observe(place);
whenThemeChanges(() => (terminal.options.theme = theme()));
open();
