// The panel: what the report says, and the list of objects. Text goes in as text, never as HTML: names are the user's.

import { FOAM, css } from "./colors.js";

/** Stands for a number that was not measured. */
const ABSENT = "–";

export const element = (id) => document.getElementById(id);

const isNumber = (x) => typeof x === "number" && Number.isFinite(x);

/** Three digits, or all before the point. */
function digits(x) {
  const size = Math.abs(x);
  return size >= 100 ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : x.toFixed(2);
}

/** A length in the unit that reads best. */
export function lengthText(metres) {
  if (!isNumber(metres)) return ABSENT;
  const size = Math.abs(metres);
  if (size === 0) return "0 m";
  if (size >= 1) return `${digits(metres)} m`;
  if (size >= 1e-3) return `${digits(metres * 1e3)} mm`;
  if (size >= 1e-6) return `${digits(metres * 1e6)} µm`;
  return `${metres.toExponential(1)} m`;
}

/** The spacing of a grid, which is round. */
export function spacingText(metres) {
  const [size, unit] = metres >= 0.999 ? [1, "m"] : metres >= 0.00999 ? [1e-2, "cm"] : metres >= 0.000999 ? [1e-3, "mm"] : [1e-6, "µm"];
  return `grid ${Number((metres / size).toPrecision(3))} ${unit}`;
}

function durationText(seconds) {
  if (!isNumber(seconds)) return ABSENT;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : seconds.toFixed(0)} s`;
  const whole = Math.round(seconds);
  const two = (n) => String(n).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

const countText = (n) => (isNumber(n) ? n.toLocaleString("en") : ABSENT);
const percentText = (x) => (isNumber(x) ? `${(100 * x).toFixed(Math.abs(x) < 0.01 ? 3 : 2)} %` : ABSENT);

/** Rows of a table: what, value, and the class of the value. */
function fillTable(table, rows) {
  table.replaceChildren(...rows.map(([what, value, look = ""]) => {
    const row = document.createElement("tr");
    row.insertCell().textContent = what;
    const cell = row.insertCell();
    cell.textContent = value;
    cell.className = look;
    return row;
  }));
}

function fillList(list, items) {
  list.replaceChildren(...items.map(([text, look = ""]) => {
    const item = document.createElement("li");
    item.textContent = text;
    item.className = look;
    return item;
  }));
  const section = element(`${list.id}-section`);
  if (section) section.hidden = items.length === 0;
}

/** A count that must be 0. */
const nothing = (n) => [countText(n), isNumber(n) && n > 0 ? "bad" : ""];

function certificateRows(report) {
  const c = report.certificate;
  const held = c.held ? ["held", "good"] : ["NOT HELD", "bad"];
  const rows = [
    ["guarantee", ...held],
    ["judged", report.strict ? "every step" : "every frame"],
    ["exact tests", countText(c.checks)],
    ["new crossings", ...nothing(c.intersections_new)],
    ["crossings at the start", countText(c.intersections_initial)],
    ["of these left", c.intersections_initial > 0 ? countText(c.intersections_last) : ABSENT],
    ["inverted elements", ...nothing(c.inverted_elements)],
    ["particles leaked", ...nothing(c.particles_leaked)],
    ["rods passed", ...nothing(c.rods_passed)],
    ["not finite", ...nothing(c.non_finite)],
    ["smallest gap", lengthText(c.min_gap_m)],
    ["largest lag", lengthText(c.collider_lag_max_m)],
    ["fluid's volume error", percentText(c.fluid_volume_error)],
    ["compression, mean", percentText(c.fluid_compression_mean)],
    ["compression, largest", percentText(c.fluid_compression_max)],
  ];
  for (const lag of report.lags ?? []) {
    if (lag.max_m > 0) rows.push([`late: ${lag.object}`, `${lengthText(lag.last_m)}, most ${lengthText(lag.max_m)}`]);
  }
  return rows;
}

/** What the guarantee does not cover, in a sentence each. */
function notCovered({ certificate: c }) {
  const pairs = (c.pairs_off ?? []).map(({ objects: [a, b], crossings_last }) =>
    `not covered: contact of ${a} with ${a === b ? "itself" : b} is off, ${crossings_last} crossings at the end`);
  if (isNumber(c.intersections_entangled)) {
    pairs.push(`not covered: entangled parts of the input until they were apart; ${c.intersections_entangled} crossings began between them`);
  }
  return pairs.join("\n");
}

function countRows(report, frames) {
  const n = report.counts;
  return [
    ["frames", countText(frames)],
    ["steps", countText(report.steps)],
    ["simulated", isNumber(report.simulated_s) ? `${report.simulated_s.toFixed(3)} s` : ABSENT],
    ["wall time", durationText(report.wall_s)],
    ["processor time", durationText(report.cpu_s)],
    ["threads", countText(report.threads)],
    ["memory, most", isNumber(report.peak_rss_mb) ? `${report.peak_rss_mb.toFixed(0)} MB` : ABSENT],
    ["points", countText(n.points)],
    ["triangles", countText(n.triangles)],
    ["tets", countText(n.tets)],
    ["rod segments", countText(n.rod_segments)],
    ["particles", countText(n.particles)],
    ["rigid bodies", countText(n.bodies)],
    ["littoral", report.littoral],
  ];
}

function expectationItem({ text, found, met }) {
  const value = isNumber(found) ? `, found ${Number(found.toPrecision(4))}` : "";
  if (met === true) return [`✓ ${text}${value}`, "good"];
  if (met === false) return [`✗ ${text}${value}`, "bad"];
  return [`${ABSENT} ${text}, not reached yet`];
}

/** Shows the report. */
export function showReport({ name, numbers, report }) {
  element("title").textContent = report.scene;
  document.title = `${report.scene} · Littoral`;
  element("folder").textContent = name;
  element("state").textContent = report.finished ? "finished" : "not finished";
  const verdict = element("verdict");
  verdict.textContent = report.certificate.held ? "guarantee held" : "GUARANTEE NOT HELD";
  verdict.className = report.certificate.held ? "badge good" : "badge bad";
  fillTable(element("certificate"), certificateRows(report));
  element("not-covered").textContent = notCovered(report);
  fillList(element("warnings"), report.warnings.map((w) => [`${w.code} (${w.count}×): ${w.text}`, "warn"]));
  fillList(element("expectations"), (report.expectations ?? []).map(expectationItem));
  fillTable(element("counts"), countRows(report, numbers.length));
}

/** Lists the objects; `hidden` is a set that the boxes change, `changed` is called when they did. */
export function listObjects(run, colors, hidden, changed) {
  const boxes = run.objects.map((object, k) => objectRow(object, colors[k], (event) => {
    // Alone, or everything again where it is alone already.
    if (event.altKey) {
      const others = run.objects.map((_, j) => j).filter((j) => j !== k);
      const isAlone = others.every((j) => hidden.has(j)) && !hidden.has(k);
      hidden.clear();
      if (!isAlone) others.forEach((j) => hidden.add(j));
    } else if (!hidden.delete(k)) {
      hidden.add(k);
    }
    refresh();
  }));
  const refresh = () => {
    boxes.forEach(({ box }, k) => { box.checked = !hidden.has(k); });
    changed();
  };
  element("objects").replaceChildren(...boxes.map(({ row }) => row));
  element("all").onclick = () => { hidden.clear(); refresh(); };
  element("none").onclick = () => { run.objects.forEach((_, k) => hidden.add(k)); refresh(); };
}

function objectRow({ name, kind, count }, color, clicked) {
  const row = document.createElement("li");
  const label = row.appendChild(document.createElement("label"));
  label.title = `${name}: ${kind}, ${countText(count)} points`;
  const box = label.appendChild(document.createElement("input"));
  Object.assign(box, { type: "checkbox", checked: true });
  const swatch = label.appendChild(document.createElement("span"));
  swatch.className = "swatch";
  swatch.style.background = css(color);
  for (const [look, text] of [["name", name], ["kind", kind]]) {
    const part = label.appendChild(document.createElement("span"));
    part.className = look;
    part.textContent = text;
  }
  // The set decides what is checked, so that "alone" needs no exception.
  label.addEventListener("click", (event) => {
    event.preventDefault();
    clicked(event);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    clicked(event);
  });
  return { row, box };
}

/** The scale of speeds of a fluid. */
export function showSpeeds(run, colors) {
  const fluid = run.objects.findIndex((o) => o.kind === "fluid");
  element("speeds").hidden = fluid < 0 || !(run.fastest > 0);
  if (fluid < 0) return;
  element("speeds").querySelector("i").style.background = `linear-gradient(to right, ${css(colors[fluid])}, ${css(FOAM)})`;
  element("fastest").textContent = `${digits(run.fastest)} m/s`;
}
