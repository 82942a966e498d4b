// What scripts of several pages share: colours of the theme, questions to the server, tables.

const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);

// A colour of console.css, as the present theme has it.
export function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

// The theme is another one, chosen here or by the system.
export function whenThemeChanges(work) {
  window.addEventListener("footplate:theme", work);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", work);
}

// The answer of the server to a page that has no session any more is where to sign in.
export async function ask(url) {
  const answer = await fetch(url, { headers: { "HX-Request": "true", "HX-Current-URL": location.href } });
  if (answer.status === 401) {
    location.href = answer.headers.get("HX-Redirect") ?? "/sign-in";
    return new Promise(() => {});
  }
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export const jobHasEnded = () => /SUCCEEDED|FAILED|CANCELLED/.test(document.getElementById("job")?.dataset.state ?? "");

// When the job on the page started again, in seconds.
export const restarts = () => JSON.parse(document.getElementById("job").dataset.restarts).map((time) => new Date(time) / 1000);

export const plain = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(4).replace(/\.?0+$/, ""));

function cell(row, kind, textContent, className = "") {
  const made = document.createElement(kind);
  made.textContent = textContent;
  made.className = className;
  if (kind === "th") made.scope = row.parentElement?.tagName === "THEAD" ? "col" : "row";
  row.append(made);
}

// The first column are titles, all others are numbers.
export function fillTable(table, titles, rows) {
  const head = document.createElement("thead");
  const top = document.createElement("tr");
  head.append(top);
  for (const [at, title] of titles.entries()) cell(top, "th", title, at ? "number" : "");
  const body = document.createElement("tbody");
  for (const values of rows) {
    const row = document.createElement("tr");
    body.append(row);
    for (const [at, value] of values.entries()) cell(row, at ? "td" : "th", value ?? "–", at ? "number" : "");
  }
  table.replaceChildren(head, body);
}

// A titled place for a chart in `target`, and the table behind it. `onResize` is told the new width.
export function addFigure(target, titleText, onResize) {
  const figure = document.createElement("figure");
  const title = document.createElement("figcaption");
  const place = document.createElement("div");
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const table = document.createElement("table");
  title.textContent = titleText;
  summary.textContent = "As a table";
  table.setAttribute("aria-label", titleText);
  place.setAttribute("aria-hidden", "true");
  const legend = document.createElement("p");
  legend.className = "legend";
  legend.setAttribute("aria-hidden", "true"); // the table has the names
  details.append(summary, table);
  figure.append(title, place, legend, details);
  target.append(figure);
  new ResizeObserver(() => onResize(place.clientWidth)).observe(place);
  return { place, legend, table };
}
