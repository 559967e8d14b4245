import { expect, test } from 'vitest';
import { up } from '../../src/commands/up.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { Secret } from '../../src/shell/secret.ts';
import { inventory, linuxHost, windowsHost } from '../fakes/inventory.ts';
import { calicoNetwork } from '../fakes/network.ts';

const controls = ['cp1', 'cp2', 'cp3'].map((name) => linuxHost(name, { role: 'control-plane' }));
const workers = Array.from({ length: 20 }, (_, index) => linuxHost(`w${String(index + 1)}`));

/** A phase with everything that decides what runs where and when. */
const described = ({ name, title, kind, hosts, steps, concurrency, overlaps, verifies }: Phase): string =>
  [
    `${name}: ${title}`,
    `  ${kind}: ${hosts.map((host) => host.name).join(' ')}`,
    ...(concurrency === undefined ? [] : [`  concurrency: ${String(concurrency)}`]),
    ...(overlaps === undefined ? [] : ['  overlaps']),
    ...(verifies === undefined ? [] : ['  verifies']),
    ...steps.map((step) => `  - ${step.name}`),
    '',
  ].join('\n');

test.each<[string, Inventory]>([
  ['stacked-etcd', inventory({ loadBalancer: { kind: 'none' }, hosts: [...controls, ...workers] })],
  [
    'built-etcd-with-load-balancers-and-windows',
    inventory({
      etcd: { topology: 'built', endpoints: ['https://10.0.0.41:2379'] },
      loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 100 },
      files: [{ path: '/etc/kubernetes/audit.yaml', content: Secret.of('audit'), mode: '0600', restart: [] }] as never,
      hosts: [
        ...controls,
        ...workers,
        linuxHost('etcd1', { role: 'etcd' }),
        linuxHost('lb1', { role: 'load-balancer' }),
        windowsHost('win1'),
      ],
    }),
  ],
  [
    'external-etcd-with-calico',
    inventory({
      etcd: {
        topology: 'external',
        endpoints: ['https://10.0.0.41:2379'],
        ca: 'CA',
        cert: 'CERT',
        key: Secret.of('KEY'),
      },
      network: calicoNetwork(),
      hosts: [controls[0]!, workers[0]!],
    }),
  ],
])('up with %s runs these steps, in this order', async (name, given) => {
  await expect(up(given).map(described).join('\n')).toMatchFileSnapshot(`../golden/up/${name}.txt`);
});
