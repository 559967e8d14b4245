import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import {
  clusterConfiguration,
  initDocuments,
  joinConfiguration,
  resetConfiguration,
} from '../../src/kubeadm/config.ts';
import { hostPatches, sharedKubeletConfig } from '../../src/kubeadm/kubelet-config.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import { secretYaml, toYaml } from '../../src/shell/yaml.ts';
import { cp1, hostOf, inventoryOf, w1 } from '../fakes/cluster.ts';

const TOKEN = Secret.of('123456.0123456789012345');
const CA_HASH = `sha256:${'a'.repeat(64)}`;

const rich = inventoryOf({
  hosts: [
    { ...cp1, kubelet: { config: { maxPods: 200, failCgroupV1: false }, extraArgs: [] }, taints: [] },
    { ...w1, kubelet: { config: { maxPods: 50, failCgroupV1: false }, extraArgs: [{ name: 'v', value: '4' }] } },
  ],
  kubeadm: {
    init: { nodeRegistration: { ignorePreflightErrors: ['SystemVerification'] } },
    cluster: {
      apiServer: {
        certSANs: ['api.example'],
        extraArgs: [{ name: 'audit-log-path', value: '/var/log/audit.log' }],
        extraVolumes: [{ name: 'log', hostPath: '/var/log', mountPath: '/var/log' }],
      },
    },
    join: { nodeRegistration: { ignorePreflightErrors: ['SystemVerification'] } },
    kubeProxy: { conntrack: { maxPerCore: 0 } },
    reset: { unmountFlags: ['MNT_DETACH'] },
    patches: { 'etcd0+merge.yaml': 'spec: {}\n' },
  },
});

const [richControlPlane, richWorker] = linuxHosts(rich) as [typeof cp1, typeof w1];

describe('golden', () => {
  test.each([
    ['kubeadm-init.yaml', () => toYaml(initDocuments(inventoryOf(), cp1))],
    ['kubeadm-init-rich.yaml', () => toYaml(initDocuments(rich, richControlPlane))],
    [
      'kubeadm-join.yaml',
      () => revealed(secretYaml([joinConfiguration(rich, richWorker, { token: TOKEN, caHash: CA_HASH })])),
    ],
    [
      'kubeadm-join-control-plane.yaml',
      () =>
        revealed(
          secretYaml([
            joinConfiguration(inventoryOf(), cp1, {
              token: TOKEN,
              caHash: CA_HASH,
              certificateKey: Secret.of('0'.repeat(64)),
            }),
          ]),
        ),
    ],
    ['kubeadm-reset.yaml', () => toYaml([resetConfiguration(rich, linuxHosts(rich)[0]!)])],
  ])('%s', async (name, made) => {
    await expect(made()).toMatchFileSnapshot(new URL(`../golden/${name}`, import.meta.url).pathname);
  });
});

test('a join with patches of its own finds them in the folder of its job, with those of the host', () => {
  const join = { token: TOKEN, caHash: CA_HASH };
  const directory = (settings: object) =>
    (settings as { readonly patches: { readonly directory: string } }).patches.directory;
  expect(directory(joinConfiguration(rich, richWorker, join))).toBe('/etc/kubernetes/patches');
  expect(directory(joinConfiguration(rich, richWorker, { ...join, patches: 'patches' }))).toBe('patches');
});

describe('secrets', () => {
  test('stay hidden in every kind of output', () => {
    const text = secretYaml([joinConfiguration(rich, richWorker, { token: TOKEN, caHash: CA_HASH })]);
    expect(String(text)).toBe('(secret)');
    expect(JSON.stringify(joinConfiguration(rich, richWorker, { token: TOKEN, caHash: CA_HASH }))).not.toContain(
      '123456',
    );
  });

  test.each(['0123456789012345', '1e10', 'on', 'null', '0x1f', '12:30', '~', '123456.0123456789012345'])(
    '%s stays a string for parsers of YAML 1.1 and 1.2',
    (value) => {
      const text = revealed(secretYaml([{ certificateKey: Secret.of(value) }]));
      for (const version of ['1.1', '1.2'] as const) {
        const [document] = parseAllDocuments(text, { version });
        expect((document as { toJS: () => unknown }).toJS()).toEqual({ certificateKey: value });
      }
    },
  );
});

describe('settings of the user', () => {
  test('are added to kbuild’s names of the API server', () => {
    expect(clusterConfiguration(rich)['apiServer']).toMatchObject({
      certSANs: ['k8s.example', 'api.example', '10.0.0.11'],
    });
  });

  test('arguments are merged by name', () => {
    const host = hostOf({
      name: 'w9',
      kubelet: {
        config: {},
        extraArgs: [
          { name: 'node-ip', value: '10.9.9.9' },
          { name: 'v', value: '2' },
        ],
      },
    });
    const { nodeRegistration } = joinConfiguration(inventoryOf(), host, { token: TOKEN, caHash: CA_HASH });
    expect(nodeRegistration).toMatchObject({
      kubeletExtraArgs: [
        { name: 'node-ip', value: '10.9.9.9' },
        { name: 'v', value: '2' },
      ],
    });
  });
});

describe('kubelet settings', () => {
  test('that all nodes share are the cluster’s, the others are the host’s patch', () => {
    expect(sharedKubeletConfig(rich)).toMatchObject({ cgroupDriver: 'systemd', failCgroupV1: false });
    expect(sharedKubeletConfig(rich)).not.toHaveProperty('maxPods');
    expect(hostPatches(rich, richWorker)['kubeletconfigurationzz-kbuild+merge.yaml']).toContain('maxPods: 50');
  });

  test('of identical hosts need no patch', () => {
    expect(hostPatches(inventoryOf(), w1)).toEqual({});
  });
});
