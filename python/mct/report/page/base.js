// What everything else is made of: the documents, elements, numbers.

const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? 'null');
const report = read('report');
const shown = read('shown');
const comparison = read('comparison');

// ---------------------------------------------------------------------------------------------------------------------
// Elements. Texts of the documents become text nodes and values of attributes, never markup.
// ---------------------------------------------------------------------------------------------------------------------

/** An element. Attributes that are functions are listeners; null, undefined and false are left out, here and among the
    children. */
function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Names may hold anything: characters that turn or hide text are written as their numbers. */
function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu,
    (character) => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** A name on one line; the end of names tells more than their middle. */
function brief(text, length = 60) {
  const characters = Array.from(visible(text.slice(0, 2000)));
  if (text.length <= 2000 && characters.length <= length) return characters.join('');
  const tail = Array.from(visible(text.slice(-200))).slice(-Math.floor(length * 0.6)).join('');
  return characters.slice(0, length - Math.floor(length * 0.6) - 1).join('') + '…' + tail;
}

/** A name, apart from the direction of the text around it. */
const nameOf = (text, length) => element('bdi', { class: 'name', title: visible(text.slice(0, 400)) }, brief(text, length));

// ---------------------------------------------------------------------------------------------------------------------
// Numbers: four digits are shown, all of them are in the title.
// ---------------------------------------------------------------------------------------------------------------------

const isNumber = (value) => typeof value === 'number';
const MISSING = '–';

function grouped(integer) {
  const digits = String(Math.abs(integer));
  const parts = digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, '\u2009') : digits;
  return (integer < 0 ? '−' : '') + parts;
}

const SUPERSCRIPT = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };

function plain(value, digits = 4) {
  if (!isNumber(value)) return MISSING;
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return grouped(value);
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) {
    const fixed = Number(value.toPrecision(digits));
    return String(fixed).replace('-', '−');
  }
  const [mantissa, exponent] = value.toExponential(Math.max(1, digits - 2)).split('e');
  const power = Array.from(String(Number(exponent)), (character) => SUPERSCRIPT[character]).join('');
  return `${mantissa.replace('-', '−')}·10${power}`;
}

const share = (value, digits = 1) => {
  if (!isNumber(value)) return MISSING;
  if (value === 0 || value === 1) return `${value * 100}\u202f%`;
  const percent = value * 100;
  if (percent > 0 && percent < 0.1) return `${plain(percent, 2)}\u202f%`;
  return `${percent.toFixed(digits)}\u202f%`;
};
const decibels = (value) => (isNumber(value) ? `${value.toFixed(1).replace('-', '−')}\u202fdB` : MISSING);
const seconds = (value) => (!isNumber(value) ? MISSING
  : value < 1 ? `${plain(value * 1000, 3)}\u202fms` : `${plain(value, 3)}\u202fs`);
const bytes = (value) => (!isNumber(value) ? MISSING
  : value >= 1e6 ? `${plain(value / 1e6)}\u202fMB` : value >= 1e3 ? `${plain(value / 1e3)}\u202fkB` : `${plain(value)}\u202fB`);
const large = (value) => {
  if (!isNumber(value)) return MISSING;
  const unit = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']].find(([size]) => Math.abs(value) >= size);
  return unit ? `${plain(value / unit[0], 3)}\u202f${unit[1]}` : plain(value, 3);
};

/** A number of the document with all its digits in the title. */
function number(value, format = plain) {
  return element('span', { class: 'number', title: isNumber(value) ? String(value) : null }, format(value));
}

/** A distance of which null says that nothing differs. */
const sqnr = (distance) => (distance
  ? element('span', { class: 'number', title: isNumber(distance.sqnr) ? `${distance.sqnr} dB` : 'equal values' },
    isNumber(distance.sqnr) ? decibels(distance.sqnr) : '∞')
  : MISSING);

// ---------------------------------------------------------------------------------------------------------------------
// What the document says of names
// ---------------------------------------------------------------------------------------------------------------------

const operatorNumbers = new Map(report.operators.map((operator, index) => [operator.name, index]));
const pointNumbers = new Map(report.points.map((point, index) => [point.name, index]));
const METRIC = report.metric === 'kl' ? 'KL divergence' : report.metric === 'mse' ? 'relative MSE' : report.metric;

/** `conv2d + clamp` */
const opsOf = (operator) => (operator ? operator.ops.map((op) => op.replace(/^tosa\./, '')).join(' + ') : '');
const operatorOf = (point) => report.operators[operatorNumbers.get(point.owner)];
const bitsOf = (point) => (point.parameters ? point.parameters.bits : null);
const shapeOf = (shape) => shape.map((size) => (size < 0 ? '?' : size)).join('\u202f×\u202f') || 'scalar';
const className = (index) => (shown.classes[index] === undefined ? String(index) : shown.classes[index]);

const addressOfPoint = (index) => `#point-${index}`;
const addressOfOperator = (index) => `#operator-${index}`;

/** A link to the point or operator of this name; its name alone where there is none. */
function linkTo(name, length) {
  const address = pointNumbers.has(name) ? addressOfPoint(pointNumbers.get(name))
    : operatorNumbers.has(name) ? addressOfOperator(operatorNumbers.get(name)) : null;
  return address ? element('a', { href: address }, nameOf(name, length)) : nameOf(name, length);
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts that several views have
// ---------------------------------------------------------------------------------------------------------------------

function section(id, title, ...children) {
  return element('section', { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, title), children);
}

/** Terms and their values; those without a value are left out. */
function facts(rows) {
  const isThere = (value) => value !== null && value !== undefined && value !== '' && value !== MISSING;
  return element('dl', { class: 'facts' },
    rows.filter(([, value]) => isThere(value)).map(([term, value]) => element('div', {},
      element('dt', {}, term), element('dd', {}, value))));
}

/** Text with a button that copies it; some of its words may be marked. */
function copyable(text, label, { marked = [], kind = '' } = {}) {
  const parts = marked.length ? text.split(/([A-Z][A-Z0-9_]*)/) : [text];
  const code = element('code', {}, parts.map((part) => (marked.includes(part) ? element('mark', {}, visible(part)) : visible(part))));
  const button = element('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${label}` }, 'Copy');
  button.addEventListener('click', async () => {
    const isDone = await copy(text, code);
    button.textContent = isDone ? 'Copied' : 'Press Ctrl+C';
    button.classList.toggle('done', isDone);
    announce(isDone ? `${label} copied` : `${label} selected`);
    setTimeout(() => {
      button.textContent = 'Copy';
      button.classList.remove('done');
    }, 2000);
  });
  return element('div', { class: 'copyable' }, kind ? element('span', { class: 'paste-kind' }, kind) : null, element('pre', {}, code), button);
}

async function copy(text, shownIn) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not every browser lets a file from disk do that: the text is selected, for the person to copy.
    getSelection().selectAllChildren(shownIn);
    return document.execCommand('copy');
  }
}

/** For screen readers. */
const live = element('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' });
function announce(text) {
  live.textContent = text;
}
