import { describe, expect, test } from 'vitest';
import { inventoryOn } from '../../src/inventory/hosts.ts';
import { inventoryOf, problemsOf } from './load.ts';

const text = (more: string, ...hosts: readonly string[]): string => `name: prod
kubernetes: { version: "1.36.3" }
${more}
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
${hosts.map((host) => `  - { ${host} }\n`).join('')}`;

const w1 = (more = ''): string => `name: w1, address: 10.0.0.21, role: worker${more}`;

const ofHosts = async (...args: Parameters<typeof text>) => {
  const inventory = await inventoryOf(text(...args));
  return inventory.hosts.map((host) => inventoryOn(inventory, host).runtime.handlers);
};

describe('runtime.handlers', () => {
  test('are none if the inventory says nothing', async () => expect(await ofHosts('', w1())).toEqual([[], []]));

  test('of all levels apply together, and the nearest describes a handler', async () => {
    const [cp1, own] = await ofHosts(
      `runtime: { handlers: { crun: { path: /usr/bin/crun } } }
roles: { worker: { runtime: { handlers: { runsc: {} } } } }
groups: { site: { runtime: { handlers: { crun: { path: /opt/crun } } } } }`,
      w1(', groups: [site]'),
    );
    const crun = { name: 'crun', kind: 'crun', path: '/usr/bin/crun', from: 'host', overhead: {} };
    expect(cp1).toEqual([crun]);
    expect(own).toEqual([
      { ...crun, path: '/opt/crun' },
      { name: 'runsc', kind: 'runsc', path: '/usr/bin/runsc', from: 'package', overhead: {} },
    ]);
  });

  test('can have names of their own, a configuration, and an overhead', async () => {
    const handlers = `{ kata-qemu: { kind: kata, path: /opt/kata/shim, config: /opt/kata/qemu.toml, overhead: { cpu: 250m, memory: 320Mi } } }`;
    expect((await ofHosts('', w1(`, runtime: { handlers: ${handlers} }`)))[1]).toEqual([
      {
        ...{ name: 'kata-qemu', kind: 'kata', path: '/opt/kata/shim', from: 'host', config: '/opt/kata/qemu.toml' },
        overhead: { cpu: '250m', memory: '320Mi' },
      },
    ]);
  });

  test('label the nodes that have them, and no other host', async () => {
    const inventory = await inventoryOf(
      text(
        'roles: { worker: { runtime: { handlers: { crun: { path: /usr/bin/crun } } } } }',
        w1(', labels: { disk: ssd }'),
        'name: w2, address: 10.0.0.22, role: worker, runtime: { name: crio }',
      ),
    );
    expect(inventory.hosts.map(({ labels }) => labels)).toEqual([
      {},
      { disk: 'ssd', 'handler.kbuild.dev/crun': 'yes' },
      {},
    ]);
  });

  test('of a farther level do not apply to hosts with another runtime', async () => {
    const all = 'runtime: { handlers: { crun: { path: /usr/bin/crun } } }';
    expect((await ofHosts(all, w1(', runtime: { name: crio }')))[1]).toEqual([]);
  });

  test.each([
    ['runtime: { handlers: { Crun: {} } }', /runtime\.handlers/],
    [
      'runtime: { handlers: { fast: { path: /opt/x } } }',
      /runtime\.handlers\.fast\.kind: is required, because fast is none/,
    ],
    [
      'runtime: { handlers: { crun: {} } }',
      /runtime\.handlers\.crun\.path: is required: kbuild has no package of crun/,
    ],
    ['runtime: { handlers: { crun: { path: crun } } }', /runtime\.handlers\.crun\.path: /],
    [
      'runtime: { handlers: { runc: { kind: crun, path: /opt/x } } }',
      /runtime\.handlers\.runc: containerd has a handler/,
    ],
    ['runtime: { handlers: { windows-2022: { kind: runsc } } }', /handlers\.windows-2022: has a name that/],
    [
      'runtime: { handlers: { runsc: { config: /etc/x } } }',
      /runtime\.handlers\.runsc\.config: is of no use with runsc/,
    ],
    ['runtime: { handlers: { kata: { path: /x, overhead: { cpu: much } } } }', /handlers\.kata\.overhead\.cpu: /],
    [
      'runtime: { handlers: { runsc: {}, sandbox: { kind: runsc } } }',
      /handlers\.sandbox: cp1 has runsc of the same kind/,
    ],
    [
      'runtime: { name: crio, handlers: { crun: { path: /opt/crun } } }',
      /runtime\.handlers\.crun: CRI-O has a handler of this name itself/,
    ],
    ['runtime: { name: crio, handlers: { runsc: {} } }', /runtime\.handlers\.runsc: CRI-O is not set up for runsc/],
    [
      'roles: { worker: { runtime: { name: docker, handlers: { nvidia: {} } } } }\ndownloads: { criDockerd: { checksums: "{url}.sha256" } }',
      /roles\.worker\.runtime\.handlers\.nvidia: Docker Engine is not set up for nvidia/,
    ],
    [
      'runtime: { handlers: { kata: { path: /x } } }\nroles: { worker: { runtime: { handlers: { kata: { path: /x, overhead: { cpu: 1m } } } } } }',
      /roles\.worker\.runtime\.handlers\.kata: differs from kata of another host/,
    ],
    ['groups: { g: { labels: { handler.kbuild.dev/crun: "yes" } } }', /groups\.g\.labels.*: is set by kbuild/],
  ])('a mistake is told where it stands: %s', async (more, problem) =>
    expect(
      (
        await problemsOf(
          text(more, w1(', groups: [g]').replace(', groups: [g]', more.startsWith('groups') ? ', groups: [g]' : '')),
        )
      ).join('\n'),
    ).toMatch(problem),
  );
});
