import { attribute, html, type Html } from '../html.ts';
import type { Fate, PlanPhase, PlanView } from '../plan-view.ts';
import { badge, card, said, sign, type Tone } from './signs.ts';

const FATES: Readonly<Record<Fate, readonly [tone: Tone, sign: string, word: string]>> = {
  done: ['good', '✔', 'done'],
  'not needed': ['quiet', '=', 'not needed'],
  'not done': ['quiet', '○', 'not done'],
  failed: ['bad', '✖', 'failed'],
  unplanned: ['warn', '+', 'not planned'],
  waited: ['note', '…', 'waited for'],
};

const ORDER: readonly Fate[] = ['done', 'failed', 'not done', 'unplanned', 'not needed', 'waited'];

const counts = (all: Readonly<Record<Fate, number>>): readonly Html[] =>
  ORDER.filter((fate) => all[fate] > 0).map((fate) => {
    const [tone, mark, word] = FATES[fate];
    return badge(tone, mark, `${String(all[fate])} ${word}`);
  });

function phase({ title, lines, counts: own }: PlanPhase): Html {
  const isOpen = own.failed + own['not done'] + own.unplanned > 0;
  return html`<details${attribute('open', isOpen)}><summary><span class="title">${title}</span> ${counts(own)}</summary><ul class="plan">
${lines.map(({ fate, summary, hosts }) => {
  const [tone, mark, word] = FATES[fate];
  return html`<li>
    ${sign(tone, mark)} <span class="word">${word}</span> <strong>${said(hosts)}</strong>: ${said(summary)}
  </li>`;
})}
</ul></details>`;
}

/** The plan against what was done. */
export function plan(view: PlanView): Html | undefined {
  if (view.phases.length === 0) return undefined;
  const about = view.isKnown ? '' : 'The record holds no plan; these changes were made.';
  return card(
    'plan',
    'Plan and what became of it',
    about,
    html`<p class="sums">${counts(view.counts)}</p>
      ${view.restarts.length === 0 ? undefined : html`<p class="restarts">Planned restarts: ${said(view.restarts.join('; '))}</p>`}
      <div class="plans">${view.phases.map(phase)}</div>`,
  );
}
