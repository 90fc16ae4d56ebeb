"use strict";
document.documentElement.classList.add("js");
const all = (query, inside = document) => [...inside.querySelectorAll(query)];
const byId = (id) => document.getElementById(id);

// The table of claims: sorted by its heads, filtered by paper, verdict and words.
const claims = document.querySelector("table.claims");
if (claims) {
  const body = claims.tBodies[0], rows = [...body.rows], total = rows.length;
  const order = ["confirmed", "undecided", "not confirmed", "not measured"];
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const place = new Map(rows.map((row, number) => [row, number]));
  const natural = new Intl.Collator("en", { numeric: true });
  const compare = {
    paper: (a, b) => place.get(a) - place.get(b),
    place: (a, b) => natural.compare(a.cells[1].textContent, b.cells[1].textContent),
    verdict: (a, b) => order.indexOf(a.dataset.verdict) - order.indexOf(b.dataset.verdict),
  };
  const sort = (by, sign) => {
    rows.sort((a, b) => sign * compare[by](a, b) || place.get(a) - place.get(b));
    body.append(...rows);
    for (const head of all("th[data-sort]", claims)) {
      if (head.dataset.sort !== by) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    }
    byId("filter-sort").value = by;
  };
  for (const head of all("th[data-sort]", claims)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () =>
      sort(head.dataset.sort, head.getAttribute("aria-sort") === "ascending" ? -1 : 1));
  }
  const filter = () => {
    const paper = byId("filter-paper").value, verdict = byId("filter-verdict").value;
    const wanted = byId("filter-text").value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of rows) {
      row.hidden = (paper && row.dataset.paper !== paper)
        || (verdict === "differs" ? !("differs" in row.dataset) : verdict && row.dataset.verdict !== verdict)
        || !wanted.every((word) => words.get(row).includes(word));
      shown += !row.hidden;
    }
    byId("shown").textContent = `${shown} of ${total} claims shown`;
    byId("none").hidden = shown > 0;
  };
  byId("filter").addEventListener("input", filter);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("filter-sort").addEventListener("change", (event) => sort(event.target.value, 1));
  for (const link of all("a[data-paper]")) {
    link.addEventListener("click", () => {
      byId("filter-paper").value = link.dataset.paper;
      byId("filter-verdict").value = byId("filter-text").value = "";
      filter();
    });
  }
  filter();
}

// What is folded is printed too.
let opened = [];
addEventListener("beforeprint", () => {
  opened = all("details:not([open])");
  for (const one of opened) one.open = true;
});
addEventListener("afterprint", () => { for (const one of opened) one.open = false; });

// Curves: drawn by Plotly when they come into view, instead of their pictures.
const dark = matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map();

function library() {
  if (!window.Plotly) {
    const script = document.createElement("script");
    script.textContent = document.querySelector("script#plotly").textContent;
    document.head.append(script);
  }
  return window.Plotly;
}

function inkOf(color) {  // a policy's colour, lighter where it would vanish on a dark page
  const style = getComputedStyle(document.documentElement);
  if (color === "currentcolor") return style.getPropertyValue("--ink").trim();
  if (!dark.matches) return color;
  let parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const light = (0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2]) / 255;
  const share = Math.max(0, (0.5 - light) / (1 - light));
  parts = parts.map((part) => Math.round(part + (255 - part) * share));
  return `rgb(${parts.join(",")})`;
}

const chartOf = (box) => JSON.parse(box.parentElement.querySelector("script").textContent);
// Plotly reads tags in labels: in these there are none.
const inert = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function tracesOf(chart, hidden) {
  const floor = chart.up_log ? (chart.low || 1e-9) / 2 : -Infinity;
  const short = (value) => value === null ? "?" : String(Number(value.toPrecision(4)));
  return chart.lines.flatMap((line, number) => {
    const color = inkOf(line.color), has = line.lower.some((value) => value !== null);
    const points = line.points || line.x.length === 1;
    const shared = {
      x: line.x, legendgroup: String(number), showlegend: false, visible: !hidden.has(number),
    };
    const mean = {
      ...shared, y: line.y, name: inert(line.label),
      mode: points ? "markers" : line.x.length <= 15 && !line.reference ? "lines+markers" : "lines",
      line: { color, dash: line.dash, width: line.reference ? 1.3 : 2 },
      marker: { color, size: 6 },
      customdata: line.y.map((_, at) => has ? ` [${short(line.lower[at])}, ${short(line.upper[at])}]` : ""),
      hovertemplate: "%{y:.4~g}%{customdata}",
    };
    if (!has) return [mean];
    if (points) {
      mean.error_y = {
        type: "data", symmetric: false, color, thickness: 1.2, width: 3,
        array: line.y.map((y, at) => (line.upper[at] ?? y) - y),
        arrayminus: line.y.map((y, at) => y - Math.max(line.lower[at] ?? y, Math.min(y, floor))),
      };
      return [mean];
    }
    const at = line.x.map((_, i) => i).filter((i) => line.lower[i] !== null && line.upper[i] !== null);
    const band = {
      ...shared, fill: "toself", mode: "lines", hoverinfo: "skip", line: { width: 0 },
      fillcolor: color.startsWith("#") ? `${color}26` : color.replace("rgb", "rgba").replace(")", ",.2)"),
      x: [...at, ...at.slice().reverse()].map((i) => line.x[i]),
      y: [...at.map((i) => Math.max(line.upper[i], floor)),
        ...at.slice().reverse().map((i) => Math.max(line.lower[i], floor))],
    };
    return [band, mean];
  });
}

function layoutOf(chart, box) {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  const narrow = box.clientWidth < 520;
  const axis = (title, log) => ({
    title: { text: inert(title), font: { size: 12 }, standoff: 8 }, type: log ? "log" : "linear",
    gridcolor: value("--rule"), zeroline: false, linecolor: value("--soft"), automargin: true,
    ...(log ? { dtick: 1, exponentformat: "power" } : { exponentformat: "SI", nticks: narrow ? 5 : 8 }),
  });
  const up = axis(chart.up, chart.up_log), ends = [chart.low, chart.high];
  if (ends.every((end) => end !== null)) {
    up.range = chart.up_log ? ends.map(Math.log10) : ends;
    if (chart.up_log && ends[1] / ends[0] < 30) up.dtick = "D2";
  } else if (!chart.up_log) up.rangemode = "tozero";
  else up.dtick = "D2";
  return {
    width: box.clientWidth, height: box.clientHeight,
    font: { family: "system-ui, sans-serif", size: 12, color: value("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 52, r: 12, t: 12, b: 44 }, xaxis: axis(chart.across, chart.across_log), yaxis: up,
    modebar: { bgcolor: "rgba(0,0,0,0)", color: value("--soft"), activecolor: value("--ink") },
    hovermode: narrow ? "closest" : "x unified", dragmode: narrow ? false : "zoom",
    hoverlabel: { bgcolor: value("--paper"), bordercolor: value("--rule"), font: { size: 11, color: value("--ink") } },
  };
}

function drawing(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function legend(box, chart, hidden) {
  const list = box.nextElementSibling;
  list.hidden = false;
  list.replaceChildren(...chart.lines.map((line, number) => {
    const button = document.createElement("button");
    const color = inkOf(line.color);
    const dash = { dash: "6 3", dot: "2 2", dashdot: "6 2 2 2", longdashdot: "8 2 2 2", solid: "" }[line.dash]
      ?? line.dash.replaceAll("px", "").replaceAll(",", " ");
    button.type = "button";
    button.setAttribute("aria-pressed", String(!hidden.has(number)));
    const mark = line.points || line.x.length === 1
      ? drawing("circle", { cx: 13, cy: 5, r: 3.5, fill: color })
      : drawing("path", { d: "M0 5h26", stroke: color, "stroke-width": 2.5, "stroke-dasharray": dash });
    const picture = drawing("svg", { width: 26, height: 10, "aria-hidden": true });
    picture.append(mark);
    button.append(picture, line.label);
    button.addEventListener("click", () => {
      if (!hidden.delete(number)) hidden.add(number);
      button.setAttribute("aria-pressed", String(!hidden.has(number)));
      draw(box);
    });
    return button;
  }));
}

function draw(box) {
  const plotly = library();
  const chart = chartOf(box);
  const first = !drawn.has(box), hidden = drawn.get(box) || new Set();
  drawn.set(box, hidden);
  box.hidden = false;
  box.parentElement.classList.add("live");
  const options = {
    displaylogo: false, displayModeBar: box.clientWidth < 520 ? false : undefined,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
  };
  plotly.react(box, tracesOf(chart, hidden), layoutOf(chart, box), options);
  if (!first) return;
  legend(box, chart, hidden);
  sizes.observe(box);
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.clientWidth && target.clientWidth !== target._fullLayout.width) draw(target);
  }
});

const charts = all(".chart");
if (charts.length) {
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      draw(entry.target.querySelector(".chart"));
    }
  }, { rootMargin: "300px" });
  for (const box of charts) near.observe(box.parentElement);
  dark.addEventListener("change", () => {
    for (const [box, hidden] of drawn) {
      draw(box);
      legend(box, chartOf(box), hidden);
    }
  });
}
