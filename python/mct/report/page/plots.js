// Plots: specifications for Vega-Lite. Nothing of the documents but numbers, and texts as values of data, goes into
// them: names are no fields, no expressions and no titles. Expressions are interpreted, not compiled.

const BLUE = '--blue';
const ORANGE = '--orange';

/** Colours are those of the style sheet, so that plots follow the theme, and paper. */
const color = (name) => `var(${name})`;

/** What all plots share, in the colours of the theme. */
function configuration() {
  const text = color('--text-soft');
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: null,
    font,
    padding: 4,
    view: { stroke: null },
    axis: {
      labelColor: text, titleColor: text, gridColor: color('--grid'), domainColor: color('--line'), tickColor: color('--line'),
      labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', labelPadding: 4, titlePadding: 8, tickSize: 4,
      labelFlush: false,
    },
    legend: { labelColor: text, titleColor: text, labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal' },
    text: { color: text, fontSize: 11 },
  };
}

const drawings = new Set();

/** A place for a plot, drawn when it is near the window and again when its width changes. `make(width)`
    gives the specification; `label` says what there is to see. */
function plot(label, make, { height = 220, open = null } = {}) {
  const place = element('div', { class: 'plot', role: 'img', 'aria-label': label });
  place.style.minHeight = `${height}px`;
  const drawing = { place, make, open, height, view: null, isNear: false, width: 0 };
  drawings.add(drawing);
  nearness.observe(place);
  widths.observe(place);
  place.drawing = drawing;
  return place;
}

const nearness = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    target.drawing.isNear ||= isIntersecting;
    if (isIntersecting && !target.drawing.view) draw(target.drawing);
  }
}, { rootMargin: '400px' });

const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const { drawing } = target;
    if (drawing.view && Math.abs(target.clientWidth - drawing.width) > 4) draw(drawing);
  }
});

async function draw(drawing) {
  const { place } = drawing;
  const width = place.clientWidth;
  if (!width) return;
  drawing.width = width;
  const turn = (drawing.turn = (drawing.turn ?? 0) + 1);
  const specification = { width, autosize: { type: 'fit-x', contains: 'padding' }, height: drawing.height,
    ...drawing.make(width) };
  const made = await vegaEmbed(element('div'), specification, {
    mode: 'vega-lite', ast: true, actions: false, renderer: 'svg', defaultStyle: false, tooltip: showTip,
    config: configuration(), loader: NO_LOADER, hover: false,
  });
  if (turn !== drawing.turn || !drawings.has(drawing)) {
    made.finalize();
    return;
  }
  drawing.view?.finalize();
  drawing.view = made;
  place.replaceChildren(made.view.container());
  if (drawing.open) {
    made.view.addEventListener('click', (event, item) => {
      if (item?.datum?.key !== undefined) drawing.open(item.datum.key);
    });
  }
}

/** Nothing is loaded from anywhere: all data stand in the specifications. */
const refuse = () => Promise.reject(new Error('a report loads nothing'));
const NO_LOADER = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

/** Plots of a view that is gone. */
function forgetPlots(root) {
  for (const drawing of drawings) {
    if (root.contains(drawing.place)) {
      nearness.unobserve(drawing.place);
      widths.unobserve(drawing.place);
      drawing.view?.finalize();
      drawings.delete(drawing);
    }
  }
}

/** Those that no one has scrolled to, before the page is printed. */
const drawAll = () => Promise.all([...drawings].filter((drawing) => !drawing.view).map(draw));

// ---------------------------------------------------------------------------------------------------------------------
// Tips
// ---------------------------------------------------------------------------------------------------------------------

const tip = element('div', { class: 'tip', role: 'tooltip', hidden: true });

/** Vega's handler would write markup. */
function showTip(handler, event, item, value) {
  if (value === null || value === undefined || value === '') {
    tip.hidden = true;
    return;
  }
  const rows = typeof value === 'object' ? Object.entries(value) : [['', value]];
  showTipAt(event, rows);
}

function showTipAt(event, rows) {
  tip.replaceChildren(...rows.map(([term, value]) => element('div', {}, element('span', {}, term), element('b', {}, String(value)))));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - width - 8);
  const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${top}px`;
}

const hideTip = () => { tip.hidden = true; };

// ---------------------------------------------------------------------------------------------------------------------
// Specifications
// ---------------------------------------------------------------------------------------------------------------------

const quantitative = (field, title, more = {}) => ({ field, type: 'quantitative', title, ...more });
const values = (list) => ({ data: { values: list } });
/** Tips of our own texts: field and title. */
const tips = (...fields) => fields.map(([field, title]) => ({ field, title, type: 'nominal' }));

/** The smallest and the largest of numbers by channel; of one, that one. */
function range(list) {
  const there = list.filter(isNumber);
  return there.length ? [Math.min(...there), Math.max(...there)] : null;
}

/** Shares of the values by bin, as calibration saw them and as the samples of the report showed them, with what the
    quantizer can say. */
function histogramPlot(point) {
  const base = point.statistics?.histogram ? point.statistics : point.observed;
  const { histogram } = base;
  const width = widthOf(histogram);
  const bars = binsOf(base, width);
  const lowest = point.parameters ? range(point.parameters.lowest) : null;
  const highest = point.parameters ? range(point.parameters.highest) : null;
  const step = point.parameters ? range(point.parameters.step) : null;
  // By channel, only what lies beyond the widest channel is clipped for sure.
  const half = step ? step[1] / 2 : 0;
  for (const bar of bars) {
    const isClipped = lowest && (bar.to < lowest[0] - half || bar.from > highest[1] + half);
    bar.kind = isClipped ? 'beyond the levels' : 'within the levels';
  }
  const start = histogram.first;
  const end = histogram.first + width * histogram.counts.length;
  const threshold = range(point.parameters?.threshold ?? []);
  let from = Math.min(start, lowest ? lowest[0] : start, 0);
  let to = Math.max(end, highest ? highest[1] : end, threshold ? threshold[1] : end, 0);
  // What the samples showed beyond that, as far as the rest stays large enough to be seen.
  const seen = point.observed?.histogram;
  if (seen) {
    const reach = to - from;
    from = Math.max(from - reach, Math.min(from, seen.first));
    to = Math.min(to + reach, Math.max(to, seen.first + widthOf(seen) * seen.counts.length));
  }
  const smallest = Math.min(...bars.map((bar) => bar.share));
  const floor = 10 ** Math.floor(Math.log10(smallest) - 0.3);
  const x = (field, more = {}) => quantitative(field, 'value', { scale: { domain: [from, to], nice: false }, axis: { tickCount: 8 }, ...more });
  // Room above the bars for the name of the threshold.
  const most = Math.max(...bars.map((bar) => bar.share));
  const y = { scale: { type: 'log', domainMin: floor, domainMax: most * 5, nice: true }, axis: { tickCount: 5, format: '~e' }, title: 'share of the values in a bin' };
  const layers = [];
  if (lowest) {
    const beyond = [];
    if (from < lowest[0]) beyond.push({ from, to: lowest[0] });
    if (to > highest[1]) beyond.push({ from: highest[1], to });
    if (beyond.length) {
      layers.push({ ...values(beyond), mark: { type: 'rect', color: color('--clip-wash') },
        encoding: { x: x('from'), x2: { field: 'to' } } });
    }
  }
  layers.push({
    ...values(bars), mark: { type: 'bar', binSpacing: 0 },
    encoding: {
      x: x('from'), x2: { field: 'to' }, y: quantitative('share', y.title, y), y2: { datum: floor },
      color: { field: 'kind', type: 'nominal', legend: null,
        scale: { domain: ['within the levels', 'beyond the levels'], range: [color(BLUE), color('--vermilion')] } },
      stroke: { field: 'kind', type: 'nominal', legend: null,
        scale: { domain: ['within the levels', 'beyond the levels'], range: [color(BLUE), color('--vermilion')] } },
      strokeWidth: { value: 0.5 },
      tooltip: tips(['bin', 'values'], ['countText', 'how many'], ['shareText', 'share'], ['kind', '']),
    },
  });
  if (base !== point.observed && point.observed?.histogram) {
    const line = binsOf(point.observed, width).map((bin) => ({ at: (bin.from + bin.to) / 2, share: bin.share }))
      .filter((bin) => bin.at >= from && bin.at <= to);
    if (line.length) {
      layers.push({ ...values(line), mark: { type: 'line', interpolate: 'step', strokeWidth: 1.3, color: color('--text'), clip: true },
        encoding: { x: x('at'), y: quantitative('share', y.title, y) } });
    }
  }
  const levels = levelsOf(point);
  if (levels.length) {
    layers.push({ ...values(levels.map((level) => ({ level }))),
      mark: levels.length > 64 ? { type: 'rule', color: color('--text'), opacity: 0.6, strokeWidth: 0.6, y: { expr: 'height' }, y2: { expr: 'height - 8' } }
        : { type: 'rule', color: color('--text'), opacity: 0.45, strokeWidth: 0.8 },
      encoding: { x: x('level') } });
  }
  const marks = thresholdMarks(point, from, to);
  if (marks.length) {
    layers.push({ ...values(marks), mark: { type: 'rule', strokeDash: [5, 3], color: color('--vermilion'), strokeWidth: 1.4 },
      encoding: { x: x('at'), tooltip: tips(['text', 'threshold']) } });
    layers.push({ ...values(marks.filter((mark) => mark.isNamed)), mark: { type: 'text', align: 'right', dx: -5, baseline: 'top', y: 2, color: color('--text-soft') },
      encoding: { x: x('at'), text: { field: 'text', type: 'nominal' } } });
  }
  return { layer: layers };
}

/** Width of the bins; where all values are equal they have none, and get some for the eye. */
const widthOf = (histogram) => histogram.width || Math.abs(histogram.first) / 100 || 1;

/** Bins that are not empty, as shares of all values in bins as wide as `width`. */
function binsOf({ count, histogram }, width) {
  const bins = [];
  const own = widthOf(histogram);
  const whole = count || histogram.counts.reduce((sum, found) => sum + found, 0);
  histogram.counts.forEach((found, index) => {
    if (!found) return;
    const from = histogram.first + index * own;
    bins.push({ from, to: from + own, share: (found * width) / own / whole, countText: grouped(found),
      shareText: share(found / whole, 2), bin: `${plain(from)} to ${plain(from + own)}` });
  });
  return bins;
}

/** Levels of a quantizer that has the same ones everywhere. */
function levelsOf(point) {
  const parameters = point.parameters;
  if (!parameters || parameters.lowest.length !== 1) return [];
  if (parameters.levels.length && isNumber(parameters.threshold[0])) return parameters.levels.map((level) => level * parameters.threshold[0]);
  if (!(parameters.step.length === 1 && parameters.step[0] > 0) || parameters.bits > 8) return [];
  const levels = [];
  const many = Math.round((parameters.highest[0] - parameters.lowest[0]) / parameters.step[0]) + 1;
  for (let index = 0; index < Math.min(many, 256); ++index) levels.push(parameters.lowest[0] + index * parameters.step[0]);
  return levels;
}

function thresholdMarks(point, from, to) {
  const threshold = point.parameters && range(point.parameters.threshold);
  if (!threshold) return [];
  const isOne = threshold[0] === threshold[1];
  const marks = [];
  for (const [index, value] of (isOne ? [threshold[0]] : threshold).entries()) {
    const what = isOne ? 'threshold' : index ? 'widest channel' : 'narrowest channel';
    if (value <= to * 1.0001) marks.push({ at: value, text: `${what} ${plain(value)}`, isNamed: isOne || index === 1 });
    if (point.parameters.is_signed && -value >= from * 1.0001) marks.push({ at: -value, text: `${what} ${plain(-value)}`, isNamed: false });
  }
  return marks;
}

/** Error over thresholds, with the chosen one marked. */
function curvePlot(point) {
  const { curve } = point.selection;
  const thresholds = point.parameters?.threshold ?? [];
  const isOne = thresholds.length === 1 && thresholds[0] > 0;
  const at = (scale) => (isOne ? scale * thresholds[0] : scale);
  const trials = curve.filter((trial) => isNumber(trial.error)).map((trial) => ({ at: at(trial.scale), error: trial.error,
    atText: plain(at(trial.scale)), errorText: plain(trial.error), isChosen: trial.scale === 1 }));
  const positive = trials.every((trial) => trial.error > 0);
  const x = quantitative('at', isOne ? 'threshold' : 'factor on the thresholds of all channels',
    { scale: { type: 'log', base: 2, nice: false }, axis: { tickCount: 6, format: '~g' } });
  const y = quantitative('error', 'mean squared error', { scale: positive ? { type: 'log', nice: true } : { nice: true }, axis: { tickCount: 5, format: '~g' } });
  const tooltip = tips(['atText', isOne ? 'threshold' : 'factor'], ['errorText', 'error']);
  const chosen = trials.filter((trial) => trial.isChosen);
  return {
    layer: [
      { ...values(trials), mark: { type: 'line', color: color(BLUE), strokeWidth: 1.6 }, encoding: { x, y } },
      { ...values(trials), mark: { type: 'point', filled: true, size: 26, color: color(BLUE), opacity: 1 }, encoding: { x, y, tooltip } },
      { ...values(chosen), mark: { type: 'rule', strokeDash: [5, 3], color: color('--vermilion'), strokeWidth: 1.4 }, encoding: { x } },
      { ...values(chosen), mark: { type: 'point', shape: 'diamond', filled: true, size: 110, color: color('--vermilion'), opacity: 1 }, encoding: { x, y, tooltip } },
      { ...values(chosen), mark: { type: 'text', align: 'left', dx: 6, baseline: 'top', y: 2, text: 'chosen' }, encoding: { x } },
    ],
  };
}

/** Numbers of the channels of a point in the document, which may hold only the worst of them. */
const channelNumbers = (index, count) => shown.kept[index] ?? Array.from({ length: count }, (_, channel) => channel);

/** Ranges of channels as bars, with their thresholds. */
function rangesPlot(index) {
  const point = report.points[index];
  const rows = point.channels.length ? point.channels.map(({ min, max }) => [min, max])
    : (point.observed ?? point.statistics).channel_min.map((min, at) => [min, (point.observed ?? point.statistics).channel_max[at]]);
  const numbers = channelNumbers(index, rows.length);
  const limits = point.parameters?.threshold ?? [];
  const bars = rows.map(([min, max], at) => ({ channel: numbers[at], low: min, high: max, range: `${plain(min)} to ${plain(max)}` }));
  const marks = [];
  if (limits.length === rows.length && limits.length > 1) {
    limits.forEach((threshold, at) => {
      if (!isNumber(threshold)) return;
      marks.push({ channel: numbers[at], at: threshold, text: plain(threshold) });
      if (point.parameters.is_signed) marks.push({ channel: numbers[at], at: -threshold, text: plain(-threshold) });
    });
  }
  const x = channelAxis(numbers, bars.length);
  const layers = [{ ...values(bars), mark: { type: 'bar', color: color(BLUE), width: { band: bars.length > 96 ? 1 : 0.72 } },
    encoding: { x, y: quantitative('low', 'range of the values', { axis: { tickCount: 6 } }), y2: { field: 'high' },
      tooltip: tips(['channel', 'channel'], ['range', 'values']) } }];
  if (marks.length) {
    layers.push({ ...values(marks), mark: { type: 'tick', color: color('--vermilion'), thickness: 1.6, width: { band: 1 } },
      encoding: { x, y: quantitative('at', 'range of the values'), tooltip: tips(['channel', 'channel'], ['text', 'threshold']) } });
  } else if (limits.length === 1 && isNumber(limits[0])) {
    const lines = [limits[0], ...(point.parameters.is_signed ? [-limits[0]] : [])].map((at) => ({ at, text: plain(at) }));
    layers.push({ ...values(lines), mark: { type: 'rule', strokeDash: [5, 3], color: color('--vermilion'), strokeWidth: 1.4 },
      encoding: { y: quantitative('at', 'range of the values'), tooltip: tips(['text', 'threshold']) } });
  }
  return { layer: layers };
}

function channelAxis(numbers, count) {
  const every = Math.max(1, Math.ceil(count / 16));
  return { field: 'channel', type: 'ordinal', sort: null, title: 'channel', scale: { paddingInner: 0, paddingOuter: 0 },
    axis: { labelAngle: 0, grid: false, values: numbers.filter((_, at) => at % every === 0) } };
}

/** Error of each channel of a weight. */
function channelErrorPlot(index) {
  const { channels } = report.points[index];
  const numbers = channelNumbers(index, channels.length);
  const bars = channels.map((channel, at) => ({ channel: numbers[at], error: channel.error, errorText: plain(channel.error),
    sqnr: isNumber(channel.sqnr) ? decibels(channel.sqnr) : 'equal values' }));
  const isSmall = bars.every((bar) => !(bar.error >= 1e-3));
  return { ...values(bars), mark: { type: 'bar', color: color(ORANGE), width: { band: bars.length > 96 ? 1 : 0.72 } },
    encoding: { x: channelAxis(numbers, bars.length), y: quantitative('error', 'mean squared error', { axis: { tickCount: 5, format: isSmall ? '~e' : '~g' } }),
      tooltip: tips(['channel', 'channel'], ['errorText', 'error'], ['sqnr', 'SQNR']) } };
}

/** Where the error of points is made: what comes in against what the point adds. */
function originPlot() {
  const dots = report.points.map((point, key) => ({ point, key })).filter(({ point }) => isNumber(point.own?.sqnr) && isNumber(point.inherited?.sqnr))
    .map(({ point, key }) => ({ key, own: point.own.sqnr, inherited: point.inherited.sqnr, name: brief(point.name, 48),
      ownText: decibels(point.own.sqnr), inheritedText: decibels(point.inherited.sqnr) }));
  const all = dots.flatMap((dot) => [dot.own, dot.inherited]);
  const low = Math.floor(Math.min(...all) / 5) * 5;
  const high = Math.ceil(Math.max(...all) / 5) * 5;
  const scale = { domain: [low, high], nice: false };
  const x = (field) => quantitative(field, 'inherited: SQNR in front of the quantizer (dB)', { scale, axis: { tickCount: 6 } });
  const y = (field) => quantitative(field, 'own: SQNR of this quantizer alone (dB)', { scale, axis: { tickCount: 6 } });
  const corner = (high - low) * 0.03;
  return {
    layer: [
      { ...values([{ a: low, b: low }, { a: high, b: high }]), mark: { type: 'line', color: color('--line'), strokeDash: [4, 4] }, encoding: { x: x('a'), y: y('b') } },
      { ...values([{ a: high - corner, b: low + corner, text: 'the error is made here', align: 1 }]), mark: { type: 'text', align: 'right', baseline: 'bottom' }, encoding: { x: x('a'), y: y('b'), text: { field: 'text' } } },
      { ...values([{ a: low + corner, b: high - corner, text: 'it comes from before' }]), mark: { type: 'text', align: 'left', baseline: 'top' }, encoding: { x: x('a'), y: y('b'), text: { field: 'text' } } },
      { ...values(dots), mark: { type: 'point', filled: true, size: 56, color: color(BLUE), opacity: 0.75, cursor: 'pointer' },
        encoding: { x: x('inherited'), y: y('own'), tooltip: tips(['name', 'point'], ['ownText', 'own'], ['inheritedText', 'inherited']) } },
    ],
  };
}

/** Choices of bit widths: bytes against sensitivity. */
function frontPlot() {
  const dots = report.front.map((choice, key) => ({ key, bytes: choice.weights_bytes, cost: choice.sensitivities, isChosen: choice.is_chosen,
    bytesText: bytes(choice.weights_bytes), costText: plain(choice.sensitivities) }));
  const isLog = dots.every((dot) => dot.cost > 0);
  const x = quantitative('bytes', 'bytes of the weights', { scale: { zero: false, nice: true }, axis: { tickCount: 6, format: '~s' } });
  const y = quantitative('cost', 'sum of sensitivities', { scale: isLog ? { type: 'log', nice: true } : { nice: true }, axis: { tickCount: 5, format: '~g' } });
  const tooltip = tips(['bytesText', 'weights'], ['costText', 'sensitivities']);
  const chosen = dots.filter((dot) => dot.isChosen);
  return {
    layer: [
      { ...values(unbeaten(dots)), mark: { type: 'line', interpolate: 'step-after', color: color(BLUE), strokeWidth: 1.6 }, encoding: { x, y } },
      { ...values(dots), mark: { type: 'point', filled: true, size: 40, color: color(BLUE), opacity: 1, cursor: 'pointer' }, encoding: { x, y, tooltip } },
      { ...values(chosen), mark: { type: 'point', shape: 'diamond', filled: true, size: 150, color: color('--vermilion'), opacity: 1, cursor: 'pointer' }, encoding: { x, y, tooltip } },
      { ...values(chosen), mark: { type: 'text', align: 'left', dx: 10, dy: -8, text: 'this network' }, encoding: { x, y } },
    ],
  };
}

/** Dots that no other one beats in both; the chosen one need not be among them. */
function unbeaten(dots) {
  let least = Infinity;
  return [...dots].sort((a, b) => a.bytes - b.bytes || a.cost - b.cost).filter((dot) => {
    if (dot.cost >= least) return false;
    least = dot.cost;
    return true;
  });
}

/** Predictions of the float network against those of the quantized one; the diagonal, where nothing changed, is pale. */
function confusionPlot() {
  const cells = [];
  const size = report.confusion.length;
  const names = Array.from({ length: size }, (_, index) => brief(className(index), 20));
  report.confusion.forEach((row, from) => row.forEach((count, to) => {
    if (count) {
      cells.push({ from, to, count, kind: from === to ? 'same' : 'changed', countText: grouped(count),
        fromName: names[from], toName: names[to] });
    }
  }));
  // Classes are named by their numbers on the axes: names may be equal once they are cut.
  const axis = { labelAngle: 0, ticks: false, domain: false, labelOverlap: true };
  const domain = names.map((_, index) => index);
  const x = { field: 'to', type: 'ordinal', title: 'class of the quantized network', scale: { domain, padding: 0.05 }, axis };
  const y = { field: 'from', type: 'ordinal', title: 'class of the float network', scale: { domain, padding: 0.05 }, axis };
  const tooltip = tips(['fromName', 'float'], ['toName', 'quantized'], ['countText', 'samples']);
  const most = Math.max(1, ...cells.filter((cell) => cell.kind === 'changed').map((cell) => cell.count));
  const layers = [
    { ...values(cells.filter((cell) => cell.kind === 'same')), mark: { type: 'rect', color: color('--wash') }, encoding: { x, y, tooltip } },
    { ...values(cells.filter((cell) => cell.kind === 'changed')), mark: { type: 'rect', color: color(ORANGE) },
      encoding: { x, y, tooltip, opacity: quantitative('count', null, { legend: null, scale: { domain: [0, most], range: [0.1, 0.9] } }) } },
  ];
  if (size <= 20) layers.push({ ...values(cells), mark: { type: 'text', color: color('--text'), fontSize: 10 }, encoding: { x, y, text: { field: 'countText' }, tooltip } });
  return { layer: layers };
}
