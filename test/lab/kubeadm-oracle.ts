/** What `validate` and a kubeadm say of the same small overrides: where they disagree, and what of that has a reason. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOwnedField } from '../../src/inventory/file/rules/owned.ts';
import { merged } from '../../src/inventory/merge.ts';
import { minorNumber } from '../../src/versions.ts';
import { problemsOf } from '../inventory/load.ts';
import { type Kind, KINDS, type Override, overrideCorpus } from '../tools/override-corpus.ts';
import { type Artifact, isMade, make } from './artifact.ts';
import { paths } from './paths.ts';
import { requireAll } from './requirements.ts';
import { OF_OLDER_MINORS } from './versions.ts';

/** kubeadm alone: a minute of one core, where all programs of a version take ten. */
const kubeadmAlone = (version: string): Artifact => ({
  name: `kubeadm-${version}`,
  recipe: 'kubernetes',
  params: { VERSION: `v${version}`, PROGRAMS: 'kubeadm' },
  go: true,
});

/** What is kept where everything else is thrown away. */
export const oracleArtifacts = (): readonly Artifact[] => OF_OLDER_MINORS.map(kubeadmAlone);

/** GiB that its sources and what Go keeps of them take. */
const DISK_GIB = 6;

/** A kubeadm of this version: that of the lab's hosts, or one that is built by itself. Throws Unmet for what the machine lacks. */
export async function kubeadmOf(version: string): Promise<string> {
  const ofHosts = kubeadmOfHosts(version);
  if (ofHosts !== undefined) return ofHosts;
  const artifact = kubeadmAlone(version);
  if (!isMade(artifact)) await requireAll({ diskGib: DISK_GIB, go: true });
  await mkdir(paths.build, { recursive: true });
  return join(await make(artifact), 'kubeadm');
}

function kubeadmOfHosts(version: string): string | undefined {
  if (!existsSync(paths.build)) return undefined;
  const name = readdirSync(paths.build).find((one) =>
    new RegExp(`^kubernetes-(?:download-)?${version}-\\w+$`).test(one),
  );
  return name === undefined ? undefined : join(paths.build, name, 'kubeadm');
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
function kubeadmSays(kubeadm: string, file: string, override: Override, version: string): Promise<string | undefined> {
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

/** Overrides of a version that no setting of kbuild's own stands for. */
export const corpusOf = (version: string): readonly Override[] =>
  overrideCorpus(minorNumber(version)).filter(({ kind, name }) => {
    const keys = name.split(':')[0]!.replaceAll('[]', '').split('.');
    return !isOwnedField(kind, keys);
  });

/** The overrides about which this kubeadm and `validate` disagree without a listed reason, with what each says. */
export async function disagreements(kubeadm: string, version: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kubeadm-oracle-'));
  const file = join(folder, 'kubeadm.yaml');
  const found: string[] = [];
  for (const override of corpusOf(version)) {
    const strict = await kubeadmSays(kubeadm, file, override, version);
    const own = await validateSays(override, version);
    if ((strict === undefined) === (own === undefined)) continue;
    if (isListed(strict === undefined ? VALIDATE_ALONE : KUBEADM_ALONE, override)) continue;
    const about = `${override.kind}.${override.name}`;
    found.push(`${about}\n    kubeadm:  ${strict ?? 'takes it'}\n    validate: ${own ?? 'takes it'}`);
  }
  rmSync(folder, { recursive: true });
  return found;
}
