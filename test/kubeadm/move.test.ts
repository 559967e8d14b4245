import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Kind } from '../../src/cluster/fleet/fleet.ts';
import { plan } from '../../src/engine/plan.ts';
import type { Step } from '../../src/engine/step.ts';
import { Refused } from '../../src/errors.ts';
import { endpointProved, kubeProxyLed } from '../../src/kubeadm/endpoint-objects.step.ts';
import { endpointNoted, endpointPublished, withEndpoint } from '../../src/kubeadm/endpoint.step.ts';
import { kubeconfigsLed } from '../../src/kubeadm/kubeconfigs.step.ts';
import { cp1, w1 } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';
import { does, fleetOf, fresh, hosts, inventory, NEW, ok, OLD, type World } from './endpoint-world.ts';

const onHosts = [endpointProved, kubeconfigsLed];
const inCluster = [endpointPublished, kubeProxyLed(inventory), endpointNoted];

const phases = [
  { name: 'hosts', title: '', kind: 'linux' as const, hosts, steps: onHosts },
  { name: 'cluster', title: '', kind: 'cluster' as const, hosts: [cp1], steps: inCluster },
];

const changes = (world: World) => plan(phases, inventory, fleetOf(world)).changes;
const summaries = (world: World): readonly string[] => changes(world).map(({ change }) => change.summary);

/** Carries out the first change that the world wants of this step. */
async function apply(world: World, step: string, host?: string): Promise<void> {
  const found = changes(world).find((one) => one.step === step && (host === undefined || one.host === host));
  const { on, sent } = recordingOn();
  await found!.change.apply!(on);
  for (const one of sent) if (one.kind === 'run' || one.kind === 'job') does(world, one.host, one.script);
}

describe('a cluster whose endpoint moves', () => {
  test('has all its places led to the new one; what a control plane runs keeps its own API server', () => {
    expect(summaries(fresh())).toEqual([
      `lead admin.conf, super-admin.conf of cp1 to https://${NEW} (found https://${OLD})`,
      `lead kubelet.conf of w1 to https://${NEW} (found https://${OLD})`,
      `lead hosts that join demo to https://${NEW} (found https://${OLD} in cluster-info)`,
      `lead kube-proxy to https://${NEW}, and start its pods again (found https://${OLD})`,
      `note ${NEW} as the endpoint of demo in kubeadm-config (found ${OLD})`,
    ]);
  });

  test('comes to an end in whatever order the places are led, and the note is refused before the last of them', async () => {
    const first = [
      ['kubeconfigs-led', 'cp1'],
      ['kubeconfigs-led', 'w1'],
      ['endpoint-published', undefined],
      ['kube-proxy-led', undefined],
    ] as const;
    for (let shift = 0; shift < first.length; shift++) {
      const world = fresh();
      for (const [step, host] of [...first.slice(shift), ...first.slice(0, shift)]) {
        await expect(apply(world, 'endpoint-noted')).rejects.toThrow(/the old endpoint is still in use/);
        await apply(world, step, host);
      }
      await apply(world, 'endpoint-noted');
      expect(summaries(world)).toEqual([]);
      expect(world.confs['cp1']!['kubelet.conf']!.server).toBe('https://10.0.0.11:6443');
    }
  });

  test('keeps everything where it is while the new endpoint does not serve one host', async () => {
    const world = fresh();
    world.answers['w1'] = { isHeld: false, whose: 'unknown', answer: 'no route to host' };
    expect(summaries(world)).toContain(`wait until ${NEW} serves the API to w1 (found: no route to host)`);
    for (const step of ['kubeconfigs-led', 'endpoint-published', 'kube-proxy-led', 'endpoint-noted']) {
      const before = structuredClone(world);
      const error = await apply(world, step).catch((thrown: unknown) => thrown);
      expect(error, step).toBeInstanceOf(Refused);
      expect((error as Refused).message).toContain('it does not serve this cluster to w1 (no route to host)');
      expect(world).toEqual(before);
    }
  });

  test('has a kubelet started again that a cut-off run has only given the new file', () => {
    const world = fresh();
    world.confs['w1']!['kubelet.conf'] = { server: `https://${NEW}`, from: 200 };
    const summary = `lead kubelet.conf of w1 to https://${NEW} (found its kubelet older than the file)`;
    expect(summaries(world)).toContain(summary);
    world.kubelets['w1'] = 201;
    expect(summaries(world)).not.toContain(summary);
  });

  test('waits until every kube-proxy has started again, and has them start where a cut-off run has not', () => {
    const world = fresh();
    world.kubeProxy = `https://${NEW}`;
    const lead = `lead kube-proxy to https://${NEW}, and start its pods again (found pods older than the ConfigMap)`;
    expect(summaries(world)).toContain(lead);
    world.startedFor = NEW;
    world.updated = 1;
    expect(summaries(world)).toContain(
      'wait until every kube-proxy has started again (found 1 of 2 started again, 1 not available)',
    );
    world.updated = 2;
    expect(summaries(world).join()).not.toContain('kube-proxy');
  });
});

test('a worker that came back after the move is led by the same command', () => {
  const world = fresh();
  Object.assign(world, { announced: `https://${NEW}`, kubeProxy: `https://${NEW}`, noted: NEW });
  for (const name of ['admin.conf', 'super-admin.conf']) world.confs['cp1']![name] = { server: `https://${NEW}` };
  world.answers['cp1'] = 'not asked';
  expect(summaries(world)).toEqual([`lead kubelet.conf of w1 to https://${NEW} (found https://${OLD})`]);
});

test('what names a balancer on the host itself stays', () => {
  const world = fresh();
  world.confs['w1']!['kubelet.conf'] = { server: 'https://127.0.0.1:6443' };
  world.kubeProxy = 'https://localhost:6443';
  expect(summaries(world).join('\n')).not.toMatch(/kubelet\.conf of w1|kube-proxy/);
});

test('a control plane whose kubelet names the old endpoint is led, and its kubelet starts again', () => {
  const world = fresh();
  const name = 'k8s.example:6443';
  world.noted = name;
  world.confs['cp1']!['kubelet.conf'] = { server: `https://${name}` };
  world.confs['cp1']!['scheduler.conf'] = { server: `https://${name}` };
  const found = changes(world).find(({ host, step }) => host === 'cp1' && step === 'kubeconfigs-led')!;
  expect(found.change).toMatchObject({
    summary: expect.stringContaining('scheduler.conf, kubelet.conf of cp1') as string,
    disrupts: true,
  });
  expect(found.change.restarts!.map(({ what }) => what)).toEqual(['kubelet', 'kube-scheduler']);
});

test('only a file is changed where no kubelet reads it: nothing restarts', () => {
  const found = changes(fresh()).find(({ host }) => host === 'cp1')!;
  expect(found.change.disrupts).toBeUndefined();
  expect(found.change.restarts).toEqual([]);
});

test('kubeadm’s configuration keeps its names and the old endpoint among them, for control planes that join later', () => {
  const text =
    'apiServer:\n  certSANs:\n    - theirs.example\n  extraArgs: []\nclusterName: demo\ncontrolPlaneEndpoint: old.example:6443\n';
  expect(parse(withEndpoint(text, { inventory, old: 'old.example:6443' }))).toEqual({
    clusterName: 'demo',
    controlPlaneEndpoint: NEW,
    apiServer: { extraArgs: [], certSANs: ['theirs.example', '10.0.0.100', 'old.example'] },
  });
});

test('a host that has yet to join is asked for nothing', () => {
  const target = { inventory, host: w1, fleet: fleetOf(fresh()) };
  const facts = { ...(target.fleet.hosts[1]!.facts as object), kubernetesTraces: new Set(), packages: new Map() };
  for (const step of onHosts as readonly Step<Kind>[])
    expect(step.diff({ ...target, facts } as never), step.name).toEqual([]);
  expect(ok).toBeDefined();
});
