/**
 * A host is changed only after its machine has proved that it is its node. The inventory exchanges addresses, as an edit or a name server does: host
 * keys are right, and the machines are wrong. Then a node that SSH does not reach, and two operators at once. Three control planes and two
 * workers; the tests build on each other.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROGRAM, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { onTerminal } from '../pseudo-terminal.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { nameVersion, versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';

const [cp1, cp2, cp3, w1, w2] = ['rmcp1', 'rmcp2', 'rmcp3', 'rmw1', 'rmw2'] as const;
const CONTROL_PLANES = [cp1, cp2, cp3];
const HOSTS = [...CONTROL_PLANES, w1, w2];
/** Those that the inventory names after the worker was removed. */
const LEFT = [...CONTROL_PLANES, w1];
const MINUTES = 60_000;
const [OLD, NEW] = KUBERNETES;

let cluster: Stacked;

beforeAll(async () => {
  await lab.up(HOSTS, { nics: 2 });
  cluster = await stacked('rightmachine', 7639, HOSTS);
  timed('up', await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

/** What no refused command may change: nodes, their cordons and notes, pods that stay, and etcd's members. `up` may have spread CoreDNS just before. */
const state = async (): Promise<unknown> => [
  await kubectl(
    cp1,
    `get nodes -o go-template='{{range .items}}{{.metadata.name}} {{.metadata.uid}} {{.spec.unschedulable}} {{range $key, $value := .metadata.annotations}}{{$key}} {{end}}{{"\\n"}}{{end}}'`,
  ),
  await kubectl(
    cp1,
    `get pods -A -o go-template='{{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.uid}} {{.spec.nodeName}}{{"\\n"}}{{end}}{{end}}'`,
  ),
  await membersOf(cluster),
];

/** The inventory gives these two hosts each other's address of SSH. */
async function exchange(one: string, other: string): Promise<void> {
  const { hosts } = await lab.inventory(HOSTS);
  const addressOf = (name: string) => hosts.find((host) => host.name === name)!.address;
  const exchanged = new Map([
    [one, addressOf(other)],
    [other, addressOf(one)],
  ]);
  await cluster.name(HOSTS, {
    hosts: hosts.map((host) => ({ ...host, address: exchanged.get(host.name) ?? host.address })),
  });
}

function isRefused(ran: Ran, host: string, machine: string): void {
  expect(ran.code, ran.stdout + ran.stderr).toBe(7);
  expect(ran.stderr).toMatch(
    new RegExp(
      `the machine at \\S+ is not ${host}: its kubelet has the client certificate of node ${machine} \\(this machine is `,
    ),
  );
  expect(ran.stderr).toContain(`; node ${host} is ${lab.hostSettings(host).internalAddress!}, machine-id `);
}

describe.each([
  ['two workers', w1, w2],
  ['two control planes', cp2, cp3],
] as const)('the addresses of %s are exchanged', (_, one, other) => {
  let before: unknown;
  beforeAll(async () => {
    before = await state();
    await exchange(one, other);
  });

  test.each([
    ['remove', one, '--yes'],
    ['reset', '--hosts', one, '--yes-destroy', one],
    ['reboot', one, '--yes'],
    ['upgrade', '--yes'],
    ['certs', 'renew-ca', 'ca', '--plan'],
    ['up', '--yes'],
  ])('`%s %s` is refused, and both machines are named', async (...args) => {
    isRefused(await cluster.run(...args), one, other);
  });

  test('nothing was drained or changed, and with the right addresses `up` has nothing to do', async () => {
    expect(await state()).toEqual(before);
    await cluster.name(HOSTS);
    unchanged(await cluster.up());
  });
});

test('a host is not dead while its node is Ready, though SSH does not reach it', async () => {
  const { hosts } = await lab.inventory(HOSTS);
  await cluster.name(HOSTS, {
    hosts: hosts.map((host) => (host.name === w2 ? { ...host, address: '127.0.0.9' } : host)),
  });
  const ran = await cluster.run('remove', w2, '--dead', w2, '--yes');
  console.log(`${ran.seconds.toFixed(0)} s\n${ran.stderr}`);
  expect(ran.code, ran.stderr).toBe(7);
  expect(ran.stderr).toContain(`${w2}: refused: --dead says that this host is gone, and node ${w2} is Ready`);
});

describe('a node that the inventory does not name, and that is Ready', () => {
  const labels = { app: 'kept' };
  beforeAll(async () => {
    const image = (
      await lab.inside(w2, `grep -o '[^"]*/pause:[0-9.]*' /etc/containerd/config.toml | head -n 1`)
    ).stdout.trim();
    const items = [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'kept' },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { nodeSelector: { 'kubernetes.io/hostname': w2 }, containers: [{ name: 'pause', image }] },
          },
        },
      },
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'keep' },
        spec: { minAvailable: 1, selector: { matchLabels: labels } },
      },
    ];
    await kubectl(cp1, 'apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await kubectl(cp1, 'rollout status deployment/kept --timeout 300s');
    await cluster.name([...CONTROL_PLANES, w1]);
  });

  test('stays, and takes pods again, while a budget keeps a pod of it', async () => {
    const ran = await cluster.run('remove', w2, '--yes', '--drain-timeout', '30s');
    console.log(ran.stderr);
    expect(ran.code, ran.stderr).toBe(4);
    expect(ran.stderr).toMatch(/default\/kept-\S+ \(kept by PodDisruptionBudget keep, which allows no disruption/);
    expect(await kubectl(cp1, `get node ${w2} -o jsonpath='{.spec.unschedulable}'`)).toBe('');
  });

  test('is drained through the API and deleted when the budget allows it, and its machine is named as not cleaned', async () => {
    await kubectl(cp1, 'delete poddisruptionbudget keep');
    const ran = timed('remove', await cluster.run('remove', w2, '--yes'));
    expect(ran.stderr).toContain(`drain ${w2} (found Ready)`);
    expect(ran.stderr).toContain(`kbuild does not clean ${w2}`);
    expect(Object.keys(await nodes(cp1)).sort()).toEqual([...CONTROL_PLANES, w1].sort());
    await lab.inside(w2, 'systemctl disable --now kubelet');
  });
});

describe('two operators: a command that waits for its answer is refused when a rotation has begun meanwhile', () => {
  /** A run of kbuild in a terminal, which shows its question. */
  async function asked(question: string, ...args: readonly string[]) {
    const run = onTerminal(
      [process.execPath, PROGRAM, ...args, '-i', cluster.file, '--kubeconfig', cluster.kubeconfig],
      { HOME: process.env['HOME'] ?? '', XDG_STATE_HOME: process.env['XDG_STATE_HOME'] ?? '' },
      { columns: 200, rows: 50 },
    );
    await run.shows(question, 10 * MINUTES);
    return run;
  }
  const rotate = (authority: string, ...args: readonly string[]): Promise<Ran> =>
    cluster.run('certs', 'rotate-ca', authority, '--yes', '--kubeconfig', cluster.kubeconfig, ...args);

  test('another rotation', async () => {
    const first = await asked('Have everything trust a new authority', 'certs', 'rotate-ca', 'ca', '--until', 'trust');
    timed('the other rotation', await rotate('front-proxy-ca', '--until', 'trust'));
    first.type('y\r');
    expect(await first.ended, first.shown()).toBe(7);
    expect(first.shown()).toContain('a rotation of front-proxy-ca is under way');
    ok(await rotate('front-proxy-ca', '--rollback'));
    unchanged(await cluster.up());
  });

  test('an upgrade, which has moved nothing to the new version', async () => {
    await nameVersion(cluster, LEFT, NEW.version);
    const upgrade = await asked('Carry out this upgrade?', 'upgrade');
    timed('the rotation', await rotate('ca', '--until', 'trust'));
    upgrade.type('y\r');
    expect(await upgrade.ended, upgrade.shown()).toBe(7);
    expect(upgrade.shown()).toContain('refused: kubeadm cannot upgrade while the authority ca is rotated');
    const old = [`v${OLD.version}`];
    expect(await versionsOf(cp1)).toMatchObject({ kubelet: old, apiServer: old });
    ok(await rotate('ca', '--rollback'));
    await nameVersion(cluster, LEFT, OLD.version);
    unchanged(await cluster.up());
  });
});
