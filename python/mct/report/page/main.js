// The page: which view is shown, the theme, the keys.

const page = document.getElementById('page');
const main = element('main', { id: 'main', tabindex: '-1' });

const SECTIONS = [
  ['comparison', 'Comparison', comparisonSection],
  ['overview', 'Overview', overviewSection],
  ['diagnoses', 'Diagnoses', diagnosesSection],
  ['network', 'Network', networkSection],
  ['points', 'Points', pointsSection],
  ['front', 'Bit widths', frontSection],
  ['predictions', 'Predictions', predictionsSection],
  ['run', 'Run', runSection],
].map(([id, title, make]) => ({ id, title, content: make() })).filter(({ content }) => content);

const whole = element('div', { class: 'whole' }, SECTIONS.map(({ content }) => content));
let detail = null;
let scrolled = 0;

// ---------------------------------------------------------------------------------------------------------------------
// Theme
// ---------------------------------------------------------------------------------------------------------------------

const THEMES = ['auto', 'light', 'dark'];
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** Storage is refused to files in some browsers: the theme is then that of the system each time. */
function stored(value) {
  try {
    if (value !== undefined) localStorage.setItem('mct-report-theme', value);
    return localStorage.getItem('mct-report-theme');
  } catch {
    return null;
  }
}

let theme = THEMES.includes(stored()) ? stored() : 'auto';
const themeButton = element('button', { type: 'button', id: 'theme', click: () => setTheme(isDark() ? 'light' : 'dark') });
const isDark = () => theme === 'dark' || (theme === 'auto' && prefersDark.matches);

function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  themeButton.textContent = isDark() ? 'Light' : 'Dark';
  themeButton.setAttribute('aria-label', isDark() ? 'Switch to the light theme' : 'Switch to the dark theme');
}

function setTheme(to) {
  theme = to;
  stored(to);
  applyTheme();
}

prefersDark.addEventListener('change', applyTheme);

// ---------------------------------------------------------------------------------------------------------------------
// Views
// ---------------------------------------------------------------------------------------------------------------------

/** Shows what the address says: a point, an operator, or a section. */
function show() {
  hideTip();
  const [, kind, text] = /^#(point|operator)-(\d+)$/.exec(location.hash) ?? [];
  const index = Number(text);
  const make = kind === 'point' && report.points[index] ? pointView : kind === 'operator' && report.operators[index] ? operatorView : null;
  if (detail) forgetPlots(detail);
  if (make) {
    if (!detail) scrolled = scrollY;
    detail = make(index);
    main.replaceChildren(detail);
    scrollTo(0, 0);
    detail.querySelector('h1').focus({ preventScroll: true });
    document.title = `${brief((kind === 'point' ? report.points : report.operators)[index].name)} – mct report`;
    detail.dataset.kind = kind;
    detail.dataset.index = index;
    return;
  }
  const cameFrom = detail;
  detail = null;
  document.title = `${brief(report.model)} – mct report`;
  if (!whole.isConnected) main.replaceChildren(whole);
  if (cameFrom && (location.hash === '#points' || location.hash === '')) {
    scrollTo(0, scrolled);
    rowOf(cameFrom)?.focus({ preventScroll: true });
  } else {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }
}

const rowOf = (view) => (view.dataset.kind === 'point' ? whole.querySelector(`tr[data-point="${view.dataset.index}"]`) : null);

// ---------------------------------------------------------------------------------------------------------------------
// Keys
// ---------------------------------------------------------------------------------------------------------------------

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea')) return;
  if (event.key === 'Escape' && detail) {
    location.hash = '#points';
  } else if (event.key === '/') {
    if (detail) location.hash = '#points';
    requestAnimationFrame(() => document.getElementById('filter')?.focus());
    event.preventDefault();
  } else if (detail && (event.key === 'j' || event.key === 'k')) {
    const step = detail.querySelector(`a[aria-label^="${event.key === 'j' ? 'Next' : 'Previous'}"]`);
    if (step) location.hash = step.getAttribute('href');
  }
});

page.append(
  element('a', { class: 'skip', href: '#main', click: (event) => {
    event.preventDefault();
    main.focus();
  } }, 'To the content'),
  element('header', { class: 'top' },
    element('a', { href: '#overview', class: 'mark' }, 'mct', element('span', {}, ' report')),
    element('nav', { 'aria-label': 'Sections' }, SECTIONS.map(({ id, title }) => element('a', { href: `#${id}` }, title))),
    themeButton),
  main,
  element('footer', {}, element('kbd', {}, '/'), ' filter ', element('kbd', {}, '↑'), element('kbd', {}, '↓'), ' rows ', element('kbd', {}, 'Enter'), ' open ', element('kbd', {}, 'Esc'), ' back ', element('kbd', {}, 'j'), element('kbd', {}, 'k'), ' next, previous'),
  tip, live);

addEventListener('hashchange', show);
addEventListener('scroll', hideTip, { passive: true });
addEventListener('beforeprint', () => {
  for (const folded of main.querySelectorAll('details')) folded.open = true;
  drawAll();
});
applyTheme();
show();
document.documentElement.dataset.ready = 'yes';
