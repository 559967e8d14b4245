import { describe, expect, test } from 'vitest';
import type { ClusterUp, NodeView } from '../../src/cluster/fleet/view.ts';
import { upgrade } from '../../src/commands/upgrade.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { atVersion } from '../../src/upgrade/at-version.value.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import type { Sent } from '../fakes/on.ts';
import { started, up } from '../windows/fleets.ts';
import { filesOf, type Machine } from '../windows/host/machine.ts';
import type { SimulatedFleet } from '../windows/simulated-fleet.ts';

const OLD = '1.34.4';
const NEW = '1.37.1';

/** The annotations and the cordon of the node, after what the control plane was asked. */
function noteOf(sent: readonly Sent[]): Pick<NodeView, 'annotations' | 'unschedulable'> {
  const drained = sent.findLastIndex((one) => one.kind === 'job' && one.name === 'drain');
  const taking = sent.findLastIndex((one) => one.kind === 'run' && one.script.includes('patch node'));
  // Once before the node takes pods again, once when its workloads are back.
  const waits = sent.filter((one, at) => at > taking && one.kind === 'job' && one.name === 'workloads-back').length;
  const missed = drained >= 0 && (drained > taking || waits === 0) ? { 'kbuild.dev/workloads': 'none' } : {};
  if (drained <= taking) return { annotations: missed, unschedulable: false };
  return {
    annotations: { 'kbuild.dev/drained': 'true', 'kbuild.dev/cordoned': 'true', ...missed },
    unschedulable: true,
  };
}

/** A fleet whose Windows host has joined at the old version, and whose API server then got the new one. */
async function joinedBefore() {
  let api = OLD;
  const made: { machine?: Machine } = {};
  let reported = OLD;
  const upgrades: string[] = [];
  const seen = (cluster: ClusterUp, sent: readonly Sent[]): ClusterUp => {
    const { machine } = made;
    const service = machine?.services.get('kubelet');
    if (machine !== undefined && service?.state === 'Running')
      reported = /v(\d+\.\d+\.\d+)/.exec(filesOf(machine).text('C:\\k\\kubelet.exe') ?? '')?.[1] ?? reported;
    const nodes = cluster.nodes.map((node) =>
      node.name === 'win1'
        ? { ...node, kubeletVersion: `v${reported}`, ...noteOf(sent) }
        : { ...node, kubeletVersion: `v${api}` },
    );
    return { ...cluster, version: api, nodes };
  };
  const { downloads } = windowsHost('win1').windows;
  const fleet = await started({
    seen,
    world: { upgrades },
    windows: { downloads: { ...downloads, kubernetes: 'https://dl.k8s.io/v{version}/bin/windows/amd64' } },
    inventory: { kubernetes: { ...inventoryOf().kubernetes, version: NEW, minor: '1.37' } },
  });
  const { machine } = fleet.simulated;
  made.machine = machine;
  const { outcome } = await fleet.run(up, undefined, atVersion(fleet.inventory, OLD));
  expect([...outcome.failures.values()].map(({ message }) => message)).toEqual([]);
  api = NEW;
  return { fleet, machine, upgrades };
}

/** The phases of an upgrade on Windows hosts. */
async function windowsUpgrade(fleet: SimulatedFleet): Promise<(inventory: Inventory) => readonly Phase[]> {
  const seen = (await fleet.observed()).fleet();
  return (inventory) =>
    upgrade(inventory, seen, {
      hops: [{ from: OLD, version: NEW }],
      keep: () => Promise.resolve(),
      drain: { timeoutMs: 1000 },
      losesPods: false,
      atOnce: 1,
    }).filter(({ kind }) => kind === 'windows');
}

describe('a Windows worker of a cluster whose API server is newer', () => {
  test('is upgraded over SSH as it was planned, and a second run changes nothing', async () => {
    const { fleet, machine, upgrades } = await joinedBefore();
    const before = fleet.events.length;
    const { planned, outcome } = await fleet.run(await windowsUpgrade(fleet));
    expect([...outcome.failures.values()].map(({ message }) => message)).toEqual([]);
    expect(planned).toEqual([
      `download kubeadm, kubelet of Kubernetes ${NEW} (found none)`,
      'pull registry.k8s.io/pause:3.10.2, kube-proxy, flannel, as far as they are missing',
      `install kubeadm ${NEW} (found ${OLD})`,
      'drain win1 (found Ready)',
      `upgrade the kubelet of win1 from ${OLD} to ${NEW}`,
      'let win1 take pods again',
      'wait until workloads that left win1 have as many ready pods as before',
      'remove C:\\k\\upgrade from win1',
    ]);
    expect(fleet.events.slice(before).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
    expect(upgrades).toHaveLength(1);
    expect(machine.services.get('kubelet')?.state).toBe('Running');
    expect(filesOf(machine).text('C:\\k\\kubelet.exe')).toContain(`v${NEW}`);
    expect((await fleet.run(await windowsUpgrade(fleet))).planned).toEqual([]);
    expect((await fleet.run(up)).planned).toEqual([]);
  }, 120_000);

  test('is left as it is by `up`', async () => {
    const { fleet, machine } = await joinedBefore();
    expect((await fleet.run(up)).planned).toEqual([]);
    expect(filesOf(machine).text('C:\\k\\kubelet.exe')).toContain(`v${OLD}`);
  });
});
