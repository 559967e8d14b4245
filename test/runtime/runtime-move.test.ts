import { describe, expect, test } from 'vitest';
import { linuxFacts } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import { changesIn, plan } from '../../src/engine/plan.ts';
import type { Inventory, LinuxHost, RuntimeName } from '../../src/inventory/inventory.ts';
import { kubeadmPatches } from '../../src/kubeadm/control-plane-files.step.ts';
import { moveGates, runtimeRetired } from '../../src/runtime/change.step.ts';
import { docker } from '../../src/runtime/docker.value.ts';
import { images } from '../../src/runtime/images.step.ts';
import { moveRefusal, runtimeRefusal } from '../../src/runtime/runtime-change.ts';
import { containerRuntime } from '../../src/runtime/runtimes.value.ts';
import { withKbuild } from '../../src/runtime/settings-file.value.ts';
import { upgradeRefusals } from '../../src/upgrade/upgrade.refusal.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  inventoryOf,
  joinedWithContainerd,
  memberOf,
  nodesOf,
  podOf,
  w1,
  w2,
} from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { recordingOn } from '../fakes/on.ts';
import { preparePhases, runtimePhases } from '../fakes/parts-of-up.ts';

const hosts = [cp1, cp2, cp3, w1, w2];
const SOCKETS = {
  containerd: 'unix:///run/containerd/containerd.sock',
  crio: 'unix:///run/crio/crio.sock',
  docker: 'unix:///run/cri-dockerd.sock',
} as const;
const REPORTED = { containerd: 'containerd://2.2.9', crio: 'cri-o://1.36.1', docker: 'docker://29.9.0' } as const;
type Movable = keyof typeof SOCKETS;
const CONFIGS: Readonly<Record<Movable, string>> = {
  containerd: '/etc/containerd/config.toml',
  crio: '/etc/crio/crio.conf.d/50-kbuild.conf',
  docker: '/etc/systemd/system/cri-docker.service.d/50-kbuild.conf',
};

const wanting = (name: RuntimeName): Inventory => {
  const plain = inventoryOf({ hosts });
  const { version, defaults } = containerRuntime({ runtime: { name } });
  const runtime = { ...plain.runtime, name, version: version('1.36')!, package: defaults.package };
  return { ...plain, runtime: { ...runtime, versionFrom: 'default' } };
};

interface Seen {
  /** The runtime that a host's kubelet uses; all others use `usual`. */
  readonly usual?: Movable;
  readonly uses?: Readonly<Record<string, Movable>>;
  /** Runtimes with kbuild's configuration beside the inventory's, by host; default: the one in use. */
  readonly former?: Readonly<Record<string, readonly Movable[]>>;
  readonly annotations?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly facts?: Partial<LinuxFacts>;
}

function seenBy(
  inventory: Inventory,
  { usual = 'containerd', uses = {}, former = {}, annotations = {}, facts = {} }: Seen = {},
) {
  const wanted = inventory.runtime.name;
  const inUse = (name: string): Movable => uses[name] ?? usual;
  const cluster = clusterOf({
    kubeletConfiguration: { cgroupDriver: inventory.runtime.cgroupDriver },
    nodes: nodesOf(...hosts).map((node): NodeView => ({
      ...node,
      annotations: annotations[node.name] ?? {},
      runtime: REPORTED[inUse(node.name)],
      unschedulable: 'kbuild.dev/cordoned' in (annotations[node.name] ?? {}),
    })),
    pods: [
      podOf({ name: 'kube-apiserver-cp1', node: 'cp1', images: ['registry.k8s.io/kube-apiserver:v1.36.3'] }),
      podOf({ name: 'db-0', node: 'w1', images: ['private.example/db:1'] }),
    ],
    members: [memberOf(1), memberOf(2), memberOf(3)],
    apiServers: new Map([cp1, cp2, cp3].map(({ name }) => [name, 'ok'])),
  });
  const factsOf = ({ name, role }: LinuxHost): Partial<LinuxFacts> => ({
    ...joinedWithContainerd(role, '2.1.5-1~debian.12~bookworm'),
    kubeletRuntime: SOCKETS[inUse(name)],
    formerRuntimes: new Map(
      (former[name] ?? (inUse(name) === wanted ? [] : [inUse(name)])).map((one) => [one, [CONFIGS[one]]]),
    ),
    runtimeConfig: 'absent',
    images: new Set(),
    cgroupDriverInUse: inventory.runtime.cgroupDriver,
    osRelease: { id: 'debian', idLike: [], versionId: '12', codename: 'bookworm', prettyName: 'Debian GNU/Linux 12' },
    ...facts,
  });
  return fleet({ inventory, cluster, facts: Object.fromEntries(hosts.map((host) => [host.name, factsOf(host)])) });
}

type Phases = Parameters<typeof plan>[0];
function planned(phases: (inventory: Inventory) => Phases, inventory: Inventory, seen: Seen = {}) {
  const { changes, errors } = plan(phases(inventory), inventory, seenBy(inventory, seen));
  expect(errors).toEqual([]);
  return changes;
}
const rolled = (inventory: Inventory, seen: Seen = {}) => changesIn(planned(runtimePhases, inventory, seen));
const stepsOn = (changes: ReturnType<typeof rolled>, host: string): readonly string[] =>
  changes.filter((change) => change.host === host).map(({ step }) => step);
const target = (inventory: Inventory, host: LinuxHost, seen: Seen = {}) => {
  const of = seenBy(inventory, seen);
  return { inventory, host, fleet: of, facts: linuxFacts(of, host)! };
};

const BACK = ['uncordoned', 'workloads-back', 'runtime-change-done'];

describe.each([
  ['containerd', 'crio', 'containerd', 'CRI-O'],
  ['crio', 'containerd', 'CRI-O', 'containerd'],
  ['crio', 'docker', 'CRI-O', 'Docker Engine'],
  ['docker', 'crio', 'Docker Engine', 'CRI-O'],
] as const)('runtime.name edited from %s to %s', (from, to, old, fresh) => {
  const inventory = wanting(to);
  const seen: Seen = { usual: from };
  const changes = rolled(inventory, seen);

  test('drains each node, moves its pods, takes the old runtime out of use, and lets the node take pods again', () => {
    for (const { name } of hosts)
      expect(stepsOn(changes, name)).toEqual([
        'runtime-change-noted',
        'drained',
        'runtime-moved',
        ...([from, to].some((name) => name === 'docker') ? ['kubelet-by-runtime'] : []),
        'runtime-retired',
        ...BACK,
      ]);
  });

  test('changes workers before control planes, and one host at a time', () =>
    expect([...new Set(changes.map(({ host }) => host))]).toEqual(['w1', 'w2', 'cp1', 'cp2', 'cp3']));

  test('says what runs and what will', async () => {
    const said = changes.filter(({ host, step }) => host === 'w1' && /noted|moved|retired/.test(step));
    expect(said.map(({ summary }) => summary)).toEqual([
      `note that the container runtime of w1 changes from ${old} to ${fresh}`,
      `end all pods of w1 on ${old}, and start them on ${fresh}`,
      `take ${old} out of use: disable ${from}, and remove what kbuild wrote for it (found ${CONFIGS[from]})`,
    ]);
    expect(await said[1]!.change.preview!(recordingOn().on)).toBe(
      `/var/lib/kubelet/config.yaml\n- containerRuntimeEndpoint: ${SOCKETS[from]}\n+ containerRuntimeEndpoint: ${SOCKETS[to]}`,
    );
  });

  test('installs, configures and starts the new runtime before any drain, and calls that no disturbance', () => {
    const prepared = planned(preparePhases, inventory, seen).filter(
      ({ host, step }) => host === 'w1' && (step.startsWith(to) || step === 'images'),
    );
    expect(prepared.map(({ step }) => step)).toEqual(
      expect.arrayContaining([`${to}-package`, `${to}-service`, 'images']),
    );
    for (const { step, change } of prepared) expect(change.disrupts === true, step).toBe(false);
  });

  test('does nothing where the host uses it already', () => expect(rolled(inventory, { usual: to })).toEqual([]));
});

describe('the images that a node cannot do without are there before its drain', () => {
  const pulled = (host: LinuxHost): string => images.diff(target(wanting('crio'), host))[0]!.summary;
  test('those of static pods', () => expect(pulled(cp1)).toContain('registry.k8s.io/kube-apiserver:v1.36.3'));
  test('none of users, which may need a login', () => expect(pulled(w1)).not.toContain('private.example'));
});

describe('a change that was cut off goes on', () => {
  const inventory = wanting('crio');
  const ours = {
    'kbuild.dev/drained': 'true',
    'kbuild.dev/cordoned': 'true',
    'kbuild.dev/runtime-change': 'containerd to CRI-O',
    'kbuild.dev/workloads': 'none',
  };
  const on = (seen: Seen) =>
    stepsOn(rolled(inventory, { usual: 'crio', annotations: { w1: ours }, ...seen }), 'w1').filter(
      (step) => !/^crio|repository|registr/.test(step),
    );

  test('after the drain: the node is drained no second time', () =>
    expect(on({ uses: { w1: 'containerd' } })).toEqual(['runtime-moved', 'runtime-retired', ...BACK]));

  test('after the pods: the old runtime is taken out of use, and the node takes pods again', () =>
    expect(on({ former: { w1: ['containerd'] } })).toEqual(['runtime-retired', ...BACK]));

  test('after the note was removed: the old runtime is taken out of use all the same', () =>
    expect(on({ annotations: {}, former: { w1: ['containerd'] } })).toEqual(['runtime-retired']));

  test('after runtime.name was set back: the pods that have moved move back', () => {
    const changes = rolled(wanting('containerd'), { uses: { w1: 'crio' }, annotations: { w1: ours } });
    expect(stepsOn(changes, 'w1')).toContain('runtime-moved');
    expect(stepsOn(changes, 'w2')).toEqual([]);
  });

  test('and waits until the node reports the new runtime', () => {
    const waits = (annotations: Seen['annotations'] & object, runtime: string) => {
      const at = target(inventory, w1, { usual: 'crio', annotations });
      const { cluster } = at.fleet;
      if (cluster.state !== 'up') throw new Error('down');
      const nodes = cluster.nodes.map((node) => ({ ...node, runtime }));
      return moveGates[0]!.diff({ ...at, fleet: { ...at.fleet, cluster: { ...cluster, nodes } } });
    };
    expect(waits({ w1: ours }, 'containerd://2.2.9')).toEqual([
      { summary: 'wait until w1 reports CRI-O (found containerd://2.2.9)' },
    ]);
    expect(waits({ w1: ours }, 'cri-o://1.36.1')).toEqual([]);
    expect(waits({}, 'containerd://2.2.9')).toEqual([]);
  });

  test('the socket that an older kubeadm noted on the node follows', async () => {
    const noted = { ...ours, 'kubeadm.alpha.kubernetes.io/cri-socket': SOCKETS.containerd };
    const [change] = moveGates[1]!.diff(target(inventory, w1, { usual: 'crio', annotations: { w1: noted } }));
    const { on: recorded, sent } = recordingOn();
    await change!.apply!(recorded);
    expect(JSON.stringify(sent)).toContain(SOCKETS.crio);
  });
});

describe('what is done on the host', () => {
  const inventory = wanting('crio');

  test('one job moves the pods, and begins only when the new runtime answers', async () => {
    const change = rolled(inventory).find(({ host, step }) => host === 'w1' && step === 'runtime-moved')!;
    const silent = recordingOn();
    await expect(change.change.apply!(silent.on)).rejects.toThrow('an answer of CRI-O');
    expect(silent.sent.filter(({ kind }) => kind === 'job')).toEqual([]);
  });

  test('the old runtime is named as in use where others have containers on it', async () => {
    const facts = { otherContainers: new Map([['containerd', new Map([['moby', 2]])]]) } as Partial<LinuxFacts>;
    const change = rolled(inventory, { usual: 'crio', former: { w1: ['containerd'] }, facts }).find(
      ({ step }) => step === 'runtime-retired',
    )!;
    const { on, sent } = recordingOn();
    await change.change.apply!(on);
    expect(JSON.stringify(sent)).toContain('containers of Docker');
  });
});

describe('away from Docker Engine', () => {
  const inventory = wanting('crio');
  const settings = withKbuild({ text: '{"labels":["mine"]}\n', record: undefined }, (there) =>
    docker.shared!.settings(wanting('docker'), there),
  );
  const held = { state: 'installed', version: '5:29.9.0-1', held: true } as const;
  const facts: Partial<LinuxFacts> = {
    formerSettings: new Map([['docker', { ...settings, mode: 0o600 }]]),
    packages: new Map(['docker-ce', 'docker-ce-cli', 'containerd.io', 'kubelet'].map((name) => [name, held])),
  };
  const retired = rolled(inventory, { usual: 'crio', former: { w1: ['docker'] }, facts }).filter(
    ({ step, host }) => step === 'runtime-retired' && host === 'w1',
  );

  test('kbuild’s settings leave daemon.json before what tells the next run that something is left', () =>
    expect(retired.map(({ summary }) => summary)).toEqual([
      "take kbuild's settings out of /etc/docker/daemon.json (Docker Engine reads it at its next start)",
      "remove /etc/docker/kbuild-daemon.json (kbuild's record of /etc/docker/daemon.json)",
      `take Docker Engine out of use: disable docker, and remove what kbuild wrote for it (found ${CONFIGS.docker})`,
    ]));

  test('cri-dockerd goes, Docker and its containerd stop with their sockets, and their packages are no longer held', async () => {
    const { on, sent } = recordingOn();
    await retired[2]!.change.apply!(on);
    const said = JSON.stringify(sent);
    expect(said).toContain('docker-ce docker-ce-cli containerd.io');
    expect(said).toContain("NAMES='cri-dockerd'".replaceAll("'", ''));
    expect(said).toContain("UNITS='docker docker.socket\\ncontainerd'");
    expect(said.indexOf('SOCKET=')).toBeLessThan(said.indexOf('cri-docker.socket'));
  });

  test('what the present runtime needs stays: containerd and its package', async () => {
    const of = target(wanting('containerd'), w1, { usual: 'containerd', former: { w1: ['docker'] }, facts });
    const { on, sent } = recordingOn();
    for (const change of runtimeRetired.diff(of).slice(2)) await change.apply!(on);
    const said = JSON.stringify(sent);
    expect(said).toContain("UNITS='docker docker.socket'");
    expect(said).not.toMatch(/unhold[^"]*containerd\.io/);
  });

  test('containerd stays configured while Docker Engine is the host’s runtime', () =>
    expect(
      runtimeRetired.diff(target(wanting('docker'), w1, { usual: 'docker', former: { w1: ['containerd'] } })),
    ).toEqual([]));
});

describe('the setting of kubelets that only Docker Engine needs', () => {
  const gate = (name: RuntimeName, usual: Movable): boolean =>
    kubeadmPatches
      .diff(target(mixed(name), w1, { usual, facts: { files: new Map() } }))
      .some(({ summary }) => summary.includes('kubeletconfigurationzz-kbuild'));
  /** w1 alone wants it, so that it is no setting of the whole cluster. */
  const mixed = (name: RuntimeName): Inventory => {
    const wanted = wanting(name);
    const others = wanting('crio');
    return {
      ...wanted,
      hosts: wanted.hosts.map((host) => (host.name === 'w1' ? host : { ...host, runtime: others.runtime })),
    };
  };

  test.each([
    ['comes with the pods', 'docker', 'crio', false],
    ['is there with Docker Engine', 'docker', 'docker', true],
    ['stays until the pods have left', 'crio', 'docker', true],
    ['goes with them', 'crio', 'crio', false],
  ] as const)('%s', (_, name, usual, has) => expect(gate(name, usual)).toBe(has));
});

describe('is refused, and names the way', () => {
  const reason = (name: RuntimeName, host: LinuxHost, seen: Seen = {}) => {
    const { fleet: of } = target(wanting(name), host, seen);
    return moveRefusal(
      wanting(name),
      of.hosts.find((one) => one.host.name === host.name)!,
    );
  };

  test('not between containerd and CRI-O', () => expect(reason('crio', w1)).toBeUndefined());
  test('between containerd and Docker Engine, which starts its containers by it: CRI-O is the way', () => {
    for (const [from, to] of [
      ['containerd', 'docker'],
      ['docker', 'containerd'],
    ] as const) {
      const refused = reason(to, w1, { usual: from })!;
      expect(refused.message).toContain('Docker Engine starts its containers by containerd');
      expect(refused.remedy).toBe(
        `go by way of CRI-O: set runtime.name to crio and run \`kbuild up\`, set it to ${to}, and run the same command again; or set runtime.name back to ${from}`,
      );
      for (const [one, other] of [
        [from, 'crio'],
        ['crio', to],
      ] as const)
        expect(reason(other, w1, { usual: one })).toBeUndefined();
    }
  });
  test('not where others have containers on Docker Engine, which goes on for them', () =>
    expect(
      reason('crio', w1, {
        usual: 'docker',
        facts: { otherContainers: new Map([['docker', new Map([['docker', 2]])]]) },
      }),
    ).toBeUndefined());
  test('where other programs have containers on the runtime', () =>
    expect(
      reason('crio', w1, { facts: { otherContainers: new Map([['containerd', new Map([['moby', 2]])]]) } })!.message,
    ).toContain('2 containers of Docker run on containerd, and would end with it'));
  test('where the cgroup driver changes too', () =>
    expect(reason('crio', w1, { facts: { cgroupDriverInUse: 'cgroupfs' } })!.message).toContain(
      'one of both at a time',
    ));
  test('where the administrator gives the kubelet a socket', () =>
    expect(
      reason('crio', w1, {
        facts: {
          kubeletOverrides: [
            { file: '/etc/default/kubelet', variable: 'KUBELET_EXTRA_ARGS', flags: ['--container-runtime-endpoint'] },
          ],
        },
      })!.message,
    ).toContain('/etc/default/kubelet gives the kubelet its own'));
  test('on a host of role etcd, whose kubelet is kbuild’s own', () => {
    const { facts } = target(wanting('crio'), w1);
    const host: LinuxHost = { ...w1, role: 'etcd' };
    expect(moveRefusal(wanting('crio'), { os: 'linux', host, facts })!.message).toContain('a host of role etcd');
  });
  test('where the programs come without packages', () => {
    const { facts } = target(wanting('crio'), w1);
    const host: LinuxHost = { ...w1, installFrom: 'binaries' };

    expect(moveRefusal(wanting('crio'), { os: 'linux', host, facts })!.message).toContain(
      'only where it comes as a package',
    );
  });
  test('by every other command, upgrade too', () => {
    const { fleet: of } = target(wanting('crio'), w1);
    expect(runtimeRefusal(wanting('crio'), of.hosts.at(-1)!)!.remedy).toContain('run `kbuild up` first');
    expect(upgradeRefusals(wanting('crio'), of, []).map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining('only `kbuild up` changes the runtime') as string]),
    );
  });
});

test('waits while the API does not answer', () => {
  const inventory = wanting('crio');
  const down = { ...seenBy(inventory), cluster: { state: 'down', reason: 'connection refused' } } as ReturnType<
    typeof seenBy
  >;
  const { changes } = plan(runtimePhases(inventory), inventory, down);
  expect(changesIn(changes).filter(({ step }) => /moved|drained/.test(step))).toEqual([]);
});
