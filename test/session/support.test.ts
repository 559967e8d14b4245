// @module-tag linux
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { networkPlugins } from '../../src/network/plugins.value.ts';

const file = fileURLToPath(new URL('../../templates/session/support.sh', import.meta.url));
const script = readFileSync(file, 'utf8');
const parameters = `NAMESPACES='${networkPlugins.flatMap(({ namespaces }) => namespaces).join('\n')}'`;

test('takes logs of the namespaces that Kubernetes, its networks and kbuild own, and of no other pod', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-support-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pods = {
    'kube-system_etcd-cp1_1/etcd/0.log': 'of etcd',
    'kube-flannel_kube-flannel-ds-x_2/kube-flannel/0.log': 'of flannel',
    'calico-system_calico-node-x_3/calico-node/0.log': 'of Calico',
    'calico-apiserver_calico-apiserver-x_8/calico-apiserver/0.log': "of Calico's API server",
    'kbuild-check-abcdef01_probe_4/probe/0.log': 'of a check',
    'shop_web-1_5/web/0.log': 'of a shop',
    'kube-system-mine_web-1_6/web/0.log': 'of another namespace',
    'default_web_7/web/0.log': 'of default',
  };
  for (const [path, content] of Object.entries(pods)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), `${content}\n`);
  }
  // Only the part about pods' logs: the rest asks the machine.
  const part = script.slice(script.indexOf('# Only what'), script.indexOf('if [ -e /etc/kubernetes/admin.conf ]'));
  const said = execFileSync('/bin/sh', ['-s'], {
    input: `set -eu\n${parameters}\nsection() { echo "== $1"; shift; "$@"; }\n${part.replaceAll('/var/log/pods', folder)}`,
    encoding: 'utf8',
  });
  for (const expected of ['of etcd', 'of flannel', 'of Calico\n', "of Calico's API server", 'of a check'])
    expect(said).toContain(expected);
  for (const kept of ['of a shop', 'of another', 'of default']) expect(said).not.toContain(kept);
});
