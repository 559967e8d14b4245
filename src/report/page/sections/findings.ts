import { counted } from '../../host-list.ts';
import { html, type Html } from '../html.ts';
import type { FindingView } from '../findings-view.ts';
import { badge, card, said, sign, withCode, type Tone } from './signs.ts';

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

/** What the checks found, grouped as in the terminal; what was ignored is folded. */
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
