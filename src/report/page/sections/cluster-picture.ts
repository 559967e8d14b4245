import { counted } from '../../host-list.ts';
import type { ClusterView, Machine, Workers } from '../cluster-view.ts';
import { html, type Html } from '../html.ts';
import { machinesPart } from './machines-part.ts';
import { fitted, frame, GAP, type Part } from './picture-part.ts';

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

/** What stands below each other, and is connected by lines. */
const chainOf = (view: ClusterView, width: number): readonly Part[] => [
  endpointPart(view, width),
  ...framed(counted(view.balancers.length, 'load balancer'), '', view.balancers, width),
  ...framed(counted(view.controls.length, 'control plane'), ETCD[view.etcd], view.controls, width),
  ...framed(counted(view.etcdHosts.length, 'etcd host'), '', view.etcdHosts, width),
];

/**
 * The cluster as a picture that is `width` px wide: the endpoint, balancers, control planes, etcd, and workers by system and
 * version, from top to bottom.
 */
export function clusterPicture(view: ClusterView, width: number, name: string): Html {
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
