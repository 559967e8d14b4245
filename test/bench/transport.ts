/** kbuild's transport doing what the floor does: host keys verified, framed, as kbuild runs everything. Arguments: key, known_hosts, script, hosts…. */
import { readFileSync } from 'node:fs';
import { eachLimit } from '../../src/engine/each-limit.ts';
import { linuxRemote } from '../../src/remote/linux.ts';
import { sshDialler } from '../../src/transport/ssh.ts';

const [key, knownHosts, script, ...hosts] = process.argv.slice(2);
const text = readFileSync(script!, 'utf8');
const dialler = sshDialler({ policy: 'strict' });
const results = await eachLimit(hosts, 30, async (address) => {
  const host = {
    os: 'linux' as const,
    role: 'worker' as const,
    name: address,
    address,
    internalAddress: address,
    ssh: { user: 'root', port: 22, identityFiles: [key!], knownHostsFiles: [knownHosts!] },
    kubelet: { config: {}, extraArgs: [] },
    labels: {},
    taints: undefined,
    setHostname: false,
  };
  const remote = linuxRemote(host, await dialler.dial(host), { runId: 'bench' });
  await remote.ask({ shell: 'sh', script: text, title: 'checks' });
  await remote.close();
});
const failed = results.filter(({ status }) => status === 'rejected');
if (failed.length > 0) throw new Error(`${String(failed.length)} hosts failed`);
