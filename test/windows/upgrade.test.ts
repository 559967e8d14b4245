import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { upgrade } from '../../src/commands/upgrade.phases.ts';
import { versionsOf } from '../../src/report/versions.ts';
import { atVersion } from '../../src/upgrade/at-version.value.ts';
import { upgradeRefusals } from '../../src/upgrade/upgrade.refusal.ts';
import { clusterOf, cp1, hostOf, inventoryOf, nodeOf } from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';
import { addService, filesOf } from './host/machine.ts';
import {
  carryOut,
  copied,
  due,
  fleetNow,
  installed,
  joinedBefore,
  NEW,
  OLD,
  type UpgradedHost,
  windowsUp,
  windowsUpgrade,
} from './upgraded-host.ts';

const summaries = (found: ReturnType<typeof due>): readonly string[] => found.map(({ change }) => change.summary);

describe('a Windows worker that is older than the API server', () => {
  test('is upgraded while it is drained, and then has no pending changes', async () => {
    const it = await joinedBefore();
    expect(await carryOut(it, windowsUpgrade(it))).toMatchInlineSnapshot(`
      [
        "download kubeadm, kubelet of Kubernetes 1.37.1 (found none)",
        "pull registry.k8s.io/pause:3.10.2, kube-proxy:v1.37.1-flannel-hostprocess, f, as far as they are missing",
        "install kubeadm 1.37.1 (found 1.34.4)",
        "drain win1 (found Ready)",
        "upgrade the kubelet of win1 from 1.34.4 to 1.37.1",
        "let win1 take pods again",
        "wait until workloads that left win1 have as many ready pods as before",
        "bring kube-proxy of Windows hosts to kube-proxy:v1.37.1-flannel-hostprocess (found kube-proxy:v1.34.4-flannel-hostprocess)",
        "remove C:\\k\\upgrade from win1",
      ]
    `);
    expect([installed(it, 'kubeadm'), installed(it, 'kubelet')]).toEqual([NEW, NEW]);
    expect(it.node).toMatchObject({ kubeletVersion: `v${NEW}`, unschedulable: false, annotations: {} });
    expect(summaries(due(it, windowsUpgrade(it)))).toEqual([]);
    expect(summaries(due(it, windowsUp(it)))).toEqual([]);
  });

  test('has everything in the plan that is then done', async () => {
    const it = await joinedBefore();
    const planned = due(it, windowsUpgrade(it)).filter(({ change }) => change.apply !== undefined);
    expect(await carryOut(it, windowsUpgrade(it))).toEqual(summaries(planned));
  });

  test('gets its programs before the drain, and stops the kubelet only to put its program in place', async () => {
    const it = await joinedBefore();
    await carryOut(it, windowsUpgrade(it));
    const { ran } = it;
    const programs = ran.filter(({ name }) => name === 'windows/install-program.ps1');
    expect(
      programs.map(({ params: { Target, Url = '', Uploaded = '', Stop } }) => [Target, Url, Uploaded, Stop]),
    ).toEqual([
      ['C:\\k\\upgrade\\1.37.1\\kubeadm.exe', 'https://dl.k8s.io/v1.37.1/bin/windows/amd64/kubeadm.exe', '', []],
      ['C:\\k\\upgrade\\1.37.1\\kubelet.exe', 'https://dl.k8s.io/v1.37.1/bin/windows/amd64/kubelet.exe', '', []],
      ['C:\\k\\kubeadm.exe', '', 'C:\\k\\upgrade\\1.37.1\\kubeadm.exe', []],
      ['C:\\k\\kubelet.exe', '', 'C:\\k\\upgrade\\1.37.1\\kubelet.exe', ['kubelet']],
    ]);
    expect(ran.slice(2).map(({ name }) => name.replace(/^windows\/(.*)\.ps1$/, '$1'))).toEqual([
      'pull-images',
      'install-program',
      'kubeadm',
      'install-program',
      'register-service',
      'set-service-state',
      'remove-paths',
    ]);
  });

  test('has the images of the new version before it is drained, and pulls none that it has', async () => {
    const it = await joinedBefore();
    it.machine.extra.set('images', ['registry.k8s.io/pause:3.10.2']);
    const done = await carryOut(it, windowsUpgrade(it));
    const pulled = done.findIndex((summary) => summary.startsWith('pull '));
    expect(pulled).toBeGreaterThan(-1);
    expect(pulled).toBeLessThan(done.indexOf('drain win1 (found Ready)'));
    expect(it.machine.extra.get('images')).toContain(`kube-proxy:v${NEW}-flannel-hostprocess`);
  });

  test('stays as it is where an image cannot be pulled', async () => {
    const it = await joinedBefore();
    it.machine.extra.set('unpullable', `kube-proxy:v${NEW}-flannel-hostprocess`);
    await expect(carryOut(it, windowsUpgrade(it))).rejects.toThrow('not found');
    expect(installed(it, 'kubelet')).toBe(OLD);
    expect(it.node).not.toHaveProperty('unschedulable', true);
  });

  test('runs `kubeadm upgrade node` with the patches of the inventory', async () => {
    const it = await joinedBefore();
    const inventory = {
      ...it.inventory,
      kubeadm: { ...it.inventory.kubeadm, patches: { 'kubeletconfiguration0.yaml': 'maxPods: 9' } },
    };
    const patched = { ...it, inventory };
    await carryOut(patched, windowsUpgrade(patched));
    expect(it.upgrades.map((text) => parse(text) as object)).toEqual([
      {
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        kind: 'UpgradeConfiguration',
        node: { ignorePreflightErrors: [], patches: { directory: 'C:\\etc\\kubernetes\\patches' } },
      },
    ]);
  });

  test('loses the flags with which the newer kubelet does not start, before it starts', async () => {
    const it = await joinedBefore();
    expect(it.machine.services.get('kubelet')!.path).toContain('--pod-infra-container-image');
    await carryOut(it, windowsUpgrade(it));
    expect(it.machine.services.get('kubelet')!.path).not.toContain('--pod-infra-container-image');
    expect(filesOf(it.machine).text('C:\\var\\lib\\kubelet\\kubeadm-flags.env')).toBe(
      'KUBELET_KUBEADM_ARGS="--hostname-override=win1"\n',
    );
  });

  test('keeps its programs as they are at `up`', async () => {
    const it = await joinedBefore();
    expect(summaries(due(it, windowsUp(it)))).toEqual([]);
    it.api = OLD;
    expect(summaries(due(it, windowsUp(it), atVersion(it.inventory, OLD)))).toEqual([]);
  });

  test('is shown with the versions of its programs', async () => {
    const it = await joinedBefore();
    const seen = fleetNow(it);
    if (seen.cluster.state !== 'up') throw new Error('the API is down');
    expect(versionsOf(it.inventory, seen, seen.cluster).find(({ name }) => name === 'win1')).toMatchObject({
      kubelet: OLD,
      installed: { kubelet: OLD, kubeadm: OLD, kubectl: '' },
    });
  });
});

describe('kube-proxy of Windows hosts', () => {
  test('that is a service is replaced on the drained host, and runs again', async () => {
    const joined = await joinedBefore();
    const it = { ...joined, inventory: { ...joined.inventory, network: mixedFlannel({ services: true }) } };
    filesOf(it.machine).put('C:\\k\\kube-proxy.exe', `MZ Kubernetes v${OLD}\nEND`);
    addService(it.machine, { name: 'flanneld', path: 'C:\\k\\nssm.exe', state: 'Running' });
    const done = await carryOut(it, windowsUpgrade(it));
    expect(done).toContain(`upgrade kube-proxy of win1 to ${NEW} (found ${OLD})`);
    expect(done.indexOf(`upgrade kube-proxy of win1 to ${NEW} (found ${OLD})`)).toBeLessThan(
      done.indexOf('let win1 take pods again'),
    );
    expect(installed(it, 'kube-proxy')).toBe(NEW);
    expect(it.machine.services.get('kube-proxy')?.state).toBe('Running');
  });

  test('that is a pod follows when the workers are through', async () => {
    const it = await joinedBefore();
    const done = await carryOut(it, windowsUpgrade(it));
    expect(done.indexOf('let win1 take pods again')).toBeLessThan(
      done.findIndex((summary) => summary.startsWith('bring kube-proxy of Windows hosts')),
    );
    expect(it.kubeProxyImage).toBe(`kube-proxy:v${NEW}-flannel-hostprocess`);
  });

  test('keeps the version of the cluster at `up`, also where the inventory names a newer one', async () => {
    const { inventory } = await joinedBefore();
    expect(atVersion(inventory, OLD).network.windows?.kubeProxyImage).toBe(`kube-proxy:v${OLD}-flannel-hostprocess`);
    const own = { ...inventory, network: mixedFlannel({ kubeProxyImage: 'mine/kube-proxy:latest' }) };
    expect(atVersion(own, OLD).network.windows?.kubeProxyImage).toBe('mine/kube-proxy:latest');
  });
});

describe('an upgrade that was cut off', () => {
  test('after any of its changes is finished by the same command, drained once', async () => {
    const joined = await joinedBefore();
    const whole = copied(joined);
    const all = await carryOut(whole, windowsUpgrade(whole));
    for (let cut = 1; cut < all.length; cut++) {
      const it = copied(joined);
      const first = await carryOut(it, windowsUpgrade(it), it.inventory, cut);
      const second = await carryOut(it, windowsUpgrade(it));
      const done = [...first.slice(0, cut), ...second];
      expect(
        done.filter((summary) => summary.startsWith('drain ')),
        `cut after ${first[cut - 1]!}`,
      ).toHaveLength(1);
      expect(installed(it, 'kubelet')).toBe(NEW);
      expect(it.node).toMatchObject({ unschedulable: false, annotations: {} });
      expect(summaries(due(it, windowsUpgrade(it)))).toEqual([]);
    }
  });

  test('between the new program and its start is finished: kubeadm again, no second download, and the kubelet runs', async () => {
    const it = await joinedBefore();
    const files = filesOf(it.machine);
    files.put('C:\\k\\kubeadm.exe', `MZ v${NEW}\nEND`);
    files.put('C:\\k\\kubelet.exe', `MZ Kubernetes v${NEW}\nEND`);
    files.put(`C:\\k\\upgrade\\${NEW}\\images.txt`, '');
    it.machine.services.get('kubelet')!.state = 'Stopped';
    it.node = {
      kubeletVersion: `v${OLD}`,
      unschedulable: true,
      annotations: { 'kbuild.dev/drained': 'true', 'kbuild.dev/cordoned': 'true' },
    };
    const done = await carryOut(it, windowsUpgrade(it));
    expect(done.slice(0, 1)).toEqual([`upgrade the kubelet of win1 from ${OLD} to ${NEW}`]);
    expect(it.ran.filter(({ name }) => name === 'windows/install-program.ps1')).toEqual([]);
    expect(it.machine.services.get('kubelet')!.state).toBe('Running');
    expect(done).toContain('let win1 take pods again');
  });
});

describe('an upgrade is refused', () => {
  const refused = (it: UpgradedHost, hops = [NEW]): readonly string[] =>
    upgradeRefusals(it.inventory, fleetNow(it), hops).map(({ message }) => message);

  test('not because of a flag that kubeadm wrote and kbuild takes out, but because of the same flag in the inventory', async () => {
    const it = await joinedBefore();
    it.api = '1.34.9';
    expect(refused(it)).toEqual([]);
    const kubelet = { config: {}, extraArgs: [{ name: 'pod-infra-container-image', value: 'x' }] };
    const host = { ...it.host, kubelet };
    const inventory = { ...it.inventory, hosts: [cp1, host] };
    expect(refused({ ...it, host, inventory })).toEqual([
      expect.stringContaining('--pod-infra-container-image: Kubernetes 1.35 does not know it'),
    ]);
  });

  test('when the kubelet of a Windows worker is too old, and when another action was cut off there', async () => {
    const it = await joinedBefore();
    it.api = '1.36.3';
    const files = filesOf(it.machine);
    files.put('C:\\k\\kubelet.exe', 'MZ Kubernetes v1.33.4\nEND');
    files.put(
      'C:\\ProgramData\\kbuild\\marker.json',
      '{"cluster":"demo","action":"restore","job":"x","stage":"begun"}',
    );
    expect(refused(it)).toEqual([
      'demo: refused: API servers of 1.37.1 do not work with kubelets that are more than 3 minors older: win1 runs 1.33.4',
      'win1: refused: an unfinished restore of demo lies here (begun)',
    ]);
  });
});

test('Windows workers come after all Linux workers, one alone first, then batches', () => {
  const names = ['win1', 'win2', 'win3', 'win4'];
  const inventory = {
    ...inventoryOf(),
    hosts: [cp1, ...names.map((name) => windowsHost(name)), hostOf({ name: 'w1' }), hostOf({ name: 'w2' })],
    kubernetes: { ...inventoryOf().kubernetes, version: NEW, minor: '1.37' },
    network: mixedFlannel(),
  };
  const nodes = inventory.hosts.map(({ name }) => nodeOf({ name, kubeletVersion: `v${OLD}` }));
  const phases = upgrade(inventory, fleet({ inventory, cluster: clusterOf({ nodes }) }), {
    hops: [{ from: OLD, version: NEW }],
    keep: () => Promise.resolve(),
    drain: { timeoutMs: 1000 },
    losesPods: false,
    atOnce: 1,
    windowsAtOnce: 2,
  });
  expect(phases.map(({ name, hosts }) => `${name}: ${hosts.map((host) => host.name).join(' ')}`)).toEqual([
    'repair: cp1',
    'fetch: cp1 w1 w2',
    'windows-fetch: win1 win2 win3 win4',
    'etcd-1.37: cp1',
    'control-plane-1.37: cp1',
    'addons-1.37: cp1',
    'old-workers: w1 w2',
    'canary: w1',
    'workers-1: w2',
    'windows-canary: win1',
    'windows-workers-1: win2 win3',
    'windows-workers-2: win4',
    'windows-kube-proxy: cp1',
    'settle: cp1 w1 w2',
    'windows-settle: win1 win2 win3 win4',
    'verify: cp1 w1 w2',
    'windows-verify: win1 win2 win3 win4',
    'settled: cp1',
  ]);
});
