// Line charts in plain SVG. Hover, tap or use the arrow keys to read values, click names to hide lines, drag to zoom.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const LEFT = 70, RIGHT = 12, TOP = 12, GAP = 34, SMALL = 70, BOTTOM = 40;
  // A pixel of a chart is a pixel of the page, so that text keeps its size on a phone.
  const MAX_WIDTH = 900, MIN_WIDTH = 300, NARROW = 600;

  // Colours that dark pages show in a lighter tone.
  const NAMED = { "#000000": "--ink", "#d62728": "--red", "#1f5fb4": "--blue", "#0072b2": "--safe-blue" };
  // How far bands may reach above the highest line, as a factor.
  const BAND_ROOM = 1.5;
  // Lines of so few points show them.
  const FEW = 8;

  const make = (name, attributes, parent) => {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (parent) parent.append(node);
    return node;
  };
  const html = (name, className, parent, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };
  const short = (value) => {
    if (value === null) return "–";
    const size = Math.abs(value);
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(4)} M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(4)} k`;
    return `${+value.toPrecision(4)}`;
  };

  const ticks = (low, high, count, least = 0) => {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(least, [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough));
    const found = [];
    for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) found.push(+t.toPrecision(12));
    return found;
  };
  const logTicks = (low, high) => {
    const found = [];
    for (let e = Math.floor(Math.log10(low)); Number.isFinite(e) && 10 ** e <= high; e++)
      for (const f of [1, 2, 5]) if (f * 10 ** e >= low && f * 10 ** e <= high) found.push(f * 10 ** e);
    return found.length > 12 ? found.filter((t) => Number.isInteger(Math.log10(t))) : found;
  };

  class Chart {
    constructor(box, spec) {
      this.box = box;
      this.spec = spec;
      this.hidden = new Set();
      this.view = Object.keys(spec.views)[0];
      this.log = false;
      this.window = null;
      this.addControls();
      const label = `${spec.title} Arrow keys read the values.`;
      this.svg = make("svg", { class: "chart", role: "group", tabindex: 0, "aria-label": label }, box);
      this.addLegend();
      html("p", "hint", box, "Drag to zoom. Hover, tap or use the arrow keys to read values. Click a name to hide its line.");
      this.tip = html("div", "tip", box);
      this.tip.setAttribute("aria-live", "polite");
      this.listen();
      this.draw();
    }

    get lines() { return this.spec.views[this.view].lines; }
    get width() { return Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, this.box.clientWidth || MAX_WIDTH)); }
    get main() { return this.width < NARROW ? 250 : 330; }
    get hasActive() { return this.lines.some((line) => line.active); }

    addControls() {
      const bar = html("div", "controls", this.box);
      const views = Object.entries(this.spec.views);
      if (views.length > 1) {
        const choice = html("select", "", bar);
        choice.setAttribute("aria-label", "what is counted");
        for (const [key, view] of views) html("option", "", choice, view.label).value = key;
        choice.addEventListener("change", () => { this.view = choice.value; this.draw(); });
      }
      if (this.spec.log) {
        const button = html("button", "log", bar, "log scale");
        button.setAttribute("aria-pressed", "false");
        button.addEventListener("click", () => {
          this.log = !this.log;
          button.setAttribute("aria-pressed", String(this.log));
          this.draw();
        });
      }
      html("button", "reset", bar, "show all").addEventListener("click", () => {
        this.window = null;
        this.hidden.clear();
        for (const entry of this.entries) entry.setAttribute("aria-pressed", "true");
        this.draw();
      });
    }

    addLegend() {
      const legend = html("div", "legend", this.box);
      this.entries = [];
      for (const line of this.lines) {
        const entry = html("button", "", legend);
        this.entries.push(entry);
        entry.setAttribute("aria-pressed", "true");
        entry.dataset.line = line.name;
        const sample = make("svg", { width: 26, height: 8, "aria-hidden": "true" }, entry);
        make("line", { x1: 0, x2: 26, y1: 4, y2: 4, class: "line", style: this.look(line) }, sample);
        entry.append(" " + line.title);
        entry.addEventListener("click", () => {
          const shown = this.hidden.delete(line.name);
          if (!shown) this.hidden.add(line.name);
          entry.setAttribute("aria-pressed", String(shown));
          this.draw();
        });
      }
    }

    look(line) {
      const colour = (hex) => (NAMED[hex] ? `var(${NAMED[hex]})` : hex);
      const dash = line.dotted ? "stroke-dasharray:2 4;stroke-width:2.6" : "stroke-width:2";
      return `--paper:${colour(line.colour)};--safe:${colour(line.safe)};${dash}`;
    }

    ranges() {
      const shown = this.lines.filter((line) => !this.hidden.has(line.name));
      const every = shown.length ? shown : this.lines;
      const xs = every.flatMap((line) => [line.x[0], line.x[line.x.length - 1]]).filter((x) => x != null);
      const [x0, x1] = this.window ?? (xs.length ? this.widened(Math.min(...xs), Math.max(...xs)) : [0, 1]);
      const inside = (points) => (line) => (line[points] ?? []).filter((y, i) => y !== null && line.x[i] >= x0 && line.x[i] <= x1);
      const values = every.flatMap(inside("y"));
      const positive = values.filter((y) => y > 0);
      const least = Math.min(0, ...values);
      const most = Math.max(0, ...values) || (least < 0 && !this.log ? 0 : 1);
      const high = Math.max(most, Math.min(BAND_ROOM * most, Math.max(...every.flatMap(inside("high")), most)));
      const low = this.log ? Math.min(...(positive.length ? positive : [1])) / 1.1 : least * 1.05;
      return { x0, x1, y0: low, y1: high * 1.05, shown };
    }

    // A single place gets room on both sides.
    widened(x0, x1) {
      if (x1 > x0) return [x0, x1];
      return this.spec.log_x ? [x0 / 2, x0 * 2] : [x0 - 0.5, x0 + 0.5];
    }

    scales(r) {
      const inner = this.width - LEFT - RIGHT;
      const f = this.log ? Math.log : (v) => v;
      const [g, back] = this.spec.log_x ? [Math.log, Math.exp] : [(v) => v, (v) => v];
      return {
        x: (v) => LEFT + (inner * (g(v) - g(r.x0))) / (g(r.x1) - g(r.x0)),
        back: (p) => back(g(r.x0) + ((p - LEFT) / inner) * (g(r.x1) - g(r.x0))),
        y: (v) => TOP + this.main * (1 - (f(Math.max(v, this.log ? r.y0 : v)) - f(r.y0)) / (f(r.y1) - f(r.y0))),
      };
    }

    draw() {
      const r = this.ranges();
      const s = this.scales(r);
      const height = TOP + this.main + (this.hasActive ? GAP + SMALL : 0) + BOTTOM;
      this.svg.replaceChildren();
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
      this.drawAxes(r, s, height);
      const area = this.clipped("main", TOP - 2, this.main + 4);
      for (const line of r.shown) this.drawLine(area, line, s, r);
      if (this.hasActive) this.drawActive(this.clipped("small", TOP + this.main + GAP - 2, SMALL + 4), r, s);
      this.cursor = make("line", { class: "cursor", y1: TOP, y2: height - BOTTOM, visibility: "hidden" }, this.svg);
      this.brush = make("rect", { class: "brush", y: TOP, height: this.main, visibility: "hidden" }, this.svg);
      this.current = { r, s };
      this.tip.style.display = "none";
    }

    clipped(name, y, height) {
      const id = `clip-${this.spec.id}-${name}`;
      const clip = make("clipPath", { id }, this.svg);
      make("rect", { x: LEFT - 4, y, width: this.width - LEFT - RIGHT + 8, height }, clip);
      return make("g", { "clip-path": `url(#${id})` }, this.svg);
    }

    drawAxes(r, s, height) {
      for (const t of this.log ? logTicks(r.y0, r.y1) : ticks(r.y0, r.y1, 6)) {
        make("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: s.y(t), y2: s.y(t) }, this.svg);
        make("text", { x: LEFT - 8, y: s.y(t) + 4, "text-anchor": "end" }, this.svg).textContent = short(t);
      }
      for (const t of this.spec.log_x ? logTicks(r.x0, r.x1) : ticks(r.x0, r.x1, this.width < NARROW ? 4 : 8, 1)) {
        make("line", { class: "grid", x1: s.x(t), x2: s.x(t), y1: TOP, y2: height - BOTTOM }, this.svg);
        make("text", { x: s.x(t), y: height - BOTTOM + 18, "text-anchor": "middle" }, this.svg).textContent = short(t);
      }
      make("text", { x: (LEFT + this.width) / 2, y: height - 4, "text-anchor": "middle", class: "label" }, this.svg)
        .textContent = this.spec.x;
      make("text", { transform: `translate(16 ${TOP + this.main / 2}) rotate(-90)`, "text-anchor": "middle", class: "label" },
        this.svg).textContent = this.spec.y;
    }

    // Stretches of points that have all their values: a missing one is a gap.
    stretches(line, ...columns) {
      const found = [[]];
      line.x.forEach((x, i) => {
        if (columns.every((column) => line[column][i] !== null)) found[found.length - 1].push(i);
        else found.push([]);
      });
      return found.filter((stretch) => stretch.length);
    }

    drawLine(area, line, s, r) {
      for (const stretch of line.low ? this.stretches(line, "x", "low", "high") : []) {
        const floor = (v) => s.y(this.log ? Math.max(v, r.y0) : v);
        const up = stretch.map((i) => `${s.x(line.x[i])},${s.y(line.high[i])}`);
        const down = stretch.map((i) => `${s.x(line.x[i])},${floor(line.low[i])}`).reverse();
        make("polygon", { class: "band", points: [...up, ...down].join(" "), style: this.look(line) }, area);
      }
      const step = this.spec.steps;
      let path = "";
      for (const stretch of this.stretches(line, "x", "y")) {
        stretch.forEach((i, place) => {
          const x = s.x(line.x[i]), y = s.y(line.y[i]);
          path += !place ? `M${x} ${y}` : step ? `H${x}V${y}` : `L${x} ${y}`;
        });
      }
      make("path", { class: "line", d: path || "M0 0", style: this.look(line), "data-line": line.name }, area);
      if (step || line.x.length > FEW) return;
      for (const i of this.stretches(line, "x", "y").flat())
        make("circle", { class: "point", cx: s.x(line.x[i]), cy: s.y(line.y[i]), r: 3.5, style: this.look(line) }, area);
    }

    drawActive(area, r, s) {
      const top = TOP + this.main + GAP;
      const most = Math.max(...this.lines.flatMap((line) => line.active ?? [0]), 1);
      const y = (v) => top + SMALL * (1 - v / (most * 1.05));
      for (const t of [0, most]) make("text", { x: LEFT - 8, y: y(t) + 4, "text-anchor": "end" }, this.svg).textContent = t;
      make("text", { x: LEFT, y: top - 8, class: "label" }, this.svg).textContent = "runs still active";
      for (const line of r.shown) {
        if (!line.active) continue;
        const path = line.x.map((x, i) => `${i ? "H" : "M"}${s.x(x)}${i ? "V" : " "}${y(line.active[i])}`).join("");
        make("path", { class: "line thin", d: path || "M0 0", style: this.look(line) }, area);
      }
    }

    place(event) {
      const box = this.svg.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * this.width;
    }

    listen() {
      let from = null;
      this.svg.addEventListener("pointerdown", (event) => {
        from = this.place(event);
        this.hover(from);
      });
      this.svg.addEventListener("pointermove", (event) => {
        const at = this.place(event);
        this.hover(at);
        if (from === null) return;
        this.brush.setAttribute("visibility", "visible");
        this.brush.setAttribute("x", Math.min(from, at));
        this.brush.setAttribute("width", Math.abs(at - from));
      });
      window.addEventListener("pointerup", (event) => {
        if (from === null) return;
        const clamp = (p) => Math.max(LEFT, Math.min(this.width - RIGHT, p));
        const ends = [from, this.place(event)].sort((a, b) => a - b).map(clamp);
        from = null;
        if (ends[1] - ends[0] <= 8) return;
        this.window = ends.map(this.current.s.back);
        this.draw();
      });
      this.svg.addEventListener("pointercancel", () => { from = null; this.brush.setAttribute("visibility", "hidden"); });
      this.svg.addEventListener("dblclick", () => { this.window = null; this.draw(); });
      // After a tap the values stay until another place is tapped.
      this.svg.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") this.leave(); });
      window.addEventListener("pointerdown", (event) => { if (!this.box.contains(event.target)) this.leave(); });
      this.svg.addEventListener("blur", () => this.leave());
      this.svg.addEventListener("keydown", (event) => this.key(event));
      window.addEventListener("resize", () => this.draw());
    }

    leave() {
      this.tip.style.display = "none";
      this.cursor.setAttribute("visibility", "hidden");
      this.at = null;
    }

    // All places with a value, in the part of the axis that is shown.
    places() {
      const { r } = this.current;
      const all = r.shown.flatMap((line) => line.x).filter((x) => x >= r.x0 && x <= r.x1);
      return [...new Set(all)].sort((a, b) => a - b);
    }

    key(event) {
      const all = this.places();
      const now = all.indexOf(this.at ?? NaN);
      const steps = { ArrowLeft: now - 1, ArrowRight: now + 1, PageUp: now - 10, PageDown: now + 10, Home: 0, End: all.length - 1 };
      if (event.key === "Escape") this.leave();
      if (!(event.key in steps) || !all.length) return;
      event.preventDefault();
      this.read(all[Math.max(0, Math.min(all.length - 1, steps[event.key]))]);
    }

    hover(at) {
      const { r, s } = this.current;
      const x = s.back(at), all = this.places();
      if (x < r.x0 || x > r.x1 || !all.length) return;
      this.read(all.reduce((best, v) => (Math.abs(v - x) < Math.abs(best - x) ? v : best), all[0]));
    }

    // Show the values at a place.
    read(x) {
      const { r, s } = this.current;
      this.at = x;
      this.tip.replaceChildren();
      html("b", "", this.tip, `${this.spec.x} ${short(x)}`);
      for (const line of r.shown) {
        const i = line.x.findLastIndex((v) => v <= x);
        if (i < 0 || (!this.spec.steps && line.x[i] !== x)) continue;
        const runs = line.active ? ` (${line.active[i]} runs)` : "";
        html("div", "", this.tip, `${line.title}: ${short(line.y[i])}${runs}`);
      }
      for (const mark of ["x1", "x2"]) this.cursor.setAttribute(mark, s.x(x));
      this.cursor.setAttribute("visibility", "visible");
      this.tip.style.display = "block";
      const left = s.x(x) + 14, width = this.tip.offsetWidth;
      this.tip.style.left = `${Math.max(0, left + width <= this.width ? left : left - width - 28)}px`;
      const top = this.svg.getBoundingClientRect().top - this.box.getBoundingClientRect().top;
      this.tip.style.top = `${top + TOP + 8}px`;
    }
  }

  const charts = JSON.parse(document.getElementById("charts").textContent);
  for (const spec of charts) new Chart(document.getElementById(spec.id), spec);
  const palette = document.getElementById("palette");
  palette.addEventListener("change", () => document.body.classList.toggle("safe", palette.checked));
})();
