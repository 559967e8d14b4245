import { counted } from '../text.ts';
import type { ClusterView, Machine, Standing, Workers } from './cluster-view.ts';
import { card, fitted, frame, GAP, html, type Html, moment, type Part, said, sign, type Tone } from './html.ts';

/** How a host stands: its tone, its sign and the word for it. */
const STANDINGS: Readonly<Record<Standing, readonly [tone: Tone, sign: string, word: string]>> = {
  ready: ['good', '✔', 'ready'],
  'not ready': ['bad', '✖', 'not ready'],
  failed: ['bad', '✖', 'failed in this run'],
  unreachable: ['bad', '✖', 'does not answer'],
  'not joined': ['quiet', '○', 'has not joined'],
  'no node': ['note', '●', 'answers'],
  unknown: ['quiet', '?', 'not known'],
};

/** Sizes in px. */
const BOX = { least: 172, most: 240, height: 62 } as const;
const DOT = 15;

/** More hosts are a dot each instead of a box. */
const BOXES = 12;

/** A host: its name, its address or how it stands, its member of etcd. */
function box(machine: Machine, x: number, y: number, width: number): Html {
  const { name, address, standing, notes, etcd, holdsAddress } = machine;
  const [tone, sign, word] = STANDINGS[standing];
  const state = [word, ...notes].join(', ');
  const isWell = tone === 'good' || tone === 'note';
  const second = isWell && notes.length === 0 ? address : state;
  const third = [...(etcd === undefined ? [] : [`etcd ${etcd}`]), ...(holdsAddress ? ['◆ VIP'] : [])].join(' · ');
  const [left, room] = [x + 12, width - 22];
  return html`<g class="machine ${tone}">
    <title>${[`${name} (${address}): ${state}`, third].filter((part) => part !== '').join('; ')}</title>
    <rect x="${x}" y="${y}" width="${width}" height="${BOX.height}" rx="8" />
    <text class="name" x="${left}" y="${y + 21}">${fitted(name, room - 24)}</text>
    <text class="mark ${tone}" x="${x + width - 12}" y="${y + 21}">${sign}</text>
    <text x="${left}" y="${y + 37}">${fitted(second, room)}</text>
    <text x="${left}" y="${y + 53}">${fitted(third, room)}</text>
  </g>`;
}

/** Boxes of equal width, in rows that stand in the middle. */
function boxes(machines: readonly Machine[], width: number): Part {
  const most = Math.max(1, Math.floor((width - GAP) / (BOX.least + GAP)));
  const columns = Math.min(most, machines.length);
  const each = Math.min(BOX.most, (width - GAP * (columns + 1)) / columns);
  const rows = Math.ceil(machines.length / columns);
  const rowOf = (at: number): number => Math.floor(at / columns);
  const startOf = (row: number): number => {
    const inRow = Math.min(columns, machines.length - row * columns);
    return (width - inRow * each - (inRow - 1) * GAP) / 2;
  };
  return {
    height: rows * (BOX.height + GAP) - GAP,
    draw: (y) =>
      html`${machines.map((machine, at) =>
        box(machine, startOf(rowOf(at)) + (at % columns) * (each + GAP), y + rowOf(at) * (BOX.height + GAP), each),
      )}`,
  };
}

/** A host of many: a dot, or its sign if it is not well. */
function dot({ name, standing, notes }: Machine, x: number, y: number): Html {
  const [tone, sign, word] = STANDINGS[standing];
  const isWell = tone === 'good';
  const inside = isWell ? undefined : html`<text class="inside" x="${x}" y="${y + 3.5}">${sign}</text>`;
  return html`<g>
    <title>${name}: ${[word, ...notes].join(', ')}</title>
    <circle class="dot ${tone}" cx="${x}" cy="${y}" r="${isWell ? 4.5 : 6.5}" />${inside}
  </g>`;
}

function dots(machines: readonly Machine[], width: number): Part {
  const columns = Math.floor((width - 2 * GAP) / DOT);
  const place = (at: number): number => (at + 0.5) * DOT;
  return {
    height: Math.ceil(machines.length / columns) * DOT,
    draw: (y) =>
      html`${machines.map((machine, at) => dot(machine, GAP + place(at % columns), y + place(Math.floor(at / columns))))}`,
  };
}

/** Hosts in a picture: a few as boxes, many as dots. */
const machinesPart = (machines: readonly Machine[], width: number): Part =>
  machines.length > BOXES ? dots(machines, width) : boxes(machines, width);

/** The line from one part to the next, in px. */
const WIRE = 24;

/** How many of the hosts are well. */
const readyText = (machines: readonly Machine[]): string => {
  const ready = machines.filter(({ standing }) => standing === 'ready').length;
  return ready === machines.length ? 'all ready' : `${String(ready)} ready`;
};

const framed = (title: string, about: string, machines: readonly Machine[], width: number): readonly Part[] =>
  machines.length === 0 ? [] : [frame({ title, about, width }, machinesPart(machines, width))];

const workersPart = ({ system, version, machines }: Workers, width: number): readonly Part[] =>
  framed(
    `${counted(machines.length, 'worker')}, ${readyText(machines)}`,
    [system.replace('GNU/Linux ', ''), version].filter((part) => part !== '').join(' · '),
    machines,
    width,
  );

const BALANCING: Readonly<Record<ClusterView['balancing']['kind'], string>> = {
  none: 'no load balancer',
  external: 'external load balancer',
  keepalived: 'haproxy and keepalived',
  'kube-vip': 'kube-vip',
  local: 'haproxy on every node',
};

/** Where users and kubelets reach the API. */
function endpointPart({ endpoint, balancing, endpointAnswer, name }: ClusterView, width: number): Part {
  const answer = endpointAnswer === '' ? '' : endpointAnswer === 'ok' ? ' ✔ answers' : ` ✖ ${endpointAnswer}`;
  const address = balancing.address === undefined ? '' : `VIP ${balancing.address}, `;
  const wide = Math.min(width, 480);
  const text = (content: string, y: number, className: string): Html =>
    html`<text class="middle ${className}" x="${width / 2}" y="${y}">${fitted(content, wide - 30)}</text>`;
  return {
    height: 52,
    draw: (y) =>
      html`<g class="endpoint">
        <rect x="${(width - wide) / 2 + 1}" y="${y + 1}" width="${wide - 2}" height="50" rx="25" />
        ${text(`API of ${name}: ${endpoint}${answer}`, y + 22, 'name')}
        ${text(`${address}${BALANCING[balancing.kind]}`, y + 40, '')}
      </g>`,
  };
}

const ETCD: Readonly<Record<ClusterView['etcd'], string>> = {
  stacked: 'etcd on the control planes',
  built: 'etcd on hosts of its own',
  external: 'an etcd of your own',
};

/** The rows of the picture from top to bottom; lines connect them. */
const chainOf = (view: ClusterView, width: number): readonly Part[] => [
  endpointPart(view, width),
  ...framed(counted(view.balancers.length, 'load balancer'), '', view.balancers, width),
  ...framed(counted(view.controls.length, 'control plane'), ETCD[view.etcd], view.controls, width),
  ...framed(counted(view.etcdHosts.length, 'etcd host'), '', view.etcdHosts, width),
];

/**
 * The cluster as a picture that is `width` px wide: the endpoint, balancers, control planes, etcd, and workers by
 * system and version, from top to bottom.
 */
function clusterPicture(view: ClusterView, width: number, name: string): Html {
  const chain = chainOf(view, width);
  const groups = view.workers.flatMap((group) => workersPart(group, width));
  let y = 0;
  const drawn = [...chain, ...groups].map((part, at) => {
    const isWired = at > 0 && at <= chain.length;
    const wire = isWired ? html`<path class="wire" d="M${width / 2} ${y}v${WIRE}" />` : undefined;
    const top = at === 0 ? 0 : y + (isWired ? WIRE : GAP);
    y = top + part.height;
    return html`${wire}${part.draw(top)}`;
  });
  return html`<svg
    class="cluster ${name}"
    viewBox="0 0 ${width} ${y}"
    width="${width}"
    height="${y}"
    role="img"
    aria-label="The cluster ${view.name}: the table below says the same in words."
  >
    ${drawn}
  </svg>`;
}

/** Widths of the picture; the style shows the one that fits. */
const PICTURES = [
  ['narrow', 330],
  ['medium', 700],
  ['wide', 1080],
] as const;

function stateText({ state, reason, version, time, network, runtime }: ClusterView): string {
  const when = time === undefined ? '' : ` at ${moment(time)}`;
  switch (state) {
    case 'up':
      return `As observed${when}: Kubernetes ${version}, ${network}, ${runtime}.`;
    case 'down':
      return `As observed${when}: its API did not answer: ${reason}.`;
    case 'absent':
      return `As observed${when}: there was no cluster yet; this is what the inventory names.`;
    case 'unknown':
      return 'The run did not observe the cluster; this is what the inventory names.';
  }
}

function row(machine: Machine, role: string, system: string, version: string): Html {
  const { name, address, standing, notes, etcd } = machine;
  const [tone, mark, word] = STANDINGS[standing];
  return html`<tr>
    <th scope="row">${said(name)}</th>
    <td>${role}</td>
    <td>${said(address)}</td>
    <td>${sign(tone, mark)} ${said([word, ...notes].join(', '))}</td>
    <td>${etcd ?? ''}</td>
    <td>${said(system)}</td>
    <td>${said(version)}</td>
  </tr> `;
}

/** The cluster as a picture, and in words. */
export function cluster(view: ClusterView): Html {
  const { balancers, controls, etcdHosts, workers } = view;
  const rows = [
    ...balancers.map((one) => row(one, 'load balancer', '', '')),
    ...controls.map((one) => row(one, 'control plane', '', '')),
    ...etcdHosts.map((one) => row(one, 'etcd', '', '')),
    ...workers.flatMap(({ machines, system, version }) => machines.map((one) => row(one, 'worker', system, version))),
  ];
  return card(
    'cluster',
    'The cluster',
    stateText(view),
    html`${PICTURES.map(([name, width]) => clusterPicture(view, width, name))}
      <details>
        <summary>The hosts, as a table</summary>
        <div class="scroll" tabindex="0" role="group" aria-label="The hosts of the cluster">
          <table>
            <thead>
              <tr>
                <th scope="col">Host</th>
                <th scope="col">Role</th>
                <th scope="col">Address</th>
                <th scope="col">State</th>
                <th scope="col">etcd</th>
                <th scope="col">System</th>
                <th scope="col">Kubelet</th>
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>
        </div>
      </details>`,
  );
}
