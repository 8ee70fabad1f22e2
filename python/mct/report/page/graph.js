// The network as a graph: operators in the order of the data, from top to bottom, warmer the more they hurt.

const NODE = { width: 160, height: 40, columnGap: 20, rowGap: 28 };

/** What colours can stand for: values of operators and of points, larger is worse. `scale` says where a value lies
    between cold (0) and hot (1). */
const MEASURES = [
  { id: 'gain', title: 'Gain in float', of: (thing) => thing.effect?.gain, format: plain },
  { id: 'noise', title: 'Own error', of: (thing) => thing.own?.sqnr, ofOperator: (point) => point.own?.sqnr, format: decibels, isReversed: true },
  { id: 'inherited', title: 'Inherited error', of: (thing) => thing.inherited?.sqnr, ofOperator: (point) => point.inherited?.sqnr, format: decibels, isReversed: true },
  { id: 'bits', title: 'Bits', of: (thing) => thing.parameters?.bits, ofOperator: (point) => point.parameters?.bits, format: plain, isReversed: true },
];

/** Of an operator: its own value, or the worst of its points. */
function measured(measure, operator, points) {
  if (!measure.ofOperator) return operator ? measure.of(operator) : worstOf(points.map((index) => measure.of(report.points[index])), measure);
  return worstOf(points.map((index) => measure.ofOperator(report.points[index])), measure);
}

function worstOf(list, measure) {
  const there = list.filter(isNumber);
  if (!there.length) return null;
  return measure.isReversed ? Math.min(...there) : Math.max(...there);
}

/** Effects go over decades: three of them are told apart. Decibels and bits are even. */
function heatScale(measure, list) {
  const there = list.filter(isNumber);
  if (!there.length) return () => 0;
  const most = Math.max(...there);
  const least = Math.min(...there);
  if (measure.isReversed) return (value) => (most === least ? 0 : (most - value) / (most - least));
  if (most <= 0) return () => 0;
  return (value) => (value <= 0 ? 0 : Math.max(0, Math.min(1, 1 + Math.log10(value / most) / 3)));
}

function networkGraph() {
  const available = MEASURES.filter((measure) => report.points.some((point) => isNumber(measure.of(point))));
  let measure = available[0] ?? null;
  const state = { scale: 1, focus: 0 };
  const nodes = graphNodes();
  const image = drawn('svg', { class: 'network', role: 'group', 'aria-label': 'Network. Arrow keys go from operator to operator, Enter opens one.' });
  const [width, height] = graphSize(nodes);
  const edges = drawn('g', { class: 'edges', 'aria-hidden': 'true' }, shown.layout.edges.map((edge) => drawn('path', { d: edgePath(edge[2], nodes[edge[0]], nodes[edge[1]]), class: isFused(nodes[edge[0]], nodes[edge[1]]) ? 'fused' : null })));
  image.append(edges, ...nodes.map((node) => node.element));
  nodes[0]?.element.setAttribute('tabindex', '0');
  const frame = element('div', { class: 'network-frame' }, image);
  const legend = element('div', { class: 'heat-legend' });

  const zoom = (scale) => {
    const middle = [(frame.scrollLeft + frame.clientWidth / 2) / state.scale, (frame.scrollTop + frame.clientHeight / 2) / state.scale];
    state.scale = Math.min(2, Math.max(0.12, scale));
    image.setAttribute('width', Math.ceil(width * state.scale));
    image.setAttribute('height', Math.ceil(height * state.scale));
    image.setAttribute('viewBox', `0 0 ${width} ${height}`);
    frame.scrollLeft = middle[0] * state.scale - frame.clientWidth / 2;
    frame.scrollTop = middle[1] * state.scale - frame.clientHeight / 2;
  };
  const toWidth = () => zoom(Math.min(1, Math.max(0.6, (frame.clientWidth - 24) / width)));
  const fit = () => zoom(Math.min(1, (frame.clientWidth - 24) / width, (frame.clientHeight - 24) / height));
  const paint = () => {
    if (!measure) return;
    const found = nodes.map((node) => measured(measure, node.operator, node.points));
    const ofPoints = report.points.map((point) => measure.of(point));
    const heat = heatScale(measure, [...found, ...ofPoints]);
    nodes.forEach((node, index) => {
      heatUp(node.element, found[index], heat);
      node.value.textContent = isNumber(found[index]) ? measure.format(found[index]) : '';
      for (const dot of node.dots) heatUp(dot.element, ofPoints[dot.point], heat);
    });
    const there = [...found, ...ofPoints].filter(isNumber);
    const ends = measure.isReversed ? [Math.max(...there), Math.min(...there)] : [Math.max(...there) / 1000, Math.max(...there)];
    legend.replaceChildren(element('span', { class: 'number' }, (measure.isReversed ? '' : '≤\u202f') + measure.format(ends[0])), element('span', { class: 'ramp', 'aria-hidden': 'true' }), element('span', { class: 'number' }, measure.format(ends[1])));
  };
  const choose = element('select', { id: 'measure', change: (event) => {
    measure = available.find(({ id }) => id === event.target.value);
    paint();
  } }, available.map(({ id, title }) => element('option', { value: id }, title)));

  image.addEventListener('keydown', (event) => {
    const next = neighbour(nodes, state.focus, event.key);
    if (event.key === 'Enter' || event.key === ' ') {
      nodes[state.focus].open();
      event.preventDefault();
    } else if (next !== null) {
      nodes[state.focus].element.setAttribute('tabindex', '-1');
      state.focus = next;
      nodes[next].element.setAttribute('tabindex', '0');
      nodes[next].element.focus();
      event.preventDefault();
    }
  });
  frame.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(state.scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15));
  }, { passive: false });
  image.addEventListener('mouseleave', hideTip);
  paint();
  // Where the page opens with a point, the network has no size before someone goes back.
  const sizes = new ResizeObserver(() => {
    if (!frame.clientWidth) return;
    toWidth();
    frame.scrollTop = 0;
    sizes.disconnect();
  });
  sizes.observe(frame);
  const zoomButton = (text, label, action) => element('button', { type: 'button', 'aria-label': label, title: label, click: action }, text);
  return element('div', { class: 'graph' },
    element('div', { class: 'bar' },
      available.length ? [element('label', { for: 'measure' }, 'Colour'), choose, legend] : null,
      element('span', { class: 'space' }),
      element('span', { class: 'group' }, zoomButton('−', 'Smaller', () => zoom(state.scale / 1.3)), zoomButton('+', 'Larger', () => zoom(state.scale * 1.3)),
        zoomButton('Fit', 'Whole network', fit))),
    frame,
    element('p', { class: 'keys' }, keySign('square'), 'weight', keySign('circle'), 'activation', keySign('dashed'), 'nothing quantized', keySign('fused'), 'fused', element('span', { class: 'space' }), element('span', { class: 'hint' }, 'Ctrl and wheel zooms')));
}

const isFused = (from, to) => Boolean(from.operator?.group) && from.operator.group === to.operator?.group;

const keySign = (kind) => drawn('svg', { width: kind === 'dashed' ? 20 : 12, height: 12, class: 'sign', 'aria-hidden': 'true' },
  kind === 'square' ? drawn('rect', { x: 2, y: 2, width: 8, height: 8 })
    : kind === 'dashed' ? drawn('rect', { x: 1, y: 1, width: 18, height: 10, rx: 2, 'stroke-dasharray': '3 2' })
      : kind === 'fused' ? drawn('path', { d: 'M6 0V12', class: 'fused' }) : drawn('circle', { cx: 6, cy: 6, r: 4.5 }));

function heatUp(node, value, heat) {
  const isThere = isNumber(value);
  const share = isThere ? heat(value) : 0;
  node.style.setProperty('--heat', `${(share * 100).toFixed(1)}%`);
  node.classList.toggle('hot', share > 0.6);
  node.classList.toggle('unknown', !isThere);
}

function graphNodes() {
  const pointsOf = new Map();
  report.points.forEach((point, index) => pointsOf.set(point.owner, [...(pointsOf.get(point.owner) ?? []), index]));
  return shown.layout.nodes.map(([name, column, row], index) => {
    const operator = report.operators[index];
    const points = pointsOf.get(name) ?? [];
    const x = column * (NODE.width + NODE.columnGap) + 2;
    const y = row * (NODE.height + NODE.rowGap) + 2;
    const open = () => {
      if (operator) location.hash = addressOfOperator(index);
      else if (points.length) location.hash = addressOfPoint(points[0]);
    };
    const value = drawn('text', { class: 'value', x: NODE.width - 8, y: 32, 'text-anchor': 'end' });
    const dots = points.map((point, at) => ({ point, element: pointSign(point, 14 + at * 15) }));
    const label = `${brief(name, 80)}, ${operator ? opsOf(operator) : 'input of the network'}`;
    const box = drawn('g', { class: `node${!operator || operator.ops[0] === 'argument' ? ' argument' : ''}${points.length ? '' : ' bare'}`, transform: `translate(${x} ${y})`, tabindex: '-1', role: 'link', 'aria-label': label, click: open,
      mousemove: (event) => showTipAt(event, nodeTip(name, operator, points)), mouseleave: hideTip },
    drawn('rect', { class: 'box', width: NODE.width, height: NODE.height, rx: 5 }),
    drawn('text', { x: 8, y: 15, class: 'title' }, brief(name, 22)),
    drawn('text', { x: 8, y: 32, class: 'ops' }, brief(operator ? opsOf(operator) : 'input', 17)),
    value, dots.map((dot) => dot.element));
    return { name, operator, points, element: box, value, dots, x, y, open };
  });
}

/** A point under the box of its operator. */
function pointSign(index, x) {
  const point = report.points[index];
  const y = NODE.height;
  const open = (event) => {
    event.stopPropagation();
    location.hash = addressOfPoint(index);
  };
  const attributes = { class: 'point', click: open, mousemove: (event) => {
    event.stopPropagation();
    showTipAt(event, pointTip(point));
  } };
  return point.weight ? drawn('rect', { ...attributes, x: x - 5, y: y - 5, width: 10, height: 10 })
    : drawn('circle', { ...attributes, cx: x, cy: y, r: 5.6 });
}

function nodeTip(name, operator, points) {
  const rows = [['', brief(name, 80)]];
  if (operator) {
    rows.push(['ops', opsOf(operator)], ['set', visible(operator.operator_set) || 'none matches']);
    if (operator.why_float) rows.push(['float', brief(operator.why_float, 80)]);
    if (operator.effect) rows.push(['gain', plain(operator.effect.gain)]);
  }
  for (const index of points) rows.push([report.points[index].weight ? 'weight' : 'activation', bitsText(report.points[index])]);
  return rows;
}

const bitsText = (point) => (point.parameters ? `${point.parameters.bits} bit ${visible(point.parameters.method).replaceAll('_', ' ')}` : 'float');

function pointTip(point) {
  const rows = [['', brief(point.name, 80)], [point.weight ? 'weight' : 'activation', bitsText(point)]];
  if (point.effect) rows.push(['gain', plain(point.effect.gain)]);
  if (point.own) rows.push(['own', isNumber(point.own.sqnr) ? decibels(point.own.sqnr) : '∞']);
  if (point.inherited) rows.push(['inherited', isNumber(point.inherited.sqnr) ? decibels(point.inherited.sqnr) : '∞']);
  return rows;
}

function graphSize(nodes) {
  const right = Math.max(0, ...nodes.map((node) => node.x));
  const bottom = Math.max(0, ...nodes.map((node) => node.y));
  return [right + NODE.width + 4, bottom + NODE.height + 10];
}

/** From the bottom of one node to the top of another, over the bends between, upright at each of them. */
function edgePath(spots, from, to) {
  const middle = ([column, row]) => [column * (NODE.width + NODE.columnGap) + 2 + NODE.width / 2, row * (NODE.height + NODE.rowGap) + 2 + NODE.height / 2];
  const bends = spots.slice(1, -1).map(middle);
  const stops = [[from.x + NODE.width / 2, from.y + NODE.height], ...bends.flatMap(([x, y]) => [[x, y - NODE.height / 2], [x, y + NODE.height / 2]]),
    [to.x + NODE.width / 2, to.y]];
  let path = `M${stops[0]}`;
  for (let index = 1; index < stops.length; ++index) {
    const [x0, y0] = stops[index - 1];
    const [x1, y1] = stops[index];
    const half = (y1 - y0) / 2;
    path += x0 === x1 ? `L${x1} ${y1}` : `C${x0} ${y0 + half} ${x1} ${y1 - half} ${x1} ${y1}`;
  }
  return path;
}

/** The node that an arrow key goes to, or null. */
function neighbour(nodes, index, key) {
  if (key === 'Home') return 0;
  if (key === 'End') return nodes.length - 1;
  const here = nodes[index];
  const isAhead = { ArrowDown: (node) => node.y > here.y, ArrowUp: (node) => node.y < here.y,
    ArrowRight: (node) => node.y === here.y && node.x > here.x, ArrowLeft: (node) => node.y === here.y && node.x < here.x }[key];
  if (!isAhead) return null;
  let best = null;
  let least = Infinity;
  nodes.forEach((node, at) => {
    const distance = Math.abs(node.y - here.y) * 4 + Math.abs(node.x - here.x);
    if (isAhead(node) && distance < least) [best, least] = [at, distance];
  });
  return best;
}
