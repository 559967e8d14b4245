/** What `validate` says of overrides, held against the lab's kubeadm of each minor: validate refuses what kubeadm refuses. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DOCUMENTS } from '../../src/inventory/file/rules/kubernetes/places.ts';
import { isOwnedField } from '../../src/inventory/file/rules/owned.ts';
import { merged } from '../../src/inventory/merge.ts';
import { minorNumber } from '../../src/versions.ts';
import { problemsOf } from '../inventory/load.ts';
import { type Kind, KINDS, type Override, overrideCorpus } from '../tools/override-corpus.ts';
import { labDir } from './paths.ts';
import { KUBERNETES } from './versions.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeadm-oracle-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The program that the lab built or downloaded. @throws Error where it has not: `npm run lab -- build` */
function kubeadmOf(version: string): string {
  const build = join(labDir, 'build');
  const name = readdirSync(build).find((one) => new RegExp(`^kubernetes-(?:download-)?${version}-\\w+$`).test(one));
  if (name === undefined) throw new Error(`the lab has no kubeadm ${version}: npm run lab -- build`);
  return join(build, name, 'kubeadm');
}

const KUBEADM = 'kubeadm.k8s.io/v1beta4';
const NODE = { name: 'cp1', criSocket: 'unix:///run/containerd/containerd.sock' };

/** What kubeadm needs beside an override to look at it, and to ask no site for a version. */
const BASES: Readonly<Record<Kind, Readonly<Record<string, unknown>>>> = {
  cluster: { apiVersion: KUBEADM },
  init: { apiVersion: KUBEADM, nodeRegistration: NODE, localAPIEndpoint: { advertiseAddress: '10.0.0.11' } },
  join: {
    apiVersion: KUBEADM,
    nodeRegistration: NODE,
    discovery: {
      bootstrapToken: {
        token: 'abcdef.0123456789abcdef',
        apiServerEndpoint: '10.0.0.11:6443',
        unsafeSkipCAVerification: true,
      },
    },
  },
  reset: { apiVersion: KUBEADM, criSocket: NODE.criSocket },
  kubeProxy: { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1' },
  kubelet: { apiVersion: 'kubelet.config.k8s.io/v1beta1' },
};

function documents({ kind, value }: Override, version: string): string {
  const own = merged({ ...BASES[kind], kind: KINDS[kind] }, value);
  const cluster = { apiVersion: KUBEADM, kind: KINDS.cluster, kubernetesVersion: `v${version}` };
  const all =
    kind === 'cluster'
      ? [{ ...cluster, ...own }]
      : kind === 'kubelet' || kind === 'kubeProxy' || kind === 'init'
        ? [cluster, own]
        : [own];
  return all.map((one) => JSON.stringify(one)).join('\n---\n');
}

/** kubeadm's reason to refuse; undefined if it takes the override. */
function kubeadmSays(kubeadm: string, override: Override, version: string, n: number): Promise<string | undefined> {
  const file = join(folder, `${version}-${String(n)}.yaml`);
  writeFileSync(file, documents(override, version));
  return new Promise((done) => {
    execFile(kubeadm, ['config', 'validate', '--config', file], (error, _, stderr) => {
      done(error === null ? undefined : stderr.trim());
    });
  });
}

async function validateSays({ kind, value }: Override, version: string): Promise<string | undefined> {
  const setting = kind === 'kubelet' ? { kubelet: { config: value } } : { kubeadm: { [kind]: value } };
  const hosts = [{ name: 'cp1', address: '10.0.0.11', role: 'control-plane' }];
  const problems = await problemsOf(JSON.stringify({ name: 'prod', kubernetes: { version }, ...setting, hosts }));
  return problems.length === 0 ? undefined : problems.join('; ');
}

/** kubeadm refuses, and validate need not. */
const KUBEADM_ALONE: readonly (readonly [about: RegExp, reason: string])[] = [];

/** kubeadm takes it, and validate refuses. */
const VALIDATE_ALONE: readonly (readonly [about: RegExp, reason: string])[] = [
  [/\.extraArgs\[\]\.name: right$/, 'kubeadm knows no flags of components, and writes a pod that does not start'],
  [/^cluster\.proxy\.disabled: right$/, 'flannel, the default, needs kube-proxy; kubeadm knows no network plugins'],
];

const isListed = (list: readonly (readonly [RegExp, string])[], { kind, name }: Override): boolean =>
  list.some(([about]) => about.test(`${kind}.${name}`));

describe.each(KUBERNETES)('kubeadm $version', ({ version }) => {
  const corpus = overrideCorpus(minorNumber(version)).filter(({ kind, name }) => {
    const keys = name.split(':')[0]!.replaceAll('[]', '').split('.');
    return !isOwnedField(kind, keys);
  });

  test(
    'what it refuses, validate refuses; what it takes, validate takes, but for the listed',
    { timeout: 1_800_000 },
    async () => {
      expect(DOCUMENTS.length + 1).toBe(Object.keys(KINDS).length);
      expect(corpus.length).toBeGreaterThan(150);
      const kubeadm = kubeadmOf(version);
      const disagreed: string[] = [];
      for (const [n, override] of corpus.entries()) {
        const [strict, own] = [await kubeadmSays(kubeadm, override, version, n), await validateSays(override, version)];
        if ((strict === undefined) === (own === undefined)) continue;
        if (isListed(strict === undefined ? VALIDATE_ALONE : KUBEADM_ALONE, override)) continue;
        disagreed.push(
          `${override.kind}.${override.name}\n    kubeadm:  ${strict ?? 'takes it'}\n    validate: ${own ?? 'takes it'}`,
        );
      }
      expect(disagreed).toEqual([]);
    },
  );
});
