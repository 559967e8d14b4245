/**
 * `npm run demo`: a lab of one control plane and two workers on this machine, `kbuild up` for real, then proof:
 * three Ready nodes, and a pod that answers through a Service on another host.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { requireLab } from './build-all.ts';
import { LabError, program } from './errors.ts';
import * as lab from './lab.ts';
import { echoThroughService } from './pods.ts';
import { progress } from './progress.ts';
import { KUBERNETES } from './versions.ts';

const HOSTS = ['demo-cp1', 'demo-w1', 'demo-w2'];
/** The one that an inventory of the lab names: nothing of the others is built. */
const VERSIONS = KUBERNETES.slice(0, 1);

const folder = join(lab.labDir, 'demo');
const file = join(folder, 'demo.yaml');
const kubeconfig = join(folder, 'demo.kubeconfig');

function run(name: string, args: readonly string[]): Promise<void> {
  progress(`$ ${[name, ...args].join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new LabError(`${name} ended with status ${String(code)}`)),
    );
  });
}

async function demo(): Promise<undefined> {
  await requireLab({ versions: VERSIONS, hosts: HOSTS.length });
  await run('npm', ['run', '--silent', 'build']);
  await lab.up(HOSTS, { versions: VERSIONS });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, stringify({ ...(await lab.inventory(HOSTS)), name: 'demo' }, { aliasDuplicateObjects: false }));
  await run(process.execPath, ['dist/cli/main.js', 'up', file, '--yes', '--kubeconfig', kubeconfig]);

  const nodes = await lab.ssh('demo-cp1', 'kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes -o wide');
  process.stdout.write(`\n$ kubectl get nodes -o wide\n${nodes.stdout}`);
  const { from, to, answer } = await echoThroughService('demo-cp1', ['demo-w1', 'demo-w2']);
  process.stdout.write(`\na pod on ${from} asked a Service; the pod on ${to} answered: ${answer}\n`);
  progress(`inventory: ${file}; kubeconfig: ${kubeconfig}; end it with: npm run lab -- down ${HOSTS.join(' ')}`);
  return undefined;
}

await program('demo', demo);
