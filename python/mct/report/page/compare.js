// An earlier report beside this one. All differences are the compiler's.

/** By the last part of a path: how the number is written, and which way is better (0: neither). */
const SENSE = {
  top1: [share, 1], agreement: [share, 1], sqnr: [decibels, 1], cosine: [(value) => plain(value, 5), 1], largest: [plain, -1],
  distance: [plain, -1], without: [plain, 0], gain: [plain, 0], error: [plain, -1], clipped: [share, -1], used: [share, 0],
  differing: [plain, -1], num_changed: [plain, -1], weight_bytes: [bytes, -1], float_weight_bytes: [bytes, 0], activation_bytes: [bytes, -1],
  total_bytes: [bytes, -1], bops: [large, -1], seconds: [seconds, 0],
};
const TITLES = {
  floating: 'float', simulated: 'quantized', integer: 'integer', output: 'results', top1: 'top-1 accuracy', agreement: 'same prediction as float', sqnr: 'SQNR',
  cosine: 'cosine', largest: 'largest difference', distance: METRIC, num_changed: 'changed predictions', effect: 'effect', bops: 'bit operations',
  weight_bytes: 'weights', float_weight_bytes: 'weights in float', activation_bytes: 'activations', total_bytes: 'weights and activations', resources: 'target',
  passes: 'passes', own: 'own', without: 'without this', gain: 'gain', total: 'total', inherited: 'inherited', parameters: '', selection: 'selection', sums: 'sums',
};

const senseOf = (path) => SENSE[path.split('.').at(-1)] ?? [plain, 0];

function titleOf(path) {
  const words = visible(path).split('.').map((part) => TITLES[part] ?? part.replaceAll('_', ' ')).filter(Boolean);
  const title = words.length > 1 ? `${words.at(-1)}, ${words.slice(0, -1).join(' ')}` : words[0] ?? '';
  return title.replace(/^./, (first) => first.toUpperCase());
}

/** A number of one of the reports: not there, not finite, or so much. */
function sideOf(change, side) {
  if (!change || !(side in change)) return element('span', { class: 'missing' }, MISSING);
  return change[side] === null ? element('span', { class: 'number' }, change.name.endsWith('sqnr') ? '∞' : MISSING) : number(change[side], senseOf(change.name)[0]);
}

/** The difference with a sign, and with a word and a colour where one way is better. */
function differenceOf(change) {
  if (!change || !isNumber(change.difference)) return element('span', { class: 'missing' }, MISSING);
  const [format, better] = senseOf(change.name);
  const value = change.difference;
  const magnitude = format === share ? `${plain(Math.abs(value) * 100, 3)}\u202fpoints` : format(Math.abs(value));
  const judged = value === 0 || !better ? '' : value * better > 0 ? 'better' : 'worse';
  return element('span', { class: `number ${judged}`.trim(), title: `${value}${judged ? `, ${judged}` : ''}` },
    value === 0 ? 'same' : [value > 0 ? '+' : '−', magnitude, judged ? element('span', { class: 'judged', 'aria-hidden': 'true' }, judged === 'better' ? ' ✓' : ' ✕') : null,
      judged ? element('span', { class: 'unseen' }, ` ${judged}`) : null]);
}

function changesTable(changes) {
  return element('table', { class: 'small changes' },
    element('thead', {}, element('tr', {}, element('td'), ['Before', 'After', 'Difference'].map((title) => element('th', { scope: 'col', class: 'right' }, title)))),
    element('tbody', {}, changes.map((change) => element('tr', {}, element('th', { scope: 'row' }, titleOf(change.name)),
      element('td', { class: 'right' }, sideOf(change, 'before')), element('td', { class: 'right' }, sideOf(change, 'after')), element('td', { class: 'right' }, differenceOf(change))))));
}

const changeOf = (matched, name) => matched.numbers.find((change) => change.name === name);

function comparisonSection() {
  if (!comparison) return null;
  const { before, after } = comparison;
  return section('comparison', 'Against the earlier report',
    element('div', { class: 'columns' }, sideCard('Before', before), sideCard('After', after)),
    comparison.same_samples ? null : element('p', { class: 'warning' }, 'The two reports are not known to have run on the same samples: part of the differences may come from that.'),
    before.metric !== after.metric ? element('p', { class: 'warning' }, 'Effects are in different units, and are not compared.') : null,
    element('div', { class: 'columns' },
      figure('The network', null, changesTable(comparison.numbers)),
      element('div', {}, diagnosesChanged(), onlyIn('Points', comparison.points_only_before, comparison.points_only_after), onlyIn('Operators', comparison.operators_only_before, comparison.operators_only_after))),
    pointsChanged());
}

function sideCard(title, side) {
  return figure(title, null, element('p', {}, element('b', {}, brief(side.model, 60)), ' for ', brief(side.target, 60) || 'no target'),
    side.verdict ? element('p', { class: 'soft' }, visible(side.verdict)) : null);
}

function diagnosesChanged() {
  const { diagnoses_that_went: went, diagnoses_that_came: came, diagnoses_that_stayed: stayed } = comparison;
  const row = (sign, word, { rule, subject }, rest) => element('li', { class: word }, element('span', { class: 'verdict-sign' }, `${sign} ${word}`),
    element('span', {}, visible(rule).replaceAll('-', ' '), ' ', subject ? linkTo(subject, 40) : null), rest ?? '');
  const rows = [
    ...came.map((diagnosis) => row('+', 'came', diagnosis)),
    ...went.map((diagnosis) => row('✓', 'gone', diagnosis)),
    ...stayed.map((diagnosis) => row('•', 'stayed', diagnosis, element('span', { class: 'soft' }, number(diagnosis.severity_before, (value) => plain(value, 2)), ' → ', number(diagnosis.severity_after, (value) => plain(value, 2))))),
  ];
  return figure('Diagnoses', rows.length ? 'Severities of the diagnoses that stayed.' : 'None before, none now.', element('ul', { class: 'decisions' }, rows.slice(0, 40)),
    rows.length > 40 ? element('p', { class: 'note' }, `${grouped(rows.length - 40)} more`) : null);
}

function onlyIn(what, before, after) {
  const list = (title, names) => (names.length ? [element('h4', {}, title), element('p', { class: 'names' }, names.slice(0, 60).map((name, at) => [at ? ', ' : '', linkTo(name, 40)]), names.length > 60 ? ` and ${grouped(names.length - 60)} more` : '')] : null);
  return before.length || after.length ? figure(`${what} of one report`, null, list('Only before', before), list('Only after', after)) : null;
}

const SHOWN_AT_FIRST = 15;

/** Points by how much their effect, or else their error, changed. */
function pointsChanged() {
  const { points } = comparison;
  if (!points.length) return null;
  const key = ['effect.gain', 'total.sqnr', 'selection.error'].find((name) => points.some((matched) => isNumber(changeOf(matched, name)?.difference)));
  const size = (matched) => Math.abs(changeOf(matched, key)?.difference ?? 0);
  const order = key ? points.map((matched, at) => ({ matched, at })).sort((a, b) => size(b.matched) - size(a.matched) || a.at - b.at).map(({ matched }) => matched) : points;
  const columns = [['effect.gain', 'Gain'], ['total.sqnr', 'Total'], ['clipped', 'Clipped']]
    .filter(([name]) => points.some((matched) => changeOf(matched, name)));
  const head = element('tr', {}, element('th', { scope: 'col' }, 'Point'), element('th', { scope: 'col' }, 'Bits'),
    columns.map(([, title]) => element('th', { scope: 'col', class: 'right', colspan: 2 }, `${title} after, difference`)), element('th', { scope: 'col' }, 'Else changed'));
  const row = (matched) => {
    const bits = changeOf(matched, 'parameters.bits');
    const texts = matched.texts.map(({ name }) => visible(name).replaceAll('_', ' ')).filter((name) => name !== 'decisions' || matched.texts.length === 1);
    return element('tr', {}, element('td', {}, linkTo(matched.name, 36), matched.name_before !== matched.name ? element('small', { class: 'soft' }, ' was ', nameOf(matched.name_before, 36)) : null),
      element('td', {}, bits ? (bits.before === bits.after ? plain(bits.after) : `${plain(bits.before)} → ${plain(bits.after)}`) : MISSING),
      columns.map(([name]) => [element('td', { class: 'right' }, sideOf(changeOf(matched, name), 'after')), element('td', { class: 'right' }, differenceOf(changeOf(matched, name)))]),
      element('td', { class: 'soft' }, texts.join(', ')));
  };
  const body = element('tbody', {}, order.slice(0, SHOWN_AT_FIRST).map(row));
  const more = order.length > SHOWN_AT_FIRST ? element('button', { type: 'button', class: 'more', click: () => {
    body.append(...order.slice(SHOWN_AT_FIRST).map(row));
    more.remove();
  } }, `Show all ${grouped(order.length)} points`) : null;
  const both = points.filter((matched) => isNumber(changeOf(matched, 'total.sqnr')?.difference));
  return element('div', { class: 'changed-points' },
    figure('Points', key ? 'Those that changed most come first.' : null, element('div', { class: 'scroll' }, element('table', { class: 'small wide-table' }, element('thead', {}, head), body)), more),
    both.length > 2 ? figure('Error before and after', 'Each dot is a point; above the line it is better now. Click one to open it.',
      plot('SQNR of the points before and after', () => beforeAfterPlot(both), { height: 300, open: (index) => { location.hash = addressOfPoint(index); } })) : null);
}

function beforeAfterPlot(points) {
  const dots = points.map((matched) => {
    const { before, after } = changeOf(matched, 'total.sqnr');
    return { key: pointNumbers.get(matched.name), before, after, name: brief(matched.name, 48), beforeText: decibels(before), afterText: decibels(after), kind: after >= before ? 'better or same' : 'worse' };
  });
  const all = dots.flatMap((dot) => [dot.before, dot.after]);
  const scale = { domain: [Math.floor(Math.min(...all) / 5) * 5, Math.ceil(Math.max(...all) / 5) * 5], nice: false };
  const x = (field) => quantitative(field, 'SQNR before (dB)', { scale, axis: { tickCount: 6 } });
  const y = (field) => quantitative(field, 'SQNR after (dB)', { scale, axis: { tickCount: 6 } });
  return {
    layer: [
      { ...values(scale.domain.map((at) => ({ at }))), mark: { type: 'line', color: color('--line'), strokeDash: [4, 4] }, encoding: { x: x('at'), y: y('at') } },
      { ...values(dots), mark: { type: 'point', filled: true, size: 60, opacity: 0.8, cursor: 'pointer' },
        encoding: { x: x('before'), y: y('after'), tooltip: tips(['name', 'point'], ['beforeText', 'before'], ['afterText', 'after']),
          color: { field: 'kind', type: 'nominal', legend: null, scale: { domain: ['better or same', 'worse'], range: [color(BLUE), color('--vermilion')] } },
          shape: { field: 'kind', type: 'nominal', legend: null, scale: { domain: ['better or same', 'worse'], range: ['circle', 'triangle-down'] } } } },
    ],
  };
}

/** Of the view of a point or operator. */
function changedFigure(list, name) {
  const matched = list?.find((each) => each.name === name);
  if (!matched) return null;
  return figure('Against the earlier report', matched.name_before !== matched.name ? ['It was ', nameOf(matched.name_before, 60), ' there.'] : null, changesTable(matched.numbers),
    matched.texts.map(({ name: what, before, after }) => element('div', { class: 'text-change' }, element('h4', {}, visible(what).replaceAll('_', ' ')),
      element('p', {}, element('del', {}, visible(before) || 'nothing')), element('p', {}, element('ins', {}, visible(after) || 'nothing')))));
}
