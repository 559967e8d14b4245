import type { ClusterView, Machine } from '../cluster-view.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../words.ts';
import { clusterPicture } from './cluster-picture.ts';
import { card, said, sign } from './signs.ts';
import { STANDINGS } from './standings.ts';

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
