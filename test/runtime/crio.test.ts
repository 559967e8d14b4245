import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { linuxProbes } from '../../src/cluster/fleet/linux.ts';
import type { Target } from '../../src/engine/step.ts';
import type { Gathered } from '../../src/inventory/file/gather.ts';
import { runtimeKeysOf } from '../../src/inventory/file/keys.ts';
import { resolved } from '../../src/inventory/file/resolve.ts';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import { inventorySchema } from '../../src/inventory/schema/schema.ts';
import { initConfiguration, resetConfiguration } from '../../src/kubeadm/config.ts';
import { crio } from '../../src/runtime/crio.value.ts';
import { runtimeSteps } from '../../src/runtime/runtimes.step.ts';
import { criEndpoint } from '../../src/runtime/runtimes.value.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import { united } from '../../src/shell/watched.ts';
import { supportedMinors } from '../../src/versions.ts';
import { inventory } from '../fakes/inventory.ts';
import { target } from '../fakes/target.ts';

const asked = { middleMs: 0 };
const runtime = { name: 'crio', package: 'cri-o', version: '1.36.0' } as const;
const about = { inventory: inventory({ runtime }) };
const summaries = (seen: Target) =>
  runtimeSteps(about.inventory)
    .flatMap((step) => step.diff(seen))
    .map(({ summary }) => summary);

test('a fresh host gets the repository, the drop-in, the package and the service', () =>
  expect(summaries(target({}, about))).toEqual([
    expect.stringMatching(/^write \/etc\/apt\/keyrings\/kbuild-crio[.]asc with the key /),
    'write /etc/apt/sources.list.d/kbuild-crio.list (found none)',
    'write /etc/crio/crio.conf.d/50-kbuild.conf (found none)',
    'install cri-o 1.36.0 (found none)',
    'start crio (found none)',
  ]));

test("kubeadm's configuration names CRI-O's socket", () => {
  const socket = 'unix:///run/crio/crio.sock';
  expect(criEndpoint(about.inventory, linuxHosts(about.inventory)[0]!)).toBe(socket);
  const { nodeRegistration } = initConfiguration(about.inventory, linuxHosts(about.inventory)[0]!);
  expect(nodeRegistration).toMatchObject({ criSocket: socket });
  expect(resetConfiguration(about.inventory, linuxHosts(about.inventory)[0]!)).toMatchObject({ criSocket: socket });
});

describe('the drop-in', () => {
  test.each(['systemd', 'cgroupfs'] as const)('with %s is as it always was', async (cgroupDriver) =>
    expect(crio.configuration(inventory({ runtime: { ...runtime, cgroupDriver } }))).toMatchFileSnapshot(
      `../golden/crio-${cgroupDriver}.conf`,
    ),
  );
  test("takes the user's settings in", () => {
    const config = { crio: { runtime: { log_level: 'debug' }, image: { pause_image: 'r.example.com/pause:1' } } };
    const own = inventory({ runtime: { ...runtime, config } });
    expect(parse(crio.configuration(own))).toMatchObject({
      crio: { runtime: { cgroup_manager: 'systemd', log_level: 'debug' } },
    });
    expect(crio.sandboxImage(own)).toBe('r.example.com/pause:1');
  });
});

describe('registries', () => {
  const files = crio.registryFiles([
    { host: 'registry.k8s.io', mirrors: ['http://10.0.0.1:5000'] },
    { host: 'r.example.com:5000', mirrors: [], ca: 'PEM', username: 'bob', password: Secret.of('s3cret') },
  ]);
  test('mirrors are one file, which podman and others on the host do not write', async () => {
    expect(files[0]!.path).toBe('/etc/containers/registries.conf.d/50-kbuild.conf');
    await expect(files[0]!.content as string).toMatchFileSnapshot('../golden/crio-registries.conf');
  });
  test('a private CA lies in the folder of its registry', () =>
    expect(files[1]).toEqual({ path: '/etc/containers/certs.d/r.example.com:5000/kbuild-ca.crt', content: 'PEM' }));
  test('a login is secret', () => {
    expect(files[2]!.path).toBe('/etc/crio/kbuild-auth.json');
    expect(JSON.parse(revealed(files[2]!.content as Secret))).toEqual({
      auths: { 'r.example.com:5000': { auth: 'Ym9iOnMzY3JldA==' } },
    });
  });
});

test('files of registries go when the inventory drops the registries, their CAs and their logins', () => {
  const [mirrors, auth] = crio.registryFiles([]).map(({ path }) => path) as [string, string];
  const ca = '/etc/containers/certs.d/r.example.com:5000/kbuild-ca.crt';
  const there = { kind: 'file', sha256: '', mode: 0o644, owner: 'root:root', mtimeMs: 0 } as const;
  const seen = target(
    { files: new Map([mirrors, auth].map((path) => [path, there])), ownFiles: [mirrors, ca, auth] },
    about,
  );
  expect(summaries(seen).filter((summary) => summary.startsWith('remove '))).toEqual([
    `remove ${mirrors}`,
    `remove ${auth}`,
    `remove ${ca} (no registry of the inventory has it)`,
  ]);
});

test('reset finds the files of registries that kbuild wrote beside those of other programs', () =>
  expect(crio.ownRegistryFiles.script).toContain('/etc/containers/certs.d/*/kbuild-ca.crt'));

describe('probes', () => {
  const { config, images, cgroupDriverInUse, containers } = crio.probes;
  test('are those that observe a host of the inventory', () => {
    const probes = linuxProbes(about.inventory, linuxHosts(about.inventory)[0]!, united([]));
    expect([probes.runtimeConfig, probes.images]).toEqual([config, images]);
    expect(probes.storage.command.script).toContain('/var/lib/containers/storage');
  });
  test.each([
    ['# absent\n', 'absent'],
    ['# invalid\n', 'invalid'],
    [
      '[crio.runtime]\n# cgroup_manager = "systemd"\n[crio.image]\n# pause_image = "registry.k8s.io/pause:3.10.1"\n',
      { cgroupDriver: 'systemd', sandboxImage: 'registry.k8s.io/pause:3.10.1', criDisabled: false },
    ],
    [
      '[crio.runtime]\ncgroup_manager = "cgroupfs"\n[crio.image]\npause_image = "r/pause:1"\n',
      { cgroupDriver: 'cgroupfs', sandboxImage: 'r/pause:1', criDisabled: false },
    ],
  ])('read the effective configuration: %j', (out, found) => expect(config.parse(out, asked)).toEqual(found));
  test('read the images of crictl', () => {
    const out = JSON.stringify({ images: [{ repoTags: ['registry.k8s.io/pause:3.10.2'] }, {}] });
    expect([...images.parse(out, asked)]).toEqual(['registry.k8s.io/pause:3.10.2']);
    expect(images.parse('', asked).size).toBe(0);
  });
  test('read the cgroup driver from scopes', () => {
    const scope = `/kubepods.slice/kubepods-pod1.slice/crio-${'a'.repeat(64)}.scope`;
    expect(cgroupDriverInUse.parse(scope, asked)).toBe('systemd');
    // The monitor of a container lies in no pod's slice.
    expect(cgroupDriverInUse.command.script).toContain('crio-[0-9a-f]{64}');
    expect(containers.parse('', asked).size).toBe(0);
  });
});

test('a version fits Kubernetes of the same minor only', () => {
  for (const minor of supportedMinors) expect(crio.misfit(minor, crio.version(minor)!)).toBeUndefined();
  expect(crio.version('1.20')).toBeUndefined();
  expect(crio.misfit('1.36', '1.35.2')?.severity).toBe('error');
});

test('an inventory that says nothing else gets the repository of the same minor', () => {
  const file = inventorySchema.parse({
    name: 'demo',
    kubernetes: { version: '1.36.3' },
    runtime: { name: 'crio' },
    hosts: [{ name: 'cp1', address: '10.0.0.11', role: 'control-plane' }],
  });
  const keys = { deb: { content: 'a' }, rpm: { content: 'b' } };
  const gathered = {
    ...{ ssh: [{}], registryCas: [], registryPasswords: [], files: [] },
    ...{ kubernetesKey: keys, runtimeKeys: new Map() },
  } as unknown as Gathered;
  const url = 'https://download.opensuse.org/repositories/isv:/cri-o:/stable:/v1.36/deb';
  expect(runtimeKeysOf(file, file.runtime)).toEqual({
    deb: `${url}/Release.key`,
    rpm: `${url.replace(/deb$/, 'rpm')}/repodata/repomd.xml.key`,
  });
  expect(resolved(file, gathered, '/inventory.yaml', (path) => path).runtime).toMatchObject({
    name: 'crio',
    version: '1.36.0',
    package: 'cri-o',
    repository: { url, fingerprint: '85B67D5C50100B1AC8CEFE49CBA9C85640A2B579' },
  });
});
