// The table of points.

/** Columns; `of` gives what is sorted by, `show` what is seen. Columns without any value are left out. */
const COLUMNS = [
  { id: 'number', title: '#', hint: 'Place in the program', of: (point, index) => index + 1, show: (value) => String(value) },
  { id: 'name', title: 'Point', isText: true, of: (point) => point.name, show: (value, point, index) => element('a', { href: addressOfPoint(index), tabindex: '-1' }, nameOf(value, 36)) },
  { id: 'kind', title: 'Kind', isText: true, of: (point) => (point.weight ? 'weight' : 'activation'), show: (value) => value },
  { id: 'op', title: 'Op', isText: true, of: (point) => opsOf(operatorOf(point)), show: (value) => brief(value, 20) },
  { id: 'bits', title: 'Bits', of: bitsOf, show: (value) => plain(value) },
  { id: 'effect', title: 'Share', hint: `Share of the ${METRIC} of the results that is gone when this is left in float`, of: (point) => point.effect?.share, isBar: true, show: (value) => number(value, share), first: 'descending' },
  { id: 'gain', title: 'Gain', hint: `By how much the ${METRIC} falls when this is left in float`, of: (point) => point.effect?.gain, show: (value) => number(value), first: 'descending' },
  { id: 'own', title: 'Own', hint: 'SQNR of what this quantizer does to the values of the float network', of: (point) => point.own && decibelsOf(point.own), show: (value, point) => sqnr(point.own) },
  { id: 'inherited', title: 'Inherited', hint: 'SQNR in front of the quantizer, with everything else quantized', of: (point) => point.inherited && decibelsOf(point.inherited), show: (value, point) => sqnr(point.inherited) },
  { id: 'total', title: 'Total', hint: 'SQNR behind the quantizer, with everything quantized', of: (point) => point.total && decibelsOf(point.total), show: (value, point) => sqnr(point.total) },
  { id: 'clipped', title: 'Clipped', hint: 'Values beyond the outermost levels', of: (point) => point.clipped, show: (value) => number(value, share), first: 'descending' },
  { id: 'used', title: 'Used', hint: 'Share of the range of the levels that values reach', of: (point) => point.used, show: (value) => number(value, share) },
  { id: 'cycles', title: 'Cycles', hint: 'Cycles of the operator on the device; of a fused chain those of its last operator', of: (point) => costOf(point)?.cycles, show: (value) => number(value, large), first: 'descending' },
  { id: 'memory', title: 'Memory', hint: "Bytes of the device's memory that live while the operator runs", of: (point) => costOf(point)?.memory_bytes, show: (value) => number(value, bytes), first: 'descending' },
  { id: 'price', title: 'Loss per cycle', hint: `By how much the ${METRIC} would fall, for each cycle that the alternative of the operator saves, if it were left in float`, of: (point) => costOf(point)?.loss_per_cycle, show: (value) => number(value), first: 'descending' },
  { id: 'integer', title: 'Integer ≠', hint: 'Values of the integer network that are not those of the simulation', of: (point) => point.integer?.differing, show: (value) => number(value), first: 'descending' },
];

/** Costs stand at the result of the operator, and not again at its weights. */
const costOf = (point) => (point.weight ? null : operatorOf(point)?.cost);

/** Equal values have no finite ratio: better than all others. */
const decibelsOf = (distance) => (isNumber(distance.sqnr) ? distance.sqnr : Infinity);

const table = { sort: 'effect', direction: 'descending', order: report.points.map((_, index) => index) };

function pointsSection() {
  const columns = COLUMNS.filter((column) => column.isText || report.points.some((point, index) => isNumber(column.of(point, index))));
  if (!columns.some((column) => column.id === table.sort)) [table.sort, table.direction] = ['number', 'ascending'];
  const most = Math.max(0, ...report.points.map((point) => point.effect?.share ?? 0));
  const rows = report.points.map((point, index) => tableRow(columns, point, index, most));
  const body = element('tbody', {});
  const count = element('span', { class: 'count', role: 'status' });
  const words = element('input', { type: 'search', id: 'filter', placeholder: 'Filter by name, op, set, method…', 'aria-label': 'Filter points', autocomplete: 'off', spellcheck: 'false' });
  const kinds = choice('Kind', [['', 'all points'], ['weight', 'weights'], ['activation', 'activations']]);
  const widthsThere = [...new Set(report.points.map(bitsOf))].sort((a, b) => (a ?? 99) - (b ?? 99));
  const bits = choice('Bits', [['', 'all bits'], ...widthsThere.map((width) => [String(width), width === null ? 'float' : `${width} bits`])]);
  const texts = report.points.map((point) => [point.name, point.owner, opsOf(operatorOf(point)), operatorOf(point)?.operator_set, point.parameters?.method, ...point.group].join('\n').toLowerCase());
  const heads = columns.map((column) => element('th', { scope: 'col', class: column.isText ? null : 'right', title: column.hint },
    element('button', { type: 'button', click: () => sortBy(column) }, column.title)));

  const update = () => {
    const column = columns.find(({ id }) => id === table.sort);
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isThere = (index) => wanted.every((word) => texts[index].includes(word))
      && (!kinds.value || (report.points[index].weight ? 'weight' : 'activation') === kinds.value)
      && (!bits.value || String(bitsOf(report.points[index])) === bits.value);
    table.order = sorted(column).filter(isThere);
    body.replaceChildren(...table.order.map((index) => rows[index]));
    for (const row of rows) row.setAttribute('tabindex', '-1');
    if (table.order.length) rows[table.order[0]].setAttribute('tabindex', '0');
    count.textContent = table.order.length === rows.length ? `${grouped(rows.length)} points` : `${grouped(table.order.length)} of ${grouped(rows.length)} points`;
    empty.hidden = table.order.length > 0;
    columns.forEach(({ id }, at) => heads[at].setAttribute('aria-sort', id === table.sort ? table.direction : 'none'));
  };
  const sortBy = (column) => {
    const first = column.first ?? 'ascending';
    const other = first === 'ascending' ? 'descending' : 'ascending';
    table.direction = table.sort === column.id && table.direction === first ? other : first;
    table.sort = column.id;
    update();
  };
  for (const control of [words, kinds, bits]) control.addEventListener('input', update);
  words.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' && table.order.length) {
      rows[table.order[0]].focus();
      event.preventDefault();
    } else if (event.key === 'Escape') {
      words.value = '';
      update();
      words.blur();
      event.stopPropagation();
    }
  });
  body.addEventListener('keydown', (event) => moveInTable(event, rows));
  const empty = element('p', { class: 'empty' }, 'No point is like that.');
  update();
  return section('points', 'Points',
    element('div', { class: 'bar' }, words, kinds, bits, element('span', { class: 'space' }), count),
    element('div', { class: 'scroll' }, element('table', { class: 'points' },
      element('caption', { class: 'unseen' }, 'Points. Buttons in the head sort; arrow keys go from row to row, Enter opens one.'),
      element('thead', {}, element('tr', {}, heads)), body), empty));
}

const choice = (label, options) => element('select', { 'aria-label': label }, options.map(([value, text]) => element('option', { value }, text)));

function tableRow(columns, point, index, most) {
  const cells = columns.map((column) => {
    const value = column.of(point, index);
    const cell = element('td', { class: [column.isText ? 'soft' : 'right', column.isBar ? 'gauged' : ''].join(' ').trim() },
      column.isText || isNumber(value) ? column.show(value, point, index) : element('span', { class: 'missing' }, MISSING));
    if (column.isBar && most > 0 && isNumber(value)) cell.style.setProperty('--share', `${Math.max(0, Math.min(100, value / most * 100)).toFixed(1)}%`);
    return cell;
  });
  return element('tr', { tabindex: '-1', 'data-point': index, click: (event) => {
    if (!getSelection().toString() && !event.target.closest('a')) location.hash = addressOfPoint(index);
  } }, cells);
}

/** Numbers of the points in the order of a column; what has no value comes last either way. */
function sorted(column) {
  const sign = table.direction === 'ascending' ? 1 : -1;
  const keys = report.points.map((point, index) => column.of(point, index));
  const isMissing = (key) => key === null || key === undefined;
  return report.points.map((_, index) => index).sort((a, b) => {
    if (isMissing(keys[a]) || isMissing(keys[b])) return isMissing(keys[a]) - isMissing(keys[b]) || a - b;
    const order = column.isText ? compareTexts(keys[a], keys[b]) : (keys[a] > keys[b]) - (keys[a] < keys[b]);
    return sign * order || a - b;
  });
}

/** Numbers in names count as numbers: conv2 stands before conv10. */
const collator = new Intl.Collator('en', { numeric: true });
const compareTexts = (a, b) => collator.compare(a.slice(0, 500), b.slice(0, 500));

function moveInTable(event, rows) {
  const at = table.order.findIndex((index) => rows[index] === event.target);
  if (at < 0) return;
  const last = table.order.length - 1;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: last }[event.key];
  if (event.key === 'Enter') {
    location.hash = addressOfPoint(table.order[at]);
  } else if (to !== undefined) {
    const row = rows[table.order[Math.max(0, Math.min(last, to))]];
    event.target.setAttribute('tabindex', '-1');
    row.setAttribute('tabindex', '0');
    row.focus();
  } else {
    return;
  }
  event.preventDefault();
}
