import { readdirSync, readFileSync } from 'node:fs';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { toYaml } from '../../src/shell/yaml.ts';
import { runtimeClassManifest } from '../../src/windows/runtime-classes.step.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';

const folder = new URL('../golden/', import.meta.url);
const files = [
  ...readdirSync(folder).filter((name) => name.startsWith('windows-')),
  ...readdirSync(new URL('windows/', folder)).map((name) => `windows/${name}`),
];
const text = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

interface Named {
  readonly name: string;
}

interface Container extends Named {
  readonly image: string;
  readonly volumeMounts?: readonly Named[];
}

interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly name: string };
  readonly spec?: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly initContainers?: readonly Container[];
        readonly containers: readonly Container[];
        readonly volumes: readonly Named[];
      };
    };
  };
}

const objectsOf = (name: string): readonly ManifestObject[] =>
  parseAllDocuments(text(name)).map((document): ManifestObject => {
    expect(document.errors).toEqual([]);
    return document.toJS() as ManifestObject;
  });

test('RuntimeClasses: one a release, and those of Hyper-V where a host has it', async () => {
  const plain = windowsHost('win1');
  const isolated = windowsHost('win2', { windows: { ...plain.windows, hyperv: 'on' } });
  const { objects } = runtimeClassManifest(inventoryOf({ hosts: [plain, isolated] }))!;
  await expect(toYaml(objects)).toMatchFileSnapshot(new URL('windows/runtime-classes.yaml', folder).pathname);
  const namesOf = (host: typeof plain): readonly string[] =>
    runtimeClassManifest(inventoryOf({ hosts: [host] }))!.objects.map(
      ({ metadata }) => (metadata as { readonly name: string }).name,
    );
  expect(namesOf(plain)).toEqual(['windows-2022', 'windows-2025']);
  const others = windowsHost('win3', { windows: { ...plain.windows, allowUnsupportedOs: true } });
  expect(namesOf(others)).toEqual(['windows-2019', 'windows-2022', 'windows-2025']);
  expect(runtimeClassManifest(inventoryOf())).toBeUndefined();
});

describe('what Windows hosts are given reads back as what it is', () => {
  test.each(files.filter((name) => name.endsWith('.yaml')))('%s: objects of Kubernetes', (name) => {
    for (const { apiVersion, kind, metadata } of objectsOf(name)) {
      expect([apiVersion, kind]).toEqual([expect.stringMatching(/v\d/), expect.stringMatching(/^[A-Z]/)]);
      if (!kind.endsWith('Configuration') || metadata !== undefined)
        expect(metadata?.name).toMatch(/^[a-z0-9.-]{1,63}$/);
    }
  });

  test.each(files.filter((name) => /network-(?!services)/.test(name)))('%s: DaemonSets are whole', (name) => {
    const daemons = objectsOf(name).filter(({ kind }) => kind === 'DaemonSet');
    expect(daemons.length).toBeGreaterThan(0);
    for (const { spec } of daemons) {
      const { metadata, spec: pod } = spec!.template;
      expect(metadata.labels).toMatchObject(spec!.selector.matchLabels);
      const volumes = pod.volumes.map((volume) => volume.name);
      for (const { image, volumeMounts = [] } of [...(pod.initContainers ?? []), ...pod.containers]) {
        expect(image).toMatch(/^[^ ]+:[^ ]+$/);
        expect(volumes).toEqual(expect.arrayContaining(volumeMounts.map((mount) => mount.name)));
      }
    }
  });

  test.each(files.filter((name) => name.endsWith('.json')))('%s: a CNI configuration', (name) => {
    const config = JSON.parse(text(name)) as { readonly delegate: { readonly type: string } };
    expect(config).toMatchObject({
      cniVersion: '0.3.0',
      type: 'flannel',
      name: /overlay/.test(name) ? 'flannel.4096' : 'cbr0',
    });
    expect(config.delegate.type).toBe(/overlay/.test(name) ? 'sdnoverlay' : 'win-bridge');
  });

  test.each(files.filter((name) => name.endsWith('.toml')))('%s: the configuration of containerd', (name) => {
    expect(parseToml(text(name))).toMatchObject({
      version: 3,
      grpc: { address: String.raw`\\.\pipe\containerd-containerd` },
    });
    expect(text(name).startsWith('\uFEFF')).toBe(false);
  });
});
