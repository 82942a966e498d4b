// Lets xterm.js style itself where the policy allows no inline styles: what it writes into <style>
// elements goes into style sheets that are made by script, and style attributes into the CSSOM.
// Import it before xterm.js; it changes the whole page.

const create = document.createElement.bind(document);
document.createElement = (name, options) => {
  if (String(name).toLowerCase() !== "style") return create(name, options);
  const sheet = new CSSStyleSheet();
  const element = create("span");
  element.hidden = true;
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", { set: (text) => sheet.replaceSync(text), get: () => "" });
  return element;
};

const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else setAttribute.call(this, name, value);
};
