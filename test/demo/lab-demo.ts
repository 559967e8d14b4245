/** The demo with hosts in the lab: one control plane and two workers, `kbuild up` for real, then proof. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { recordsIn } from '../../src/report/record/record-files.ts';
import { recordFolder } from '../../src/session/context.ts';
import { requireLab } from '../lab/build-all.ts';
import * as lab from '../lab/lab.ts';
import { echoThroughService } from '../lab/pods.ts';
import { progress } from '../lab/progress.ts';
import { KUBERNETES } from '../lab/versions.ts';
import { smallRecord } from './playback.ts';
import { shown } from './shown.ts';

const HOSTS = ['demo-cp1', 'demo-w1', 'demo-w2'];
/** The one that an inventory of the lab names: nothing of the others is built. */
const VERSIONS = KUBERNETES.slice(0, 1);

/** With KBUILD_RECORDS_TO=FOLDER the record of this build becomes the one that is played. */
function keepRecord(): void {
  const to = process.env['KBUILD_RECORDS_TO'];
  if (to === undefined) return;
  const { path } = recordsIn(recordFolder(process, 'demo')).findLast(({ command }) => command === 'up')!;
  writeFileSync(join(to, 'up.ndjson'), smallRecord(readFileSync(path, 'utf8')));
}

/** The demo. Its hosts stay. @throws Unmet with all that this machine lacks */
export async function labDemo(): Promise<void> {
  const folder = join(lab.labDir, 'demo');
  const file = join(folder, 'demo.yaml');
  const kubeconfig = join(folder, 'demo.kubeconfig');
  await requireLab({ versions: VERSIONS, hosts: HOSTS.length });
  await shown('npm', ['run', '--silent', 'build']);
  await lab.up(HOSTS, { versions: VERSIONS });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, stringify({ ...(await lab.inventory(HOSTS)), name: 'demo' }, { aliasDuplicateObjects: false }));
  await shown(process.execPath, ['dist/cli/main.js', 'up', file, '--yes', '--kubeconfig', kubeconfig]);

  keepRecord();
  const nodes = await lab.ssh('demo-cp1', 'kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o wide');
  process.stdout.write(`\n$ kubectl get nodes -o wide\n${nodes.stdout}`);
  const { from, to, answer } = await echoThroughService('demo-cp1', ['demo-w1', 'demo-w2']);
  process.stdout.write(`\na pod on ${from} asked a Service; the pod on ${to} answered: ${answer}\n`);
  progress(`inventory: ${file}; kubeconfig: ${kubeconfig}; end it with: npm run lab -- down ${HOSTS.join(' ')}`);
}
