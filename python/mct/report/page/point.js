// The page of a point, and that of an operator.

function figure(title, note, ...children) {
  return element('figure', {}, element('figcaption', {}, element('h3', {}, title), note ? element('p', {}, note) : null), children);
}

function pointView(index) {
  const point = report.points[index];
  const operator = operatorOf(point);
  return element('article', { class: 'detail' },
    detailHead(point.name, [point.weight ? 'weight' : 'activation', bitsText(point)], neighbours(index)),
    diagnosesAbout([point.name, point.owner]),
    element('div', { class: 'columns' },
      element('div', {}, effectFigure(point), errorFigure(point)),
      element('div', {}, aboutPoint(point, operator))),
    plotsOfPoint(point, index),
    changedFigure(comparison?.points, point.name),
    decisionsFigure(point.decisions),
    point.parameters ? figure('Parameters', null, copyable(point.parameters.text, 'parameters')) : null,
    operator ? operatorFigure(operator, point) : null);
}

function detailHead(name, kinds, [before, behind]) {
  const step = (address, text, label) => (address ? element('a', { href: address, class: 'button', 'aria-label': label, title: label }, text) : null);
  return element('header', { class: 'detail-head' },
    element('nav', { 'aria-label': 'Points' }, element('a', { href: '#points', class: 'button' }, 'Back to the report'),
      element('span', { class: 'space' }), step(before, '↑ Previous', 'Previous point (k)'), step(behind, '↓ Next', 'Next point (j)')),
    element('h1', { tabindex: '-1' }, element('bdi', { class: 'name whole' }, visible(name))),
    element('p', { class: 'kinds' }, kinds.filter(Boolean).map((kind) => element('span', { class: 'kind' }, kind))));
}

/** Addresses of the points before and behind, as the table stands. */
function neighbours(index) {
  const order = table.order.includes(index) ? table.order : report.points.map((_, at) => at);
  const at = order.indexOf(index);
  return [order[at - 1], order[at + 1]].map((other) => (other === undefined ? null : addressOfPoint(other)));
}

function aboutPoint(point, operator) {
  const selection = point.selection;
  const observed = point.statistics ?? point.observed;
  const whole = (statistics) => `${plain(statistics.min)} to ${plain(statistics.max)}`;
  const zeros = (statistics) => (statistics.count ? `${share(statistics.zeros / statistics.count)}` : MISSING);
  return figure('About', null, facts([
    ['Operator', linkTo(point.owner, 60)],
    ['Ops', operator ? opsOf(operator) : null],
    ['Weight', point.weight ? visible(point.weight) : null],
    ['Fused', point.group.length > 1 ? point.group.map((name) => brief(name, 40)).join(' → ') : null],
    ['Shape', shapeOf(point.shape)],
    ['Channels on axis', point.axes.length ? point.axes.join(', ') : null],
    ['Quantizer', bitsText(point) + (point.parameters ? (point.parameters.is_signed ? ', signed' : ', unsigned') : '')],
    ['Threshold', listed(point.parameters?.threshold)],
    ['Step', listed(point.parameters?.step)],
    ['Chosen by', selection ? visible(selection.error_method) : null],
    ['Certificate', selection ? visible(selection.certificate).replaceAll('_', ' ') + (isNumber(selection.bound) ? `: at most ${share(selection.bound, 2)} above the best` : '') : null],
    ['Selection error', listed(selection?.error)],
    ['Clipped', isNumber(point.clipped) ? number(point.clipped, share) : null],
    ['Range used', isNumber(point.used) ? number(point.used, share) : null],
    ['Moved by', point.shift ? [number(point.shift.by), `; error ${plain(point.shift.error_before)} before, ${plain(point.shift.error)} now`] : null],
    [point.weight ? 'Values' : 'Calibration saw', point.statistics ? whole(point.statistics) : null],
    ['Samples showed', point.observed ? whole(point.observed) : null],
    ['Zeros', observed ? zeros(observed) : null],
    ['Count', observed ? number(observed.count) : null],
  ]));
}

/** One number, or the range of many. */
function listed(list) {
  if (!list?.length) return null;
  if (list.length === 1) return number(list[0]);
  const ends = range(list);
  return ends ? [number(ends[0]), ' to ', number(ends[1]), `, ${grouped(list.length)} channels`] : null;
}

function effectFigure({ effect }) {
  if (!effect) return null;
  return figure('Effect on the results', `${METRIC} from the float network; with everything quantized it is ${plain(report.distance)}.`,
    element('table', { class: 'small' }, element('tbody', {},
      gaugeRow('Everything but this is', effect.without, report.distance),
      gaugeRow('Gain when this is left in float', effect.gain, report.distance))));
}

function gaugeRow(title, value, whole) {
  const gauge = element('span', { class: 'gauge', 'aria-hidden': 'true' });
  const part = isNumber(value) && whole > 0 ? Math.max(0, Math.min(1, value / whole)) : 0;
  gauge.style.setProperty('--share', `${(part * 100).toFixed(1)}%`);
  return element('tr', {}, element('th', { scope: 'row' }, title), element('td', { class: 'right' }, number(value)), element('td', { class: 'wide' }, gauge));
}

function errorFigure(point) {
  const rows = [
    ['Own', 'this quantizer on the values of float', point.own],
    ['Inherited', 'in front of it, everything else quantized', point.inherited],
    ['Total', point.weight ? 'of the values' : 'behind it, everything quantized', point.total],
  ].filter(([, , distance]) => distance);
  if (!rows.length && !point.integer) return null;
  const found = rows.map(([, , distance]) => decibelsOf(distance));
  const most = Math.max(1, ...found.filter(Number.isFinite));
  return figure('Error of the values', 'Against the float network; more dB is better.',
    rows.length ? element('table', { class: 'small' },
      element('thead', {}, element('tr', {}, element('th'), element('th', { class: 'right', scope: 'col' }, 'SQNR'), element('th'), element('th', { class: 'right', scope: 'col' }, 'Cosine'), element('th', { class: 'right', scope: 'col' }, 'Largest'))),
      element('tbody', {}, rows.map(([title, hint, distance], at) => {
        const gauge = element('span', { class: 'gauge cool', 'aria-hidden': 'true' });
        gauge.style.setProperty('--share', `${(Math.max(0, Math.min(1, found[at] / most)) * 100).toFixed(1)}%`);
        return element('tr', {}, element('th', { scope: 'row' }, title, element('small', {}, hint)), element('td', { class: 'right' }, sqnr(distance)), element('td', { class: 'wide' }, gauge),
          element('td', { class: 'right' }, number(distance.cosine, (value) => plain(value, 5))), element('td', { class: 'right' }, number(distance.largest)));
      }))) : null,
    point.integer ? element('p', { class: 'note' }, 'Integer network against the simulation: ', number(point.integer.differing), ' of ', number(point.integer.values), ' values differ',
      point.integer.differing ? [', by at most ', number(point.integer.largest), point.integer.largest === 1 ? ' step' : ' steps'] : null, '.') : null);
}

function plotsOfPoint(point, index) {
  const histogram = (point.statistics?.histogram ?? point.observed?.histogram)?.counts.some((count) => count > 0);
  const curve = point.selection?.curve.filter((trial) => isNumber(trial.error)).length > 1;
  const seen = point.observed ?? point.statistics;
  const hasRanges = point.channels.length ? point.channels.filter(({ min }) => isNumber(min)).length > 1 : seen?.channel_min.filter(isNumber).length > 1;
  const hasErrors = point.channels.filter(({ error }) => isNumber(error)).length > 1;
  const cut = shown.kept[index] ? ` The ${shown.kept[index].length} channels with the ${point.weight ? 'largest error' : 'widest range'} are shown.` : '';
  return element('div', { class: 'plots' },
    histogram ? figure('Values', histogramNote(point), plot(`Histogram of ${brief(point.name)}`, () => histogramPlot(point), { height: 230 })) : null,
    curve ? figure('Error over threshold', 'Mean squared error of the same grid with other thresholds.', plot('Error over threshold', () => curvePlot(point), { height: 230 })) : null,
    hasRanges ? figure('Channels', `Smallest to largest value of each channel; marks are thresholds.${cut}`, plot('Ranges of the channels', () => rangesPlot(index))) : null,
    hasErrors ? figure('Error by channel', `Mean squared error of each channel.${cut}`, plot('Error by channel', () => channelErrorPlot(index))) : null);
}

function histogramNote(point) {
  const parts = [];
  const statistics = point.statistics?.histogram ? point.statistics : point.observed;
  if (statistics.zeros) parts.push(`${share(statistics.zeros / statistics.count)} of the values are zero and in no bin`);
  if (isNumber(point.clipped)) parts.push(point.clipped > 0 ? `${share(point.clipped, 2)} are clipped` : 'none is clipped');
  const lines = [];
  if (levelsOf(point).length) lines.push(levelsOf(point).length > 64 ? 'ticks at the foot are levels' : 'grey lines are levels');
  if (point.statistics?.histogram && point.observed?.histogram) lines.push('bars are calibration, the line is what the samples of this report showed');
  const sentence = (list) => (list.length ? `${list.join('; ').replace(/^./, (first) => first.toUpperCase())}. ` : '');
  return sentence(parts) + sentence(lines);
}

function decisionsFigure(decisions) {
  if (!decisions.length) return null;
  const SIGNS = { applied: '✓', declined: '✕', noted: '•' };
  return figure('Decisions of passes', null, element('ul', { class: 'decisions' }, decisions.map((decision) => element('li', { class: decision.decision in SIGNS ? decision.decision : null },
    element('span', { class: 'verdict-sign' }, `${SIGNS[decision.decision] ?? '•'} ${visible(decision.decision)}`),
    element('span', {}, visible(decision.text) || visible(decision.reason),
      decision.numbers?.length ? element('span', { class: 'because' }, decision.numbers.map(({ name, value }) => element('span', {}, visible(name).replaceAll('_', ' '), ' ', number(value)))) : null),
    element('code', {}, visible(decision.pass))))));
}

function operatorFigure(operator, without) {
  const others = operator.points.filter((name) => name !== without?.name);
  return figure(without ? 'Operator' : 'About', null, facts([
    without ? ['Name', linkTo(operator.name, 60)] : ['Ops', opsOf(operator)],
    ['Operator set', operator.operator_set ? visible(operator.operator_set) : 'none matches; the default applies'],
    ['Matched by', brief(operator.matched_by, 200)],
    ['Overridden by', brief(operator.overridden_by, 200)],
    ['Cover', operator.cover ? visible(operator.cover) : null],
    ['Float because', brief(operator.why_float, 300)],
    ['Fused group', operator.group && operator.group !== operator.name ? linkTo(operator.group, 60) : null],
    ['Reads', operator.inputs.length ? operator.inputs.map((name, at) => [at ? ', ' : '', linkTo(name, 40)]) : null],
    [without ? 'Other points' : 'Points', others.length ? others.map((name, at) => [at ? ', ' : '', linkTo(name, 40)]) : null],
    ['Bits of the alternatives', operator.alternatives.length > 1 ? operator.alternatives.map((alternative, at) => [at ? ', ' : '', element(at === operator.chosen ? 'b' : 'span', {}, alternativeText(alternative))]) : null],
    ['Shape', shapeOf(operator.shape)],
    ['Weights', operator.float_weight_bytes ? [number(operator.weight_bytes, bytes), ', in float ', number(operator.float_weight_bytes, bytes)] : null],
    ['Result', operator.float_activation_bytes ? [number(operator.activation_bytes, bytes), ', in float ', number(operator.float_activation_bytes, bytes)] : null],
    ['Multiplications', operator.multiplications ? number(operator.multiplications, large) : null],
    ['Bit operations', operator.bops ? number(operator.bops, large) : null],
    ['Cycles', operator.cost ? [number(operator.cost.cycles, large), operator.cost.saved_cycles > 0 ? `, ${grouped(operator.cost.saved_cycles)} fewer than by the first alternative` : ''] : null],
    ['Memory of the device', operator.cost ? number(operator.cost.memory_bytes, bytes) : null],
    ['Accumulator', operator.sums?.bits ? [number(operator.sums.bits), ' bits'] : null],
    ['Largest sum', operator.sums ? [number(operator.sums.largest, plain), ' steps', isNumber(operator.sums.channel) ? ` in channel ${operator.sums.channel}` : '', '; of the bias ', number(operator.sums.largest_bias, plain)] : null],
    ['Error of the bias', operator.sums?.bias_error ? [number(operator.sums.bias_error), ' steps of the result'] : null],
  ]));
}

/** Bits of the result and of the kernel. */
const alternativeText = ({ activation_bits: activation, weight_bits: weight }) => [activation ? `activation ${activation}` : '', weight ? `weights ${weight}` : ''].filter(Boolean).join(', ') || 'float';

function operatorView(index) {
  const operator = report.operators[index];
  const points = operator.points.filter((name) => pointNumbers.has(name));
  return element('article', { class: 'detail' },
    detailHead(operator.name, [opsOf(operator), visible(operator.operator_set), operator.is_depthwise ? 'depthwise' : ''],
      [index - 1, index + 1].map((other) => (report.operators[other] ? addressOfOperator(other) : null))),
    diagnosesAbout([operator.name, ...points]),
    element('div', { class: 'columns' },
      element('div', {}, effectFigure(operator), points.length ? figure('Points', null, element('table', { class: 'small' },
        element('thead', {}, element('tr', {}, ['Point', 'Quantizer', 'Gain', 'Own', 'Inherited'].map((title, at) => element('th', { scope: 'col', class: at > 1 ? 'right' : null }, title)))),
        element('tbody', {}, points.map((name) => {
          const point = report.points[pointNumbers.get(name)];
          return element('tr', {}, element('td', {}, linkTo(name, 40)), element('td', {}, bitsText(point)), element('td', { class: 'right' }, number(point.effect?.gain)),
            element('td', { class: 'right' }, sqnr(point.own)), element('td', { class: 'right' }, sqnr(point.inherited)));
        })))) : figure('Points', 'Nothing is quantized here.')),
      element('div', {}, operatorFigure(operator, null))),
    changedFigure(comparison?.operators, operator.name),
    decisionsFigure(operator.decisions ?? []));
}
