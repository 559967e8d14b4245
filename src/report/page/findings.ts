import type { RecordedFinding, RunRecord } from '../record/line.ts';
import { counted, grouped, hostList } from '../text.ts';
import { badge, card, html, type Html, lineOf, said, sign, type Tone, withCode } from './html.ts';

/** The same finding of several hosts. */
export interface FindingView {
  readonly severity: RecordedFinding['severity'];
  readonly check: string;
  /** Empty: about the whole fleet. */
  readonly hosts: string;
  readonly message: string;
  /** Empty: none. */
  readonly remedy: string;
  readonly isIgnored: boolean;
}

/** The findings of a run's checks, grouped as in the terminal; undefined: no check ran. Pure. */
export function findingsOf(record: RunRecord): readonly FindingView[] | undefined {
  const line = lineOf(record, 'findings');
  if (line === undefined) return undefined;
  return grouped(
    line.findings,
    ({ severity, check, ignored }) => JSON.stringify([severity, check, ignored]),
    ({ message, remedy }) => [message, remedy ?? ''],
  ).map(({ items, hosts, texts: [message = '', remedy = ''] }) => {
    const { severity, check, ignored } = items[0]!;
    return { severity, check, hosts: hostList(hosts), message, remedy, isIgnored: ignored === true };
  });
}

const SEVERITIES: Readonly<Record<FindingView['severity'], readonly [tone: Tone, sign: string]>> = {
  error: ['bad', '✖'],
  unknown: ['warn', '?'],
  warning: ['warn', '!'],
  due: ['note', '~'],
};

/** Findings beyond so many are folded. */
const SHOWN = 12;

function one({ severity, check, hosts, message, remedy }: FindingView): Html {
  const [tone, mark] = SEVERITIES[severity];
  return html`<li>
    ${badge(tone, mark, severity)} <code class="check">${check}</code>
    <span class="text"
      >${hosts === '' ? undefined : html`<strong>${said(hosts)}</strong>: `}${withCode(message)}${remedy === '' ? undefined : html`<span class="remedy">${sign('quiet', '→')} ${withCode(remedy)}</span>`}</span
    >
  </li>`;
}

const list = (all: readonly FindingView[]): Html =>
  html`<ul class="findings">
    ${all.map(one)}
  </ul>`;

/** The findings of the checks, grouped as in the terminal. Ignored findings are folded. */
export function findings(all: readonly FindingView[] | undefined): Html | undefined {
  if (all === undefined) return undefined;
  const shown = all.filter(({ isIgnored }) => !isIgnored);
  const ignored = all.filter(({ isIgnored }) => isIgnored);
  const [first, rest] = [shown.slice(0, SHOWN), shown.slice(SHOWN)];
  const about = '~ due is what this run was to mend.';
  return card(
    'findings',
    'Findings of the checks',
    shown.some(({ severity }) => severity === 'due') ? about : '',
    html`${shown.length === 0 ? html`<p>${sign('good', '✔')} The checks found nothing.</p>` : list(first)}
    ${
      rest.length === 0
        ? undefined
        : html`<details>
            <summary>${counted(rest.length, 'more finding')}</summary>
            ${list(rest)}
          </details>`
    }
    ${
      ignored.length === 0
        ? undefined
        : html`<details>
            <summary>${counted(ignored.length, 'ignored finding')}</summary>
            ${list(ignored)}
          </details>`
    }`,
  );
}
