import { describe, expect, test } from 'vitest';
import { inventoryOf, load, problemsOf, shown } from './load.ts';

/** Line 3 holds what a test adds, the hosts begin in line 5. */
const text = (groups: string, ...hosts: readonly string[]): string => `name: prod
kubernetes: { version: "1.36.3" }
${groups}
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
${hosts.map((host) => `  - { ${host} }\n`).join('')}`;

const w1 = (more: string): string => `name: w1, address: 10.0.0.21, role: worker, ${more}`;

describe('groups of hosts', () => {
  test('the nearest setting wins: host, the later group, the earlier group, role, all', async () => {
    const { hosts } = await inventoryOf(
      text(
        `kubelet: { config: { maxPods: 1, podsPerCore: 1, registryBurst: 1, kubeAPIBurst: 1, kubeAPIQPS: 1 } }
roles: { worker: { kubelet: { config: { podsPerCore: 2, registryBurst: 2, kubeAPIBurst: 2, kubeAPIQPS: 2 } }, labels: { k: role, r: role }, taints: [{ key: r, effect: NoSchedule }] } }
groups:
  fast: { kubelet: { config: { kubeAPIBurst: 4, kubeAPIQPS: 4 }, extraArgs: [{ name: v, value: "4" }] }, labels: { k: fast, f: fast } }
  gpu: { kubelet: { config: { registryBurst: 3, kubeAPIBurst: 3, kubeAPIQPS: 3 }, extraArgs: [{ name: v, value: "3" }] }, labels: { k: gpu, g: gpu }, taints: [{ key: g, effect: NoSchedule }] }`,
        w1('groups: [gpu, fast], kubelet: { config: { kubeAPIQPS: 5 } }, labels: { h: host }'),
        'name: w2, address: 10.0.0.22, role: worker, groups: [fast, gpu], taints: []',
        'name: w3, address: 10.0.0.23, role: worker',
      ),
    );
    expect(hosts.map(({ kubelet, labels, taints, groups }) => ({ kubelet, labels, taints, groups }))).toEqual([
      expect.objectContaining({ groups: [], labels: {}, taints: undefined }),
      {
        groups: ['gpu', 'fast'],
        kubelet: {
          config: { maxPods: 1, podsPerCore: 2, registryBurst: 3, kubeAPIBurst: 4, kubeAPIQPS: 5 },
          extraArgs: [{ name: 'v', value: '4' }],
        },
        labels: { k: 'fast', r: 'role', g: 'gpu', f: 'fast', h: 'host' },
        taints: [{ key: 'g', effect: 'NoSchedule' }],
      },
      {
        groups: ['fast', 'gpu'],
        kubelet: {
          config: { maxPods: 1, podsPerCore: 2, registryBurst: 3, kubeAPIBurst: 3, kubeAPIQPS: 3 },
          extraArgs: [{ name: 'v', value: '3' }],
        },
        labels: { k: 'gpu', r: 'role', g: 'gpu', f: 'fast' },
        taints: [],
      },
      {
        groups: [],
        kubelet: {
          config: { maxPods: 1, podsPerCore: 2, registryBurst: 2, kubeAPIBurst: 2, kubeAPIQPS: 2 },
          extraArgs: [],
        },
        labels: { k: 'role', r: 'role' },
        taints: [{ key: 'r', effect: 'NoSchedule' }],
      },
    ]);
  });

  test('`files[].hosts` takes a group', async () => {
    const { files } = await inventoryOf(
      text(
        'groups: { gpu: {} }\nfiles: [{ hosts: gpu, path: /etc/a, content: a }]',
        w1('groups: [gpu]'),
        'name: win1, address: 10.0.0.22, role: worker, os: windows, groups: [gpu]',
      ),
    );
    expect(files.map(({ hosts }) => hosts)).toEqual([['w1']]);
  });

  test.each([
    [
      'a group that is not there',
      text('groups: { gpu: {} }', w1('groups: [gpu, gpus]')),
      '6:65 hosts[1].groups[1]: there is no group "gpus"; did you mean "gpu"?',
    ],
    [
      'a group where there are none',
      text('', w1('groups: [constructor]')),
      '6:60 hosts[1].groups[0]: there is no group "constructor"; add it: groups: { constructor: {} }',
    ],
    [
      'a group twice',
      text('groups: { gpu: {} }', w1('groups: [gpu, gpu]')),
      '6:65 hosts[1].groups[1]: is named above already; remove it',
    ],
    [
      'a group with the name of a role',
      text('groups: { worker: {} }', w1('groups: [worker]')),
      '3:19 groups.worker: "worker" has a meaning of its own; choose another name',
    ],
    [
      'a group with the name of a host',
      text('groups: { w1: {} }', w1('groups: [w1]')),
      '3:15 groups.w1: a host is named "w1", too; choose another name for the group',
    ],
    [
      'a name that no group can have',
      text('groups: { "g*": {} }', w1('groups: []')),
      '3:11 groups["g*"]: its name must be a name of at most 63 lower-case letters, digits and hyphens (RFC 1123), e.g. "prod"',
    ],
    [
      'a setting that groups do not have',
      text('groups: { gpu: { label: {} } }', w1('groups: [gpu]')),
      '3:18 groups.gpu.label: unknown setting "label"; did you mean "labels"?',
    ],
    [
      'a kubelet setting of a group that kbuild sets itself',
      text('groups: { gpu: { kubelet: { config: { cgroupDriver: cgroupfs } } } }', w1('groups: [gpu]')),
      '3:53 groups.gpu.kubelet.config.cgroupDriver: is set by kbuild: use runtime.cgroupDriver',
    ],
    [
      'a label of a group that Kubernetes sets',
      text('groups: { gpu: { labels: { kubernetes.io/os: linux } } }', w1('groups: [gpu]')),
      '3:46 groups.gpu.labels["kubernetes.io/os"]: is set by Kubernetes itself: remove it',
    ],
    [
      'taints by its group for a host that is no node',
      text(
        'etcd: { topology: external }\ngroups: { rack: { taints: [] } }',
        'name: e1, address: 10.0.0.31, role: etcd, groups: [rack]',
      ),
      '7:58 hosts[1].groups[0]: "rack" has taints, which are of nodes, and a host of role etcd is none: take the host out of the group',
    ],
    [
      'a file for a group that no host is in',
      text('groups: { gpu: {} }\nfiles: [{ hosts: gpus, path: /etc/a, content: a }]', w1('groups: [gpu]')),
      '4:18 files[0].hosts: no host is meant by "gpus"; use "all", a role, a group, a name or a pattern with "*"; did you mean "gpu"?',
    ],
  ])('refuses %s', async (_what, inventory, problem) => {
    expect(await problemsOf(inventory)).toEqual([problem]);
  });

  test('a group that no host is in is a warning', async () => {
    const { warnings } = await load(text('groups: { gpu: {}, fast: {} }', w1('groups: [fast]')));
    expect(warnings.map(shown).filter((warning) => warning.includes('group'))).toEqual([
      '3:16 groups.gpu: no host is in this group; add "groups: [gpu]" to a host, or remove the group',
    ]);
  });
});
