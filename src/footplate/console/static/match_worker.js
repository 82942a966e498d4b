// Runs regular expressions for log_matches.js, which ends it when one takes too long.

const MOST = 200; // matches that are marked in a text

function rangesOf(expression, text) {
  const found = [];
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match && found.length < MOST; match = expression.exec(text)) {
    found.push([match.index, expression.lastIndex]);
    if (match[0] === "") expression.lastIndex += 1;
  }
  return found.length ? found : null;
}

self.onmessage = ({ data: { id, pattern, texts } }) => {
  self.postMessage({ id, begun: true });
  try {
    const expression = new RegExp(pattern, "gi");
    self.postMessage({ id, found: texts.map((text) => rangesOf(expression, text)) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
