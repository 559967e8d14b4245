import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { up } from '../../src/commands/up.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import { UP_PHASES } from '../../src/session/command.ts';
import { checkSelection } from '../../src/session/selection.ts';
import { Secret } from '../../src/shell/secret.ts';
import { inventory, linuxHost, windowsHost } from '../fakes/inventory.ts';

const served = { kubelet: { config: { serverTLSBootstrap: true }, extraArgs: [] } } as never;

/** An inventory with everything for which `up` has a phase. */
const rich = inventory({
  etcd: { topology: 'built', endpoints: ['https://10.0.0.41:2379'] },
  loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 100 },
  files: [{ path: '/etc/kubernetes/audit.yaml', content: Secret.of('audit'), mode: '0600', restart: [] }] as never,
  hosts: [
    linuxHost('cp1', { role: 'control-plane' }),
    ...Array.from({ length: 20 }, (_, index) => linuxHost(`w${String(index + 1)}`, served)),
    linuxHost('etcd1', { role: 'etcd' }),
    linuxHost('lb1', { role: 'load-balancer' }),
    windowsHost('win1'),
  ],
});
const phases = up(rich);

test('--phase accepts every phase of `up`, and UP_PHASES has them in their order', () => {
  expect(phases.map(({ name }) => name)).toEqual(UP_PHASES);
  expect(phases.filter(({ hosts }) => hosts.length === 0)).toEqual([]);
  expect(() => {
    checkSelection(rich, { phase: [...UP_PHASES] });
  }).not.toThrow();
});

test('each phase of `up` is one line of src/commands/up.phases.ts, in the order in which it runs', () => {
  const source = readFileSync(new URL('../../src/commands/up.phases.ts', import.meta.url), 'utf8');
  const phase = /^ +(?:\.\.\.ifAny\()?(?:linux|windows|cluster|(?:\.{3})?rolling\('[a-z]+', inTurn)\('([a-z-]+)', /gm;
  const lines = [...source.matchAll(phase)].map(([, name]) => name);
  // Two lists that other commands have, too.
  const shared = ['kubelet-certificates', 'verify', 'windows-verify', 'settled'];
  expect(lines).toEqual(UP_PHASES.filter((name) => !shared.includes(name)));
});

/** Where a phase runs, as the page says it. */
const placeOf = ({ kind, concurrency, overlaps }: Phase): string => {
  if (kind === 'cluster') return 'once';
  const hosts = concurrency === 1 ? 'one host after another' : 'several hosts at once';
  return overlaps === true ? `${hosts}, overlaps` : hosts;
};

test('docs/how-it-works.md lists the phases of `up` in their order, with their titles and where they run', () => {
  const page = readFileSync(new URL('../../docs/how-it-works.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('## The phases of `up`'), page.indexOf('## The phases of `upgrade`'));
  const rows = [...section.matchAll(/^\| `([a-z-]+)` +\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].map((row) => row.slice(1));
  expect(rows).toEqual(phases.map((phase) => [phase.name, phase.title, placeOf(phase)]));
});
