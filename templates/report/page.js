// The script of a report's page: zoom, the keyboard, the summary of a bar. Without it the page says the same.
'use strict';
(() => {
  const opened = [];
  addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details:not([open])')) {
      details.open = true;
      opened.push(details);
    }
  });
  addEventListener('afterprint', () => {
    for (const details of opened.splice(0)) details.open = false;
  });

  const timeline = document.querySelector('.timeline');
  if (timeline === null) return;
  const rows = timeline.querySelector('.rows');
  const detail = document.getElementById('detail');
  const MOST = 32;
  let zoom = 1;

  /** The ticks that fit: one level more for each doubling. */
  const showTicks = () => {
    const level = Math.min(5, (innerWidth < 700 ? 0 : 1) + Math.round(Math.log2(zoom)));
    rows.dataset.ticks = String(level);
  };
  /** Zooms around the focused bar, or around the middle of what is shown. */
  const zoomTo = (next) => {
    const before = rows.clientWidth;
    const active = document.activeElement;
    const box = timeline.getBoundingClientRect();
    const bar = rows.contains(active) ? active.getBoundingClientRect() : undefined;
    const focus = bar === undefined ? box.width / 2 : bar.left + bar.width / 2 - box.left;
    const at = timeline.scrollLeft + focus;
    zoom = Math.min(MOST, Math.max(1, next));
    rows.style.setProperty('--zoom', String(zoom));
    timeline.dataset.zoom = String(zoom);
    timeline.scrollLeft = (at * rows.clientWidth) / before - focus;
    // The names of hosts beside the bars do not grow: that moves the bar by what was not foreseen.
    if (bar !== undefined) {
      const now = active.getBoundingClientRect();
      timeline.scrollLeft += now.left + now.width / 2 - (bar.left + bar.width / 2);
    }
    showTicks();
  };
  for (const button of document.querySelectorAll('[data-zoom-to]'))
    button.addEventListener('click', () => zoomTo({ in: zoom * 2, out: zoom / 2, all: 1 }[button.dataset.zoomTo]));
  document.querySelector('.tools').hidden = false;
  detail.hidden = false;
  showTicks();
  addEventListener('resize', showTicks);

  const tell = ({ target }) => {
    const bar = target.closest('.s, .band');
    if (bar !== null) detail.textContent = bar.querySelector('title').textContent;
  };
  for (const event of ['pointerover', 'click', 'focusin']) timeline.addEventListener(event, tell);

  const number = (bar, name) => parseFloat(bar.getAttribute(name));
  const lines = [...rows.querySelectorAll('.bars')]
    .map((bars) => [...bars.querySelectorAll('.s')].sort((a, b) => number(a, 'x') - number(b, 'x')))
    .filter((bars) => bars.length > 0);
  const middle = (bar) => number(bar, 'x') + number(bar, 'width') / 2;
  const nearest = (bars, to) =>
    bars.reduce((best, bar) => (Math.abs(middle(bar) - to) < Math.abs(middle(best) - to) ? bar : best));
  /** The bar that a key leads to. */
  const next = (key) => {
    const now = document.activeElement;
    const line = lines.findIndex((bars) => bars.includes(now));
    if (line === -1) return lines[0]?.[0];
    const bars = lines[line];
    if (key === 'ArrowRight') return bars[bars.indexOf(now) + 1];
    if (key === 'ArrowLeft') return bars[bars.indexOf(now) - 1];
    if (key === 'Home') return bars[0];
    if (key === 'End') return bars.at(-1);
    const other = lines[line + (key === 'ArrowDown' ? 1 : -1)];
    return other === undefined ? undefined : nearest(other, middle(now));
  };
  const ZOOMS = { '+': 2, '=': 2, '-': 0.5, _: 0.5 };
  timeline.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ZOOMS) zoomTo(zoom * ZOOMS[event.key]);
    else if (event.key === '0') zoomTo(1);
    else if (event.key === 'Escape') timeline.focus();
    else if (/^(?:Arrow.*|Home|End)$/.test(event.key)) {
      const bar = next(event.key);
      bar?.focus({ preventScroll: true });
      bar?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    } else return;
    event.preventDefault();
  });
})();
