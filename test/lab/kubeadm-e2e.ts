/** kubeadm's own end-to-end suite (kubernetes `test/e2e_kubeadm`), against a cluster that kbuild built. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Artifact, isMade, make } from './artifact.ts';
import { paths } from './paths.ts';
import { requireAll } from './requirements.ts';
import { attempt } from './run.ts';
import { KUBERNETES } from './versions.ts';

const [{ version: VERSION }] = KUBERNETES;

const suite: Artifact = {
  name: `kubeadm-e2e-${VERSION}`,
  recipe: 'kubernetes-e2e',
  params: { VERSION: `v${VERSION}`, SUITE: 'e2e_kubeadm' },
  go: true,
};

/** What is kept where everything else is thrown away. */
export const suiteArtifacts = (): readonly Artifact[] => [suite];

/** Specifications that do not hold for a cluster of kbuild's, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'bootstrap token should exist': 'kbuild deletes each token after its join',
  'cluster-info ConfigMap should exist': 'the signature in it is that of a token',
  'kubeadm-certs': 'kbuild deletes the Secret after the last join',
  'should have CRI annotation': 'since 1.34 the socket stands in a file of each host',
};

/** GiB that its sources and what Go keeps of them take. */
const DISK_GIB = 6;
const MOST_MS = 600_000;

/** The suite's last lines, and whether all that is not left out has passed. Throws Unmet for what the machine lacks. */
export async function kubeadmSuite(kubeconfig: string): Promise<{ readonly passed: boolean; readonly said: string }> {
  if (!isMade(suite)) await requireAll({ diskGib: DISK_GIB, go: true });
  await mkdir(paths.build, { recursive: true });
  const { code, stdout } = await attempt(
    join(await make(suite), 'e2e_kubeadm.test'),
    [`--kubeconfig=${kubeconfig}`, '--ginkgo.no-color', `--ginkgo.skip=${Object.keys(LEFT_OUT).join('|')}`],
    { timeoutMs: MOST_MS },
  );
  return { passed: code === 0, said: stdout.trim().split('\n').slice(-40).join('\n') };
}
