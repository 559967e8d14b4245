import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linuxProbes } from '../../src/cluster/fleet/linux.ts';
import type { Target } from '../../src/engine/step.ts';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { initConfiguration, resetConfiguration } from '../../src/kubeadm/config.ts';
import { ownKubeletConfig, sharedKubeletConfig } from '../../src/kubeadm/kubelet-config.ts';
import { OWN_HEADER } from '../../src/paths.ts';
import { docker } from '../../src/runtime/docker.value.ts';
import { runtimeSteps } from '../../src/runtime/runtimes.step.ts';
import { criEndpoint, dataFolderOf, otherRuntime, unitsOf } from '../../src/runtime/runtimes.value.ts';
import { settingsText, withKbuild } from '../../src/runtime/settings-file.value.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { united } from '../../src/shell/watched.ts';
import { render } from '../../src/templates.ts';
import { minorOf, supportedMinors } from '../../src/versions.ts';
import { inventory } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const asked = { middleMs: 0 };
const runtime = { name: 'docker', package: 'docker-ce', version: '29.9.0' } as const;
const about = { inventory: inventory({ runtime }) };
const host = linuxHosts(about.inventory)[0]!;
const summaries = (seen: Target) =>
  runtimeSteps(seen.inventory)
    .flatMap((step) => step.diff(seen))
    .map(({ summary }) => summary);
const daemon = (over: Partial<(typeof about.inventory)['runtime']>, there: JsonObject = {}): JsonObject =>
  docker.shared!.settings(inventory({ runtime: { ...runtime, ...over } }), there);

test('a fresh host gets the repository, settings before the package, cri-dockerd with its units, and both services', () =>
  expect(summaries(target({}, about))).toEqual([
    expect.stringMatching(/^write \/etc\/apt\/keyrings\/kbuild-docker[.]asc with the key /),
    'write /etc/apt/sources.list.d/kbuild-docker.list (found none)',
    'write /etc/docker/kbuild-daemon.json (found none)',
    'write /etc/docker/daemon.json (found none)',
    'install docker-ce 29.9.0 (found none), docker-ce-cli 29.9.0 (found none), containerd.io (found none)',
    'install cri-dockerd 0.4.10 (found none)',
    'write /etc/systemd/system/cri-docker.socket (found none)',
    'write /etc/systemd/system/cri-docker.service (found none)',
    'write /etc/systemd/system/cri-docker.service.d/50-kbuild.conf (found none)',
    'start docker (found none)',
    'start cri-docker (found none)',
  ]));

test.each([
  ['debian-12-fresh', 'kbuild-docker.list'],
  ['rocky-10-fresh', 'kbuild-docker-el10.repo'],
  ['fedora-44-fresh', 'kbuild-docker-fedora.repo'],
] as const)("Docker's repository on %s is as it always was", async (fixture, name) => {
  const [change] = runtimeSteps(about.inventory)
    .find((step) => step.name === 'docker-repository-source')!
    .diff(target({}, { ...about, fixture }));
  const { on, sent } = recordingOn();
  await change!.apply!(on);
  const [written] = sent.flatMap((one) => (one.kind === 'write' ? [one.content] : []));
  await expect(written).toMatchFileSnapshot(`../golden/docker/${name}`);
});

test('a Mirantis Container Runtime that is there stays, with its own client', () => {
  const own = inventory({ runtime: { ...runtime, package: 'docker-ee', version: '25.0.14' } });
  const state = (version: string) => ({ state: 'installed', version, held: true }) as const;
  const packages = new Map([
    ['docker-ee', state('5:25.0.14-1')],
    ['docker-ee-cli', state('5:25.0.14-1')],
    ['containerd.io', state('1.7.28-1')],
  ]);
  const seen = target({ packages }, { inventory: own });
  expect(summaries(seen).filter((summary) => summary.startsWith('install '))).toEqual([
    'install cri-dockerd 0.4.10 (found none)',
  ]);
});

test("a distribution's own docker.io comes without the companions of Docker's packages", () =>
  expect(docker.companions!('docker.io', '26.1.5')).toEqual({}));

test("kubeadm's configuration names cri-dockerd's socket, because containerd's is there too", () => {
  const socket = 'unix:///run/cri-dockerd.sock';
  expect(criEndpoint(about.inventory, host)).toBe(socket);
  expect(initConfiguration(about.inventory, host).nodeRegistration).toMatchObject({ criSocket: socket });
  expect(resetConfiguration(about.inventory, host)).toMatchObject({ criSocket: socket });
  // kubeadm's own name of it is the same socket.
  expect(otherRuntime(about.inventory, host, 'unix:///var/run/cri-dockerd.sock')).toBeUndefined();
});

describe('files', () => {
  test.each(docker.paths.units!.map(({ template }) => template))('the unit %s is as it always was', async (template) =>
    expect(
      render(template, { header: OWN_HEADER, folder: '/usr/local/bin', arguments: '/etc/default/kubelet' }),
    ).toMatchFileSnapshot(`../golden/docker/${basename(template)}`),
  );
  test("the arguments of cri-dockerd name the pause image, which is no business of kubeadm's", async () =>
    expect(docker.configuration(about.inventory)).toMatchFileSnapshot('../golden/docker/50-kbuild.conf'));
  test('daemon.json is merged into that of the operator', async () => {
    const there = {
      'exec-opts': ['native.cgroupdriver=cgroupfs', 'native.umask=normal'],
      'log-driver': 'json-file',
      'log-opts': { 'max-size': '10m' },
      'registry-mirrors': ['https://old.example.com'],
      'live-restore': false,
    };
    const own = inventory({
      runtime: {
        ...{ ...runtime, config: { 'default-ulimits': { nofile: { Name: 'nofile', Hard: 64000, Soft: 64000 } } } },
        registries: [{ host: 'docker.io', mirrors: ['https://hub.example.com'] }],
      },
    });
    const { text } = withKbuild({ text: settingsText(there), record: undefined }, (found) =>
      docker.shared!.settings(own, found),
    );
    await expect(text).toMatchFileSnapshot('../golden/docker/daemon.json');
  });
});

test.each([
  ['docker', { 'data-root': '/data/docker/' }, '/data/docker'],
  ['docker', {}, '/var/lib/docker'],
  ['docker', { 'data-root': 'data' }, '/var/lib/docker'],
  ['containerd', { root: '/data/containerd' }, '/data/containerd'],
  ['crio', { crio: { root: '/data/crio' } }, '/data/crio'],
  ['crio', { crio: null }, '/var/lib/containers/storage'],
] as const)('%s with the settings %o keeps its data in %s, where checks look for space', (name, config, folder) =>
  expect(dataFolderOf(inventory({ runtime: { name, config } }))).toBe(folder),
);

describe("kubelets translate no WebSockets themselves: they take cri-dockerd's URLs for HTTPS", () => {
  const gate = 'ExtendWebSocketsToKubelet';
  const { kubernetes, hosts } = about.inventory;
  test.each([
    ['1.35.8', undefined],
    ['1.36.3', { [gate]: false }],
    ['1.37.1', { [gate]: false }],
  ])('Kubernetes %s, which knows the gate since 1.36', (version, featureGates) => {
    const own = { ...about.inventory, kubernetes: { ...kubernetes, version, minor: minorOf(version) } };
    expect(sharedKubeletConfig(own)['featureGates']).toEqual(featureGates);
  });
  test('a setting of the inventory goes before it, and other gates stay', () => {
    const config = { featureGates: { [gate]: true, Other: true } };
    const own = { ...about.inventory, hosts: hosts.map((one) => ({ ...one, kubelet: { config, extraArgs: [] } })) };
    expect(sharedKubeletConfig(own)).toMatchObject(config);
  });
  test('only hosts with Docker Engine get the gate where runtimes are mixed', () => {
    const [first, ...others] = linuxHosts(inventory());
    const mixed = { ...inventory(), hosts: [{ ...first!, runtime: about.inventory.runtime }, ...others] };
    expect(ownKubeletConfig(mixed, mixed.hosts[0] as LinuxHost)).toEqual({ featureGates: { [gate]: false } });
    expect(ownKubeletConfig(mixed, others[0]!)).toEqual({});
  });
});

describe('settings', () => {
  test('forwarding stays open by a setting that Docker knows since 28.0', () => {
    expect(daemon({})).toMatchObject({ 'ip-forward-no-drop': true, 'live-restore': true });
    expect(daemon({ version: '25.0.14' })).not.toHaveProperty('ip-forward-no-drop');
  });
  test('the cgroup driver is that of the inventory, and other options stay', () =>
    expect(daemon({ cgroupDriver: 'cgroupfs' }, { 'exec-opts': ['a=b', 'native.cgroupdriver=systemd'] })).toMatchObject(
      {
        'exec-opts': ['a=b', 'native.cgroupdriver=cgroupfs'],
      },
    ));
  test('without mirrors of Docker Hub in the inventory, those of the operator stay', () =>
    expect(daemon({})).not.toHaveProperty('registry-mirrors'));
  test("the user's own settings win", () =>
    expect(daemon({ config: { 'live-restore': false, 'log-level': 'debug' } })).toMatchObject({
      'live-restore': false,
      'log-level': 'debug',
    }));
});

test('a private CA lies in the folder of its registry, and goes with it', () => {
  const path = '/etc/docker/certs.d/r.example.com:5000/kbuild-ca.crt';
  expect(docker.registryFiles([{ host: 'r.example.com:5000', mirrors: [], ca: 'PEM' }])).toEqual([
    { path, content: 'PEM' },
  ]);
  expect(summaries(target({ ownFiles: [path] }, about))).toContain(
    `remove ${path} (no registry of the inventory has it)`,
  );
  expect(docker.ownRegistryFiles.script).toContain('/etc/docker/certs.d/*/kbuild-ca.crt');
});

describe('probes', () => {
  const { config, images, cgroupDriverInUse, containers } = docker.probes;
  test('are those that observe a host of the inventory', () => {
    const probes = linuxProbes(about.inventory, host, united([]));
    expect([probes.runtimeConfig, probes.images]).toEqual([config, images]);
    expect(probes.sharedSettings.command.script).toContain('/etc/docker/daemon.json');
  });
  test.each([
    ['# absent\n', 'absent'],
    ['# invalid\n', 'invalid'],
    ['driver \n', { cgroupDriver: 'unset', sandboxImage: '', criDisabled: false }],
    [
      'driver systemd\nimage registry.k8s.io/pause:3.10.2\n',
      { cgroupDriver: 'systemd', sandboxImage: 'registry.k8s.io/pause:3.10.2', criDisabled: false },
    ],
  ])('read what Docker says of itself: %j', (out, found) => expect(config.parse(out, asked)).toEqual(found));
  test('read the images of its client by their full names', () => {
    const out = 'registry.k8s.io/pause:3.10.2\nnginx:1.29\n<none>:<none>\n';
    expect([...images.parse(out, asked)]).toEqual(['registry.k8s.io/pause:3.10.2', 'docker.io/library/nginx:1.29']);
  });
  test('tell containers of Kubernetes from those of others', () => {
    const counts = containers.parse('kubernetes\ndocker\nkubernetes\n', asked);
    expect([...counts]).toEqual([
      ['kubernetes', 2],
      ['docker', 1],
    ]);
    expect(['kubernetes', 'docker'].map(docker.ownerOf)).toEqual([undefined, 'other programs']);
  });
  test('read the cgroup driver from the scopes of pods', () => {
    const scope = `/kubepods.slice/kubepods-pod1.slice/docker-${'a'.repeat(64)}.scope`;
    expect(cgroupDriverInUse.parse(`${scope}\n`, asked)).toBe('systemd');
    expect(cgroupDriverInUse.parse(`/kubepods/pod1/${'a'.repeat(64)}\n`, asked)).toBe('cgroupfs');
    // Containers of others lie in /system.slice/docker-ID.scope.
    expect(cgroupDriverInUse.command.script).not.toContain('docker-');
  });
});

describe('versions', () => {
  const [adapter] = docker.programs!;
  test('Docker Engine fits every supported Kubernetes, from the version on that can try settings', () => {
    for (const minor of supportedMinors) expect(docker.misfit(minor, docker.version(minor)!)).toBeUndefined();
    expect(docker.version('1.20')).toBeUndefined();
    expect(docker.misfit('1.36', '20.10.24')?.severity).toBe('error');
  });
  test('cri-dockerd fits up to the last minor of which it is known', () => {
    for (const minor of supportedMinors) expect(adapter!.misfit(minor, adapter!.version)).toBeUndefined();
    expect(adapter!.misfit('1.36', '0.3.24')?.severity).toBe('error');
    expect(adapter!.misfit('1.38', '0.4.10')?.severity).toBe('warning');
  });
});

test('a new cri-dockerd restarts its service, and leaves its socket open', () => {
  expect(unitsOf(about.inventory, 'cri-dockerd')).toEqual(['cri-docker.socket', 'cri-docker']);
  expect(unitsOf(about.inventory, 'docker-ce')).toEqual(['docker']);
  expect(unitsOf(about.inventory, 'kubelet')).toEqual(['kubelet']);
});
