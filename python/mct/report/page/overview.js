// What everyone sees first, and the sections that are about the whole network.

function overviewSection() {
  return element('section', { id: 'overview', 'aria-labelledby': 'overview-title' },
    element('h1', { id: 'overview-title' }, element('bdi', { class: 'name' }, brief(report.model, 90) || 'Report')),
    element('p', { class: 'under' }, [
      ['for ', element('b', {}, brief(report.target, 60) || 'no target')],
      `${grouped(report.samples)} samples`,
      report.effect_samples ? `effects on ${grouped(report.effect_samples)} of them` : '',
    ].filter(Boolean).flatMap((part, at) => [at ? ' · ' : '', part])),
    report.verdict ? element('p', { class: 'verdict' }, visible(report.verdict)) : null,
    tiles(),
    report.why_no_effects ? element('p', { class: 'note' }, 'Effects were not measured: ', visible(report.why_no_effects), '.') : null,
    accuracyTable(),
    resultsTable(),
    report.reproduce ? element('div', { class: 'reproduce' }, element('h3', {}, 'Make it again'), copyable(report.reproduce, 'command', { marked: report.placeholders ?? [] }),
      report.placeholders?.length ? element('p', { class: 'note' }, 'Marked words stand for files whose names are not known.') : null) : null);
}

function tiles() {
  const tile = (title, value, note) => element('div', { class: 'tile' }, element('div', { class: 'tile-title' }, title), element('div', { class: 'tile-value' }, value), note ? element('div', { class: 'tile-note' }, note) : null);
  const { floating, simulated } = report;
  const list = [];
  if (simulated.judged && floating.judged) list.push(tile(visible(report.judged_by.name), simulated.judged.shown, ['float ', floating.judged.shown, `, quantization ${simulated.judged.text}`]));
  if (isNumber(simulated.top1)) list.push(tile('Top-1 accuracy', number(simulated.top1, share), ['float ', number(floating.top1, share)]));
  if (isNumber(simulated.agreement)) list.push(tile('Same prediction as float', number(simulated.agreement, share), [grouped(report.num_changed), ' of ', grouped(report.samples), ' changed']));
  if (report.effect_samples) {
    list.push(tile(METRIC, number(report.distance), isNumber(report.deviation) ? ['deviation of samples ', number(report.deviation, (value) => plain(value, 2))] : 'of the results from float'));
  }
  if (simulated.output) list.push(tile('Results', sqnr(simulated.output), 'SQNR against float'));
  list.push(tile('Weights', number(report.resources.weight_bytes, bytes), ['float ', number(report.float_weight_bytes, bytes)]));
  if (report.costs) list.push(tile('Cycles', number(report.costs.cycles, large), ['on ', visible(report.costs.device)]));
  if (report.resources.bops) list.push(tile('Bit operations', number(report.resources.bops, large), ['at 8 bits ', number(report.eight_bit.bops, large)]));
  list.push(tile('Report made in', number(report.seconds, seconds), null));
  return element('div', { class: 'tiles' }, list);
}

function accuracyTable() {
  const networks = [['Float', report.floating], ['Quantized', report.simulated], ['Integer', report.integer]].filter(([, accuracy]) => accuracy);
  const rows = [
    [visible(report.judged_by?.name ?? ''), (accuracy) => accuracy.judged?.shown],
    ['Top-1 accuracy', (accuracy) => isNumber(accuracy.top1) && number(accuracy.top1, (value) => share(value, 2))],
    ['Same prediction as float', (accuracy) => accuracy !== report.floating && isNumber(accuracy.agreement) && number(accuracy.agreement, (value) => share(value, 2))],
    ['SQNR of the results', (accuracy) => accuracy.output && sqnr(accuracy.output)],
    ['Cosine', (accuracy) => accuracy.output && number(accuracy.output.cosine, (value) => plain(value, 6))],
    ['Largest difference', (accuracy) => accuracy.output && number(accuracy.output.largest)],
    ['Samples', (accuracy) => number(accuracy.samples)],
  ].filter(([, of]) => networks.some(([, accuracy]) => of(accuracy)));
  return element('table', { class: 'small accuracy' },
    element('thead', {}, element('tr', {}, element('td'), networks.map(([title]) => element('th', { scope: 'col', class: 'right' }, title)))),
    element('tbody', {}, rows.map(([title, of]) => element('tr', {}, element('th', { scope: 'row' }, title), networks.map(([, accuracy]) => element('td', { class: 'right' }, of(accuracy) || element('span', { class: 'missing' }, MISSING)))))));
}

/** Each result and each group of its channels, where there are several. */
function resultsTable() {
  const results = report.results ?? [];
  if (results.length < 2 && !results.some(({ groups }) => groups.length)) return null;
  const networks = [['Quantized', 'simulated'], ['Integer', 'integer']].filter(([, key]) => results.some((result) => result[key]));
  const row = (one, depth, text) => element('tr', {},
    element('th', { scope: 'row', class: depth ? 'group' : null }, nameOf(one.name, 60)),
    networks.map(([, key]) => element('td', { class: 'right' }, one[key] ? sqnr(one[key]) : MISSING)),
    element('td', {}, one.worst_point ? [linkTo(one.worst_point, 40), ' ', number(one.worst_share, share)] : MISSING),
    element('td', {}, text ? visible(text) : null));
  return figure('Results', 'SQNR of each result against float, and of groups of its channels with different meanings; the point that makes the largest part of its error.',
    element('table', { class: 'small results' },
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Result'), networks.map(([title]) => element('th', { scope: 'col', class: 'right' }, title)),
        element('th', { scope: 'col' }, 'Largest part from'), element('th', { scope: 'col' }, 'Verdict'))),
      element('tbody', {}, results.map((result) => [row(result, 0, result.verdict), result.groups.map((group) => row(group, 1, ''))]))));
}

// ---------------------------------------------------------------------------------------------------------------------
// Trials and corrections
// ---------------------------------------------------------------------------------------------------------------------

const level = (distance) => (report.metric === 'kl' ? number(distance) : distance > 0 ? number(-10 * Math.log10(distance), decibels) : 'float');

/** Remedies that were tried, those that gain most first. */
function trialsFigure() {
  const trials = (report.trials ?? []).map((trial, key) => ({ trial, key })).sort((a, b) => b.trial.gain - a.trial.gain || a.key - b.key);
  if (!trials.length) return null;
  return figure('Remedies that were tried', 'On the samples of the effects: the result, or group of channels, that is worst without the remedy, before and with it.',
    element('table', { class: 'small trials' },
      element('thead', {}, element('tr', {}, ['Remedy', 'Worst result'].map((title) => element('th', { scope: 'col' }, title)), ['Before', 'With it', 'Gain'].map((title) => element('th', { scope: 'col', class: 'right' }, title)))),
      element('tbody', {}, trials.map(({ trial }) => element('tr', { class: trial.is_worthwhile ? null : 'soft' },
        element('th', { scope: 'row' }, trial.lines.map((line) => element('div', {}, element('code', {}, brief(line, 90))))),
        element('td', {}, nameOf(trial.worst, 40)),
        element('td', { class: 'right' }, level(trial.worst_before)), element('td', { class: 'right' }, level(trial.worst_after)),
        element('td', { class: 'right' }, !trial.is_worthwhile ? 'nothing beyond chance' : isNumber(trial.worst_gain) ? number(trial.worst_gain, decibels) : number(trial.gain)))))));
}

/** What corrections do, whole kinds first, and what mct-ptq undid. */
function correctionsFigures() {
  const effects = (report.corrections ?? []).slice(0, 200);
  const rejected = report.rejected_corrections ?? [];
  const layersOf = (layers) => (layers.length === 1 ? linkTo(layers[0], 50) : layers.length ? `${grouped(layers.length)} layers` : 'all layers');
  const heads = (titles) => element('thead', {}, element('tr', {}, titles.map((title) => element('th', { scope: 'col' }, title))));
  return [
    effects.length ? figure('Corrections', `${METRIC} with everything quantized, without one correction; what it costs (below zero: it helps), with its standard error.`,
      element('table', { class: 'small corrections' }, heads(['Correction', 'Layers', 'Without it', 'Costs', '']),
        element('tbody', {}, effects.map((effect) => element('tr', {},
          element('th', { scope: 'row' }, visible(effect.correction).replaceAll('_', ' ')), element('td', {}, layersOf(effect.layers)),
          element('td', { class: 'right' }, number(effect.without)), element('td', { class: 'right' }, number(effect.loss), ' ± ', number(effect.standard_error, (value) => plain(value, 2))),
          element('td', {}, effect.is_harmful ? 'makes results worse' : null)))))) : null,
    rejected.length ? figure('Corrections that were undone', 'mct-ptq judged them on samples and took them back: by how many dB results were worse with them.',
      element('table', { class: 'small rejected' }, heads(['Correction', 'Layers', 'Result', 'Loss', 'Samples']),
        element('tbody', {}, rejected.map((each) => element('tr', {},
          element('th', { scope: 'row' }, visible(each.correction).replaceAll('_', ' ')), element('td', {}, layersOf(each.layers)),
          element('td', {}, each.result ? nameOf(each.result, 40) : 'of the layers'),
          element('td', { class: 'right' }, number(each.loss, decibels), isNumber(each.standard_error) ? [' ± ', number(each.standard_error, decibels)] : null), element('td', { class: 'right' }, number(each.samples))))))) : null,
  ];
}

// ---------------------------------------------------------------------------------------------------------------------
// Diagnoses
// ---------------------------------------------------------------------------------------------------------------------

function diagnosisCard(diagnosis, level = 'h3', about = '') {
  const severity = diagnosis.severity ?? 0;
  const word = severity >= 1 ? 'first of all' : severity >= 0.25 ? 'severe' : severity >= 0.05 ? 'moderate' : severity > 0 ? 'slight' : 'costs no accuracy';
  const gauge = element('span', { class: 'gauge', 'aria-hidden': 'true' });
  gauge.style.setProperty('--share', `${Math.min(100, severity * 100).toFixed(1)}%`);
  return element('li', { class: `diagnosis${severity >= 0.25 ? ' severe' : ''}` },
    element('div', { class: 'severity' }, gauge, element('span', { title: `severity ${severity}` }, word)),
    element('div', { class: 'diagnosis-text' },
      element(level, {}, visible(diagnosis.rule).replaceAll('-', ' '), diagnosis.subject && diagnosis.subject !== about ? element('span', { class: 'subject' }, linkTo(diagnosis.subject, 60)) : null),
      element('p', {}, visible(diagnosis.cause)),
      diagnosis.remedy ? element('p', { class: 'remedy' }, element('b', {}, 'Remedy '), visible(diagnosis.remedy)) : null,
      diagnosis.paste ? diagnosis.paste.split('\n').map((line) => copyable(line, 'remedy', { kind: visible(diagnosis.kind) })) : null,
      diagnosis.numbers.length ? element('p', { class: 'because' }, diagnosis.numbers.map(({ name, value }) => element('span', {}, visible(name), ' ', number(value)))) : null));
}

/** What matters is open, at least three; the rest is folded. */
function diagnosesSection() {
  const list = report.diagnoses;
  const open = Math.max(3, Math.min(8, list.filter(({ severity }) => severity >= 0.05).length));
  const rest = list.slice(open, 200);
  return section('diagnoses', 'Diagnoses', list.length
    ? element('ol', { class: 'diagnoses' }, list.slice(0, open).map((diagnosis) => diagnosisCard(diagnosis)))
    : element('p', { class: 'empty' }, 'No rule found anything wrong.'),
  rest.length ? element('details', { class: 'rest' }, element('summary', {}, `${grouped(rest.length)} more`, list.length > 200 ? ` of ${grouped(list.length - open)}` : ''),
    element('ol', { class: 'diagnoses' }, rest.map((diagnosis) => diagnosisCard(diagnosis)))) : null,
  trialsFigure(), correctionsFigures());
}

/** Those about one of the names; the first one is that of the view. */
function diagnosesAbout(names) {
  const found = report.diagnoses.filter((diagnosis) => diagnosis.subject && names.includes(diagnosis.subject));
  return found.length ? element('ol', { class: 'diagnoses', 'aria-label': 'Diagnoses' }, found.map((diagnosis) => diagnosisCard(diagnosis, 'h2', names[0]))) : null;
}

// ---------------------------------------------------------------------------------------------------------------------
// What hurts
// ---------------------------------------------------------------------------------------------------------------------

/** The network, the operators with the largest effect, and where the error of the points comes from. */
function networkSection() {
  const rows = report.operators.map((operator, key) => ({ operator, key })).filter(({ operator }) => isNumber(operator.effect?.gain))
    .sort((a, b) => b.operator.effect.gain - a.operator.effect.gain || a.key - b.key).slice(0, 10);
  const hasOrigin = report.points.filter((point) => isNumber(point.own?.sqnr) && isNumber(point.inherited?.sqnr)).length > 1;
  const most = rows.length ? Math.max(...rows.map(({ operator }) => operator.effect.gain)) : 0;
  return section('network', 'Where it hurts', element('div', { class: rows.length || hasOrigin ? 'columns' : null }, networkGraph(), element('div', { class: 'beside' },
    rows.length ? figure('Operators with the largest effect', `By how much the ${METRIC} falls when only this is left in float.`,
      element('table', { class: 'small ranked' }, element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Operator'), element('th', { scope: 'col', class: 'right' }, 'Gain'), element('td'))),
        element('tbody', {}, rows.map(({ operator }) => gaugeRow(linkTo(operator.name, 36), operator.effect.gain, most))))) : null,
    hasOrigin ? figure('Made here or inherited', 'Each dot is an activation; click one to open it.', plot('Own and inherited error of the activations', originPlot, { height: 270, open: (key) => { location.hash = addressOfPoint(key); } })) : null)));
}

// ---------------------------------------------------------------------------------------------------------------------
// Bit widths, predictions, run
// ---------------------------------------------------------------------------------------------------------------------

function frontSection() {
  if (!report.front.length) return null;
  const shownBits = element('div', { class: 'choice', 'aria-live': 'polite' });
  const pick = (key) => shownBits.replaceChildren(...bitsOfChoice(report.front[key]));
  const chosen = report.front.findIndex((choice) => choice.is_chosen);
  if (chosen >= 0) pick(chosen);
  return section('front', 'Bit widths', element('div', { class: 'columns' },
    figure('Pareto front', 'On the line are the choices that no other one beats in both bytes and sensitivity; click one for its bits.', plot('Pareto front of bit widths', frontPlot, { height: 280, open: pick })),
    shownBits));
}

/** The bits that operators have in a choice. */
function bitsOfChoice(choice) {
  const names = report.front_operators ?? [];
  const rows = names.map((name, at) => [name, report.operators[operatorNumbers.get(name)]?.alternatives[choice.alternatives[at]]]).filter(([, alternative]) => alternative);
  return [element('h3', {}, choice.is_chosen ? 'This network' : 'Another choice'),
    element('p', { class: 'note' }, number(choice.weights_bytes, bytes), ' of weights, sensitivity ', number(choice.sensitivities)),
    element('div', { class: 'bits' }, rows.map(([name, alternative]) => element('div', {}, linkTo(name, 28), element('span', { class: 'soft' }, alternativeText(alternative)))))];
}

function predictionsSection() {
  const { changed, confusion } = report;
  if (!changed.length && !confusion.length) return null;
  const cards = changed.map((change) => predictionCard(change));
  return section('predictions', 'Changed predictions',
    element('p', {}, number(report.num_changed), ' of ', number(report.samples), ' samples have another largest output than in the float network', report.num_changed > changed.length ? `; the first ${changed.length} are shown` : '', '.'),
    cards.length ? element('ul', { class: 'predictions' }, cards) : null,
    confusion.length > 1 ? figure('Where predictions went', 'Samples by class of the float network (rows) and of the quantized one (columns).', plot('Confusion of float and quantized predictions', confusionPlot, { height: Math.min(560, 90 + confusion.length * 26) })) : null);
}

function predictionCard(change) {
  const uri = shown.images[change.sample];
  const name = (index) => element('bdi', {}, shown.classes.length ? brief(className(index), 24) : String(index));
  const isRight = (index) => change.label !== undefined && change.label !== null && index === change.label;
  const mark = (index) => (isRight(index) ? element('span', { class: 'right-sign', title: 'is the label' }, ' ✓') : null);
  return element('li', {},
    uri ? element('img', { src: uri, alt: `Sample ${change.sample}`, width: 72, height: 72, loading: 'lazy' }) : null,
    element('div', {},
      element('div', { class: 'change' }, shown.classes.length ? '' : 'class ', name(change.float_class), mark(change.float_class), ' → ', name(change.simulated_class), mark(change.simulated_class)),
      element('div', { class: 'soft' }, `sample ${grouped(change.sample)}`, change.label !== undefined && change.label !== null && !isRight(change.float_class) && !isRight(change.simulated_class) ? [', label ', name(change.label)] : null),
      element('div', { class: 'soft' }, 'lead ', number(change.float_margin, (value) => plain(value, 3)), ' → ', number(change.simulated_margin, (value) => plain(value, 3)))));
}

function runSection() {
  const most = Math.max(0, ...report.passes.map(({ seconds: taken }) => taken ?? 0));
  return section('run', 'How it was made', element('div', { class: 'columns' },
    element('div', {}, facts([
      ['Model', nameOf(report.model, 80)],
      ['Function', visible(report.function)],
      ['Target', visible(report.target)],
      ['Distance of results', METRIC],
      ['Samples', number(report.samples)],
      ['of them for effects', number(report.effect_samples)],
      ['Labels', report.has_labels ? 'yes' : 'no'],
      ['Digest of the samples', report.digest ? element('code', {}, visible(report.digest)) : null],
      ['Calibration samples', isNumber(report.calibration_samples) ? number(report.calibration_samples) : null],
      ['Digest of the calibration', report.calibration_digest ? element('code', {}, visible(report.calibration_digest)) : null],
      ['Weights', [number(report.resources.weight_bytes, bytes), ', at 8 bits ', number(report.eight_bit.weight_bytes, bytes)]],
      ['Activations at once', [number(report.resources.activation_bytes, bytes), ', at 8 bits ', number(report.eight_bit.activation_bytes, bytes)]],
      ['mct', visible(report.mct_version)],
      ['LLVM', visible(report.llvm_version)],
      ['Instructions', visible(report.instruction_set)],
    ])),
    report.passes.length ? element('div', {}, figure('Time of the passes', null, element('table', { class: 'small ranked' }, element('tbody', {},
      report.passes.map(({ pass, seconds: taken }) => {
        const [title, time, gauge] = gaugeRow(element('code', {}, brief(pass, 48)), taken, most).children;
        time.replaceChildren(number(taken, seconds));
        gauge.firstChild.classList.add('cool');
        return element('tr', {}, title, time, gauge);
      }))))) : null),
    decisionsFigure(report.decisions ?? []));
}
