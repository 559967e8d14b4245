import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { unwantedObjects, wantedObjects } from '../../src/commands/objects.phases.ts';
import type { Target } from '../../src/engine/step.ts';
import { zypper } from '../../src/host/packages/suse-family.value.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import type { RuntimeHandler } from '../../src/inventory/runtime-handlers.ts';
import { containerd } from '../../src/runtime/containerd.step.ts';
import { containerd as value } from '../../src/runtime/containerd.value.ts';
import { crio } from '../../src/runtime/crio.step.ts';
import { crio as crioValue } from '../../src/runtime/crio.value.ts';
import { handlerManifest } from '../../src/runtime/handlers.step.ts';
import { HANDLERS } from '../../src/runtime/handlers.value.ts';
import { converged } from '../fakes/converged.ts';
import { fileWith } from '../fakes/files.ts';
import { hosts, inventory } from '../fakes/inventory.ts';
import { target } from '../fakes/target.ts';

const crun: RuntimeHandler = { name: 'crun', kind: 'crun', path: '/usr/bin/crun', from: 'host', overhead: {} };
const kata: RuntimeHandler = {
  ...{ name: 'kata-qemu', kind: 'kata', path: '/opt/kata/bin/containerd-shim-kata-v2', from: 'host' },
  ...{ config: '/opt/kata/qemu.toml', overhead: { cpu: '250m', memory: '320Mi' } },
};
const nvidia: RuntimeHandler = {
  ...{ name: 'nvidia', kind: 'nvidia', path: '/usr/bin/nvidia-container-runtime', from: 'package', overhead: {} },
};
const runsc: RuntimeHandler = { name: 'runsc', kind: 'runsc', path: '/usr/bin/runsc', from: 'package', overhead: {} };

const having = (...handlers: readonly RuntimeHandler[]): Inventory => inventory({ runtime: { handlers } });
const there = (...paths: readonly string[]) => ({ handlerPrograms: new Set(paths) });
const summaries = (seen: Target, steps = containerd) =>
  steps.flatMap((step) => step.diff(seen)).map(({ summary }) => summary);
const RUNSC_CONFIG = '/etc/containerd/kbuild-runsc.toml';

describe('config.toml with handlers', () => {
  test.each(['1.7.28', '2.2.9'])('of %s keeps runc as the default', async (version) => {
    const all = [crun, kata, nvidia, runsc];
    const text = value.configuration(inventory({ runtime: { version, handlers: all } }));
    await expect(text).toMatchFileSnapshot(`../golden/containerd-${version}-handlers.toml`);
    expect(text.match(/default_runtime_name = "(.*)"/)?.[1]).toBe('runc');
  });

  test('has one cgroup driver for all handlers of the kind of runc', () => {
    const text = value.configuration(inventory({ runtime: { cgroupDriver: 'cgroupfs', handlers: [crun, nvidia] } }));
    expect(text.match(/SystemdCgroup = (.*)/g)).toEqual(Array.from({ length: 3 }, () => 'SystemdCgroup = false'));
  });

  test("takes the user's own settings of a handler", () => {
    const table = { containerd: { runtimes: { crun: { snapshotter: 'native' } } } };
    const config = { plugins: { 'io.containerd.cri.v1.runtime': table } };
    expect(parse(value.configuration(inventory({ runtime: { config, handlers: [crun] } })))).toMatchObject({
      plugins: {
        'io.containerd.cri.v1.runtime': {
          containerd: { runtimes: { crun: { snapshotter: 'native', options: { BinaryName: '/usr/bin/crun' } } } },
        },
      },
    });
  });

  test.each(['systemd', 'cgroupfs'] as const)('gVisor takes the cgroup driver %s from its own file', (cgroupDriver) => {
    const about = inventory({ runtime: { cgroupDriver, handlers: [runsc] } });
    expect(parse(value.handlers!.file!.content(runsc, about))).toEqual({
      binary_name: '/usr/bin/runsc',
      runsc_config: { 'systemd-cgroup': String(cgroupDriver === 'systemd') },
    });
  });
});

test("CRI-O's drop-in has tables for the handlers alone, so that the package keeps the default", async () => {
  const about = { name: 'crio', package: 'cri-o', version: '1.36.0' } as const;
  const fast = { ...crun, name: 'crun-own' };
  const text = crioValue.configuration(inventory({ runtime: { ...about, handlers: [fast, kata] } }));
  await expect(text).toMatchFileSnapshot('../golden/crio-handlers.conf');
  expect(text).not.toContain('default_runtime');
});

describe('a host gets a handler', () => {
  test('by one write and one restart of the runtime', async () => {
    const seen = await converged('worker');
    // Its other facts are read when a step asks for them.
    const facts = Object.create(seen.facts, { handlerPrograms: { value: new Set([crun.path]) } }) as Target['facts'];
    const due = summaries({ ...seen, inventory: having(crun), facts });
    expect(due.filter((summary) => !summary.startsWith('have containerd'))).toEqual([
      'write /etc/containerd/config.toml (content differs)',
      'restart containerd (what it uses changes)',
    ]);
  });

  test('only if its program is there: nothing is written otherwise', () => {
    const [first] = containerd.flatMap((step) =>
      step.name === 'handler-programs' ? step.diff(target(there(), { inventory: having(crun) })) : [],
    );
    expect(first).toEqual({
      summary: 'have /usr/bin/crun, which the handler crun of the runtime needs (found none)',
    });
    const names = containerd.map(({ name }) => name);
    expect(names.indexOf('handler-programs')).toBeLessThan(names.indexOf('containerd-config-first'));
  });

  test('with the package of its project, where there is one for the system', () =>
    expect(summaries(target(there(), { inventory: having(nvidia, runsc) })).slice(2, 9)).toEqual([
      'write /etc/apt/keyrings/kbuild-nvidia.asc with the key C95B321B61E88C1809C4F759DDCAE044F796ECB0 (found none)',
      'write /etc/apt/sources.list.d/kbuild-nvidia.list (found none)',
      'install nvidia-container-toolkit (found none)',
      'write /etc/apt/keyrings/kbuild-gvisor.asc with the key 6F1DF85E3A71C24918E727D56FC6D554E32BD943 (found none)',
      'write /etc/apt/sources.list.d/kbuild-gvisor.list (found none)',
      'install runsc (found none)',
      `write ${RUNSC_CONFIG} (found none)`,
    ]));

  test('whose program a package did not bring: kbuild says which', () => {
    const packages = new Map([['runsc', { state: 'installed', version: '20260901.0', held: false } as const]]);
    const seen = target({ ...there('/usr/bin/runsc'), packages }, { inventory: having(runsc) });
    expect(summaries(seen)).toContain(
      'have /usr/bin/containerd-shim-runsc-v1, which the handler runsc of the runtime needs (found none)',
    );
  });

  test('of a path without a package', () =>
    expect(
      summaries(
        target(there('/opt/runsc', '/opt/containerd-shim-runsc-v1'), {
          inventory: having({ ...runsc, path: '/opt/runsc', from: 'host' }),
        }),
      ).filter((summary) => /gvisor|runsc/.test(summary)),
    ).toEqual([`write ${RUNSC_CONFIG} (found none)`]));
});

test("a handler's own file goes with the handler", () => {
  const files = new Map([[RUNSC_CONFIG, fileWith('old')]]);
  const about = { inventory: inventory() };
  const step = containerd.find(({ name }) => name === 'handler-config')!;
  expect(step.diff(target({ files }, about)).map(({ summary }) => summary)).toEqual([`remove ${RUNSC_CONFIG}`]);
  const onCrio = { inventory: inventory({ runtime: { name: 'crio', package: 'cri-o', version: '1.36.0' } }) };
  expect(crio.find(({ name }) => name === 'handler-config')!.diff(target({}, onCrio))).toEqual([]);
});

test('what containerd makes of it must have the handler', () => {
  const proved = containerd.find(({ name }) => name === 'runtime-proved')!;
  const found = { cgroupDriver: 'systemd', sandboxImage: 'registry.k8s.io/pause:3.10.2', criDisabled: false } as const;
  const due = (...handlers: readonly string[]) =>
    proved.diff(target({ runtimeConfig: { ...found, handlers } }, { inventory: having(crun) }));
  expect(due('crun', 'runc')).toEqual([]);
  expect(due('runc')).toEqual([{ summary: 'have containerd know the handler crun (found none)' }]);
});

test('the effective configuration shows the handlers of either major', () => {
  const of = (plugin: string) =>
    value.probes.config.parse(
      `[plugins.'${plugin}'.containerd.runtimes.runc.options]\nSystemdCgroup = true\n[plugins.'${plugin}'.containerd.runtimes.crun]\n`,
      { middleMs: 0 },
    );
  for (const plugin of ['io.containerd.cri.v1.runtime', 'io.containerd.grpc.v1.cri'])
    expect(of(plugin)).toMatchObject({ cgroupDriver: 'systemd', handlers: ['crun', 'runc'] });
});

test('repositories of handlers as package managers read them', () => {
  const { rpm } = HANDLERS.nvidia.packaged!.repository;
  const text = zypper.repository('nvidia', rpm, { proxy: undefined, direct: [] });
  expect(text).toContain('baseurl=https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch/\n');
  // NVIDIA signs its lists, with the checksums of all packages, and does not promise more.
  expect(text).toMatch(/^gpgcheck=0$/m);
  expect(text).toMatch(/^repo_gpgcheck=1$/m);
});

describe('RuntimeClasses', () => {
  const own = { ...inventory().runtime, handlers: [kata, runsc] };
  const mixed = inventory({
    hosts: hosts.map((host) =>
      host.name === 'w2' ? { ...host, runtime: own } : { ...host, runtime: inventory().runtime },
    ),
  });

  test('are one a handler, for nodes that have it', () =>
    expect(handlerManifest(mixed)!.objects).toEqual([
      {
        ...{
          apiVersion: 'node.k8s.io/v1',
          kind: 'RuntimeClass',
          metadata: { name: 'kata-qemu' },
          handler: 'kata-qemu',
        },
        overhead: { podFixed: { cpu: '250m', memory: '320Mi' } },
        scheduling: { nodeSelector: { 'handler.kbuild.dev/kata-qemu': 'yes' } },
      },
      {
        ...{ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'runsc' }, handler: 'runsc' },
        scheduling: { nodeSelector: { 'handler.kbuild.dev/runsc': 'yes' } },
      },
    ]));

  test('are owned: what leaves the inventory is deleted', () => {
    expect(wantedObjects(mixed)).toEqual(expect.arrayContaining([...handlerManifest(mixed)!.objects]));
    expect(handlerManifest(inventory())).toBeUndefined();
    const facts = { state: 'up', owned: ['node.k8s.io/v1/RuntimeClass//runsc'] } as never;
    const [change] = unwantedObjects.diff({ inventory: inventory(), facts, fleet: {} as never, host: hosts[0]! });
    expect(change!.summary).toBe('delete RuntimeClass runsc (not in the inventory any more)');
  });
});
