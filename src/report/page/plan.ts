import type { RecordedChange, RunRecord } from '../record/line.ts';
import { grouped, hostList } from '../text.ts';
import { attribute, badge, card, html, type Html, linesOf, said, sign, type Tone } from './html.ts';
import type { Happened, PhaseView, Span } from './phase-view.ts';

/**
 * What became of a change. `not needed`: the host went through the phase, and found it made (installing may start a
 * service). `waited`: nothing had to be changed, kbuild waited until it held.
 */
type Fate = 'done' | 'not needed' | 'not done' | 'failed' | 'unplanned' | 'waited';

/** The same change of several hosts with the same fate. */
interface PlanLine {
  readonly fate: Fate;
  readonly summary: string;
  readonly hosts: string;
  readonly count: number;
}

/** A phase of the plan. */
interface PlanPhase {
  readonly title: string;
  readonly lines: readonly PlanLine[];
  readonly counts: Readonly<Record<Fate, number>>;
}

/** A plan, and how far it was carried out. */
export interface PlanView {
  /** False: the record holds no plan. */
  readonly isKnown: boolean;
  readonly phases: readonly PlanPhase[];
  readonly counts: Readonly<Record<Fate, number>>;
  /** The restarts that the plan announced: `kubelet of w1, w2`. */
  readonly restarts: readonly string[];
}

interface Item extends RecordedChange {
  readonly fate: Fate;
}

const FATES_IN_ORDER: readonly Fate[] = ['failed', 'not done', 'unplanned', 'done', 'not needed', 'waited'];

const placeOf = ({ phase, host, step }: Pick<RecordedChange, 'phase' | 'host' | 'step'>): string =>
  JSON.stringify([phase, host, step]);

const countsOf = (items: readonly Item[]): Readonly<Record<Fate, number>> => {
  const counts = { done: 0, 'not needed': 0, 'not done': 0, failed: 0, unplanned: 0, waited: 0 };
  for (const { fate } of items) counts[fate] += 1;
  return counts;
};

/** How the steps ended that had changes; a step fails as a whole. */
function endsOf(spans: readonly Span[]): ReadonlyMap<string, Span['end']> {
  const ends = new Map<string, Span['end']>();
  for (const span of spans) if (span.what === 'change') ends.set(placeOf(span), span.end);
  return ends;
}

/**
 * The planned changes, each with its fate. A plan names a change by its place, as kbuild does: another control plane
 * may act by then, so a step of the same phase on another host counts where the planned host did none.
 */
function itemsOf(record: RunRecord, { spans, failures }: Happened): readonly Item[] {
  const plan = linesOf(record, 'plan').at(-1);
  const ends = endsOf(spans);
  const planned = new Set((plan?.changes ?? []).map(placeOf));
  const extra = spans.filter((span) => span.what === 'change' && span.isUnplanned);
  const failedAt = new Set(linesOf(record, 'failed').map(placeOf));
  const elsewhere = new Map(
    spans
      .filter((span) => span.what === 'change' && !planned.has(placeOf(span)))
      .map((span) => [`${span.phase}/${span.step}`, span.end]),
  );
  const through = new Set(
    spans.filter(({ what, end }) => what === 'phase' && end === 'done').map(({ phase, host }) => `${phase}/${host}`),
  );
  const isDone = linesOf(record, 'end').at(-1)?.exitCode === 0;
  const fateOf = (change: RecordedChange): Fate => {
    if (failedAt.has(placeOf(change))) return 'failed';
    const end = ends.get(placeOf(change)) ?? elsewhere.get(`${change.phase}/${change.step}`);
    if (end === 'done' || end === 'failed') return end;
    return isDone || through.has(`${change.phase}/${change.host}`) ? 'not needed' : 'not done';
  };
  const failedHosts = new Set(failures.map(({ host }) => host));
  return [
    ...(plan?.changes ?? []).map((change) => ({ ...change, fate: fateOf(change) })),
    ...extra.map(({ phase, host, step, summary }) => ({ phase, host, step, summary, fate: 'unplanned' as const })),
    ...(plan?.waits ?? []).map((wait) => ({
      ...wait,
      fate: through.has(`${wait.phase}/${wait.host}`)
        ? ('waited' as const)
        : failedHosts.has(wait.host) && failedAt.has(placeOf(wait))
          ? ('failed' as const)
          : ('not done' as const),
    })),
  ];
}

/** The plan of a run, by phase. Pure. */
export function planOf(record: RunRecord, happened: Happened, phases: readonly PhaseView[]): PlanView {
  const plan = linesOf(record, 'plan').at(-1);
  const items = itemsOf(record, happened);
  const titles = new Map([...phases, ...(plan?.phases ?? [])].map(({ name, title }) => [name, title]));
  const names = [...new Set([...(plan?.phases ?? []).map(({ name }) => name), ...items.map(({ phase }) => phase)])];
  return {
    isKnown: plan !== undefined,
    counts: countsOf(items),
    restarts: (plan?.restarts ?? []).map(({ what, hosts }) => `${what} of ${hostList(hosts)}`),
    phases: names.flatMap((name): readonly PlanPhase[] => {
      const mine = items.filter(({ phase }) => phase === name);
      if (mine.length === 0) return [];
      const lines = grouped(
        mine,
        ({ fate }) => fate,
        ({ summary }) => [summary],
      ).map(({ items: same, hosts, texts }): PlanLine => ({
        fate: same[0]!.fate,
        summary: texts[0]!,
        hosts: hostList(hosts),
        count: same.length,
      }));
      const ordered = lines.toSorted((a, b) => FATES_IN_ORDER.indexOf(a.fate) - FATES_IN_ORDER.indexOf(b.fate));
      return [{ title: titles.get(name) ?? name, lines: ordered, counts: countsOf(mine) }];
    }),
  };
}

const LOOK_OF_FATE: Readonly<Record<Fate, readonly [tone: Tone, sign: string, word: string]>> = {
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
    const [tone, mark, word] = LOOK_OF_FATE[fate];
    return badge(tone, mark, `${String(all[fate])} ${word}`);
  });

function phase({ title, lines, counts: own }: PlanPhase): Html {
  const isOpen = own.failed + own['not done'] + own.unplanned > 0;
  return html`<details${attribute('open', isOpen)}><summary><span class="title">${title}</span> ${counts(own)}</summary><ul class="plan">
${lines.map(({ fate, summary, hosts }) => {
  const [tone, mark, word] = LOOK_OF_FATE[fate];
  return html`<li>
    ${sign(tone, mark)} <span class="word">${word}</span> <strong>${said(hosts)}</strong>: ${said(summary)}
  </li>`;
})}
</ul></details>`;
}

/** The plan, and how far it was carried out. */
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
