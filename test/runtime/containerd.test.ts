import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Target } from '../../src/engine/step.ts';
import { containerdConfig, sandboxImage } from '../../src/runtime/containerd-config.value.ts';
import { containerd } from '../../src/runtime/containerd.step.ts';
import { containerd as value } from '../../src/runtime/containerd.value.ts';
import { Secret } from '../../src/shell/secret.ts';
import { converged } from '../fakes/converged.ts';
import { filesWith, fileWith } from '../fakes/files.ts';
import { inventory } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const summaries = (seen: Target) => containerd.flatMap((step) => step.diff(seen)).map(({ summary }) => summary);
const step = (name: string) => containerd.find((one) => one.name === name)!;

test('a fresh host needs all of it, the configuration before the package', () =>
  expect(summaries(target())).toEqual([
    'write /etc/apt/keyrings/kbuild-containerd.asc with the key 9DC858229FC7DD38854AE2D88D81803C0EBFCD88 (found none)',
    'write /etc/apt/sources.list.d/kbuild-containerd.list (found none)',
    'write /etc/containerd/config.toml (found none)',
    'install containerd.io 2.3.7 (found none)',
    'start containerd (found none)',
  ]));

test('a converged host needs nothing', async () => expect(summaries(await converged('worker'))).toEqual([]));

test('a changed setting is written and the runtime restarted: both are in the plan', async () => {
  const seen = await converged('worker');
  const changed = inventory({ runtime: { config: { debug: { level: 'debug' } } } });
  expect(summaries({ ...seen, inventory: changed })).toEqual([
    'write /etc/containerd/config.toml (content differs)',
    'restart containerd (what it uses changes)',
  ]);
});

test('an unmanaged configuration is kept beside that of kbuild', async () => {
  const { on, sent } = recordingOn();
  const seen = target({ files: filesWith({ [value.paths.config]: 'disabled_plugins = ["cri"]\n' }) });
  await step('containerd-config-first').diff(seen)[0]!.apply!(on);
  expect(sent.slice(-2).map((one) => ('title' in one ? one.title : one.kind))).toEqual([
    'host/back-up-file.sh',
    'write',
  ]);
});

describe('another major of containerd', () => {
  const has = (name: string, version: string) =>
    new Map([[name, { state: 'installed' as const, version, held: true }]]);
  const files = filesWith({ [value.paths.config]: 'version = 2\n' });
  const runtime = (seen: Target) => summaries(seen).filter((one) => !one.includes('/etc/apt/'));

  test.each([
    ['containerd.io', '1.7.28-1~debian.12~bookworm', '1.7.28-1~debian.12~bookworm'],
    ['containerd', '1.6.20~ds1-1+deb12u1', 'none'],
  ])(
    '2.x in the place of %s %s: the package comes before the configuration that only it can read',
    (name, version, found) =>
      expect(runtime(target({ files, packages: has(name, version) }))).toEqual([
        `install containerd.io 2.3.7 (found ${found})`,
        'write /etc/containerd/config.toml (content differs)',
        'start containerd (found none)',
      ]),
  );

  test('1.x in the place of 2.x: the configuration comes before the package that cannot read the other one', () =>
    expect(
      runtime(
        target(
          { files, packages: has('containerd.io', '2.3.7-1') },
          { inventory: inventory({ runtime: { version: '1.7.28' } }) },
        ),
      ),
    ).toEqual([
      'write /etc/containerd/config.toml (content differs)',
      'install containerd.io 1.7.28 (found 2.3.7-1)',
      'start containerd (found none)',
    ]));

  test('another version of the same major: the new one says whether its configuration is good', () =>
    expect(runtime(target({ files, packages: has('containerd.io', '2.1.5-1') }))[0]).toMatch(
      /^install containerd[.]io/,
    ));
});

describe('config.toml', () => {
  const plugins = (version: string, cgroupDriver: 'systemd' | 'cgroupfs' = 'systemd') =>
    parse(containerdConfig(inventory({ runtime: { version, cgroupDriver } })));
  test('of 1.x is version 2', () =>
    expect(plugins('1.7.28')).toMatchObject({
      version: 2,
      plugins: {
        'io.containerd.grpc.v1.cri': {
          sandbox_image: 'registry.k8s.io/pause:3.10.2',
          registry: { config_path: '/etc/containerd/certs.d' },
          containerd: { runtimes: { runc: { options: { SystemdCgroup: true } } } },
        },
      },
    }));
  test('of 2.x is version 3', () =>
    expect(plugins('2.2.9', 'cgroupfs')).toMatchObject({
      version: 3,
      plugins: {
        'io.containerd.cri.v1.images': {
          pinned_images: { sandbox: 'registry.k8s.io/pause:3.10.2' },
          registry: { config_path: '/etc/containerd/certs.d' },
        },
        'io.containerd.cri.v1.runtime': { containerd: { runtimes: { runc: { options: { SystemdCgroup: false } } } } },
      },
    }));
  test("takes the user's settings in", () => {
    const config = { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: true } } };
    expect(parse(containerdConfig(inventory({ runtime: { config } })))).toMatchObject({
      plugins: {
        'io.containerd.cri.v1.runtime': {
          restrict_oom_score_adj: true,
          containerd: { default_runtime_name: 'runc' },
        },
      },
    });
  });
  test.each(['1.7.28', '2.2.9'])('of %s is as it always was', async (version) => {
    const text = containerdConfig(inventory({ runtime: { version } }));
    await expect(text).toMatchFileSnapshot(`../golden/containerd-${version}.toml`);
  });
  test("names the user's own sandbox image where there is one", () => {
    const config = {
      plugins: { 'io.containerd.cri.v1.images': { pinned_images: { sandbox: 'r.example.com/pause:1' } } },
    };
    expect(sandboxImage(inventory({ runtime: { config } }))).toBe('r.example.com/pause:1');
    expect(sandboxImage(inventory({ runtime: { version: '1.7.28' } }))).toBe('registry.k8s.io/pause:3.10.2');
  });
});

test('what containerd makes of it must be what the inventory says', () => {
  const due = (found: Partial<Exclude<Target['facts']['runtimeConfig'], string>>) =>
    step('runtime-proved').diff(
      target({
        runtimeConfig: {
          cgroupDriver: 'systemd',
          sandboxImage: 'registry.k8s.io/pause:3.10.2',
          criDisabled: false,
          ...found,
        },
      }),
    );
  expect(due({})).toEqual([]);
  expect(step('runtime-proved').diff(target({ runtimeConfig: 'invalid' }))).toEqual([
    { summary: 'have containerd accept its configuration (found it refused)' },
  ]);
  expect(due({ cgroupDriver: 'cgroupfs', criDisabled: true, sandboxImage: '' })).toEqual([
    { summary: 'have containerd offer CRI (found the plugin disabled)' },
    { summary: 'have containerd use the cgroup driver systemd (found cgroupfs)' },
    { summary: 'have containerd use the sandbox image registry.k8s.io/pause:3.10.2 (found none)' },
  ]);
});

describe('registries', () => {
  const mirror = { host: 'registry.k8s.io', mirrors: ['http://10.0.0.1:5000'] };
  const locked = {
    host: 'r.example.com:5000',
    mirrors: [],
    ca: '-----BEGIN CERTIFICATE-----\n',
    username: 'bob',
    password: Secret.of('s3cret'),
  };
  const about = { inventory: inventory({ runtime: { registries: [mirror, locked] } }) };
  const written = async () => {
    const { on, sent } = recordingOn();
    for (const change of step('registries').diff(target({}, about))) await change.apply!(on);
    return sent.flatMap((one) => (one.kind === 'write' ? [{ ...one, host: undefined }] : []));
  };
  test('a mirror is tried before the registry itself', async () =>
    expect((await written())[0]).toMatchObject({
      path: '/etc/containerd/certs.d/registry.k8s.io/hosts.toml',
      content: `# Written by kbuild.
server = "https://registry.k8s.io"

[host."http://10.0.0.1:5000"]
capabilities = [ "pull", "resolve" ]
`,
    }));
  test('a login is secret, with its private CA beside it', async () => {
    const [, ca, toml] = await written();
    expect(ca).toMatchObject({ path: '/etc/containerd/certs.d/r.example.com:5000/ca.crt', mode: 0o644 });
    expect(toml!.mode).toBe(0o600);
    expect(toml!.content).toContain('[header]\nauthorization = [ "Basic Ym9iOnMzY3JldA==" ]');
    expect(toml!.content).toContain('ca = "/etc/containerd/certs.d/r.example.com:5000/ca.crt"');
    const previews = await Promise.all(
      step('registries')
        .diff(target({}, about))
        .map((change) => change.preview!(recordingOn().on)),
    );
    expect(previews.join('\n')).not.toMatch(/s3cret|Ym9iOnMzY3JldA/);
  });
  test('what the inventory does not have is removed from the folder', () => {
    const files = new Map([['/etc/containerd/certs.d/old/hosts.toml', fileWith('x')]]);
    expect(
      step('registries')
        .diff(target({ files }))
        .map(({ summary }) => summary),
    ).toEqual(['remove /etc/containerd/certs.d/old/hosts.toml (no registry of the inventory has it)']);
  });
});

describe('the probe of the configuration', { tags: ['linux'] }, () => {
  const written = `# Written by kbuild.\n${containerdConfig(inventory())}`;
  let root: string;
  /** A containerd of which `config dump` prints `# dumped`: a shell that runs the file `config` of its folder. */
  let running: ChildProcess;
  const put = (path: string, text: string): void => writeFileSync(join(root, path), text);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'kbuild-containerd-'));
    for (const folder of ['etc/conf.d', 'run', 'cgroup/system.slice/containerd.service', 'bin'])
      mkdirSync(join(root, folder), { recursive: true });
    copyFileSync('/bin/sh', join(root, 'bin/containerd'));
    put('config', 'echo "# dumped"\n');
    put('etc/config.toml', written);
    utimesSync(join(root, 'etc/config.toml'), 1, 1);
    put('run/containerd.sock', '');
    running = spawn(join(root, 'bin/containerd'), ['-c', 'read -r line'], { stdio: ['pipe', 'ignore', 'ignore'] });
    put('cgroup/system.slice/containerd.service/cgroup.procs', `${String(process.pid)}\n${String(running.pid)}\n`);
  });
  afterEach(() => {
    running.kill();
    rmSync(root, { recursive: true });
  });

  function probed(): string {
    const script = value.probes.config.command.script
      .replaceAll('/etc/containerd/', `${root}/etc/`)
      .replaceAll('/run/containerd/', `${root}/run/`)
      .replaceAll('/sys/fs/cgroup', `${root}/cgroup`)
      .replaceAll('/usr/bin/containerd', `${root}/bin/containerd`);
    return spawnSync('/bin/sh', ['-euc', script], { cwd: root, encoding: 'utf8' }).stdout;
  }

  test('reads the file that kbuild wrote and containerd has accepted, without a process', () => {
    expect(probed()).toBe(written);
    expect(value.probes.config.parse(probed(), { middleMs: 0 })).toEqual({
      cgroupDriver: 'systemd',
      sandboxImage: 'registry.k8s.io/pause:3.10.2',
      criDisabled: false,
      labels: false,
      handlers: ['runc'],
    });
  });

  test.each([
    ['is not kbuild’s', () => put('etc/config.toml', containerdConfig(inventory()))],
    ['is empty', () => put('etc/config.toml', '')],
    ['imports another', () => put('etc/config.toml', `${written}imports = ["/a.toml"]\n`)],
    ['has others beside it', () => put('etc/conf.d/a.toml', '')],
    ['names no sandbox image', () => put('etc/config.toml', written.replace('sandbox = ', 'other = '))],
    [
      'names the cgroup driver of another handler alone',
      () =>
        put(
          'etc/config.toml',
          `${written.replace('SystemdCgroup = true', '')}\n[plugins.other.crun.options]\nSystemdCgroup = true\n`,
        ),
    ],
    ['is newer than the socket', () => utimesSync(join(root, 'run/containerd.sock'), 0, 0)],
    ['was read by none, for there is no socket', () => rmSync(join(root, 'run/containerd.sock'))],
    [
      'was read by another program than the one that is installed',
      () => {
        rmSync(join(root, 'bin/containerd'));
        copyFileSync('/bin/sh', join(root, 'bin/containerd'));
      },
    ],
    ['was read by a process that has ended', () => put('cgroup/system.slice/containerd.service/cgroup.procs', '')],
  ])('asks containerd where its file %s', (_, change) => {
    change();
    const past = new Date(1000);
    utimesSync(join(root, 'etc/config.toml'), past, past);
    expect(probed()).toBe('# dumped\n');
  });
});
